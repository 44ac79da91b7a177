"""`initialize` and logins: the names and capabilities of both sides."""

from __future__ import annotations

from typing import Any, Final

from accord.jsonrpc.error_codes import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION, text_of
from accord.translate.adapter import Outs
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Request,
    Result,
)
from accord.translate.meta_store import OFFICIAL, is_valid, keep, taken
from accord.translate.v1_agent.session_state import Abilities, Core

OUTSIDE: Final = 2
INSIDE: Final = 1
UNKNOWN: Final = {"name": "unknown", "version": "unknown"}
# v1's session capabilities that v2 takes for granted.
BASELINE: Final = ("list", "resume", "close")


class Initialize:
    """Translates `initialize`, logins and the status of the login."""

    def __init__(self, core: Core, host: frozenset[str]) -> None:
        self._core = core
        self._host = host
        core.on_request[CLIENT, "initialize"] = self._initialize
        core.on_request[CLIENT, "auth/login"] = self._login
        core.on_request[CLIENT, "auth/logout"] = self._logout
        core.on_request[CLIENT, "auth/status"] = core.pass_to_agent

    def _initialize(self, request: Request) -> Outs:
        params = request.params
        asked = params["protocolVersion"]
        if asked < OUTSIDE:
            raise CannotTranslate(
                UNSUPPORTED_PROTOCOL_VERSION,
                text_of(UNSUPPORTED_PROTOCOL_VERSION),
                {"requested": asked, "supported": [OUTSIDE]},
            )
        params["protocolVersion"] = INSIDE
        info = params.pop("info", None)
        if info is not None:
            params["clientInfo"] = info
        params["clientCapabilities"] = self._client(params.pop("capabilities", None) or {}, params)

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._core.answer(CLIENT, request.key, answer)]
            self._core.can = abilities_of(answer.result)
            return [(CLIENT, Result(request.key, result_to_v2(answer.result)))]

        return [self._core.ask(AGENT, "initialize", params, then, instead_of=request, of=CLIENT)]

    def _client(self, said: Json, params: Json) -> Json:
        """The client's capabilities in v1: what v2 takes for granted, and the host's services."""
        capabilities: Json = dict(said)
        auth: Any = said.get("auth")
        if auth is not None:
            capabilities["auth"] = {**auth, "terminal": auth.get("terminal") is not None}
        else:
            capabilities.pop("auth", None)
        has_files = "fs" in self._host
        capabilities["fs"] = {"readTextFile": has_files, "writeTextFile": has_files}
        capabilities["terminal"] = "terminal" in self._host
        capabilities["session"] = {
            "configOptions": {"boolean": {}},
            "compaction": {},
            "notices": {},
        }
        if self._core.unstable:
            capabilities["plan"] = {}
            capabilities["subagents"] = {}
        for name in ("session", "plan", "subagents"):
            # The capabilities that a v1 client sent, if it is behind another translator.
            told = taken(params, name, lambda value: isinstance(value, dict))
            if told is not None:
                capabilities[name] = told
        return capabilities

    def _login(self, request: Request) -> Outs:
        return self._renamed(request, "authenticate")

    def _logout(self, request: Request) -> Outs:
        if not self._core.can.logout:
            # Only a restart would forget the login, and a translator does not decide that.
            said = f"{text_of(METHOD_NOT_FOUND)}: this agent cannot log out"
            raise CannotTranslate(METHOD_NOT_FOUND, said, {"method": request.method})
        return self._renamed(request, "logout")

    def _renamed(self, request: Request, method: str) -> Outs:
        def then(answer: Answer) -> Outs:
            return [self._core.answer(CLIENT, request.key, answer)]

        return [self._core.ask(AGENT, method, request.params, then, instead_of=request, of=CLIENT)]


def abilities_of(result: Json) -> Abilities:
    """Read the abilities of a v1 agent from its answer to `initialize`."""
    said: Json = result.get("agentCapabilities") or {}
    session: Json = said.get("sessionCapabilities") or {}
    mcp: Json = said.get("mcpCapabilities") or {}
    auth: Json = said.get("auth") or {}
    prompt: Json = said.get("promptCapabilities") or {}
    return Abilities(
        load=said.get("loadSession") is True,
        resume=session.get("resume") is not None,
        list=session.get("list") is not None,
        close=session.get("close") is not None,
        logout=auth.get("logout") is not None,
        prompt=frozenset(name for name, value in prompt.items() if value is True),
        http=mcp.get("http") is True,
        acp=mcp.get("acp") is True,
    )


def result_to_v2(result: Json) -> Json:
    """Convert the agent's answer to `initialize` to v2."""
    said: Json = dict(result)
    capabilities: Json = dict(said.pop("agentCapabilities", None) or {})
    info = said.pop("agentInfo", None)
    said["protocolVersion"] = OUTSIDE
    said["info"] = dict(UNKNOWN) if info is None else info
    capabilities.pop("loadSession", None)
    session: Json = dict(capabilities.pop("sessionCapabilities", None) or {})
    for name in BASELINE:
        session.pop(name, None)
    prompt = _markers(capabilities.pop("promptCapabilities", None))
    if prompt:
        session["prompt"] = prompt
    mcp = _markers(capabilities.pop("mcpCapabilities", None))
    if taken(said, "mcpCapabilities", lambda value: value == {"stdio": False}) is None:
        mcp = {"stdio": {}, **mcp}
    if mcp.pop("sse", None) is not None:
        keep(said, OFFICIAL, "mcpCapabilities", {"sse": True})
    session["mcp"] = mcp
    capabilities["session"] = session
    auth: Any = capabilities.pop("auth", None)
    if said.get("authMethods") and (auth or {}).get("logout") is None:
        # In v2 an agent that offers a login must offer a logout.
        keep(capabilities, OFFICIAL, "logout", False)
    if auth:
        capabilities["auth"] = {name: one for name, one in auth.items() if name != "logout"}
    said["capabilities"] = capabilities
    if "authMethods" in said:
        said["authMethods"] = [_method_to_v2(method) for method in said["authMethods"]]
        said["authMethods"] += taken(said, "authMethods", _are_other_methods) or []
    return said


def _are_other_methods(value: Any) -> bool:
    """Whether these are login methods of types that v1 does not have."""
    from accord.schema import v2

    return isinstance(value, list) and all(
        isinstance(one, dict)
        and one.get("type") not in ("agent", "terminal")
        and is_valid(v2.AuthMethodAgent, {**one, "type": "agent"})
        for one in value
    )


def _markers(said: Any) -> Json:
    """Convert true and false to v2's markers; other values are unchanged."""
    found: Json = {}
    for name, value in (said or {}).items():
        if value is True:
            found[name] = {}
        elif value is not False and value is not None:
            found[name] = value
    return found


def _method_to_v2(method: Json) -> Json:
    said: Json = {"type": "agent", "methodId": method.pop("id"), **method}
    if said["type"] == "terminal" and isinstance(said.get("env"), dict):
        said["env"] = [{"name": name, "value": value} for name, value in said["env"].items()]
    return said
