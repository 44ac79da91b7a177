"""Updates of a v1 agent, as updates of the draft.

This is the hot path: a plain chunk of a message is renamed and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from accord.schema.method import SESSION_UPDATE
from accord.translate.adapter import NOTHING, Outs
from accord.translate.draft.bridge import MADE_MESSAGE, DraftBridge
from accord.translate.draft.client.session_memory import EARLY_UPDATES_MAX, Session, State, Turn
from accord.translate.draft.client.settings import Settings
from accord.translate.draft.client.tool_calls import Calls, told
from accord.translate.draft.conversion.content import placeholder
from accord.translate.draft.conversion.meta_restore import keep_all, taken
from accord.translate.draft.conversion.plans_and_commands import commands_to_draft, plan_to_draft
from accord.translate.message import AGENT, CLIENT, Json, Notification, Out

_Kind: TypeAlias = Callable[[Session, Json], list[Out]]

_CHUNKS: Final = {
    "agent_message_chunk": "agent_message_chunk",
    "user_message_chunk": "user_message_chunk",
    "agent_thought_chunk": "thought_message_chunk",
}
_COUNTED: Final = frozenset({"agent_message_chunk", "user_message_chunk"})
# Kinds of chunks of which the last is marked.
_ENDED: Final = frozenset({"agent_message_chunk", "user_message_chunk"})
_HIDDEN: Final = {"audience": ["assistant"]}


class Updates:
    """Turns `session/update` of v1 into the draft's."""

    def __init__(self, bridge: DraftBridge, state: State, calls: Calls, settings: Settings) -> None:
        self._bridge = bridge
        self._state = state
        self._kinds: dict[str, _Kind] = {
            "plan": lambda session, update: [told(session, "plan", plan_to_draft(update))],
            "available_commands_update": lambda session, update: [
                told(session, "available_commands", commands_to_draft(update))
            ],
            "tool_call": calls.changed,
            "tool_call_update": calls.changed,
            "current_mode_update": lambda session, update: [
                told(session, *one) for one in settings.mode_update(session, update)
            ],
            "config_option_update": lambda session, update: [
                told(session, *one) for one in settings.options_update(session, update)
            ],
        }
        bridge.on_notification[AGENT, SESSION_UPDATE] = self._update

    def _update(self, params: Json) -> Outs:
        session = self._state.session(params["sessionId"])
        update: Json = params["update"]
        kind: str = update["sessionUpdate"]
        name = _CHUNKS.get(kind)
        if name is not None:
            outs: list[Out] = [_chunk(session, kind, name, update)]
            if kind == "agent_thought_chunk" and self._bridge.details:
                # Thoughts of our own agent are visible unless it says otherwise.
                _data(outs[0]).setdefault("visible", True)
        else:
            handler = self._kinds.get(kind)
            outs = (
                self._unknown(session, kind, params)
                if handler is None
                else handler(session, update)
            )
        if self._bridge.details and outs and not session.loading:
            outs = _ended_before(session, outs)
        turn = session.turn
        if turn is not None and outs:
            outs = [*begin(session, turn), *outs]
        if len(params) > 2:
            _envelope(params, outs)
        if session.opening:
            if len(session.early) + len(outs) > EARLY_UPDATES_MAX:
                self._bridge.loss("an update before its session")
            session.early.extend(outs)
            return NOTHING
        return outs

    def _unknown(self, session: Session, kind: str, params: Json) -> list[Out]:
        """Take an update that the draft has no type for."""
        if kind == "usage_update":
            session.usage = {
                key: one for key, one in params["update"].items() if key != "sessionUpdate"
            }
        if self._state.official_updates:
            return [(CLIENT, Notification("_acp/session_update", params))]
        self._bridge.lost(kind)
        return []


