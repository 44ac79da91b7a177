"""What the person wants to talk to, and where: one agent, one folder, perhaps one session."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

# Programs that are named only because another one needs them, and what may follow them.
_STARTERS = re.compile(r"python[\d.]*|node|npx|bunx?|deno|uvx?|pipx|env")
_VERBS = frozenset({"", "run", "tool", "exec", "x"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """How a chat begins.

    `session` is the one to go on with; with `go_on` it is the last one of the folder.  What is in
    `mcp_servers` and `add_dirs` the person named, so an agent that cannot take it is an error;
    what is in `wished_dirs` and `wished_servers` stands in the configuration and may be left out.
    `begun_in` is the folder that the person was in when they asked for a session of another one.
    """

    command: tuple[str, ...]
    name: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    agent_cwd: str | None = None
    api_key_env: str | None = None
    folder: str = "."
    begun_in: str = ""
    add_dirs: tuple[str, ...] = ()
    mcp_servers: Sequence[Any] = field(default=(), repr=False)
    wished_dirs: tuple[str, ...] = ()
    wished_servers: Mapping[str, Any] = field(default_factory=dict, repr=False)
    mode: str | None = None
    model: str | None = None
    session: str | None = None
    go_on: bool = False

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that the person named."""
        return (self.folder, *self.add_dirs)

    @property
    def missing(self) -> tuple[str, ...]:
        """Those of them that are not there."""
        return tuple(one for one in self.roots if not os.path.isdir(one))

    def standing(self) -> LaunchOptions:
        """The same in folders that are there: where this one is gone, where the person was."""
        gone = self.missing
        folder = self.folder
        if folder in gone:
            others = (self.begun_in, _here(), os.path.expanduser("~"))
            folder = next((one for one in others if os.path.isdir(one)), folder)
        kept = tuple(one for one in self.add_dirs if one not in gone)
        return replace(self, folder=folder, add_dirs=kept)

    @property
    def versions(self) -> tuple[int, ...]:
        """What is spoken, by the servers that the person named."""
        from accord.mcp.server_handoff import versions_for

        return versions_for(self.mcp_servers)

    @property
    def agent(self) -> str:
        """What tells this agent from others: its name in the configuration, or its command."""
        return self.name or shlex.join(self.command)

    @property
    def label(self) -> str:
        """A name for the agent before it has told its own."""
        return self.name or _program(self.command)


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:
        # It was taken away beneath us.
        return ""


def _program(command: tuple[str, ...]) -> str:
    """The program that is meant: behind what only starts others, the first word of its own."""
    first, *rest = (word.rpartition("/")[2] for word in command)
    if _STARTERS.fullmatch(first):
        own = (word for word in rest if word not in _VERBS and not word.startswith("-"))
        return next(own, first)
    return first


__all__ = ["LaunchOptions"]
