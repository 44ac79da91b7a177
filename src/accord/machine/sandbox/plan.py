"""What a sandboxed process may do, as plain data: the command line of the launcher carries it.

Only the standard library is imported, and little of it: the launcher reads a plan at each start of
an agent.

What always holds
    * `places` has each path once, a folder before what is in it, and the deepest place that
      contains a path decides about it.
    * What no place contains can be read and not written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

Access: TypeAlias = Literal["hidden", "private", "read", "write", "executed"]
"""`private` is writable, empty at first and deleted at the end.

`executed` is a file or folder in a writable one that other programs execute on their own: it can
be read only, which Landlock cannot do.
"""


class Plan(NamedTuple):
    """One sandbox.

    `bwrap` is the program for bubblewrap, and None for Landlock.  `folder` is where the process
    starts if it would not see its working directory.  `links` are symbolic links (path, target) in
    hidden folders that lead to visible ones.
    """

    bwrap: str | None
    folder: str
    places: tuple[tuple[str, Access], ...]
    links: tuple[tuple[str, str], ...] = ()
    network: bool = True
    set_variables: tuple[tuple[str, str], ...] = ()
    unset_variables: tuple[str, ...] = ()

    def access_to(self, path: str) -> Access:
        """What the process may do with a path, which must not contain links."""
        found: Access = "read"
        for place, access in self.places:
            if is_within(path, place):
                found = access
        return found

    def below(self, folder: str) -> list[tuple[str, Access]]:
        """The places in a folder, without itself."""
        return [one for one in self.places if one[0] != folder and is_within(one[0], folder)]


def to_text(plan: Plan) -> str:
    """Encode a plan as one word of a command line."""
    return json.dumps(plan, separators=(",", ":"))


def from_text(text: str) -> Plan:
    """Decode what `to_text` made."""
    bwrap, folder, places, links, network, set_variables, unset_variables = json.loads(text)
    return Plan(
        bwrap,
        folder,
        tuple((path, access) for path, access in places),
        tuple((path, target) for path, target in links),
        network,
        tuple((name, value) for name, value in set_variables),
        tuple(unset_variables),
    )


def is_within(path: str, folder: str) -> bool:
    """Whether a path is a folder or in it; both are absolute and without links."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def in_order(places: dict[str, Access]) -> tuple[tuple[str, Access], ...]:
    """Sort places so that a folder stands before what is in it."""
    return tuple(sorted(places.items(), key=lambda one: one[0].rstrip(os.sep).split(os.sep)))


def parents_within(path: str, folder: str) -> Iterable[str]:
    """The folders between a path and a folder that contains it, without both."""
    parent = os.path.dirname(path)
    while parent != folder and is_within(parent, folder):
        yield parent
        parent = os.path.dirname(parent)
