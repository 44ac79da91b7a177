"""When a message is allowed: negotiation, capability gates, the turn, and how it ends.

Pure: values in, values out.  Nothing here sends, waits or logs.
"""
