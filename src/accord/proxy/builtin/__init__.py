"""The proxies that come with Accord: `context`, `guard`, `budget`.

Each is a function that makes a `Proxy` for one conversation; each serves v1 and v2 alike.
"""
