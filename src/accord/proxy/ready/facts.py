"""What a tool call, a permission request or a service request is about, for rules to judge.

Plain JSON of v1 or v2 in, a `PermissionRequest` out.  What is not said is not guessed.
"""

from __future__ import annotations

import shlex
from typing import Any, Final

from accord.client.asking import PermissionOption, PermissionRequest, own_request
from accord.client.changed_files import input_paths
from accord.client.commands import terminal_line
from accord.client.patterns import host_of

Json = dict[str, Any]

_LOOKING: Final = frozenset({"read", "search", "think", "fetch", "switch_mode", "other"})


def merged(known: Json, news: Json) -> Json:
    """A tool call after an update of it; what is absent or null stays."""
    return {**known, **{key: value for key, value in news.items() if value is not None}}


def of_call(session_id: str, call: Json, asked: Json | None = None) -> PermissionRequest:
    """What a tool call does; `asked` are the params of the request for permission, if it asked."""
    asked = asked or {}
    subject = asked.get("subject")
    subject = subject if isinstance(subject, dict) else {}
    given = call.get("rawInput")
    given = given if isinstance(given, dict) else {}
    kind = _text(call.get("kind")) or "other"
    command = _text(subject.get("command")) or _command(given, kind)
    if command is not None and kind == "other":
        kind = "execute"
    diffs = _diffs(call)
    if diffs and kind in _LOOKING:
        # Whoever shows a change is not just looking, whatever it says.
        kind = "edit"
    places = [_text(one.get("path")) for one in _objects(call.get("locations"))]
    places += input_paths(given, kind)
    url = _text(given.get("url"))
    return PermissionRequest(
        session_id=session_id,
        title=_text(asked.get("title")) or _text(call.get("title")) or "",
        options=_options(asked),
        kind=kind,
        paths=tuple(dict.fromkeys(path for path in (*diffs, *places) if path)),
        command=command,
        cwd=_text(subject.get("cwd")),
        mcp_tool=_mcp_tool(call, given),
        hosts=() if url is None else (host_of(url) or url,),
    )


def of_service(session_id: str, method: str, params: Json) -> PermissionRequest | None:
    """What a request for a file or a terminal does; None for a request of another kind."""
    path = _text(params.get("path")) or ""
    if method == "fs/read_text_file":
        return own_request(session_id, f"Read {path}", "read", "read", paths=(path,))
    if method == "fs/write_text_file":
        return own_request(session_id, f"Write {path}", "edit", "write", paths=(path,))
    if method != "terminal/create":
        return None
    words = [word for word in _list(params.get("args")) if isinstance(word, str)]
    env = {str(one.get("name")): str(one.get("value")) for one in _objects(params.get("env"))}
    line = terminal_line(_text(params.get("command")) or "", words, env)
    cwd = _text(params.get("cwd"))
    return own_request(session_id, f"Run {line}", "execute", "terminal", command=line, cwd=cwd)


def _options(asked: Json) -> tuple[PermissionOption, ...]:
    return tuple(
        PermissionOption(str(one.get("optionId")), str(one.get("name")), str(one.get("kind")))
        for one in _objects(asked.get("options"))
    )


def _diffs(call: Json) -> list[str]:
    """The files whose changes a call shows, in the words of either version."""
    found: list[str] = []
    for item in _objects(call.get("content")):
        if item.get("type") != "diff":
            continue
        changes = [item, *_objects(item.get("changes"))]
        for change in changes:
            found += [path for key in ("path", "oldPath") if (path := _text(change.get(key)))]
    return found


def _command(given: Json, kind: str) -> str | None:
    command = given.get("command") if kind in ("execute", "other") else None
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return shlex.join(command)
    return _text(command)


def _mcp_tool(call: Json, given: Json) -> str | None:
    name = _text(call.get("name")) or ""
    if name.startswith("mcp__") and name.count("__") >= 2:
        server, _, tool = name.removeprefix("mcp__").partition("__")
        return f"{server}/{tool}"
    server, tool = _text(given.get("server")) or "", _text(given.get("tool")) or ""
    return f"{server}/{tool}" if server and tool else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: object) -> list[Json]:
    return [one for one in _list(value) if isinstance(one, dict)]


__all__ = ["merged", "of_call", "of_service"]
