"""The nodes of one process, and how long each owns its sessions.

Nothing of it is stored: when the process ends, its nodes end with it.
Guards: a name has one incarnation.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from accord.gateway.engine.engine_errors import NodeReplaced
from accord.gateway.engine.interface import Node

INCARNATION_BYTES = 8


def random_incarnation() -> str:
    """Return a name that no other run of a node has."""
    return os.urandom(INCARNATION_BYTES).hex()


@dataclass(slots=True)
class _Term:
    incarnation: str
    until: float


class NodeLeases:
    """The time limit of each node.  `clock` counts seconds and never goes back."""

    def __init__(
        self, clock: Callable[[], float], lease_seconds: float, incarnation: Callable[[], str]
    ) -> None:
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._incarnation = incarnation
        self._terms: dict[str, _Term] = {}

    def enter(self, name: str) -> Node:
        """Begin an incarnation; an earlier one of this name ends."""
        node = Node(name, self._incarnation())
        self._terms[name] = _Term(node.incarnation, self._clock() + self._lease_seconds)
        return node

    def renew(self, node: Node) -> float:
        """Extend the time of a node; return the seconds that it has.

        Raises:
            NodeReplaced: this incarnation has ended.
        """
        term = self._terms.get(node.name)
        if term is None or term.incarnation != node.incarnation:
            raise NodeReplaced(node.name)
        term.until = self._clock() + self._lease_seconds
        return self._lease_seconds

    def leave(self, node: Node) -> None:
        """End an incarnation, if it has not ended."""
        term = self._terms.get(node.name)
        if term is not None and term.incarnation == node.incarnation:
            del self._terms[node.name]

    def seconds_left(self, node: Node) -> float:
        """Return how long a node still owns its sessions; 0 if it does not."""
        term = self._terms.get(node.name)
        if term is None or term.incarnation != node.incarnation:
            return 0.0
        return max(0.0, term.until - self._clock())

    def all_seconds_left(self) -> dict[Node, float]:
        """Return the nodes whose time has not passed."""
        now = self._clock()
        return {
            Node(name, term.incarnation): term.until - now
            for name, term in self._terms.items()
            if term.until > now
        }
