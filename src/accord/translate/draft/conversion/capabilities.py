"""Capabilities of the draft in v1's form, and back.

What a bridge cannot carry is off on the far side, whatever the near side said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from accord.protocol.capabilities import supports
from accord.schema import draft, v1
from accord.translate.draft.conversion.meta_restore import fits, keep_all, taken
from accord.translate.message import Json
from accord.translate.meta_store import DRAFT, is_number, kept

UNKNOWN_PROGRAM: Final = {"name": "unknown", "version": "0"}
# With this custom capability a client also accepts updates that only the official versions have.
ACP_UPDATES: Final = "acpUpdates"
# The capabilities of v1 that such updates need; without it they are off behind the draft.
_CARRIED: Final = ("session", "plan", "subagents")
_UNSTABLE: Final = frozenset({"plan", "subagents"})
_PROMPT_FLAGS: Final = ("image", "audio", "embeddedContext")


# ---- who is there


def program_to_draft(info: Json | None) -> Json:
    """Convert name and version of a program; the draft requires them."""
    if info is None:
        return dict(UNKNOWN_PROGRAM)
    made = dict(info)
    if "title" in made:
        keep_all(made, {"title": made.pop("title")})
    return made


def program_from_draft(info: Json) -> Json:
    """Convert name and version of a program to v1."""
    made = dict(info)
    had = taken(made)
    if isinstance(had.get("title"), str):
        made["title"] = had.pop("title")
    keep_all(made, had)
    return made


# ---- what the client can do


def client_to_draft(capabilities: Json, *, details: bool = False) -> Json:
    """Convert a v1 client's capabilities to the draft, and keep those that official updates need.

    With `details` it is a client of ours, which tells the draft's own abilities in `_meta` and
    takes no official updates.
    """
    fs = capabilities.get("fs") or {}
    custom = {key: value for key, value in _meta(capabilities).items() if key != DRAFT}
    had = dict(kept(capabilities, DRAFT))
    made: Json = {
        "fs": {
            "read": fs.get("readTextFile") is True,
            "write": fs.get("writeTextFile") is True,
        },
        "terminal": {"create": capabilities.get("terminal") is True},
        "ui": {"permissionDialogs": True},
    }
    if details:
        parts: Json = {part: {**made[part], **had.get(part, {})} for part in made}
        return {**parts, "_custom": custom} if custom else parts
    made["_custom"] = {**custom, ACP_UPDATES: True}
    for part in ("fs", "terminal", "ui"):
        extra = had.pop(part, None)
        if isinstance(extra, dict):
            full = {**made, part: {**extra, **made[part]}}
            made = full if fits(draft.ClientCapabilities, full) else made
    had.update(
        (name, value)
        for name, value in capabilities.items()
        if name not in ("fs", "terminal", "_meta") and value is not None
    )
    keep_all(made, had)
    return made


def client_from_draft(capabilities: Json, *, unstable: bool) -> Json:
    """Convert a draft client's capabilities to v1."""
    fs, terminal = capabilities.get("fs") or {}, capabilities.get("terminal") or {}
    custom = dict(capabilities.get("_custom") or {})
    official = custom.pop(ACP_UPDATES, None) is True
    made: Json = {
        "fs": {
            "readTextFile": fs.get("read") is True,
            "writeTextFile": fs.get("write") is True,
        },
        "terminal": terminal.get("create") is True and terminal.get("maxConcurrent") != 0,
        # The draft's options have values of any type.
        "session": {"configOptions": {"boolean": {}}},
    }
    had = dict(kept(capabilities, DRAFT))
    for name in _CARRIED:
        value = had.get(name)
        if official and value is not None and (unstable or name not in _UNSTABLE):
            full = {**made, name: {**made.get(name, {}), **value} if isinstance(value, dict) else 0}
            made = full if fits(v1.ClientCapabilities, full) else made
    meta = {**custom, **{key: one for key, one in _meta(capabilities).items() if key != DRAFT}}
    if meta:
        made["_meta"] = meta
    kept_parts = {
        "fs": {key: value for key, value in fs.items() if key not in ("read", "write")},
        "terminal": {key: value for key, value in terminal.items() if key != "create"},
        "ui": capabilities.get("ui") or {},
    }
    keep_all(made, {name: part for name, part in kept_parts.items() if part})
    return made


# The draft's names for capabilities that an agent may require of its client.
_REQUIRED: Final = {
    "fs.readTextFile": ("fs", "read"),
    "fs.writeTextFile": ("fs", "write"),
    "terminal": ("terminal", "create"),
}


def required_in_draft(paths: Iterable[str]) -> Json:
    """Convert required client capabilities from paths of v1 to the draft's list."""
    made: Json = {}
    for path in paths:
        if path in _REQUIRED:
            part, name = _REQUIRED[path]
            made.setdefault(part, {})[name] = True
    return made


