"""The error codes of the 2026-02 draft beside the official ones, and advice for each.

What always holds
    * A code never crosses unmapped: the draft's numbers mean other things officially.
    * What two functions of opposite direction map one to one comes back as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
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

# Advice about errors for clients, in `data.suggestion`.
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


# Looked up by `data.reason` first, then by the code.
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
# Official or free codes that the draft uses for something else, or lacks.
_DISPLACED: Final = {
    **dict.fromkeys(range(DRAFT_TIMEOUT, DRAFT_SESSION_NOT_FOUND + 1), INTERNAL_ERROR),
    UNSUPPORTED_PROTOCOL_VERSION: INVALID_PARAMS,
}


def to_draft_error(code: int, data: Any, named_session: bool = False) -> tuple[int, Any]:
    """Convert an official error to the draft's codes; `named_session`: the request named one."""
    members = _members(data)
    reason = members.get("reason")
    row = _BY_REASON.get(reason) if isinstance(reason, str) else None
    row = row or _BY_OFFICIAL.get(code)
    if row is not None:
        if code == row.official and reason == row.reason:
            # The code implies it, and `from_draft_error` adds it again.
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
    """Convert a draft error to official codes; `session_id`: the session that the request named."""
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
    """Return the code that `to_draft_error` had to replace, if it was kept."""
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
