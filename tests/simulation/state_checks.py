"""What must hold of the insides of both peers: all along, at rest, and when a world is over."""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from accord.agent.session.agent_session import session_state
from accord.client import Client, Session
from accord.client.session.update_inbox import Inbox
from accord.store import SessionStore
from accord.transcript import Transcript
from tests.simulation.event_log import Chronicle
from tests.simulation.frame_checks import Conversation
from tests.simulation.peers.agent import AgentSide
from tests.simulation.runtime.loop import SeededLoop

# What the agent's handlers of a world may send beyond the bound, each one message.
OVERSHOOT_BYTES = 40_000
OWN_UPDATES_MAX = 3
# Of what is read when the reading stops; less than in real life, so that the bound is met.
READ_UPDATES_MAX = 24


class Watch:
    """Looks at everything after every round of the loop."""

    def __init__(self, chronicle: Chronicle, loop: SeededLoop) -> None:
        self._chronicle = chronicle
        self._loop = loop
        self._client: Client | None = None
        self._agent: AgentSide | None = None
        self.log_handler = _Log(chronicle)

    def look_at(self, client: Client, agent: AgentSide) -> None:
        """These two from now on."""
        self._client, self._agent = client, agent

    def round_ended(self) -> None:
        """The bounds hold."""
        if self._client is None or self._agent is None:
            return
        link = self._client._core.link
        connection, limits = link.connection, link.options.limits
        reading = connection.reading
        if reading.is_held and not reading._paused and connection.error is None:
            self._chronicle.wrong("a consumer is full, nobody waits, and the reading goes on")
        for conversed in link.sessions.values():
            for exchange in conversed._exchanges:
                self._check_inbox(exchange.inbox, limits.turn_updates)
            for inbox in conversed._open_streams():
                self._check_inbox(inbox, limits.turn_updates)
        for session in map(session_state, self._agent.sessions.values()):
            waiting = len(session.prompts._waiting)
            if session.wire.version == 1 and waiting > limits.prompts_queued:
                self._chronicle.wrong(f"{waiting} prompts wait, at most {limits.prompts_queued}")
            peer = session.connection
            if len(peer.peer._pending) > limits.pending_requests:
                self._chronicle.wrong("the agent has more calls open than it may")
            backlog = peer._transport.backlog
            if backlog > limits.backlog_bytes + OVERSHOOT_BYTES:
                self._chronicle.wrong(f"the agent's backlog is {backlog} bytes")

    def _check_inbox(self, inbox: Inbox, most: int) -> None:
        # What the client tells itself of a command that it runs comes from no chunk, and stopping
        # the reading does not stop it: that it began, what it printed, how it ended; once each.
        late = inbox._late._waiting.values() if inbox._late else ()
        own = Counter(
            id(one.item)
            for one in inbox._items
            if one.kind == "terminal" and one.wire is None and one not in late
        )
        if any(told > OWN_UPDATES_MAX for told in own.values()):
            self._chronicle.wrong(f"an inbox has {max(own.values())} updates of one command")
        told_by_agent = len(inbox) - own.total() - len(late)
        if told_by_agent > most + READ_UPDATES_MAX:
            self._chronicle.wrong(f"an inbox has {told_by_agent} updates, its bound is {most}")
        if len({id(one.item) for one in late}) < len(late):
            self._chronicle.wrong("two updates of one item are late in an inbox")

    def waiting(self) -> str:
        """Where all tasks stand, for whoever looks at a world that is stuck."""
        places = []
        for task in asyncio.all_tasks(self._loop):
            coroutine: Any = task.get_coro()
            place: list[str] = []
            while coroutine is not None:
                frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
                if frame is not None:
                    place.append(f"{frame.f_code.co_qualname}:{frame.f_lineno}")
                coroutine = getattr(coroutine, "cr_await", getattr(coroutine, "gi_yieldfrom", None))
            places.append(f"\n    {task.get_name()} at {' > '.join(place[-5:])}")
        return "; ".join(sorted(places))

    def check_told(self, stderr: str, may_complain: bool) -> None:
        """Nothing on stderr but what a handler that was left behind runs into."""
        if stderr and not may_complain:
            last = [line for line in stderr.splitlines() if line.startswith("accord.")]
            if any("LocalProtocolError" not in line for line in last) or not last:
                self._chronicle.wrong(f"on stderr: {stderr[-1500:]}")

    def unraisable(self, args: Any) -> None:
        """What only the interpreter would have complained of."""
        self._chronicle.wrong(f"unraisable: {args.exc_value!r} in {args.object!r}")


