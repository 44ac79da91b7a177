"""What a sandbox allows beyond the session's folders, and the two kinds of sandboxes.

Must not know who configured it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from accord.machine.errors import MachineError

SandboxKind: TypeAlias = Literal["bubblewrap", "landlock"]

KINDS: tuple[SandboxKind, ...] = ("bubblewrap", "landlock")
"""All kinds, the better one first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxOptions:
    """The options of a sandbox.

    Paths are absolute, begin with `~`, or are relative to each of the session's folders.  `hidden`
    is hidden even below a readable folder.  `variables` are set inside.
    """

    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    network: bool = True
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)


class SandboxUnavailable(MachineError):
    """Neither kind of sandbox works on this machine; the message says why and what to do."""


class SandboxRefused(MachineError):
    """This agent or this folder cannot be put into a sandbox; the message says why."""
