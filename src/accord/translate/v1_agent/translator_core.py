"""What every part of the adapter stands on: its sessions, its clock, and the words to the client.

Must not know: what any message means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from accord.jsonrpc.error_codes import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    RESOURCE_NOT_FOUND,
    text_of,
)
from accord.schema.method import SESSION_UPDATE
from accord.translate.adapter import NOTHING, Adapter, Outs
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Key,
    Notification,
    Out,
    Request,
    Side,
    Surroundings,
)
from accord.translate.v1_agent.message_ids import MessageIds, PromptIds
from accord.translate.v1_agent.session_replay import Log
from accord.translate.v1_agent.session_state import SESSIONS_KEPT, Session

# Not part of what a client needs to show a session again: told now and never again, or said by
# the answer to `session/resume`.
NOT_HISTORY: Final = frozenset(
    {"notice", "state_update", "config_option_update", "available_commands_update"}
)
# How v1 agents say that they do not know a session, whatever number they give it.
NO_SUCH_SESSION: Final = (
    "session not found",
    "session_not_found",
    "unknown session",
    "no such session",
    "session does not exist",
    "invalid session id",
    "no session with",
)


@dataclass(slots=True)
class Abilities:
    """What the v1 agent can do, as far as v2 takes it for granted or we have to see to it."""

    load: bool = False
    resume: bool = False
    list: bool = False
    close: bool = False
    logout: bool = False
    prompt: frozenset[str] = frozenset()
    http: bool = False
    acp: bool = False


class Core(Adapter):
    """The sessions of a connection and the timers of its adapter."""

    def __init__(
        self, surroundings: Surroundings, *, strict: bool = False, unstable: bool = False
    ) -> None:
        super().__init__(surroundings, strict=strict, unstable=unstable)
        self.can = Abilities()
        # What becomes of an update of a session that is not known.
        self.on_unknown: Callable[[Json], Outs] = lambda _: NOTHING
        self.sessions: dict[str, Session] = {}
        self._timers: dict[tuple[str, str], tuple[float, Callable[[], Outs]]] = {}

    # ---- sessions

    def new_session(
        self, session_id: str, cwd: str, roots: list[str], *, is_known: bool = False
    ) -> Session:
        """Begin to know a session; one of that id that was known is forgotten.

        `is_known`: nothing was said in it before.

        Raises:
            CannotTranslate: there are too many that are open.
        """
        self.sessions.pop(session_id, None)
        if len(self.sessions) >= SESSIONS_KEPT:
            self._forget_one()
        session = Session(
            id=session_id,
            cwd=cwd,
            roots=roots,
            stamp=self.around.stamp(),
            approvals=self.around.approvals(cwd),
            prompts=PromptIds(session_id, is_known=is_known),
            messages=MessageIds(session_id, self.around.fresh(), is_known=is_known),
            log=None if self.can.load else Log(),
        )
        self.sessions[session_id] = session
        return session

    def _forget_one(self) -> None:
        for session in self.sessions.values():
            if not session.open:
                del self.sessions[session.id]
                return
        raise CannotTranslate(
            INTERNAL_ERROR, "too many sessions are open", {"reason": "too_many_sessions"}
        )

    def child_of(self, parent: Session, session_id: str) -> None:
        """A session that the agent began inside another one."""
        if session_id not in self.sessions:
            child = self.new_session(session_id, parent.cwd, list(parent.roots))
            child.open, child.child = False, True

    def open_session(self, session_id: str) -> Session:
        """The session that a request of the client names.

        Raises:
            CannotTranslate: it is not open.
        """
        session = self.sessions.get(session_id)
        if session is None or not session.open or session.closing:
            raise not_found(session_id)
        return session

    # ---- to the client

    def tell(self, session: Session, update: Json) -> Out:
        """An update of a session, which its log gets too."""
        if session.log is not None and update["sessionUpdate"] not in NOT_HISTORY:
            session.log.add(update)
        return CLIENT, Notification(SESSION_UPDATE, {"sessionId": session.id, "update": update})

    def fail(self, key: Key, failure: Failure, session_id: Any = None) -> Out:
        """The agent's error as the answer to the client's request about a session."""
        return CLIENT, session_failure(failure, session_id)._replace(key=key)

    def pass_to_agent(self, request: Request) -> Outs:
        """Ask the agent the same; an error is about the session that the params name, if any."""
        session_id = request.params.get("sessionId")

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self.fail(request.key, answer, session_id)]
            return [self.answer(CLIENT, request.key, answer)]

        return [
            self.ask(AGENT, request.method, request.params, then, instead_of=request, of=CLIENT)
        ]

    def request_behind(self, agent_key: Any) -> Key | None:
        """The client's open request that we asked the agent something for."""
        asked = self._asked.get((AGENT, agent_key))
        origin = None if asked is None else asked[1]
        return None if origin is None else origin[1]

    def cancelled_by(self, side: Side, key: Any) -> Outs:
        """`$/cancel_request` of a side follows its request to the other one."""
        return self._cancelled(side, key)

    # ---- time

    @property
    def wake_at(self) -> float | None:
        """The first of the timers."""
        return min((when for when, _ in self._timers.values()), default=None)

    def later(self, session: Session, name: str, seconds: float, do: Callable[[], Outs]) -> None:
        """Do something about a session then, in place of what had that name."""
        self._timers[session.id, name] = (self.around.now() + seconds, do)

    def never(self, session: Session, name: str) -> None:
        """What had that name will not be done."""
        self._timers.pop((session.id, name), None)

    def due(self) -> Outs:
        """Do everything whose time has come."""
        now = self.around.now()
        ready = sorted((when, key) for key, (when, _) in self._timers.items() if when <= now)
        calls = [self._timers.pop(key)[1] for _, key in ready]
        return [out for call in calls for out in call()]


def not_found(session_id: Any) -> CannotTranslate:
    """Nobody knows this session."""
    return CannotTranslate(
        RESOURCE_NOT_FOUND, f"no session {session_id} is open", {"sessionId": session_id}
    )


def session_failure(failure: Failure, session_id: Any) -> Failure:
    """The failure with v2's number and data where it means that there is no such session."""
    if session_id is None or failure.code == AUTH_REQUIRED or not _is_missing(failure):
        return failure
    data = failure.data if isinstance(failure.data, dict) else {}
    if isinstance(data.get("sessionId"), str):
        return failure._replace(code=RESOURCE_NOT_FOUND)
    message = failure.message or text_of(RESOURCE_NOT_FOUND)
    return Failure(failure.key, RESOURCE_NOT_FOUND, message, {**data, "sessionId": session_id})


def _is_missing(failure: Failure) -> bool:
    if failure.code == RESOURCE_NOT_FOUND:
        # A file or another resource that is missing says which one it is.
        return not isinstance(failure.data, dict) or "uri" not in failure.data
    said = failure.message.lower()
    return any(words in said for words in NO_SUCH_SESSION)
