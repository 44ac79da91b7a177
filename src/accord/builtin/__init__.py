"""The built-in agent: one set of tools, two brains over them, and sessions that survive.

`tools/` owns everything that the client sees; `brain/` decides what to do next and sees no wire.
Nothing here is imported before `accord agent` has answered `initialize`, unless it must be.
"""
