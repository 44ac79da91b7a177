"""The words of the 2026-02 draft beside the official ones, as data and small pure functions.

For every bridge and endpoint of the draft.  Must not know: messages, sessions, or any state.

What always holds
    * A code never crosses unmapped: the draft's numbers mean other things officially.
    * What two functions of opposite direction map one to one comes back as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from accord.jsonrpc.error_codes import (
    ACCESS_DENIED,
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_SESSION_STATE,
    METHOD_NOT_FOUND,
    PERMISSION_DENIED,
    RATE_LIMITED,
    REQUEST_CANCELLED,
    RESOURCE_NOT_FOUND,
    TIMED_OUT,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from accord.translate.meta_store import DRAFT

# ---- errors

DRAFT_SESSION_NOT_FOUND: Final = -32000
DRAFT_AUTH_REQUIRED: Final = -32001
DRAFT_PERMISSION_DENIED: Final = -32002
DRAFT_CANCELLED: Final = -32003
DRAFT_RESOURCE_NOT_FOUND: Final = -32004
DRAFT_ACCESS_DENIED: Final = -32005
DRAFT_INVALID_SESSION_STATE: Final = -32006
DRAFT_CAPABILITY_NOT_SUPPORTED: Final = -32007
DRAFT_RATE_LIMITED: Final = -32008
DRAFT_TIMEOUT: Final = -32009

# What a client may do about an error, for `data.suggestion`.
SUGGESTIONS: Final = MappingProxyType(
    {
        DRAFT_SESSION_NOT_FOUND: "Start a new session with session/new.",
        DRAFT_AUTH_REQUIRED: "Log in with authenticate, then try again.",
        DRAFT_PERMISSION_DENIED: "Ask the user again, or go on without it.",
        DRAFT_CAPABILITY_NOT_SUPPORTED: "Use only what initialize has offered.",
        DRAFT_RATE_LIMITED: "Wait, then try again; wait longer each time.",
        DRAFT_TIMEOUT: "Try again with a longer time limit.",
    }
)


def with_suggestion(code: int, data: Any) -> Any:
    """The data of an error with advice, unless it has some or cannot hold any."""
    if code not in SUGGESTIONS or not (data is None or isinstance(data, dict)):
        return data
    return {"suggestion": SUGGESTIONS[code], **_members(data)}


AGENT_ERROR: Final = "agent_error"


class _Reasoned(NamedTuple):
    draft: int
    official: int
    reason: str


# Told by `data.reason` first, then by the number.
_REASONED: Final = (
    _Reasoned(DRAFT_PERMISSION_DENIED, PERMISSION_DENIED, "permission_denied"),
    _Reasoned(DRAFT_ACCESS_DENIED, ACCESS_DENIED, "access_denied"),
    _Reasoned(DRAFT_INVALID_SESSION_STATE, INVALID_SESSION_STATE, "invalid_session_state"),
    _Reasoned(DRAFT_CAPABILITY_NOT_SUPPORTED, METHOD_NOT_FOUND, "capability_not_supported"),
    _Reasoned(DRAFT_RATE_LIMITED, RATE_LIMITED, "rate_limited"),
    _Reasoned(DRAFT_TIMEOUT, TIMED_OUT, "timeout"),
)
_BY_REASON: Final = {row.reason: row for row in _REASONED}
# A model that does not answer in time is a time-out too.
_BY_REASON["model_timed_out"] = _BY_REASON["timeout"]
_BY_DRAFT: Final = {row.draft: row for row in _REASONED}
# A plain "method not found" stays one: only the reason makes it a missing capability.
_BY_OFFICIAL: Final = {row.official: row for row in _REASONED if row.official != METHOD_NOT_FOUND}
_SAME_MEANING: Final = {AUTH_REQUIRED: DRAFT_AUTH_REQUIRED, REQUEST_CANCELLED: DRAFT_CANCELLED}
_SAME_MEANING_BACK: Final = {draft: official for official, draft in _SAME_MEANING.items()}
# Official or free numbers that the draft uses for something else, or has no word for.
_DISPLACED: Final = {
    **dict.fromkeys(range(DRAFT_TIMEOUT, DRAFT_SESSION_NOT_FOUND + 1), INTERNAL_ERROR),
    UNSUPPORTED_PROTOCOL_VERSION: INVALID_PARAMS,
}


def to_draft_error(code: int, data: Any, named_session: bool = False) -> tuple[int, Any]:
    """An official error in the draft's numbers; `named_session`: the request named a session."""
    members = _members(data)
    reason = members.get("reason")
    row = _BY_REASON.get(reason) if isinstance(reason, str) else None
    row = row or _BY_OFFICIAL.get(code)
    if row is not None:
        if code == row.official and reason == row.reason:
            # The number says it all, and `from_draft_error` adds it again.
            return row.draft, _without(members, "reason")
        return row.draft, data
    if code == RESOURCE_NOT_FOUND:
        about_session = "sessionId" in members or ("uri" not in members and named_session)
        return (DRAFT_SESSION_NOT_FOUND if about_session else DRAFT_RESOURCE_NOT_FOUND), data
    if code in _SAME_MEANING:
        return _SAME_MEANING[code], data
    if code in _DISPLACED:
        return _DISPLACED[code], _with_kept(data, "code", code)
    return code, data


