"""The agents that the tests of `accord serve` serve in a process of their own."""

from __future__ import annotations

from accord import MemoryStore
from tests.transport.server.served_agent import echo_agent

agent = echo_agent()
storing_agent = echo_agent(store=MemoryStore())
