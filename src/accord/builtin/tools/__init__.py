"""The tools of the built-in agent: each shows itself to the client, asks, works, and reports.

They know nothing of the brain that calls them.
"""
