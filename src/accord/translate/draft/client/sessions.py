"""Sessions of a v1 agent for a draft client: opening, with mode and options, and loading.

`session/new` of the draft may name a mode and options, which v1 sets afterwards one by one: the
client has its answer when all of that is done.  `session/load` names no folder, so it is looked
up: among the sessions of this connection, then in the agent's list.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from accord.translate.adapter import Outs
from accord.translate.draft.bridge import DraftBridge, invalid
from accord.translate.draft.client.session_memory import Session, State
from accord.translate.draft.client.settings import Settings
from accord.translate.draft.conversion.mcp_servers import server_from_draft, transport_of
from accord.translate.draft.conversion.meta_restore import copied, keep_all, taken
from accord.translate.draft.conversion.paths import is_absolute
from accord.translate.draft.error_codes import (
    DRAFT_CAPABILITY_NOT_SUPPORTED,
    DRAFT_INVALID_SESSION_STATE,
)
from accord.translate.draft.mode_names import DEFAULT_MODE
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Out,
    Request,
    Result,
)
from accord.translate.meta_store import DRAFT, kept

_TRANSPORTS: Final = frozenset({"stdio", "http", "sse", "acp"})
_WISHES: Final = ("initialMode", "configOptions")
# The number of pages of the agent's list that are read to find a session.
LIST_PAGES_MAX: Final = 64
# The folder for a request of v1 about a session whose folder the agent remembers.
NO_FOLDER: Final = "/"


class Sessions:
    def __init__(self, bridge: DraftBridge, state: State, settings: Settings) -> None:
        self._bridge = bridge
        self._state = state
        self._settings = settings
        bridge.on_request[CLIENT, "session/new"] = self._new
        bridge.on_request[CLIENT, "session/load"] = self._load

    # ---- opening

    def _new(self, request: Request) -> Outs:
        asked = dict(request.params)
        folder = asked.pop("workingDirectory")
        wished: Json = {name: asked.pop(name) for name in _WISHES if name in asked}
        servers = [self._server(one) for one in asked.pop("mcpServers", ())]
        if self._bridge.details:
            # Our own agent takes mode and options with the request.
            text = asked.pop("systemPrompt", None)
            keep_all(asked, {**wished, **({} if text is None else {"systemPrompt": text})})
            wished = {}
        self._system_prompt(asked)
        asked.update(cwd=folder, mcpServers=copied(servers))
        self._state.openings += 1

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                others = self._state.opened()
                return [self._bridge.fail(CLIENT, request.key, answer), *others]
            session = self._state.claimed(answer.result["sessionId"])
            others = self._state.opened()
            session.opening = True
            session.folder, session.servers = folder, servers
            session.describe(copied(answer.result))
            opening = _NewSession(self._bridge, self._settings, session, request, answer.result)
            mode = wished.get("initialMode", DEFAULT_MODE)
            return [*others, *opening.follow(mode, wished.get("configOptions", {}))]

        ask = self._bridge.ask
        return [ask(AGENT, "session/new", asked, then, instead_of=request, of=CLIENT)]

    def _server(self, server: Json) -> Json:
        made = server_from_draft(server)
        kind = transport_of(made)
        if kind == "stdio" and not is_absolute(made["command"]):
            # A program of the draft may be a bare name, which is looked up; v1 requires a path.
            made["command"] = self._bridge.around.find_program(made["command"]) or made["command"]
        if kind not in _TRANSPORTS:
            raise invalid(f"unknown transport {kind!r}", server=server["name"])
        if kind != "stdio":
            able = self._state.capability("mcpCapabilities", kind) is True
            if not able or (kind == "acp" and not self._bridge.unstable):
                raise CannotTranslate(
                    DRAFT_CAPABILITY_NOT_SUPPORTED,
                    f"the agent cannot use MCP servers over {kind}",
                    {"server": server["name"]},
                )
        return made

    def _system_prompt(self, asked: Json) -> None:
        text = asked.pop("systemPrompt", None)
        if text is None:
            return
        had = taken(asked)
        mode = had.pop("systemPromptMode", None)
        able = self._state.capability("sessionCapabilities", "systemPrompt")
        if able is not None and self._bridge.unstable:
            overrides = mode == "override" and (able.get("mode") or {}).get("override") is not None
            asked["systemPrompt"] = {
                "mode": "override" if overrides else "append",
                "content": [{"type": "text", "text": text}],
            }
        else:
            had["systemPrompt"] = text
            self._bridge.lost("systemPrompt")
        keep_all(asked, had)

    # ---- loading

    def _load(self, request: Request) -> Outs:
        if self._state.agent.get("loadSession") is not True:
            raise CannotTranslate(DRAFT_CAPABILITY_NOT_SUPPORTED, "the agent cannot load sessions")
        session_id = request.params["sessionId"]
        if self._bridge.details:
            # Our own agent remembers the folder and the servers.
            return self._load_in(request, NO_FOLDER, [])
        known = self._state.sessions.get(session_id)
        if known is not None and known.folder is not None:
            return self._load_in(request, known.folder, known.servers)
        if self._state.capability("sessionCapabilities", "list") is None:
            raise _no_folder(session_id)
        return self._look_up(request, None, 1)

    def _look_up(self, request: Request, cursor: str | None, page: int) -> Outs:
        session_id = request.params["sessionId"]

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(CLIENT, request.key, answer)]
            for info in answer.result["sessions"]:
                if info["sessionId"] == session_id and is_absolute(info["cwd"]):
                    return self._load_in(request, info["cwd"], [])
            following = answer.result.get("nextCursor")
            if following is None or page >= LIST_PAGES_MAX:
                raise _no_folder(session_id)
            return self._look_up(request, following, page + 1)

        params = {} if cursor is None else {"cursor": cursor}
        ask = self._bridge.ask
        return [ask(AGENT, "session/list", params, then, instead_of=request, of=CLIENT)]

    def _load_in(self, request: Request, folder: str, servers: list[Json]) -> Outs:
        asked: Json = {**request.params, "cwd": folder, "mcpServers": copied(servers)}
        session = self._state.claimed(asked["sessionId"])
        if not self._bridge.details:
            session.folder, session.servers = folder, servers
        session.counted, session.counting, session.loading = 0, None, True

        def then(answer: Answer) -> Outs:
            session.loading = False
            if isinstance(answer, Failure):
                return [self._bridge.fail(CLIENT, request.key, answer, session.id)]
            found = kept(answer.result, DRAFT).get("workingDirectory")
            if self._bridge.details and isinstance(found, str):
                session.folder = found
            session.describe(copied(answer.result))
            return [(CLIENT, Result(request.key, _loaded(session, answer.result)))]

        ask = self._bridge.ask
        return [ask(AGENT, "session/load", asked, then, instead_of=request, of=CLIENT)]


def _no_folder(session_id: str) -> CannotTranslate:
    return CannotTranslate(
        DRAFT_INVALID_SESSION_STATE,
        "the folder of this session is unknown",
        {"sessionId": session_id},
    )


def _loaded(session: Session, answer: Json) -> Json:
    result = dict(answer)
    had = taken(result)
    told = had.pop("messageCount", None)
    had.pop("workingDirectory", None)
    silent = had.pop("replayed", None) is False
    for name in ("modes", "configOptions"):
        if result.get(name) is not None:
            had[name] = result[name]
        result.pop(name, None)
    count = told if silent and isinstance(told, int) and told >= 0 else session.counted
    result.update(
        sessionId=session.id,
        workingDirectory=session.folder,
        mode=session.mode,
        configOptions=session.values(),
        messageCount=count,
    )
    keep_all(result, {**had, "loaded": True})
    return result


class _NewSession:
    """The steps after `session/new`: the mode, then each option, then the answer."""

    def __init__(
        self,
        bridge: DraftBridge,
        settings: Settings,
        session: Session,
        request: Request,
        result: Json,
    ) -> None:
        self._bridge = bridge
        self._settings = settings
        self._session = session
        self._request = request
        self._result = dict(result)
        self._wishes: deque[tuple[str, Any]] = deque()
        self._rejected: dict[str, str] = {}

    def follow(self, mode: str, wishes: Json) -> Outs:
        """Take the steps one by one."""
        self._wishes.extend(wishes.items())
        session = self._session
        if mode not in (DEFAULT_MODE, session.mode) and session.names.knows(mode):
            asking = self._settings.mode_request(session, mode)
            assert asking is not None
            method, params = asking

            def then(answer: Answer) -> Outs:
                if isinstance(answer, Result):
                    self._settings.mode_is(session, mode, answer.result)
                else:
                    session.echo_mode = None
                    self._rejected["initialMode"] = answer.message
                return self._next()

            session.echo_mode = mode
            return [self._ask(method, params, then)]
        return self._next()

    def _ask(self, method: str, params: Json, then: Any) -> Out:
        ask = self._bridge.ask
        return ask(AGENT, method, params, then, instead_of=self._request, of=CLIENT)

    def _next(self) -> Outs:
        session = self._session
        while self._wishes:
            key, value = self._wishes.popleft()
            try:
                params = self._settings.option_request(session, key, value)
            except CannotTranslate as error:
                self._rejected[key] = error.message
                continue

            def then(answer: Answer, key: str = key) -> Outs:
                if isinstance(answer, Result):
                    session.options = answer.result["configOptions"]
                else:
                    self._rejected[key] = answer.message
                return self._next()

            return [self._ask("session/set_config_option", params, then)]
        return self._answer()

    def _answer(self) -> Outs:
        session, result = self._session, self._result
        had = taken(result)
        created = had.pop("createdAt", None)
        if isinstance(created, str):
            result["createdAt"] = created
        else:
            result["createdAt"] = self._bridge.around.stamp()
            had["madeCreatedAt"] = True
        modes, options = result.pop("modes", None), result.pop("configOptions", None)
        if modes is not None:
            current = session.names.official(session.mode)
            had["modes"] = {**modes, "currentModeId": current}
        if options is not None:
            had["configOptions"] = copied(session.options)
        if "initialMode" in self._rejected:
            had["rejectedInitialMode"] = self._rejected.pop("initialMode")
        if self._rejected:
            had["rejectedConfigOptions"] = self._rejected
        keep_all(result, had)
        session.opening = False
        early = list(session.early)
        session.early.clear()
        return [(CLIENT, Result(self._request.key, result)), *early]
