"""Proxies that people use as they are: `context`, `guard`, `budget`.

Each is a function that makes a `Proxy` for one conversation; it serves v1 and v2 alike.
"""
