"""Replays the history of a session to the client that opens it.

Each item is sent once, in its last state.  Before replayed chunks of something that the client may
still show, it is reset.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from accord.agent.session.unfinished_work import Unfinished
from accord.agent.session.updates import OF_THE_MOMENT
from accord.protocol.tool_status import is_final
from accord.schema import v2
from accord.schema.method import SESSION_UPDATE
from accord.schema.struct import UNSET, UnknownVariant

if TYPE_CHECKING:
    from accord.agent.serving.wire import Wire
    from accord.agent.session.session_state import SessionState
    from accord.connection import Connection


HELD_MAX = 1024
"""Updates that wait for the end of a tool call; one more, and they are sent as they are."""


class _Item(NamedTuple):
    """The item that chunks add to: its type, the name of its id, and the field they add to."""

    kind: Any
    id_name: str
    content: str
    empty: Any


_MESSAGES: dict[Any, _Item] = {
    v2.UserMessageChunk: _Item(v2.UserMessage, "message_id", "content", []),
    v2.AgentMessageChunk: _Item(v2.AgentMessage, "message_id", "content", []),
    v2.AgentThoughtChunk: _Item(v2.AgentThought, "message_id", "content", []),
}
_ITEMS: dict[Any, _Item] = {
    **_MESSAGES,
    v2.SessionMessageChunk: _Item(v2.SessionMessage, "message_id", "content", []),
    v2.ToolCallContentChunk: _Item(v2.ToolCallUpdate, "tool_call_id", "content", []),
    v2.TerminalOutputChunk: _Item(
        v2.TerminalUpdate, "terminal_id", "output", v2.TerminalOutput(data=b"")
    ),
    v2.CompactionSummaryChunk: _Item(v2.CompactionUpdate, "compaction_id", "summary", []),
}
_CHUNKS = {item.kind: chunk for chunk, item in _ITEMS.items()}

MESSAGES = frozenset(_MESSAGES)
"""The chunks of messages alone."""
CHUNKS = frozenset(_ITEMS)
"""The chunks of every kind of item."""


class ReplayResets:
    """Guards: in one replay each item is emptied once, before its first chunk."""

    def __init__(self, kinds: frozenset[Any]) -> None:
        """`kinds` are the chunks that need a reset."""
        self._kinds = kinds
        self._said: set[tuple[Any, str]] = set()
        # A compaction update needs a status.
        self._statuses: dict[str, str] = {}

    def before(self, update: Any) -> Any | None:
        """The reset to send before this update, or None."""
        kind = type(update)
        if kind in self._kinds:
            item = _ITEMS[kind]
            named = getattr(update, item.id_name)
            if (kind, named) in self._said:
                return None
            self._said.add((kind, named))
            more = {}
            if kind is v2.CompactionSummaryChunk:
                more["status"] = self._statuses.get(named, "in_progress")
            return item.kind(**{item.id_name: named, item.content: item.empty, **more})
        chunk = _CHUNKS.get(kind)
        if chunk is not None:
            item = _ITEMS[chunk]
            named = getattr(update, item.id_name)
            if getattr(update, item.content) is not UNSET:
                self._said.add((chunk, named))
            if kind is v2.CompactionUpdate:
                self._statuses[named] = update.status
        return None


# The answer that opens a session has these, as they are now.
_IN_THE_ANSWER = frozenset({v2.ConfigOptionUpdate, v2.AvailableCommandsUpdate})
_PLANS = frozenset({v2.PlanUpdate, v2.PlanRemoved})
_PATCHES = frozenset({v2.UsageUpdate, v2.SessionInfoUpdate})
_CALLS = frozenset({v2.ToolCallUpdate, v2.ToolCallContentChunk})
_TERMINALS = frozenset({v2.TerminalUpdate, v2.TerminalOutputChunk})

FOLDED = _IN_THE_ANSWER | _PLANS | _PATCHES | _CALLS
"""Updates that `ReplayedState` must see; of the others only while it holds something."""


class ReplayedState:
    """One replay.  Guards: updates keep the order of the log, except for the last states."""

    def __init__(self, *, has_plan_ids: bool, is_held_again: bool) -> None:
        """`has_plan_ids`: plans of every form are sent as plans.

        `is_held_again`: the client may still show the session, so it must be told what was removed.
        """
        self._has_plan_ids = has_plan_ids
        self._is_held_again = is_held_again
        self._queue: list[Any] = []
        # Calls in the queue, and those of them that have not ended.
        self._calls: dict[str, _Call] = {}
        self._open: set[str] = set()
        self._plans: dict[str, Any] = {}
        self._patches: dict[Any, dict[str, Any]] = {}

    @property
    def is_holding(self) -> bool:
        """Whether a tool call is open, so that everything after it waits."""
        return bool(self._queue)

    def take(self, update: Any) -> Sequence[Any]:
        """Take the next update of the log; return the updates to send now, in order."""
        kind = type(update)
        if kind in _IN_THE_ANSWER:
            return ()
        if kind in _PATCHES:
            known = self._patches.setdefault(kind, {})
            known |= _given(update)
            return ()
        if kind in _PLANS and self._is_state(update):
            plan_id = update.plan_id if kind is v2.PlanRemoved else update.plan.plan_id
            # The plan that changed last is sent last: some clients show only one.
            self._plans.pop(plan_id, None)
            self._plans[plan_id] = update
            return ()
        if kind in _CALLS:
            return self._take_call(update)
        return self._queued(update)

    def rest(self) -> list[Any]:
        """The updates to send at the end of the log."""
        told = self._flushed()
        for plan_id, update in self._plans.items():
            if type(update) is v2.PlanUpdate or self._has_plan_ids:
                told.append(update)
            elif self._is_held_again:
                told.append(v2.PlanUpdate(plan=v2.PlanItems(plan_id=plan_id, entries=[])))
        told += [kind(**given) for kind, given in self._patches.items()]
        return told

    def _is_state(self, update: Any) -> bool:
        """Whether a plan is state; one that is sent as a message keeps its place."""
        if type(update) is v2.PlanRemoved or type(update.plan) is v2.PlanItems:
            return True
        return self._has_plan_ids and not isinstance(update.plan, UnknownVariant)

    # ---- tool calls

    def _take_call(self, update: Any) -> Sequence[Any]:
        call = self._calls.get(update.tool_call_id)
        if call is not None:
            call.add(update)
        else:
            if not _begins(update):
                return self._queued(update)
            call = self._calls[update.tool_call_id] = _Call(update)
            self._queue.append(call)
            self._open.add(update.tool_call_id)
        if call.is_over:
            self._open.discard(update.tool_call_id)
        return () if self._open else self._flushed()

    def _queued(self, update: Any) -> Sequence[Any]:
        if not self._queue:
            return (update,)
        self._queue.append(update)
        return self._flushed() if len(self._queue) > HELD_MAX else ()

    def _flushed(self) -> list[Any]:
        """Empty the queue, with terminal output first, so that the calls show all of it."""
        queue, self._queue = self._queue, []
        self._calls.clear()
        self._open.clear()
        told = [one for one in queue if type(one) in _TERMINALS]
        for one in queue:
            if type(one) is _Call:
                told.append(one.whole())
            elif type(one) not in _TERMINALS:
                told.append(one)
        return told


class _Call:
    """All updates of one tool call, merged."""

    __slots__ = ("_given",)

    def __init__(self, update: v2.ToolCallUpdate) -> None:
        self._given = _given(update)

    @property
    def is_over(self) -> bool:
        status = self._given.get("status")
        return isinstance(status, str) and is_final(status)

    def add(self, update: Any) -> None:
        """Merge one more update or content chunk."""
        if type(update) is v2.ToolCallContentChunk:
            self._given["content"] = [*(self._given.get("content") or ()), update.content]
        else:
            self._given |= _given(update)

    def whole(self) -> v2.ToolCallUpdate:
        """One update with everything that was merged."""
        return v2.ToolCallUpdate(**self._given)


def _begins(update: Any) -> bool:
    """Whether an update shows a tool call that has not ended."""
    status = update.status if type(update) is v2.ToolCallUpdate else None
    return isinstance(status, str) and not is_final(status)


def _given(update: Any) -> dict[str, Any]:
    """The fields that are set in an update."""
    return {
        name: value
        for name in update.__struct_fields__
        if (value := getattr(update, name)) is not UNSET
    }


async def send_past(session: SessionState, wire: Wire, connection: Connection) -> Unfinished:
    """Send the log of a session; return what it leaves unfinished."""
    unfinished = Unfinished()
    plain = frozenset({v2.AgentMessageChunk, v2.AgentThoughtChunk, v2.UserMessageChunk})
    # A past may be very long, so everything that stays the same is looked up once.
    session_id, told, see = session.id, wire.told, unfinished.see
    past = connection.gather(SESSION_UPDATE, *wire.envelope(session_id))
    add, text = past.add, v2.TextContent
    as_it_is = plain if wire.pieces_alike else frozenset[Any]()
    held = {"none": None, "messages": MESSAGES, "all": CHUNKS}[wire.held_again]
    before = None if held is None else ReplayResets(held).before
    state = ReplayedState(has_plan_ids=wire.features.plans, is_held_again=wire.held_again == "all")

    def tell(update: Any) -> bool:
        """Add an update; return whether enough has gathered to be sent."""
        is_enough = False
        first = None if before is None else before(update)
        if first is not None:
            for said in told(session_id, first):
                is_enough |= add(said)
        if type(update) in as_it_is and type(update.content) is text:
            # Most of a past is text chunks, which are the same in v1 and v2.
            return add(update) or is_enough
        for said in told(session_id, update):
            is_enough |= add(said)
        return is_enough

    is_holding = False
    async for update in session.updates.log.replay():
        kind = type(update)
        if kind not in plain:
            if kind in OF_THE_MOMENT:
                continue
            see(update)
        if not is_holding and kind not in FOLDED:
            if tell(update):
                await past.flush()
            continue
        for one in state.take(update):
            if tell(one):
                await past.flush()
        is_holding = state.is_holding
    for one in state.rest():
        if tell(one):
            await past.flush()
    await past.flush()
    return unfinished
