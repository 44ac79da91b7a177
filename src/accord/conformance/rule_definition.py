"""A rule of the protocol as data: whom it binds, how strongly, and where a breach shows.

Must not know: how a rule is checked.  The tables are in `rules/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal["agent", "client", "both", "proxy", "host", "registry"]
Tier = Literal["mandatory", "capability", "advisory", "informational"]
Verdict = Literal["pass", "fail", "skipped", "not_exercised"]
Version = Literal["1", "2", "draft"]
DEFAULT_VERSION: Version = "1"
"""What `accord check` judges by if it is not told."""

# A failure of one of these makes a program not conformant; the others are advice.
BINDING: frozenset[Tier] = frozenset({"mandatory", "capability"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    `seen` says where a breach shows: `wire`, `dump` (exported state), `ui` or `review`.
    `implies` names the rules that are broken whenever this one is.  `unseen` is the reason why the
    kit has no check for it, and empty where it could have one.  `tck` is the id of the same
    requirement in the official kit, where known.
    """

    id: str
    side: str
    level: str
    tier: Tier
    seen: str
    unstable: bool
    sentence: str
    source: str
    implies: tuple[str, ...] = ()
    unseen: str = ""
    tck: str = ""

    @property
    def visible(self) -> bool:
        """Whether a peer can see a breach on the wire."""
        return not self.unseen

    @property
    def binding(self) -> bool:
        """Whether a failure makes a program not conformant."""
        return self.tier in BINDING

    def binds(self, side: Literal["agent", "client"]) -> bool:
        """Whether a program of this side can break it."""
        return self.side == "both" or side in self.side.split(", ")
