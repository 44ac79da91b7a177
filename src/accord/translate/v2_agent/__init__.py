"""A v2 agent behind a v1 client.

Memory per session: what was said (1 MiB of text at most), the content of tool calls (1 MiB each at
most, of the 64 that ended last and of those that run), 64 terminals of 64 KiB, 32 plans, 16 waiting
prompts; per connection at most 1,024 sessions without an open prompt.  The constants stand in the
files that keep them.
"""

from accord.translate.v2_agent.agent import V2Agent

__all__ = ["V2Agent"]
