"""The built-in agent: one set of tools, two brains over them, and sessions that survive.

`tools/` owns everything that the client sees; `offline/` and `llm/` decide what to do
next and see no wire.
Nothing here is imported before `accord agent` has answered `initialize`, unless it must be.
"""