def from_draft_error(code: int, data: Any, session_id: str = "") -> tuple[int, Any]:
    """A draft error in official numbers; `session_id`: the session that the request named."""
    row = _BY_DRAFT.get(code)
    if row is not None:
        return row.official, _with_default(data, "reason", row.reason)
    if code == DRAFT_SESSION_NOT_FOUND:
        return RESOURCE_NOT_FOUND, _with_default(data, "sessionId", session_id)
    if code == DRAFT_RESOURCE_NOT_FOUND:
        path = _members(data).get("path")
        return RESOURCE_NOT_FOUND, _with_default(data, "uri", path if isinstance(path, str) else "")
    if code in _SAME_MEANING_BACK:
        return _SAME_MEANING_BACK[code], data
    return _restored(code, data)


def _restored(code: int, data: Any) -> tuple[int, Any]:
    """The number that `to_draft_error` had no word for, if this is one."""
    meta = _members(_members(data).get("_meta"))
    kept = _members(meta.get(DRAFT))
    official = kept.get("code")
    if not isinstance(official, int) or _DISPLACED.get(official) != code:
        return code, data
    if "data" in kept:
        return official, kept["data"]
    left = _without(meta, DRAFT)
    members = {**_members(data), "_meta": left}
    return official, members if left else _without(members, "_meta")


