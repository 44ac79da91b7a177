"""Which broken peer breaks which rule.

Modules are imported when they are needed: a peer is started for every check.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal, TypeVar

Side = Literal["agent", "client"]
Version = Literal["1", "2", "draft"]
PeerT = TypeVar("PeerT", bound=type[Any])

# Side and version -> the modules with their broken peers.
MODULES: dict[tuple[Side, Version], tuple[str, ...]] = {
    ("agent", "1"): (
        "broken_agents.v1.wire",
        "broken_agents.v1.logins",
        "broken_agents.v1.sessions",
        "broken_agents.v1.turns",
        "broken_agents.v1.updates",
        "broken_agents.v1.extensions",
        "broken_agents.v1.faults",
    ),
    ("agent", "2"): (
        "broken_agents.v2.wire",
        "broken_agents.v2.sessions",
        "broken_agents.v2.turns",
        "broken_agents.v2.faults",
    ),
    ("agent", "draft"): ("broken_agents.draft.requests", "broken_agents.draft.faults"),
    ("client", "1"): (
        "broken_clients.v1.wire",
        "broken_clients.v1.sessions",
        "broken_clients.v1.state",
        "broken_clients.v1.own_work",
        "broken_clients.v1.faults",
    ),
    ("client", "2"): (
        "broken_clients.v2.sessions",
        "broken_clients.v2.state",
        "broken_clients.v2.faults",
    ),
    ("client", "draft"): ("broken_clients.draft",),
}


class Catalogue(dict[str, type[Any]]):
    """The broken peers of one module, by the rule that each breaks."""

    def breaks(self, rule: str) -> Callable[[PeerT], PeerT]:
        def put(peer: PeerT) -> PeerT:
            assert rule not in self, rule
            self[rule] = peer
            return peer

        return put


def broken(side: Side, version: Version, rule: str) -> type[Any]:
    """The peer that breaks this rule."""
    for name in MODULES[side, version]:
        peers: Catalogue = import_module(f"tests.defects.{name}").BROKEN
        if rule in peers:
            return peers[rule]
    raise KeyError(rule)


def rules_in(module: str) -> list[str]:
    """The rules that the peers of one module break."""
    return list(import_module(f"tests.defects.{module}").BROKEN)


def rules(side: Side, version: Version) -> list[str]:
    """Every rule that some peer breaks."""
    return [rule for name in MODULES[side, version] for rule in rules_in(name)]
