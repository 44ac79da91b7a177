"""The bridge itself: the first exchange, the login, and all its parts put together.

The parts know each other only through `state.State`.  Credentials come from the surroundings: a
message of v1 has no place for them.
"""

from __future__ import annotations

from typing import Any, Final

from accord.jsonrpc.error_codes import AUTH_REQUIRED
from accord.schema import v1
from accord.schema.method import CANCEL_REQUEST
from accord.translate.adapter import Outs
from accord.translate.draft.agent.files import Files
from accord.translate.draft.agent.permissions import Permissions
from accord.translate.draft.agent.session_memory import State
from accord.translate.draft.agent.sessions import Sessions
from accord.translate.draft.agent.terminals import Terminals
from accord.translate.draft.agent.turns import Turns
from accord.translate.draft.agent.updates import Updates
from accord.translate.draft.bridge import DraftBridge
from accord.translate.draft.conversion.capabilities import (
    agent_from_draft,
    client_to_draft,
    missing,
    program_from_draft,
    program_to_draft,
)
from accord.translate.draft.conversion.meta_restore import copied, fits, keep_all, taken
from accord.translate.draft.error_codes import DRAFT_CAPABILITY_NOT_SUPPORTED, from_draft_error
from accord.translate.draft.mcp_calls import McpCallsOfAgent
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Request,
    Result,
    Surroundings,
)

PROTOCOL_VERSION: Final = 1
# The data of the error for a login that the agent did not accept.
LOGIN_REFUSED: Final[Json] = {"reason": "login_refused"}
_LOGIN_METHODS: Final = frozenset({"api_key", "oauth2", "custom"})


class DraftAgent(DraftBridge):
    """A v1 client on one side, an agent of the 2026-02 draft on the other."""

    draft_side = AGENT

    def __init__(
        self,
        surroundings: Surroundings,
        *,
        strict: bool = False,
        unstable: bool = False,
        details: bool = False,
    ) -> None:
        super().__init__(surroundings, strict=strict, unstable=unstable, details=details)
        self.state = State(details=details)
        self.on_request[CLIENT, "initialize"] = self._initialize
        self.on_request[CLIENT, "authenticate"] = self._authenticate
        self._turns = Turns(self, self.state)
        self._terminals = terminals = Terminals(self, self.state)
        Sessions(self, self.state, self._turns)
        Permissions(self, self.state)
        Files(self, self.state)
        Updates(self, self.state, terminals.lives)
        McpCallsOfAgent(self, self.state.mcp_servers)
        self.on_notification[AGENT, CANCEL_REQUEST] = self._notified_nothing
        self.on_notification[CLIENT, CANCEL_REQUEST] = self._turns.cancel_request

    def forget(self, session_id: str) -> None:
        """Forget a session that the client has closed."""
        self.state.sessions.pop(session_id, None)
        self._terminals.forget(session_id)

    def ended(self, why: str) -> Outs:
        """End the turns, those that were being cancelled as cancelled, and stop polling."""
        self.timers.clear()
        return self._turns.ended()

    def _initialize(self, request: Request) -> Outs:
        params = request.params
        capabilities: Json = params.get("clientCapabilities") or {}
        self.state.client = copied(capabilities)
        asked = {
            name: value
            for name, value in params.items()
            if name not in ("clientCapabilities", "clientInfo", "capabilities")
        }
        asked["protocolVersion"] = PROTOCOL_VERSION
        asked["clientInfo"] = program_to_draft(params.get("clientInfo"))
        if self.details:
            taken(asked["clientInfo"])
        asked["capabilities"] = client_to_draft(capabilities, details=self.details)
        self.state.offered = copied(asked["capabilities"])
        if "capabilities" in params:
            keep_all(asked, {"capabilities": params["capabilities"]})
        return self.introduce(request, asked, self._initialized)

    def _initialized(self, result: Json) -> Json:
        if result["protocolVersion"] != PROTOCOL_VERSION:
            said = result["protocolVersion"]
            self.around.log(f"the agent answered with version {said} in the form of the draft")
        required = result.get("requiredClientCapabilities")
        lacking = missing(required or {}, self.state.offered, words=self.details)
        if lacking:
            paths = [one.path for one in lacking]
            code, data = from_draft_error(DRAFT_CAPABILITY_NOT_SUPPORTED, {"missing": paths})
            said = ", ".join(map(str, lacking))
            raise CannotTranslate(
                code, f"the agent requires what the client does not offer: {said}", data
            )
        self.state.learn(result["capabilities"])
        made = {
            name: value
            for name, value in result.items()
            if name not in ("agentInfo", "capabilities", "requiredClientCapabilities")
        }
        had = taken(made)
        if not self.details:
            made["protocolVersion"] = PROTOCOL_VERSION
        made["agentInfo"] = program_from_draft(result["agentInfo"])
        made["agentCapabilities"] = agent_from_draft(
            result["capabilities"], unstable=self.unstable, details=self.details
        )
        made["authMethods"] = _login_methods(had.pop("authMethods", None))
        if required is not None:
            had["requiredClientCapabilities"] = required
        keep_all(made, had)
        return made

    def _authenticate(self, request: Request) -> Outs:
        params = dict(request.params)
        method = params.pop("methodId")
        params["method"] = method if method in _LOGIN_METHODS else "custom"
        params["credentials"] = self.around.recall_secret(params["method"])
        if method not in _LOGIN_METHODS:
            keep_all(params, {"methodId": method})

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self.fail(CLIENT, request.key, answer)]
            result = dict(answer.result)
            if not result.pop("success"):
                reason = result.get("error") or "the agent did not accept the login"
                return [(CLIENT, Failure(request.key, AUTH_REQUIRED, reason, LOGIN_REFUSED))]
            error = result.pop("error", None)
            if "expiresAt" in result:
                keep_all(result, {"expiresAt": result.pop("expiresAt")})
            if error is not None:
                keep_all(result, {"error": error})
            return [(CLIENT, Result(request.key, result))]

        return [self.ask(AGENT, "authenticate", params, then, instead_of=request, of=CLIENT)]


def _login_methods(kept_methods: Any) -> list[Json]:
    """Return the logins to offer: the draft lists none; kept ones but for terminals."""
    if not fits(list[v1.AuthMethod], kept_methods):
        return []
    return [one for one in kept_methods if one.get("type") != "terminal"]
