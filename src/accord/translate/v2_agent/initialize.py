"""`initialize`: the client's name and capabilities in v2's form, the agent's answer in v1's.

What the other version has no word for is kept on the params or on the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from accord.translate.message import Json
from accord.translate.meta_store import OFFICIAL, keep, kept, taken
from accord.translate.v2_agent.client_features import Features, TranslationContext

UNKNOWN: Final = {"name": "unknown", "version": "unknown"}
# Capabilities of a v1 client that v2 does not have.
CLIENT_ONLY_V1: Final = ("fs", "terminal", "session", "plan", "subagents")
SESSION_UNSTABLE: Final = ("systemPrompt", "fork", "archive", "status", "title")
PROMPT: Final = ("image", "audio", "embeddedContext")


@dataclass(frozen=True, slots=True)
class Offer:
    """The abilities of the agent that the client's requests depend on."""

    session: bool = False
    mcp: frozenset[str] = frozenset()
    login: bool = False


def features_of(capabilities: Json) -> Features:
    """Read the features of a client from its capabilities."""
    session = _object(capabilities.get("session"))
    return Features(
        booleans=_is(_object(session.get("configOptions")), "boolean"),
        compaction=_is(session, "compaction"),
        notices=_is(session, "notices"),
        plans=_is(capabilities, "plan"),
        subagents=_is(capabilities, "subagents"),
        redactions=kept(capabilities, OFFICIAL).get("redact") is True,
    )


def introduction_to_v2(params: Json, context: TranslationContext) -> Json:
    """Convert the client's `initialize` to v2, and set the features."""
    capabilities: Json = params.pop("clientCapabilities", None) or {}
    info = params.pop("clientInfo", None)
    context.features = features_of(capabilities)
    for name in CLIENT_ONLY_V1:
        if name in capabilities:
            keep(params, OFFICIAL, name, capabilities.pop(name))
    auth = capabilities.get("auth")
    if isinstance(auth, dict) and auth.pop("terminal", False) is True:
        auth["terminal"] = {}
    params["protocolVersion"] = 2
    params["info"] = dict(UNKNOWN) if info is None else info
    params["capabilities"] = capabilities
    return params


def offer_of(result: Json) -> Offer:
    """Read the abilities of the agent from its answer."""
    session = _object(result.get("capabilities")).get("session")
    login = bool(result.get("authMethods"))
    if not isinstance(session, dict):
        return Offer(login=login)
    mcp = _object(session.get("mcp"))
    return Offer(True, frozenset(name for name in mcp if _is(mcp, name)), login)


def introduction_to_v1(result: Json, context: TranslationContext, *, unstable: bool) -> Json:
    """Convert the agent's answer to v1."""
    capabilities: Json = result.pop("capabilities", None) or {}
    methods: list[Json] = result.get("authMethods") or []
    said: Json = {"loadSession": True}
    session = capabilities.pop("session", None)
    if isinstance(session, dict):
        _session_to_v1(session, said, result, context, unstable=unstable)
    else:
        said["loadSession"] = False
    auth: Json = capabilities.pop("auth", None) or {}
    if not unstable:
        _put_aside(auth, ("status",), result)
        _put_aside(capabilities, ("providers",), result)
    if taken(capabilities, "logout", lambda value: value is False) is None and methods:
        auth["logout"] = {}
    if auth:
        said["auth"] = auth
    result["protocolVersion"] = 1
    result["agentInfo"] = result.pop("info")
    result["agentCapabilities"] = {**capabilities, **said}
    if "authMethods" in result:
        result["authMethods"] = _methods_to_v1(methods, result, context)
    return result


def _session_to_v1(
    session: Json, said: Json, result: Json, context: TranslationContext, *, unstable: bool
) -> None:
    prompt = _object(session.pop("prompt", None))
    said["promptCapabilities"] = _flags(prompt, PROMPT)
    mcp = _object(session.pop("mcp", None))
    said["mcpCapabilities"] = {**_flags(mcp, ("http",)), "sse": False}
    if unstable and _is(mcp, "acp"):
        said["mcpCapabilities"]["acp"] = True
    if not _is(mcp, "stdio"):
        context.lose(result, "mcpCapabilities", {"stdio": False}, "no stdio servers")
    if not unstable:
        _put_aside(session, SESSION_UNSTABLE, result)
    said["sessionCapabilities"] = {**session, "list": {}, "resume": {}, "close": {}}


def _flags(capabilities: Json, names: tuple[str, ...]) -> Json:
    """Convert marker objects to flags; their metadata is kept."""
    flags: Json = {name: _is(capabilities, name) for name in names}
    if isinstance(capabilities.get("_meta"), dict):
        flags["_meta"] = capabilities["_meta"]
    return flags


def _put_aside(capabilities: Json, names: tuple[str, ...], holder: Json) -> None:
    """Remove unstable capabilities unless they were switched on."""
    for name in names:
        if name in capabilities:
            keep(holder, OFFICIAL, name, capabilities.pop(name))


def _methods_to_v1(methods: list[Json], result: Json, context: TranslationContext) -> list[Json]:
    said: list[Json] = []
    dropped: list[Json] = []
    for method in methods:
        kind = method.get("type")
        if kind not in ("agent", "terminal"):
            dropped.append(method)
            continue
        method["id"] = method.pop("methodId")
        if kind == "agent":
            # In v1 the missing key means the same.
            del method["type"]
        elif isinstance(method.get("env"), list):
            method["env"] = {one["name"]: one["value"] for one in method["env"]}
        said.append(method)
    if dropped:
        context.lose(result, "authMethods", dropped, "auth method")
    return said


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _is(capabilities: Json, name: str) -> bool:
    return isinstance(capabilities.get(name), dict)
