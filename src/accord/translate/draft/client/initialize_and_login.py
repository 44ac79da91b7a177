"""The bridge itself: the first exchange, the login, and all its parts put together.

The parts know each other only through `state.State` and `calls.Calls`.  Credentials go to the
store for secrets and nowhere else.
"""

from __future__ import annotations

from typing import Final

from accord.jsonrpc.error_codes import AUTH_REQUIRED
from accord.schema import draft
from accord.schema.method import CANCEL_REQUEST, SESSION_UPDATE
from accord.translate.adapter import Outs
from accord.translate.draft.bridge import DraftBridge
from accord.translate.draft.client.files import Files
from accord.translate.draft.client.permissions import Permissions
from accord.translate.draft.client.session_memory import State
from accord.translate.draft.client.sessions import Sessions
from accord.translate.draft.client.settings import Settings
from accord.translate.draft.client.terminals import Terminals
from accord.translate.draft.client.tool_calls import Calls
from accord.translate.draft.client.turns import Turns
from accord.translate.draft.client.updates import Updates
from accord.translate.draft.conversion.capabilities import (
    ACP_UPDATES,
    agent_to_draft,
    client_from_draft,
    path_in_draft,
    program_from_draft,
    program_to_draft,
)
from accord.translate.draft.conversion.meta_restore import copied, keep_all, restore, taken
from accord.translate.draft.error_codes import DRAFT_CAPABILITY_NOT_SUPPORTED, with_suggestion
from accord.translate.draft.mcp_calls import McpCallsOfClient
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Key,
    Message,
    Notification,
    Out,
    Request,
    Result,
    Side,
    Surroundings,
)

PROTOCOL_VERSION: Final = 1


