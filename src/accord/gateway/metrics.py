"""What a gateway tells Prometheus, in its text format: decision 0034.

What always holds: numbers and names of agents only, and nothing of an agent that the asker may not
use.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Final, NamedTuple

from accord.gateway.gateway import Gateway


class Metric(NamedTuple):
    """One metric: its kind and help, and how much of it an agent has now."""

    name: str
    kind: str
    help: str
    value: Callable[[Gateway, str], int]


def _processes(gateway: Gateway, agent: str) -> int:
    return gateway.processes.count(agent)


def _starts(gateway: Gateway, agent: str) -> int:
    return gateway.processes.starts(agent)


def _sessions(gateway: Gateway, agent: str) -> int:
    return sum(one.facts.agent == agent for one in gateway.sessions.live.values())


def _busy(gateway: Gateway, agent: str) -> int:
    return sum(one.facts.agent == agent for one in gateway.busy_sessions)


def _followers(gateway: Gateway, agent: str) -> int:
    live = gateway.sessions.live.values()
    return sum(len(one.attachments) for one in live if one.facts.agent == agent)


METRICS: Final = (
    Metric(
        "accord_agent_processes",
        "gauge",
        "Processes of the agent that run.",
        _processes,
    ),
    Metric(
        "accord_agent_starts_total",
        "counter",
        "Processes of the agent that were started.",
        _starts,
    ),
    Metric("accord_sessions", "gauge", "Sessions in memory.", _sessions),
    Metric("accord_busy_sessions", "gauge", "Sessions in which a turn runs.", _busy),
    Metric("accord_followers", "gauge", "Clients that follow a session.", _followers),
)


def metrics_of(gateway: Gateway, agents: Container[str]) -> bytes:
    """Return the metrics of these agents."""
    lines: list[str] = []
    for one in METRICS:
        lines += (f"# HELP {one.name} {one.help}", f"# TYPE {one.name} {one.kind}")
        # Names of agents need no escaping: they are part of a URL.
        lines += (
            f'{one.name}{{agent="{agent}"}} {one.value(gateway, agent)}'
            for agent in gateway.agents
            if agent in agents
        )
    draining = int(gateway.is_draining)
    lines += (
        "# HELP accord_draining Whether the gateway shuts down.",
        "# TYPE accord_draining gauge",
        f"accord_draining {draining}",
    )
    return "\n".join([*lines, ""]).encode()


__all__ = ["METRICS", "metrics_of"]
