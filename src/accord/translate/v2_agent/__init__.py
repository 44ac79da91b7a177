"""A v2 agent behind a v1 client.

Memory per session: what was said (1 Mi characters of 1,024 messages), the content of tool calls
(8 Mi characters, of the 64 that ended last and of those that run; ids and names of 4,096), 64
terminals of 64 KiB, the tasks of 32 plans, 17 prompts; per connection 1,024 sessions that nobody
prompts.  The constants stand in the files that keep them.
"""

from accord.translate.v2_agent.methods import V2Agent

__all__ = ["V2Agent"]