def path_in_draft(path: str) -> str:
    """Return the draft's path for a client capability of v1."""
    if path.startswith("_meta."):
        return f"_custom.{path.removeprefix('_meta.')}"
    return ".".join(_REQUIRED.get(path, (path,)))


def offered_in_draft(capabilities: Mapping[str, Any]) -> Json:
    """Convert v1's client capabilities to the draft, for a client that mixed both at first."""

    def has(path: str) -> bool:
        return supports(capabilities, path, booleans=True)

    return {
        "fs": {"read": has("fs.readTextFile"), "write": has("fs.writeTextFile")},
        "terminal": {"create": has("terminal")},
    }


class Missing(NamedTuple):
    """A capability that is required and not offered, or a number that is too small."""

    path: str
    least: int | float | None = None

    def __str__(self) -> str:
        return self.path if self.least is None else f"{self.path} of at least {self.least}"


def missing(required: Json, offered: Json, path: str = "", *, words: bool) -> list[Missing]:
    """Return what is required and not offered; `words`: texts are compared too."""
    found: list[Missing] = []
    for name, wanted in required.items():
        if name == "_meta" or wanted is False or wanted is None:
            continue
        here, value = f"{path}{name}", offered.get(name)
        if isinstance(wanted, dict):
            inner = value if isinstance(value, dict) else {}
            found += missing(wanted, inner, f"{here}.", words=words)
        elif is_number(wanted):
            enough = is_number(value) and value >= wanted
            found += [] if enough else [Missing(here, wanted)]
        elif value != wanted and (words or wanted is True):
            found.append(Missing(here))
    return found


def _meta(holder: Json) -> dict[str, Any]:
    meta = holder.get("_meta")
    return meta if isinstance(meta, dict) else {}


# ---- what the agent can do


def agent_to_draft(capabilities: Json) -> Json:
    """Convert a v1 agent's capabilities to the draft."""
    prompt = capabilities.get("promptCapabilities") or {}
    mcp = capabilities.get("mcpCapabilities") or {}
    session = capabilities.get("sessionCapabilities") or {}
    loads = capabilities.get("loadSession") is True
    persists = loads or any(session.get(name) is not None for name in ("list", "resume"))
    transports = ["stdio", *(name for name in ("http", "sse", "acp") if mcp.get(name) is True)]
    made: Json = {
        "loadSession": loads,
        "mcpCapabilities": {"servers": True, "transport": transports},
        "promptCapabilities": {
            "streaming": True,
            "cancellation": True,
            "attachments": prompt.get("embeddedContext") is True,
        },
        "sessionCapabilities": {"modes": [], "configOptions": [], "persistence": persists},
    }
    had = dict(kept(capabilities, DRAFT))
    original = had.pop("capabilities", None)
    if isinstance(original, dict):
        full = {
            name: {**part, **original.get(name, {})} if isinstance(part, dict) else part
            for name, part in made.items()
            if isinstance(original.get(name, {}), dict)
        }
        made = full if fits(draft.AgentCapabilities, full) else made
    custom = {key: value for key, value in _meta(capabilities).items() if key != DRAFT}
    if custom:
        made["_custom"] = custom
    had["promptCapabilities"] = {name: prompt.get(name) is True for name in _PROMPT_FLAGS}
    keep_all(made, had)
    return made


def agent_from_draft(capabilities: Json, *, unstable: bool, details: bool = False) -> Json:
    """Convert a draft agent's capabilities to v1; with `details` all of them are in `_meta` too."""
    prompt = capabilities.get("promptCapabilities") or {}
    mcp = capabilities.get("mcpCapabilities") or {}
    transports = mcp.get("transport") or []
    serves = mcp.get("servers") is not False
    names = ("http", "sse", "acp") if unstable else ("http", "sse")
    made: Json = {
        "loadSession": capabilities.get("loadSession") is True,
        "promptCapabilities": {
            # The draft has no capability for each kind of block: every agent accepts all of them.
            "image": True,
            "audio": True,
            "embeddedContext": prompt.get("attachments") is True,
        },
        "mcpCapabilities": {name: serves and name in transports for name in names},
        # The bridge itself ends sessions: by a cancel, and by forgetting them.
        "sessionCapabilities": {"close": {}},
    }
    had = dict(kept(capabilities, DRAFT))
    flags = had.pop("promptCapabilities", None)
    if isinstance(flags, dict):
        made["promptCapabilities"] = {name: flags.get(name) is True for name in _PROMPT_FLAGS}
    custom = capabilities.get("_custom") or {}
    others = {key: value for key, value in _meta(capabilities).items() if key != DRAFT}
    if custom or others:
        made["_meta"] = {**custom, **others}
    had["capabilities"] = {
        name: capabilities[name]
        for name in ("mcpCapabilities", "promptCapabilities", "sessionCapabilities")
        if name in capabilities
    }
    keep_all(made, {**had, "capabilities": capabilities} if details else had)
    return made