class DraftClient(DraftBridge):
    """A client of the 2026-02 draft on one side, a v1 agent on the other."""

    draft_side = CLIENT

    def __init__(
        self,
        surroundings: Surroundings,
        *,
        strict: bool = False,
        unstable: bool = False,
        details: bool = False,
    ) -> None:
        super().__init__(surroundings, strict=strict, unstable=unstable, details=details)
        self.state = State()
        self.on_request[CLIENT, "initialize"] = self._initialize
        self.on_request[CLIENT, "authenticate"] = self._authenticate
        self._calls = Calls(self, Terminals(self, self.state).shown)
        settings = Settings(self, self.state)
        permissions = Permissions(self, self.state, self._calls)
        self._turns = Turns(self, self.state, self._calls, permissions)
        Sessions(self, self.state, settings)
        Files(self, self.state)
        Updates(self, self.state, self._calls, settings)
        McpCallsOfClient(self)
        for side in (CLIENT, AGENT):
            self.on_notification[side, CANCEL_REQUEST] = self._notified_nothing

    def receive(self, side: Side, message: Message) -> Outs:
        """Take the next message; a delayed status is sent before what follows it."""
        held_back = side is AGENT and (self._calls.held or self._calls.ready) is not None
        outs = self._calls.before(message) if held_back else ()
        said = super().receive(side, message)
        return self._dated([*outs, *said] if outs else said)

    def wake(self) -> Outs:
        """Send the delayed messages that are due."""
        return self._dated(super().wake())

    def _dated(self, outs: Outs) -> Outs:
        """Add the time to each update if it comes from our own agent."""
        for side, message in outs if self.details else ():
            if side is CLIENT and isinstance(message, Notification):
                session = self.state.sessions.get(message.params.get("sessionId", ""))
                if message.method == SESSION_UPDATE and session and not session.loading:
                    message.params.setdefault("timestamp", self.around.stamp())
        return outs

    def ended(self, why: str) -> Outs:
        """End the turns that had begun with an error of the draft."""
        self.timers.clear()
        return self._turns.ended(why)

    def _initialize(self, request: Request) -> Outs:
        params = dict(request.params)
        capabilities = params.pop("capabilities")
        self.state.client = copied(capabilities)
        custom = capabilities.get("_custom") or {}
        self.state.official_updates = custom.get(ACP_UPDATES) is True
        params["protocolVersion"] = PROTOCOL_VERSION
        params["clientInfo"] = program_from_draft(params["clientInfo"])
        offered = client_from_draft(capabilities, unstable=self.unstable)
        if self.details and self.state.official_updates:
            offered["session"] = {**offered["session"], "notices": {}, "compaction": {}}
        params["clientCapabilities"] = offered
        return self.introduce(request, params, self._initialized)

    def fail(self, side: Side, key: Key, failure: Failure, session_id: str = "") -> Out:
        """Answer with an error in the sender's codes, with the draft's names of capabilities."""
        data = failure.data
        if side is CLIENT and isinstance(data, dict) and isinstance(data.get("missing"), list):
            paths = [path_in_draft(one) for one in data["missing"] if isinstance(one, str)]
            failure = failure._replace(data={**data, "missing": paths})
        out = super().fail(side, key, failure, session_id)
        answer = out[1]
        if side is CLIENT and self.details and isinstance(answer, Failure):
            return side, answer._replace(data=with_suggestion(answer.code, answer.data))
        return out

    def _initialized(self, result: Json) -> Json:
        if result["protocolVersion"] != PROTOCOL_VERSION:
            raise CannotTranslate(
                DRAFT_CAPABILITY_NOT_SUPPORTED,
                f"the agent speaks only version {result['protocolVersion']}",
            )
        made = dict(result)
        had = taken(made)
        capabilities = made.pop("agentCapabilities", None) or {}
        self.state.agent = copied(capabilities)
        logins = made.pop("authMethods", None) or []
        self.state.logins = copied(logins)
        made["agentInfo"] = program_to_draft(made.pop("agentInfo", None))
        made["capabilities"] = agent_to_draft(capabilities)
        if logins:
            had["authMethods"] = logins
        made = restore(made, had, ("requiredClientCapabilities",), draft.InitializeResponse)
        keep_all(made, had)
        return made

    def _authenticate(self, request: Request) -> Outs:
        params = dict(request.params)
        method, credentials = params.pop("method"), params.pop("credentials")
        if credentials:
            self.around.keep_secret(method, credentials)
        had = taken(params)
        exact = had.pop("methodId", None)
        login = method if self.details else self._login_of(method, exact)
        keep_all(params, had)
        if login is None:
            failed = {"success": False, "error": f"the agent has no login of the kind {method}"}
            needless = not self.state.logins
            return [(CLIENT, Result(request.key, {"success": True} if needless else failed))]
        params["methodId"] = login

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Result):
                return [(CLIENT, Result(request.key, _logged_in(answer.result)))]
            if answer.code != AUTH_REQUIRED:
                return [self.fail(CLIENT, request.key, answer)]
            return [(CLIENT, Result(request.key, {"success": False, "error": answer.message}))]

        return [self.ask(AGENT, "authenticate", params, then, instead_of=request, of=CLIENT)]

    def _login_of(self, method: str, exact: object) -> str | None:
        """Return the agent's login method for one of the draft: the same, similar, or only one."""
        ids: list[str] = [one["id"] for one in self.state.logins if one.get("type") != "terminal"]
        if isinstance(exact, str) and exact in ids:
            return exact
        if method in ids:
            return method
        alike = [one for one in ids if _plain(method) in _plain(one)]
        found = alike or ids
        return found[0] if len(found) == 1 else None


def _plain(word: str) -> str:
    return "".join(char for char in word.lower() if char.isalnum())


def _logged_in(answer: Json) -> Json:
    result = dict(answer)
    had = taken(result)
    result["success"] = True
    names = ("expiresAt", "error")
    result = restore(result, had, names, draft.AuthenticateResponse)
    keep_all(result, had)
    return result
