"""Patterns of rules for paths, hosts and MCP tools.

It must not know rules, requests or decisions.

Always holds
    * A part of a name never matches the whole: `/a/b` does not match `/a/bc`.
    * Matching takes at most pattern length times text length; no regular expression is built.
    * A value that cannot be read safely is None, and None matches nothing.

In a pattern `*` is any run of characters within one part of a path, `?` is one character and `**`
is any number of parts; everything else is itself.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

P = TypeVar("P")
T = TypeVar("T")

ANY_DEPTH = "**"
WILD = frozenset("*?")

# A scheme, a drive, a share, a home or a variable: not a plain path of this machine.
_FOREIGN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[A-Za-z]:[\\/]|\\\\|~|\$|file:", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_URL_JUNK = re.compile(r"[\x00-\x20\x7f\\]")


def _spread(
    pattern: Sequence[P],
    items: Sequence[T],
    is_star: Callable[[P], bool],
    fits: Callable[[P, T], bool],
) -> bool:
    """Match with stars for any run of characters; backtracking to the last star suffices."""
    at, seen = 0, 0
    star, mark = -1, 0
    while seen < len(items):
        if at < len(pattern) and is_star(pattern[at]):
            star, mark = at, seen
            at += 1
        elif at < len(pattern) and fits(pattern[at], items[seen]):
            at, seen = at + 1, seen + 1
        elif star >= 0:
            mark += 1
            at, seen = star + 1, mark
        else:
            return False
    return all(is_star(part) for part in pattern[at:])


def wildcard(pattern: str, text: str) -> bool:
    """Whether the whole text fits a pattern of `*` and `?`."""
    return _spread(pattern, text, lambda c: c == "*", lambda c, t: c in ("?", t))


@dataclass(frozen=True, slots=True)
class PlacedPath:
    """A path of this machine: its real path, with links resolved, and its spelling."""

    real: str
    spelled: str


def place(path: str, cwd: str | None) -> PlacedPath | None:
    """The real path, with links and `..` resolved; None when it is not certain."""
    if not path or "\0" in path or _FOREIGN.match(path):
        return None
    if not path.startswith("/"):
        if cwd is None:
            return None
        path = f"{cwd}/{path}"
    try:
        return PlacedPath(os.path.realpath(path), os.path.normpath(path))
    except (OSError, ValueError):
        return None


def beneath(path: str, directory: str) -> bool:
    """Whether a real path is the real directory or lies in it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern whose links were resolved when it was made, not when it is used.

    Otherwise swapping a directory for a link would move the rule along with it.
    """

    parts: tuple[str, ...]
    absolute: bool
    literal: bool

    @classmethod
    def of(cls, pattern: str, *, literal: bool = False) -> PathPattern:
        """Read a pattern; a relative one is beneath the session's directory.

        Raises:
            ValueError: it is empty, or leaves the session's directory.
        """
        if not pattern or "\0" in pattern:
            raise ValueError("a path pattern must not be empty")
        expanded = pattern if literal else os.path.expanduser(pattern)
        absolute = expanded.startswith("/")
        parts = [part for part in expanded.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise ValueError(f"a path pattern must not contain '..': {pattern!r}")
        if not literal and expanded.endswith("/"):
            parts.append(ANY_DEPTH)
        if absolute:
            parts = _settled(parts, literal=literal)
        if not literal and parts and parts[-1] == ANY_DEPTH:
            # A directory is not one of the things beneath it.
            parts.insert(len(parts) - 1, "*")
        return cls(tuple(parts), absolute, literal)

    def matches(self, path: str, cwd: str | None) -> bool:
        """Whether an absolute path without links fits, `cwd` being the session's directory."""
        if not self.absolute:
            if cwd is None or not beneath(path, cwd):
                return False
            path = path[len(cwd.rstrip("/")) :]
        items = [part for part in path.split("/") if part]
        if self.literal:
            return items == list(self.parts)
        return _spread(self.parts, items, lambda part: part == ANY_DEPTH, wildcard)


def _settled(parts: list[str], *, literal: bool) -> list[str]:
    """Resolve the links of the leading parts that have no wildcard."""
    count = len(parts)
    if not literal:
        count = next((i for i, part in enumerate(parts) if WILD & set(part)), count)
    real = os.path.realpath("/" + "/".join(parts[:count]))
    return [part for part in real.split("/") if part] + parts[count:]


def host_of(url: str) -> str | None:
    """The host of a URL; None when two parsers could disagree on it."""
    if _URL_JUNK.search(url):
        return None
    try:
        parts = urlsplit(url)
        name = parts.hostname
    except ValueError:
        return None
    return None if not parts.scheme or not name else plain_host(name)


def plain_host(host: str) -> str | None:
    """A host in canonical spelling: lower case, ASCII, no trailing dot; None if it is none."""
    name = host.strip("[]") if ":" in host else host
    try:
        return ipaddress.ip_address(name).compressed
    except ValueError:
        pass
    try:
        # Python's codec, because it refuses what it cannot map instead of guessing.
        ascii_name = name.lower().rstrip(".").encode("idna").decode("ascii").lower()
    except UnicodeError:
        return None
    if not _HOST.fullmatch(ascii_name):
        return None
    # `0x7f.1` and `2130706433` are addresses to some readers and names to others.
    last = ascii_name.rsplit(".", 1)[-1]
    return None if last.isdigit() or last.startswith("0x") else ascii_name


def host_pattern(pattern: str) -> str:
    """The canonical spelling of a host rule: a host, or `*.` and a host for all subdomains.

    Raises:
        ValueError: it is neither of them.
    """
    below = pattern.startswith("*.")
    name = plain_host(pattern[2:] if below else pattern)
    if name is None:
        raise ValueError(f"not a host or *.host: {pattern!r}")
    return f"*.{name}" if below else name


def host_matches(pattern: str, host: str) -> bool:
    """Whether a host in plain spelling fits a pattern in plain spelling."""
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def tool_matches(pattern: str, tool: str) -> bool:
    """Whether `server/tool` fits a pattern of the same form."""
    server, slash, name = tool.partition("/")
    wanted_server, wanted_slash, wanted_name = pattern.partition("/")
    if not slash or not wanted_slash:
        return False
    return wildcard(wanted_server, server) and wildcard(wanted_name, name)
