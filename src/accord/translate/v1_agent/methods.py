"""A v1 agent for a v2 client: a v2 agent outside, a v1 client inside."""

from __future__ import annotations

from typing import Final

from accord.translate.adapter import Outs
from accord.translate.message import AGENT, CLIENT, Notification, Out, Side, Surroundings
from accord.translate.v1_agent.config_options import Options
from accord.translate.v1_agent.host.files_and_terminals import Terminals
from accord.translate.v1_agent.host.permissions import HostPermissions
from accord.translate.v1_agent.initialize_and_login import Initialize
from accord.translate.v1_agent.permissions_and_forms import Questions
from accord.translate.v1_agent.session_state import Core
from accord.translate.v1_agent.sessions.end import SessionEnds
from accord.translate.v1_agent.sessions.start import SessionStarts
from accord.translate.v1_agent.tool_calls import ToolCalls
from accord.translate.v1_agent.turns import Turns
from accord.translate.v1_agent.updates import Updates

MCP_MESSAGE: Final = "mcp/message"
# Notifications of the same form in both versions, with their sender and receiver.
PASSED_ON: Final = (
    (AGENT, CLIENT, "elicitation/complete"),
    (AGENT, CLIENT, "auth/status_update"),
    (CLIENT, AGENT, MCP_MESSAGE),
)


class V1Agent(Core):
    """The translator; `host` names the services of this machine for the agent: "fs", "terminal"."""

    def __init__(
        self,
        surroundings: Surroundings,
        *,
        strict: bool = False,
        unstable: bool = False,
        host: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(surroundings, strict=strict, unstable=unstable)
        closing = SessionEnds(self)
        self._turns = Turns(self, closing.stopped)
        closing.turns = self._turns
        options = Options(self)
        tool_calls = ToolCalls(self)
        questions = Questions(self, self._turns, tool_calls)
        permissions = HostPermissions(self, questions, tool_calls)
        closing.terminals = Terminals(self, self._turns, permissions, host)
        updates = Updates(self, self._turns, options, tool_calls)
        SessionStarts(self, options, updates)
        Initialize(self, host)
        self.on_request[AGENT, MCP_MESSAGE] = lambda request: self.pass_on(AGENT, request, CLIENT)
        for came_from, goes_to, method in PASSED_ON:
            self._pass_told(came_from, goes_to, method)

    def _pass_told(self, came_from: Side, goes_to: Side, method: str) -> None:
        self.on_notification[came_from, method] = lambda params: [
            (goes_to, Notification(method, params))
        ]

    def ended(self, why: str) -> Outs:
        """Fail the open turns: the agent is gone."""
        self._timers.clear()
        outs: list[Out] = []
        for session in self.sessions.values():
            if session.answering is not None:
                outs += session.answering()
            outs += self._turns.ended(session, why)
        return outs