class _Log(logging.Handler):
    """What the library calls an error is one."""

    def __init__(self, chronicle: Chronicle) -> None:
        super().__init__(logging.ERROR)
        self._chronicle = chronicle

    def emit(self, record: logging.LogRecord) -> None:
        """Note it."""
        if not self._chronicle.broken:
            error = record.exc_info[1] if record.exc_info else None
            self._chronicle.wrong(f"logged: {record.getMessage()} {error!r}")


def check_rest(
    chronicle: Chronicle,
    conversation: Conversation,
    client: Client,
    sessions: Mapping[str, Session],
) -> None:
    """Nobody does anything, so nothing may be open."""
    conversation.check_at_rest()
    conversation.check_order()
    connection = client._core.link.connection
    chronicle.check(not connection._calls._open, "at rest, and calls of the client are open")
    chronicle.check(not connection.reading.holds, "at rest, and somebody holds the reading")
    chronicle.check(connection.reading._waiting == 0, "at rest, and somebody waits for an answer")
    for name, session in sessions.items():
        conversed = session._state
        chronicle.check(not conversed._exchanges, f"at rest, and {name} has open turns")
        chronicle.check(not conversed.questions, f"at rest, and {name} has open questions")
        chronicle.check(not session.is_busy, f"at rest, and {name} is busy")
        for call in session.transcript.tool_calls:
            chronicle.check(call.is_final, f"at rest, and {name} shows {call}")
    for session_id, told in conversation.told.items():
        began = [
            key
            for key in chronicle.began.get(_name_of(sessions, session_id), [])
            if key in told.prompted
        ]
        order = [key for key in dict.fromkeys(told.prompted) if key in began]
        repeated = len(told.prompted) != len(set(told.prompted))
        if not repeated and list(dict.fromkeys(began)) != order:
            chronicle.wrong(f"prompts came as {order} and were taken as {began}")
    for key, runs in chronicle.runs.items():
        told_often = sum(t.prompted.count(key) for t in conversation.told.values())
        if told_often and len(runs) > told_often:
            chronicle.wrong(f"{key} was sent {told_often} times and ran {len(runs)} times")
        if any(run.begun for run in runs[:-1]):
            chronicle.wrong(f"{key} was begun again though something had come of it")


def _name_of(sessions: Mapping[str, Session], session_id: str) -> str:
    return next((name for name, one in sessions.items() if one.id == session_id), "?")


async def check_log(
    chronicle: Chronicle, store: SessionStore, session: Session, version: int
) -> None:
    """What the agent has in its log and what the client has seen add up to the same."""
    log = await store.open(session.id)
    if log is None:
        chronicle.wrong(f"the session {session.id} is gone from the store")
        return
    kept = Transcript("v2")
    async for update in log.replay():
        kept.apply(update)
    await store.release(session.id)
    ours, theirs = picture(kept, version), picture(session.transcript, version)
    for part in ours:
        if ours[part] != theirs[part]:
            chronicle.wrong(
                f"{part} in the log and at the client differ:"
                f"\n  {shortened(ours[part])}\n  {shortened(theirs[part])}"
            )


def shortened(value: object) -> str:
    """For a person: fillers say nothing."""
    return re.sub(r"~[^<>]*>", ">", str(value))


def picture(transcript: Transcript, version: int) -> dict[str, Any]:
    """What a user sees, as far as both versions can tell it."""
    final = {"cancelled": "failed"} if version == 1 else {}
    step = {"cancelled": "pending"} if version == 1 else {}
    return {
        "messages": [m.text for m in transcript.messages if m.role == "agent"],
        "thoughts": [m.text for m in transcript.thoughts],
        "tool calls": [
            (call.tool_call_id, call.title, final.get(call.status, call.status))
            for call in transcript.tool_calls
        ],
        "plans": [
            [(one.content, step.get(one.status, one.status)) for one in plan.entries]
            for plan in transcript.plans
        ],
        "title": transcript.info.title,
    }


def check_leftovers(chronicle: Chronicle, loop: SeededLoop, descriptors: list[int]) -> None:
    """When a world is over nothing of it is left: no task, no timer, no descriptor."""
    current = asyncio.current_task(loop)
    tasks = [task.get_name() for task in asyncio.all_tasks(loop) if task is not current]
    chronicle.check(not tasks, f"tasks are left: {tasks}")
    timers = [repr(timer) for timer in loop.timers()]
    chronicle.check(not timers, f"timers are left: {timers}")
    chronicle.check(not loop.watched(), f"descriptors are watched: {loop.watched()}")
    chronicle.check(not descriptors, f"descriptors are open: {descriptors}")
