"""Turns a tool call, a permission request or a service request into facts for the rules.

The input is plain JSON of v1 or v2, the output a `PermissionRequest`.  Missing facts are not
guessed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from accord.client.permissions.command_patterns import terminal_line
from accord.client.permissions.path_and_host_patterns import host_of
from accord.client.permissions.request import PermissionOption, PermissionRequest, own_request
from accord.client.permissions.tool_call_input import (
    brief_input,
    input_command,
    input_folder,
    input_paths,
    is_given_more,
)
from accord.transcript.items.tool_call import DEFAULT_KIND, KINDS_OF_TOOL

Json = dict[str, Any]

TEXT_CHARACTERS_MAX: Final = 64 * 1024
"""A longer text of a call is not kept; nobody reads it before approving."""

_PLAIN: Final = ("toolCallId", "title", "kind", "status", "name")
_READ_ONLY: Final = frozenset({"read", "search", "think", "fetch", "switch_mode", "other"})


def merged(known: Json, news: Json) -> Json:
    """Return a tool call after an update; absent or null fields stay."""
    return {**known, **{key: value for key, value in news.items() if value is not None}}


def of_call(session_id: str, call: Json, asked: Json | None = None) -> PermissionRequest:
    """Describe a tool call; `asked` are the params of its permission request, if there is one."""
    asked = asked or {}
    subject = asked.get("subject")
    # Other subjects have no command; one there would hide the command of the call.
    is_command = isinstance(subject, dict) and subject.get("type") == "command"
    subject = subject if isinstance(subject, dict) and is_command else {}
    given = call.get("rawInput")
    given = given if isinstance(given, dict) else {"input": given}
    kind = _text(call.get("kind")) or DEFAULT_KIND
    if kind not in KINDS_OF_TOOL:
        # Every client reads an unknown kind this way.
        kind = DEFAULT_KIND
    command = _text(subject.get("command")) or input_command(given, kind)
    if command is not None:
        # A call with a command executes something, whatever its kind says.
        kind = "execute"
    diffs = changes_of(call)
    if diffs and kind in _READ_ONLY:
        # A call with a diff edits something, whatever its kind says.
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
        cwd=_text(subject.get("cwd")) or (input_folder(given) if command is not None else None),
        mcp_tool=_mcp_tool(call, given),
        hosts=() if url is None else (host_of(url) or url,),
        is_given_more=command is not None and is_given_more(given),
    )


def of_service(session_id: str, method: str, params: Json) -> PermissionRequest | None:
    """Describe a request for a file, a terminal or an MCP tool; None for other requests."""
    path = _text(params.get("path")) or ""
    if method == "fs/read_text_file":
        return own_request(session_id, f"Read {path}", "read", "read", paths=(path,))
    if method == "fs/write_text_file":
        return own_request(session_id, f"Write {path}", "edit", "write", paths=(path,))
    if method == "mcp/message" and params.get("method") == "tools/call":
        inner = params.get("params")
        tool = _text(inner.get("name")) if isinstance(inner, dict) else None
        server = _text(params.get("serverId")) or ""
        name = f"{server}/{tool or ''}"
        asked = own_request(session_id, f"Call {name}", "other", "agent")
        return replace(asked, mcp_tool=name)
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


def changes_of(call: Json) -> list[str]:
    """Return the files in the diffs of a call, of either version."""
    found: list[str] = []
    for item in _objects(call.get("content")):
        if item.get("type") != "diff":
            continue
        changes = [item, *_objects(item.get("changes"))]
        for change in changes:
            found += [path for key in ("path", "oldPath") if (path := _text(change.get(key)))]
    return found


def texts_of(call: Json) -> list[str]:
    """Return the texts in the content of a call."""
    blocks = [item.get("content") for item in _objects(call.get("content"))]
    return [text for block in _objects(blocks) if (text := _text(block.get("text")))]


def brief(patch: Json) -> Json:
    """Copy the parts of a tool call or patch that the rules and approvals need."""
    told = {key: patch[key] for key in _PLAIN if isinstance(patch.get(key), str)}
    given = patch.get("rawInput")
    if given is not None:
        told["rawInput"] = brief_input(given if isinstance(given, dict) else {"input": given})
    if "locations" in patch:
        places = [_text(one.get("path")) for one in _objects(patch["locations"])]
        told["locations"] = [{"path": path} for path in places if path]
    if "content" in patch:
        changes = [{"type": "diff", "path": path} for path in changes_of(patch)]
        texts = [{"content": {"text": text}} for text in texts_of(patch)]
        told["content"] = [*changes, *(one for one in texts if _is_short(one))]
    return told


def _is_short(item: Json) -> bool:
    return len(item["content"]["text"]) <= TEXT_CHARACTERS_MAX


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
