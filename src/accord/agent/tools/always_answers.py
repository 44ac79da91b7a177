"""What the answer "always" covers: the act that was asked for, unless the user chose more.

What always holds
    * The name of an option says what choosing it stores, and only that is compared later.
    * A command is its exact line in one folder, a file is its real path, an MCP tool is one tool of
      one server.  Anything else is the same call with the same input.
    * A wide answer ("every command") is an option of its own.  It never covers a file that is
      executed automatically, nor one outside the session's folders.
"""

from __future__ import annotations

import json
import os.path
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from accord.agent.session.paths import relative
from accord.agent.tools.permission_request import WIDE_OPTION_ID, PermissionOption
from accord.machine.filesystem.auto_executed_files import is_executed
from accord.schema.codec import to_python
from accord.schema.struct import Raw

if TYPE_CHECKING:
    from accord.agent.session.paths import HasRoots
    from accord.agent.session.session_state import SessionState

COMMAND_CHARACTERS_MAX = 80
"""A longer command is named "this exact command"; the question shows it."""

FILES_NAMED_MAX = 3
"""More files are counted in the name of an option; the question lists them."""

TITLE_CHARACTERS_MAX = 80

CHANGING = frozenset({"edit", "delete", "move"})
_DOING = {"edit": "editing", "delete": "deleting", "move": "moving"}
_EVERY = {"edit": "every edit", "delete": "every deletion", "move": "every move"}
_MCP = "mcp__"


class Part(NamedTuple):
    """One part of an act: its own key, and the key of the wide answer that covers it too."""

    key: str
    wide: str | None = None


class Act(NamedTuple):
    """The part of a request that remembered answers are about.

    `words` describes all parts, `every` what the wide answer covers; it is empty if there is none.
    """

    parts: tuple[Part, ...]
    words: str
    every: str = ""
    # Whether it changes a file that is executed automatically.
    is_executed: bool = False


# ---- acts


def command_act(
    session: HasRoots, line: str, folder: str, env: Mapping[str, str] | None = None
) -> Act:
    """Run this exact command in this folder, with these additional variables."""
    real = os.path.realpath(folder)
    key = _key("execute", line, real, sorted((env or {}).items()))
    is_short = len(line) <= COMMAND_CHARACTERS_MAX and line.isprintable() and "`" not in line
    what = f"`{line}`" if is_short else "this exact command"
    if env:
        what = f"{what} with the same variables"
    here = real == os.path.realpath(session.roots[0])
    where = "in this folder" if here else f"in {_near(session, folder)}"
    return Act((Part(key, _key("every", "execute")),), f"{what} {where}", "every command")


def files_act(session: HasRoots, changes: Iterable[tuple[str, str]]) -> Act:
    """Change these files: pairs of a kind (`edit` or `delete`) and an absolute path."""
    parts: list[Part] = []
    named: dict[str, list[str]] = {}
    any_executed = False
    for kind, path in changes:
        executed = is_executed(path)
        any_executed |= executed
        is_usual = not executed and _is_inside(session, path)
        parts.append(
            Part(_key(kind, os.path.realpath(path)), _key("every", kind) if is_usual else None)
        )
        named.setdefault(kind, []).append(_near(session, path))
    words = " and ".join(_files_words(kind, names) for kind, names in named.items())
    every = ""
    if len(named) == 1 and all(part.wide for part in parts):
        every = f"{_EVERY[next(iter(named))]} in {_folders_words(session)}"
    return Act(tuple(parts), words, every, any_executed)


def move_act(session: HasRoots, source: str, target: str) -> Act:
    """Move this file to this path."""
    paths = (source, target)
    executed = any(map(is_executed, paths))
    is_usual = not executed and all(_is_inside(session, path) for path in paths)
    key = _key("move", *map(os.path.realpath, paths))
    words = f"moving {_near(session, source)} to {_near(session, target)}"
    every = f"{_EVERY['move']} in {_folders_words(session)}" if is_usual else ""
    return Act((Part(key, _key("every", "move") if is_usual else None),), words, every, executed)


