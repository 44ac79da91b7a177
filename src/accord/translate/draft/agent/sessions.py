"""Sessions of a draft agent for a v1 client: opening, loading, closing, modes and options."""

from __future__ import annotations

from typing import Final

from accord.jsonrpc.error_codes import INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND
from accord.schema import v1
from accord.translate.adapter import Outs
from accord.translate.draft.agent.session_memory import Session, State
from accord.translate.draft.agent.turns import Turns
from accord.translate.draft.bridge import DraftBridge
from accord.translate.draft.conversion.config_options import (
    chosen_value,
    find,
    is_untold,
)
from accord.translate.draft.conversion.content import placeholder
from accord.translate.draft.conversion.mcp_servers import server_to_draft, transport_of
from accord.translate.draft.conversion.meta_restore import copied, fits, keep_all, taken
from accord.translate.draft.mode_names import DRAFT_ASK, ModeNames
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

MCP_SERVERS_MAX: Final = 1024
_APPEND: Final = "append"
# The key of the draft's option for it.
MODEL: Final = "model"


class Sessions:
    """Requests of a v1 client about sessions, except prompts."""

    def __init__(self, bridge: DraftBridge, state: State, turns: Turns) -> None:
        self._bridge = bridge
        self._state = state
        self._turns = turns
        bridge.on_request[CLIENT, "session/new"] = self._new
        bridge.on_request[CLIENT, "session/load"] = self._load
        bridge.on_request[CLIENT, "session/close"] = self._close
        bridge.on_request[CLIENT, "session/set_mode"] = self._set_mode
        bridge.on_request[CLIENT, "session/set_config_option"] = self._set_option
        bridge.on_request[CLIENT, "session/set_model"] = self._set_model

    # ---- opening

    def _new(self, request: Request) -> Outs:
        params = dict(request.params)
        folder = params.pop("cwd")
        servers = [self._server(one) for one in params.pop("mcpServers")]
        had: Json = {}
        if "additionalDirectories" in params:
            had["additionalDirectories"] = params.pop("additionalDirectories")
            self._bridge.lost("additionalDirectories")
        asked: Json = {"workingDirectory": folder, **params}
        settings = taken(asked) if self._bridge.details else {}
        self._system_prompt(asked, had)
        if servers:
            asked["mcpServers"] = servers
        if "initialMode" in settings:
            asked["initialMode"] = _named_mode(self._state, settings["initialMode"])
        if "configOptions" in settings:
            asked["configOptions"] = settings["configOptions"]
        keep_all(asked, had)

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(CLIENT, request.key, answer)]
            result = dict(answer.result)
            session = self._state.open(result["sessionId"], folder)
            session.mode = asked.get("initialMode", session.mode)
            for key, value in asked.get("configOptions", {}).items():
                self._state.set_option(session, key, value)
            made = taken(result)
            if made.pop("madeCreatedAt", False) is not True:
                made["createdAt"] = result["createdAt"]
            del result["createdAt"]
            self._describe(session, result, made)
            keep_all(result, made)
            return [(CLIENT, Result(request.key, result))]

        ask = self._bridge.ask
        return [ask(AGENT, "session/new", asked, then, instead_of=request, of=CLIENT)]

    def _server(self, server: Json) -> Json:
        kind = transport_of(server)
        allowed = self._state.serves_mcp and kind in self._state.transports
        if not allowed or (kind == "acp" and not self._bridge.unstable):
            raise CannotTranslate(
                INVALID_PARAMS,
                f"the agent cannot use MCP servers over {kind}",
                {"reason": "capability_not_supported", "server": server["name"]},
            )
        made = server_to_draft(server)
        if kind == "acp" and len(self._state.mcp_servers) < MCP_SERVERS_MAX:
            # The draft names a server by its transport.
            self._state.mcp_servers[made["transport"]["mcpServerName"]] = server["serverId"]
        return made

    def _system_prompt(self, asked: Json, had: Json) -> None:
        given = asked.pop("systemPrompt", None)
        if given is None:
            return
        blocks = given["content"]
        texts = [one["text"] if one["type"] == "text" else placeholder(one) for one in blocks]
        asked["systemPrompt"] = "\n\n".join(texts)
        if given["mode"] != _APPEND:
            had["systemPromptMode"] = given["mode"]

    def _describe(self, session: Session, result: Json, made: Json) -> None:
        """Add the modes and options to the answer that opens a session; kept ones are preferred."""
        modes = made.pop("modes", None)
        if modes is not None and fits(v1.SessionModeState, modes):
            session.modes = modes["availableModes"]
            session.names = ModeNames.of_official(session.modes)
            session.mode = session.names.draft(modes["currentModeId"])
        options = made.pop("configOptions", None)
        if options is not None and fits(list[v1.SessionConfigOption], options):
            session.options = options
        state = session.mode_state()
        if state is not None:
            result["modes"] = copied(state)
        if session.options or options == []:
            result["configOptions"] = copied(session.options)

    def _load(self, request: Request) -> Outs:
        if not self._state.loads:
            raise CannotTranslate(METHOD_NOT_FOUND, "the agent cannot load sessions")
        params = dict(request.params)
        folder, session_id = params.pop("cwd"), params["sessionId"]
        if params.pop("mcpServers"):
            self._bridge.lost("mcpServers")
        had: Json = {"cwd": folder}
        if "additionalDirectories" in params:
            had["additionalDirectories"] = params.pop("additionalDirectories")
        if params.pop("systemPrompt", None) is not None:
            self._bridge.lost("systemPrompt")
        if not self._bridge.details:
            keep_all(params, had)
        session = self._state.open(session_id, folder)
        session.told = False

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                self._state.sessions.pop(session_id, None)
                return [self._bridge.fail(CLIENT, request.key, answer, session_id)]
            return [(CLIENT, Result(request.key, self._loaded(session, answer.result)))]

        ask = self._bridge.ask
        return [ask(AGENT, "session/load", params, then, instead_of=request, of=CLIENT)]

    def _loaded(self, session: Session, answer: Json) -> Json:
        result = dict(answer)
        had = taken(result)
        del result["sessionId"]
        session.folder = folder = result.pop("workingDirectory")
        session.mode = result.pop("mode")
        values, count = result.pop("configOptions"), result.pop("messageCount")
        for key, value in values.items():
            self._state.set_option(session, key, value)
        exact = had.pop("loaded", False) is True
        self._describe(session, result, had)
        if not exact:
            had.update(workingDirectory=folder, messageCount=count)
            if not session.told:
                had["replayed"] = False
        keep_all(result, had)
        return result

    def _close(self, request: Request) -> Outs:
        session = self._state.sessions.pop(request.params["sessionId"], None)
        if session is None:
            raise CannotTranslate(
                RESOURCE_NOT_FOUND, "no such session", {"sessionId": request.params["sessionId"]}
            )
        outs = list(self._turns.cancel(session, {"sessionId": session.id}))
        return [*outs, (CLIENT, Result(request.key, {}))]

    # ---- modes and options

    def _set_mode(self, request: Request) -> Outs:
        params = dict(request.params)
        session = self._state.session(params["sessionId"])
        params["mode"] = session.names.draft(params.pop("modeId"))

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(CLIENT, request.key, answer, session.id)]
            result = dict(answer.result)
            had = taken(result)
            previous, session.mode = result.pop("previousMode"), result.pop("currentMode")
            if had.pop("made", False) is not True:
                had.update(previousMode=previous, currentMode=session.mode)
            if self._bridge.details:
                had["modes"] = session.mode_state()
            keep_all(result, had)
            return [(CLIENT, Result(request.key, result))]

        ask = self._bridge.ask
        return [ask(AGENT, "session/set_mode", params, then, instead_of=request, of=CLIENT)]

    def _set_option(self, request: Request) -> Outs:
        params = dict(request.params)
        session = self._state.session(params["sessionId"])
        key, value = params.pop("configId"), params.pop("value")
        params.pop("type", None)
        if self._bridge.details:
            value = taken(params).get("value", value)
        option = find(session.options, key)
        if is_untold(option, value):
            return [(CLIENT, Result(request.key, {"configOptions": copied(session.options)}))]
        params["key"], params["value"] = key, chosen_value(option, value)

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(CLIENT, request.key, answer, session.id)]
            result = dict(answer.result)
            had = taken(result)
            options = had.pop("configOptions", None)
            if fits(list[v1.SessionConfigOption], options) and isinstance(options, list):
                session.options = options
            else:
                self._state.set_option(session, result["key"], result["currentValue"])
                had.update(
                    (name, result[name])
                    for name in ("key", "previousValue", "currentValue")
                    if name in result
                )
            for name in ("key", "previousValue", "currentValue"):
                result.pop(name, None)
            result["configOptions"] = copied(session.options)
            keep_all(result, had)
            return [(CLIENT, Result(request.key, result))]

        ask = self._bridge.ask
        return [
            ask(AGENT, "session/set_config_option", params, then, instead_of=request, of=CLIENT)
        ]

    def _set_model(self, request: Request) -> Outs:
        """Set the model by the method that is older than options."""
        params = dict(request.params)
        session = self._state.session(params["sessionId"])
        if find(session.options, MODEL) is None:
            raise CannotTranslate(METHOD_NOT_FOUND, "the agent offers no choice of models")
        params["key"], params["value"] = MODEL, params.pop("modelId")

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(CLIENT, request.key, answer, session.id)]
            self._state.set_option(session, MODEL, answer.result["currentValue"])
            # The agent reports the change itself.
            return [(CLIENT, Result(request.key, {}))]

        ask = self._bridge.ask
        return [
            ask(AGENT, "session/set_config_option", params, then, instead_of=request, of=CLIENT)
        ]


def _named_mode(state: State, mode_id: str) -> str:
    """Return the draft's name for the mode of a new session."""
    return mode_id if mode_id == DRAFT_ASK else ModeNames.of_draft(state.modes).draft(mode_id)
