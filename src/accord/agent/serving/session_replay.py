"""Replays the history of a session to the client that opens it.

What always holds
    * Notices and states, which are of the moment, are left out.
    * Parts that the client may still show are reset before they are sent again
      (`replay_resets.py`), and what has one value is sent once (`condensed_replay.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.agent.serving.condensed_replay import FOLDED, ReplayedState
from accord.agent.serving.replay_resets import CHUNKS, MESSAGES, ReplayResets
from accord.agent.session.unfinished_work import Unfinished
from accord.agent.session.updates import OF_THE_MOMENT
from accord.schema import v2
from accord.schema.method import SESSION_UPDATE

if TYPE_CHECKING:
    from accord.agent.serving.wire import Wire
    from accord.agent.session.state import SessionState
    from accord.connection import Connection


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
