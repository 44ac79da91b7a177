"""The sessions of a v2 agent: their parts, their bound, and their updates in v1's form.

What always holds
    * Of the sessions that nobody prompts at most `SESSIONS_KEPT` are known.
    * Updates of a session whose opening is not answered yet wait for that, `EARLY_KEPT` at most.
    * Of the child sessions that the client is not told of, `CHILDREN_KEPT` are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from accord.schema.method import CANCEL_REQUEST, SESSION_UPDATE
from accord.translate.adapter import NOTHING, Adapter, Outs, Then
from accord.translate.message import (
    AGENT,
    CLIENT,
    Json,
    Notification,
    Out,
    Request,
    Side,
    Surroundings,
)
from accord.translate.v2_agent.client_features import TranslationContext
from accord.translate.v2_agent.config_options import Options
from accord.translate.v2_agent.turns import Asking, Turns
from accord.translate.v2_agent.updates.messages import Messages
from accord.translate.v2_agent.updates.plans import Plans
from accord.translate.v2_agent.updates.session_info_and_notices import Facts
from accord.translate.v2_agent.updates.tool_calls import ToolCalls

SESSIONS_KEPT: Final = 1024
EARLY_KEPT: Final = 1024
CHILDREN_KEPT: Final = 1024

Saying = Callable[[Json], Sequence[Json]]


class Session:
    """The state of one session; `sayings` has the function that translates each kind of update."""

    def __init__(self, context: TranslationContext, session_id: str, ask: Asking) -> None:
        self._context = context
        self.session_id = session_id
        self.messages = Messages(context)
        self.turns = Turns(context, session_id, self.messages, ask)
        self.calls = ToolCalls(context, session_id)
        self.start_over()

    def start_over(self) -> None:
        """Reset the session for a replay of its history; open prompts stay open."""
        context = self._context
        self.calls.flush()
        self.options = Options(context)
        self.messages = self.turns.messages = Messages(context)
        self.calls = ToolCalls(context, self.session_id)
        self.plans = Plans(context)
        self.facts = Facts(context)
        self.sayings = self._sayings()

    def _sayings(self) -> dict[str, Saying]:
        messages, calls, plans, facts = self.messages, self.calls, self.plans, self.facts
        return {
            "agent_message_chunk": messages.chunk,
            "agent_thought_chunk": messages.chunk,
            "user_message_chunk": self._user_chunk,
            "agent_message": messages.whole,
            "agent_thought": messages.whole,
            "user_message": self._user_message,
            "tool_call_update": calls.patch,
            "tool_call_content_chunk": calls.append,
            "terminal_update": calls.terminal,
            "terminal_output_chunk": calls.output,
            "plan_update": plans.update,
            "plan_removed": plans.removed,
            "available_commands_update": facts.commands,
            "config_option_update": self.options.update,
            "session_info_update": facts.info,
            "usage_update": facts.usage,
            "notice": facts.notice,
            "compaction_update": facts.compaction,
            "compaction_summary_chunk": facts.compaction_chunk,
            "subagent_update": facts.subagent,
            "session_message": facts.session_message,
            "session_message_chunk": facts.session_message_chunk,
        }

    def _user_chunk(self, update: Json) -> Sequence[Json]:
        said = self.turns.echo(update)
        return self.messages.chunk(update) if said is None else said

    def _user_message(self, update: Json) -> Sequence[Json]:
        said = self.turns.echo(update)
        return self.messages.whole(update) if said is None else said


class Sessions(Adapter):
    """The sessions of one connection, and their updates."""

    def __init__(
        self, surroundings: Surroundings, *, strict: bool = False, unstable: bool = False
    ) -> None:
        super().__init__(surroundings, strict=strict, unstable=unstable)
        self._context = TranslationContext(surroundings, self.lost, self._hide)
        self._sessions: dict[str, Session] = {}
        # How many sessions are being opened, and the updates of sessions that are not known yet.
        self._openings = 0
        self._early: list[Json] = []
        # Child sessions, which the client does not support and is not told of.
        self._children: dict[str, None] = {}
        # The agent turned out to speak v1: nothing is translated.
        self._is_direct = False
        self.on_notification[AGENT, SESSION_UPDATE] = self._updated

    # ---- for the driver

    @property
    def wake_at(self) -> float | None:
        """When the next delayed tool call is to be sent."""
        return min(self._context.dues.values(), default=None)

    def due(self) -> Outs:
        """Send the delayed tool calls that are due."""
        now = self.around.now()
        dues = self._context.dues
        outs: list[Out] = []
        for key in [key for key, at in dues.items() if at <= now]:
            del dues[key]
            session = self._sessions.get(key[0])
            if session is not None:
                outs += self._told(session, session.calls.due(key[1]))
        return outs

    def ended(self, why: str) -> Outs:
        """Send what is delayed, and fail the open requests."""
        return [out for session in self._sessions.values() for out in self._flushed(session)]

    # ---- an agent of v1

    def _requested(self, side: Side, request: Request) -> Outs:
        if self._is_direct:
            self._open[side, request.key] = None
            return self.pass_on(side, request, CLIENT if side is AGENT else AGENT)
        return super()._requested(side, request)

    def _notified(self, side: Side, message: Notification) -> Outs:
        if self._is_direct:
            if message.method == CANCEL_REQUEST:
                return self._cancelled(side, message.params.get("requestId"))
            return [(CLIENT if side is AGENT else AGENT, message)]
        return super()._notified(side, message)

    # ---- sessions

    def _session(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            session = Session(self._context, session_id, self._ask_prompt)
            self._sessions[session_id] = session
            if len(self._sessions) > SESSIONS_KEPT:
                others = (one for one in self._sessions.values() if one is not session)
                resting = next((one for one in others if not one.turns.is_open), None)
                if resting is not None:
                    self._forget(resting)
        return session

    def _forget(self, session: Session) -> None:
        session.calls.flush()
        self._sessions.pop(session.session_id, None)

    def _hide(self, session_id: str) -> None:
        """Remember a session that is hidden from the client; the oldest is dropped at the bound."""
        self._children[session_id] = None
        if len(self._children) > CHILDREN_KEPT:
            del self._children[next(iter(self._children))]

    def _ask_prompt(self, request: Request, then: Then) -> Out:
        return self._instead(request, request.method, request.params, then)

    # ---- what the agent tells

    def _updated(self, params: Json) -> Outs:
        session = self._sessions.get(params["sessionId"])
        if session is None:
            session = self._unknown(params)
            if session is None:
                return NOTHING
        update: Json = params["update"]
        kind: Any = update["sessionUpdate"]
        saying = session.sayings.get(kind)
        if saying is None:
            return self._other(session, kind, update)
        said = saying(update)
        if not said:
            return self._told(session, said)
        # Members beside the update stay with the first update that is made from it.
        params["update"] = said[0]
        first: Out = (CLIENT, Notification(SESSION_UPDATE, params))
        return (first,) if len(said) == 1 else [first, *self._told(session, said[1:])]

    def _unknown(self, params: Json) -> Session | None:
        """Keep an update of a session that is being opened; return the session of any other."""
        session_id = params["sessionId"]
        if session_id in self._children:
            self.lost("update of a child session")
            return None
        if not self._openings:
            return self._session(session_id)
        self._early.append(params)
        if len(self._early) > EARLY_KEPT:
            del self._early[0]
            self.lost("early update")
        return None

    def _released(self) -> Outs:
        """Send the updates that came before their session was opened."""
        early, self._early = self._early, []
        return [out for params in early for out in self._updated(params)]

    def _other(self, session: Session, kind: str, update: Json) -> Outs:
        if kind == "state_update":
            # All updates of a turn are sent before its end.
            told = self._flushed(session) if update["state"] == "idle" else NOTHING
            return [*told, *session.turns.changed(update)]
        self.losses[kind] = self.losses.get(kind, 0) + 1
        self.around.log(f"an update {kind!r} has no form in v1")
        return NOTHING

    # ---- inside

    def _told(self, session: Session, updates: Sequence[Json]) -> list[Out]:
        session_id = session.session_id
        outs: list[Out] = [
            (CLIENT, Notification(SESSION_UPDATE, {"sessionId": session_id, "update": update}))
            for update in updates
        ]
        redacted, session.messages.to_tell = session.messages.to_tell, []
        outs += [
            (CLIENT, Notification("_acp/redact", {"sessionId": session_id, **one}))
            for one in redacted
        ]
        return outs

    def _flushed(self, session: Session) -> list[Out]:
        return self._told(session, session.calls.flush())

    def _instead(self, request: Request, method: str, params: Json, then: Then) -> Out:
        return self.ask(AGENT, method, params, then, instead_of=request, of=CLIENT)