def begin(session: Session, turn: Turn) -> list[Out]:
    """Begin a turn, and echo its prompt if the client wants that."""
    if turn.begun:
        return []
    turn.begun = True
    last = len(turn.echo) - 1
    outs: list[Out] = []
    for at, block in enumerate(turn.echo):
        text = block["text"] if block["type"] == "text" else placeholder(block)
        data: Json = {"content": text, "index": at}
        if at == last:
            data["final"] = True
        outs.append(told(session, "user_message_chunk", data))
    return outs


def close_message(session: Session) -> list[Out]:
    """End the open streamed message by an empty last chunk."""
    if session.open_message is None:
        return []
    (kind, index), session.open_message = session.open_message, None
    return [told(session, kind, {"content": "", "index": index, "final": True})]


def _ended_before(session: Session, outs: list[Out]) -> list[Out]:
    """Add the end of the open streamed message before an update that follows it."""
    made: list[Out] = []
    for out in outs:
        message = out[1]
        assert isinstance(message, Notification)
        kind, data = message.params.get("type"), message.params.get("data") or {}
        index = data.get("index")
        if session.open_message is not None and (kind, index) != session.open_message:
            made += close_message(session)
        made.append(out)
        if kind in _ENDED and isinstance(index, int):
            session.open_message = None if data.get("final") else (str(kind), index + 1)
    return made


def _data(out: Out) -> Json:
    message = out[1]
    assert isinstance(message, Notification)
    data: Json = message.params["data"]
    return data


def _envelope(params: Json, outs: list[Out]) -> None:
    """Add the members beside an update to the first update that was made from it."""
    for _, message in outs[:1]:
        assert isinstance(message, Notification)
        made = message.params
        if made is params:
            return
        made.update(
            (key, value) for key, value in params.items() if key not in ("sessionId", "update")
        )
        had = taken(made)
        if isinstance(had.get("timestamp"), str):
            made["timestamp"] = had.pop("timestamp")
        keep_all(made, had)


def _chunk(session: Session, kind: str, name: str, update: Json) -> Out:
    block = update["content"]
    if kind in _COUNTED:
        mark = (kind, update.get("messageId"))
        if mark != session.counting:
            session.counted += 1
    else:
        mark = (kind, None)
    session.counting = mark
    if len(update) == 2 and len(block) == 2 and block["type"] == "text":
        data: Json = {"content": block["text"]}
    else:
        data = _whole_chunk(session, kind, update)
    params = {"sessionId": session.id, "type": name, "data": data}
    return CLIENT, Notification(SESSION_UPDATE, params)


def _whole_chunk(session: Session, kind: str, update: Json) -> Json:
    block = update["content"]
    made = {
        key: one
        for key, one in update.items()
        if key not in ("sessionUpdate", "content", "messageId")
    }
    had = taken(made)
    data: Json = {"content": block["text"] if block["type"] == "text" else placeholder(block)}
    data.update(made)
    if kind == "agent_thought_chunk":
        if block.get("annotations") == _HIDDEN:
            block = {key: one for key, one in block.items() if key != "annotations"}
            data["visible"] = False
        elif had.get("visible") is True:
            data["visible"] = had.pop("visible")
    if set(block) != {"type", "text"} or block["type"] != "text":
        had["block"] = update["content"]
    _grouped(session, kind, update.get("messageId"), data, had)
    keep_all(data, had)
    return data


def _grouped(session: Session, kind: str, message_id: str | None, data: Json, had: Json) -> None:
    """Add the index that shows the message of a chunk: the draft has no ids."""
    index, final = had.pop("index", None), had.pop("final", None)
    if isinstance(index, int) and index >= 0:
        data["index"] = index
    if isinstance(final, bool) and kind != "agent_thought_chunk":
        data["final"] = final
    if message_id is None or message_id.startswith(MADE_MESSAGE):
        return
    last_id, count = session.messages.get(kind, ("", 0))
    count = count if last_id == message_id else 0
    session.messages[kind] = (message_id, count + 1)
    data["index"] = count
    had["messageId"] = message_id