def _members(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _without(members: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    return {key: value for key, value in members.items() if key != name} or None


def _with_default(data: Any, name: str, value: str) -> Any:
    if isinstance(data, dict):
        return data if name in data else {**_members(data), name: value}
    return {name: value} if data is None else {name: value, "details": data}


def _with_kept(data: Any, name: str, value: Any) -> dict[str, Any]:
    if data is None or isinstance(data, dict):
        members = _members(data)
        meta = _members(members.get("_meta"))
        return {**members, "_meta": {**meta, DRAFT: {name: value}}}
    return {"_meta": {DRAFT: {name: value, "data": data}}}


# ---- how a turn ends

STOP_ERROR: Final = "error"
STOPS_TO_DRAFT: Final = MappingProxyType(
    {
        "end_turn": "end_turn",
        "cancelled": "cancelled",
        "max_tokens": "max_tokens",
        "max_turn_requests": "max_tokens",
        "refusal": "end_turn",
    }
)
# "error" is missing on purpose: officially it is not a stop reason but a failed request.
STOPS_FROM_DRAFT: Final = MappingProxyType(
    {"end_turn": "end_turn", "cancelled": "cancelled", "max_tokens": "max_tokens"}
)


def to_draft_stop(reason: str) -> str:
    """An official stop reason as the draft has it; a word that nobody knows is an end."""
    return STOPS_TO_DRAFT.get(reason, "end_turn")


# ---- permissions

OPERATION_KINDS: Final = MappingProxyType(
    {
        "file_read": "read",
        "file_write": "edit",
        "file_delete": "delete",
        "terminal_execute": "execute",
        "network_access": "fetch",
        "mcp_tool": "other",
    }
)
KIND_OPERATIONS: Final = MappingProxyType(
    {
        "read": "file_read",
        "search": "file_read",
        "edit": "file_write",
        "move": "file_write",
        "delete": "file_delete",
        "execute": "terminal_execute",
        "fetch": "network_access",
        "other": "mcp_tool",
        "think": "mcp_tool",
        "switch_mode": "mcp_tool",
    }
)
FILE_OPERATIONS: Final = frozenset({"file_read", "file_write", "file_delete"})


def known_operation(operation: str) -> str:
    """The operation that an agent means who says a tool kind instead; any other as it is.

    A rule that rejects `execute` applies to an agent that asks for `execute`.
    """
    meant = operation_of_kind(operation)
    return operation if operation in OPERATION_KINDS or meant == "mcp_tool" else meant


def kind_of_operation(operation: str) -> str:
    """The tool kind that an operation of the draft stands for."""
    return OPERATION_KINDS.get(operation, "other")


def operation_of_kind(kind: str) -> str:
    """The operation of the draft that a tool kind stands for."""
    return KIND_OPERATIONS.get(kind, "mcp_tool")


class PermissionOption(NamedTuple):
    """An option to offer officially for a permission of the draft, and the draft's answer."""

    option_id: str
    kind: str
    name: str
    granted: bool
    scope: str | None
    remember: bool


PERMISSION_OPTIONS: Final = (
    PermissionOption("once", "allow_once", "Allow once", True, "once", False),
    PermissionOption("session", "allow_always", "Allow for this session", True, "session", True),
    PermissionOption(
        "workspace", "allow_always", "Allow in this workspace", True, "workspace", True
    ),
    PermissionOption("always", "allow_always", "Always allow", True, "always", True),
    PermissionOption("deny", "reject_once", "Deny", False, None, False),
    PermissionOption("deny_always", "reject_always", "Always deny", False, None, True),
)
OPTIONS_BY_ID: Final = MappingProxyType({row.option_id: row for row in PERMISSION_OPTIONS})


def grant_of(option_id: str | None) -> dict[str, Any]:
    """The draft's answer for the option that was chosen; None, or any other id, grants nothing."""
    row = OPTIONS_BY_ID.get(option_id) if option_id is not None else None
    if row is None:
        return {"granted": False}
    grant: dict[str, Any] = {"granted": row.granted, "remember": row.remember}
    if row.scope is not None:
        grant["scope"] = row.scope
    return grant


def option_kinds_for(granted: bool, scope: str | None, remember: bool) -> tuple[str, ...]:
    """The kinds of official option that say what the draft's user said, the best one first."""
    lasting = remember or scope not in (None, "once")
    if granted:
        return ("allow_always", "allow_once") if lasting else ("allow_once",)
    return ("reject_always", "reject_once") if remember else ("reject_once",)


def choose_option(
    granted: bool, scope: str | None, remember: bool, options: Iterable[tuple[str, str]]
) -> str | None:
    """The id of the option among (id, kind) pairs that fits; None means: outcome cancelled."""
    offered = list(options)
    for wanted in option_kinds_for(granted, scope, remember):
        for option_id, kind in offered:
            if kind == wanted:
                return option_id
    return None


# ---- tool calls

STATUSES_FROM_DRAFT: Final = MappingProxyType(
    {
        "pending": "pending",
        "awaiting_permission": "pending",
        "in_progress": "in_progress",
        "completed": "completed",
        "failed": "failed",
        "denied": "failed",
        "cancelled": "failed",
    }
)
# The same for our own client, which knows that a call can be denied or cancelled.
DETAILED_STATUSES: Final = MappingProxyType(
    {**STATUSES_FROM_DRAFT, "denied": "denied", "cancelled": "cancelled"}
)
# Those that are told by their own name besides.
NAMED_STATUSES: Final = frozenset({"awaiting_permission", "denied"})
FINAL_STATUSES: Final = frozenset({"completed", "failed", "denied", "cancelled"})
NEXT_STATUSES: Final = MappingProxyType(
    {
        "pending": frozenset({"awaiting_permission", "in_progress", "cancelled"}),
        "awaiting_permission": frozenset({"in_progress", "denied"}),
        "in_progress": frozenset({"completed", "failed", "cancelled"}),
        **dict.fromkeys(FINAL_STATUSES, frozenset[str]()),
    }
)
# All ways that lead from one status to a later one; what is missing here is not a step forward.
_STEPS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = MappingProxyType(
    {
        ("pending", "awaiting_permission"): ("awaiting_permission",),
        ("pending", "in_progress"): ("in_progress",),
        ("pending", "completed"): ("in_progress", "completed"),
        ("pending", "failed"): ("in_progress", "failed"),
        ("pending", "denied"): ("awaiting_permission", "denied"),
        ("pending", "cancelled"): ("cancelled",),
        ("awaiting_permission", "in_progress"): ("in_progress",),
        ("awaiting_permission", "completed"): ("in_progress", "completed"),
        ("awaiting_permission", "failed"): ("in_progress", "failed"),
        ("awaiting_permission", "denied"): ("denied",),
        # The draft lets nobody cancel while permission is open.
        ("awaiting_permission", "cancelled"): ("denied",),
        ("in_progress", "completed"): ("completed",),
        ("in_progress", "failed"): ("failed",),
        # Work that had begun before it was asked for cannot be denied any more.
        ("in_progress", "denied"): ("failed",),
        ("in_progress", "cancelled"): ("cancelled",),
    }
)


def steps_to(now: str, wanted: str) -> tuple[str, ...]:
    """The statuses to send, in order, so that a call gets from one to another by legal steps.

    Nothing when it is there already, is final, or would have to go back.
    """
    return _STEPS.get((now, wanted), ())


_KINDS_BY_TOOL: Final = (
    ("fs/read", "read"),
    ("fs/write", "edit"),
    ("fs/delete", "delete"),
    ("terminal/", "execute"),
    ("web/", "fetch"),
    ("http", "fetch"),
    ("search", "search"),
    ("grep", "search"),
)


def kind_of_tool(tool: str) -> str:
    """The official kind of a call, by the start of the tool's name."""
    return next((kind for start, kind in _KINDS_BY_TOOL if tool.startswith(start)), "other")


def title_of_tool(tool: str, given: Any) -> str:
    """A title for a call: the tool, and the path or command that it works on."""
    for name in ("path", "command"):
        subject = _members(given).get(name)
        if isinstance(subject, str):
            return f"{tool} {subject}"
    return tool


# ---- messages

# Ids of messages that a bridge made of the draft's `index` and `final`: the draft needs none back.
MADE_MESSAGE: Final = "d26-message-"


# ---- plans

_PLAN_STATUSES: Final = frozenset({"pending", "in_progress", "completed"})
DEFAULT_PLAN_ID: Final = "main"
DEFAULT_PRIORITY: Final = "medium"


def from_draft_plan_status(status: str) -> str:
    """The status of a plan step as v1 has it; where it differs, the original is to be kept.

    What was skipped, cancelled or has failed was not done.
    """
    return status if status in _PLAN_STATUSES else "pending"


# ---- terminals

# In the order of their numbers, from 1 on, as POSIX systems have them.
_SIGNAL_NAMES: Final = (
    *("HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE"),
    *("KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM"),
)
_SIGNALS: Final = MappingProxyType(
    {f"SIG{name}": number for number, name in enumerate(_SIGNAL_NAMES, 1)}
)
UNKNOWN_EXIT: Final = -1


def exit_code_of(exit_code: int | None, signal: str | None) -> int:
    """The exit code that the draft demands, as a shell tells it for a signal."""
    if exit_code is not None:
        return exit_code
    name = (signal or "").upper()
    number = _SIGNALS.get(name if name.startswith("SIG") else f"SIG{name}")
    return UNKNOWN_EXIT if number is None else 128 + number
