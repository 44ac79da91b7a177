"""The agent that the tests of `accord serve` serve in a process of its own."""

from __future__ import annotations

from tests.transport.server.served_agent import echo_agent

agent = echo_agent()