def tool_act(server: str, tool: str, definition: object = None) -> Act:
    """Call this tool of this MCP server, whatever its arguments; `definition` is the server's."""
    part = Part(_key("mcp", server, tool, definition), _key("mcp", server, None, definition))
    return Act((part,), f"the MCP tool {server}/{tool}", f"every tool of the MCP server {server}")


def page_act(url: str, host: str, *, shown: str, is_private: bool) -> Act:
    """Fetch this page; `shown` is the URL without credentials."""
    part = Part(_key("fetch", url, is_private), _key("fetch-host", host, is_private))
    where = " in your own network" if is_private else ""
    return Act((part,), f"fetching {_cut(shown)}", f"every page of {host}{where}")


def call_act(
    session: HasRoots,
    kind: str,
    name: str | None,
    title: str,
    locations: Sequence[Any],
    raw_input: Any,
) -> Act:
    """The act that a tool call describes."""
    paths = [one.path for one in locations]
    if kind == "move" and len(paths) == 2:
        return move_act(session, *paths)
    if kind in _DOING and kind != "move" and paths:
        return files_act(session, [(kind, path) for path in paths])
    server, _, tool = (name or "")[len(_MCP) :].partition("__")
    if name is not None and name.startswith(_MCP) and tool:
        return tool_act(server, tool)
    given = to_python(raw_input) if isinstance(raw_input, Raw) else None
    places = [os.path.realpath(path) for path in paths]
    key = _key("call", kind, name, title, given, places)
    words = f"“{_cut(title)}”" + ("" if given is None else " with this input")
    is_wide = name is not None and kind not in CHANGING
    wide = _key("every", "call", kind, name) if is_wide else None
    every = f"every call of {name}" if is_wide else ""
    executed = kind in CHANGING and any(map(is_executed, paths))
    return Act((Part(key, wide),), words, every, executed)


# ---- answers


def decided(session: SessionState, act: Act) -> bool | None:
    """Look up earlier answers: True if they allow every part, False if one was rejected."""
    answers = [_decided(session, part) for part in act.parts]
    if False in answers:
        return False
    return True if answers and None not in answers else None


def _decided(session: SessionState, part: Part) -> bool | None:
    answer = session.decisions.get(part.key)
    if answer is None and part.wide is not None:
        answer = session.decisions.get(part.wide)
    return answer


def remember(session: SessionState, act: Act, chosen: PermissionOption, *, is_own: bool) -> None:
    """Store a lasting answer; `is_own` if the options are those of `usual_options`."""
    if not chosen.is_remembered:
        return
    is_wide = is_own and chosen.option_id == WIDE_OPTION_ID and chosen.allows
    keys = [part.wide if is_wide else part.key for part in act.parts]
    session.remember_all([key for key in keys if key is not None], allowed=chosen.allows)


# ---- inside


def _key(*parts: object) -> str:
    return json.dumps(parts, default=str)


def _is_inside(session: HasRoots, path: str) -> bool:
    real = os.path.realpath(path)
    roots = (os.path.realpath(root).rstrip("/") for root in session.roots)
    return any(real.startswith(f"{root}/") for root in roots)


def _near(session: HasRoots, path: str) -> str:
    short = relative(session, path)
    return path if short.startswith("..") else short


def _folders_words(session: HasRoots) -> str:
    return "this folder" if len(session.roots) == 1 else "the session's folders"


def _files_words(kind: str, names: Sequence[str]) -> str:
    doing = _DOING[kind]
    if len(names) > FILES_NAMED_MAX:
        return f"{doing} these {len(names)} files"
    return f"{doing} {names[0] if len(names) == 1 else _listed(names)}"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_CHARACTERS_MAX else f"{line[:TITLE_CHARACTERS_MAX]}…"
