"""Peers beside the one broken peer of each rule: broken in another way, or odd and right.

Each says which rules it is judged by, which of them it fails, and which nothing shows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

Version = Literal["1", "2", "draft"]
PeerT = TypeVar("PeerT", bound=type[Any])


@dataclass(frozen=True)
class Odd:
    """One such peer: `fails` is exactly what it fails of all rules, `opens` what stays open."""

    peer: type[Any]
    version: Version
    judged: tuple[str, ...]
    fails: frozenset[str]
    opens: frozenset[str]
    # Judged by prompts that are only tries, as by default.
    tries: bool = False
    # The kit waits in vain for it.
    silent: bool = False


class OddPeers(dict[str, Odd]):
    """The peers of one module by their names, which begin with `odd-`."""

    def judged(
        self,
        *rules: str,
        fails: str = "",
        opens: str = "",
        version: Version = "1",
        tries: bool = False,
        silent: bool = False,
    ) -> Callable[[PeerT], PeerT]:
        """Judge a peer by these rules; it keeps those that it neither fails nor leaves open."""

        def put(peer: PeerT) -> PeerT:
            name = f"odd-{peer.__name__}"
            assert name not in self, name
            expected = frozenset(fails.split()), frozenset(opens.split())
            self[name] = Odd(peer, version, rules, *expected, tries, silent)
            return peer

        return put
