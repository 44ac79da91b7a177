"""Updates of a draft agent as updates of v1.

This is the hot path: a plain chunk of a message is checked and renamed and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from accord.schema import v1
from accord.schema.codec import encode
from accord.schema.invalid import Invalid
from accord.schema.method import SESSION_UPDATE
from accord.schema.v1.methods import CLIENT_METHODS, UPDATE_GATES
from accord.translate.adapter import NOTHING, Outs
from accord.translate.draft.agent.session_memory import Session, State
from accord.translate.draft.bridge import MADE_MESSAGE, DraftBridge, invalid
from accord.translate.draft.conversion.content import is_block
from accord.translate.draft.conversion.meta_restore import (
    copied,
    fits,
    keep_all,
    read_update,
    taken,
)
from accord.translate.draft.conversion.plans_and_commands import (
    commands_from_draft,
    detailed_plan,
    plan_from_draft,
)
from accord.translate.draft.conversion.tool_calls import call_from_draft, update_from_draft
from accord.translate.draft.conversion.tool_output import Surfaces
from accord.translate.draft.tool_statuses import FINAL_STATUSES
from accord.translate.message import AGENT, CLIENT, Json, Notification
from accord.translate.meta_store import DRAFT, kept
from accord.translate.validation import read_params

# The size of the input that is kept for a permission request; a longer one is not kept.
INPUT_BYTES_MAX: Final = 16 * 1024


# Statuses in which a permission request may still name the call.
_BEFORE_WORK: Final = frozenset({"pending", "awaiting_permission"})

_Kind: TypeAlias = Callable[[Session, Json], Json | None]

_CHUNKS: Final = {
    "agent_message_chunk": "agent_message_chunk",
    "user_message_chunk": "user_message_chunk",
    "thought_message_chunk": "agent_thought_chunk",
}
_OFFICIAL_UPDATE: Final = CLIENT_METHODS[SESSION_UPDATE]
_ENVELOPE: Final = frozenset({"sessionId", "type", "data", "timestamp", "update"})
# For the model only: the draft calls it a thought that is not visible.
_HIDDEN: Final = {"audience": ["assistant"]}


class Updates:
    """Turns `session/update` of the draft into v1's."""

    def __init__(
        self, bridge: DraftBridge, state: State, has_terminal: Callable[[str], bool]
    ) -> None:
        self._bridge = bridge
        self._state = state
        self._has_terminal = has_terminal
        self._kinds: dict[str, _Kind] = {
            "plan": lambda _, data: (
                detailed_plan(data) if bridge.details else plan_from_draft(data)
            ),
            "available_commands": lambda _, data: commands_from_draft(data),
            "tool_call": self._tool_call,
            "tool_call_update": self._tool_call_update,
            "current_mode_update": self._mode,
            "config_option_update": self._option,
        }
        bridge.on_notification[AGENT, SESSION_UPDATE] = self._update
        bridge.on_notification[AGENT, "_acp/session_update"] = self._official

    def _update(self, params: Json) -> Outs:
        session = self._state.session(params["sessionId"])
        kind: str = params["type"]
        if session.muted:
            return NOTHING
        data: Any = params["data"]
        name = _CHUNKS.get(kind)
        if name is not None:
            update: Json | None = _chunk(self._bridge, session, kind, name, data)
        else:
            handler = self._kinds.get(kind)
            if handler is not None:
                update = handler(session, read_update(kind, data))
            elif self._bridge.details:
                update = {**(data if isinstance(data, dict) else {}), "sessionUpdate": kind}
            else:
                self._bridge.lost(f"session/update {kind}")
                return NOTHING
        session.last = kind
        session.told = True
        behind = self._options_of_mode(session, params) if kind == "current_mode_update" else ()
        if update is None:
            return behind
        made: Json = {"sessionId": params["sessionId"], "update": update}
        if len(params) > 3:
            made.update((key, one) for key, one in params.items() if key not in _ENVELOPE)
            if "timestamp" in params:
                keep_all(made, {"timestamp": params["timestamp"]})
        return ((CLIENT, Notification(SESSION_UPDATE, made)), *behind)

    # ---- tool calls

    def _surfaces(self, session: Session) -> Surfaces:
        bridge = self._bridge
        return Surfaces(
            session.folder, bridge.around.read_text, self._has_terminal, details=bridge.details
        )

    def _is_undone(self, data: Json) -> bool:
        """Whether to leave out a step that another bridge added.

        Our own client is not told what that bridge started from, so that it needs every step.
        """
        return _is_made(data) and not self._bridge.details

    def _tool_call(self, session: Session, data: Json) -> Json | None:
        call = session.call(data["id"])
        call.status = data.get("status", "pending")
        given = data["input"]
        ended = call.status in FINAL_STATUSES
        call.given = None if ended or len(encode(given)) > INPUT_BYTES_MAX else given
        if self._is_undone(data):
            return None
        return call_from_draft(data, session.folder, details=self._bridge.details)

    def _tool_call_update(self, session: Session, data: Json) -> Json | None:
        call_id = data["id"]
        call = session.call(call_id)
        status = data.get("status")
        if status is not None:
            if call.status in FINAL_STATUSES and status != call.status:
                # A final status does not change; output still counts.
                data = {key: value for key, value in data.items() if key != "status"}
            else:
                call.status = status
        made = None if self._is_undone(data) else update_from_draft(data, self._surfaces(session))
        if call.status in FINAL_STATUSES:
            call.given = None
        if self._bridge.details:
            if made is not None and "content" in made:
                if "output" not in data:
                    # An error follows the earlier output.
                    made["content"] = [*copied(session.shown.get(call_id, [])), *made["content"]]
                session.show(call_id, copied(made["content"]))
        elif call.status not in _BEFORE_WORK:
            session.shown.pop(call_id, None)
        elif made is not None and "content" in made:
            session.show(call_id, copied(made["content"]))
        return made

    # ---- modes and options

    def _mode(self, session: Session, data: Json) -> Json | None:
        made = dict(data)
        had = taken(made)
        session.mode = made.pop("currentMode")
        had.pop("configOptions", None)
        unsaid = had.pop("made", None)
        if unsaid is True:
            return None
        previous = made.pop("previousMode")
        if unsaid != ["previousMode"]:
            had["previousMode"] = previous
        if "reason" in made:
            had["reason"] = made.pop("reason")
        made = {
            "sessionUpdate": "current_mode_update",
            "currentModeId": session.names.official(session.mode),
            **made,
        }
        keep_all(made, had)
        return made

    def _options_of_mode(self, session: Session, params: Json) -> Outs:
        """Return the options that another bridge sent with a mode, which is one update here."""
        options = kept(params["data"], DRAFT).get("configOptions")
        if not isinstance(options, list) or not fits(list[v1.SessionConfigOption], options):
            return NOTHING
        session.options = options
        update = {"sessionUpdate": "config_option_update", "configOptions": copied(options)}
        made = {"sessionId": session.id, "update": update}
        return ((CLIENT, Notification(SESSION_UPDATE, made)),)

    def _option(self, session: Session, data: Json) -> Json | None:
        made = dict(data)
        had = taken(made)
        options = had.pop("configOptions", None)
        known = isinstance(options, list) and fits(list[v1.SessionConfigOption], options)
        told: Json = {
            name: made.pop(name)
            for name in ("key", "previousValue", "currentValue", "source")
            if name in made
        }
        if known:
            session.options = options
        else:
            self._state.set_option(session, told["key"], told["currentValue"])
            had.update(told)
        if had.pop("made", None) is True:
            return None
        made = {
            "sessionUpdate": "config_option_update",
            "configOptions": copied(session.options),
            **made,
        }
        keep_all(made, had)
        return made

    # ---- what only the official versions have

    def _official(self, params: Json) -> Outs:
        try:
            params = read_params(_OFFICIAL_UPDATE, encode(params))
        except Invalid as error:
            raise invalid(f"an invalid official update: {error}") from None
        kind = params["update"]["sessionUpdate"]
        gate = UPDATE_GATES.get(kind)
        holder: Any = self._state.client
        for part in gate.split(".") if gate is not None else ():
            holder = holder.get(part) if isinstance(holder, dict) else None
        if holder is None:
            self._bridge.lost(kind)
            return NOTHING
        session = self._state.session(params["sessionId"])
        if session.muted:
            return NOTHING
        session.told = True
        return ((CLIENT, Notification(SESSION_UPDATE, params)),)


def _is_made(data: Json) -> bool:
    """Whether another bridge added this step because the draft requires every one."""
    return kept(data, DRAFT).get("made") is True


def _chunk(bridge: DraftBridge, session: Session, kind: str, name: str, data: Any) -> Json:
    """Convert a chunk of a message; `index` and `final` of the draft show where another begins."""
    if type(data) is not dict or type(data.get("content")) is not str or len(data) > 1:
        data = read_update(kind, data)
    update: Json = {
        "sessionUpdate": name,
        "content": {"type": "text", "text": data["content"]},
    }
    if len(data) > 1 or session.last != kind or kind in session.ended:
        return _grouped(bridge, session, kind, data, update)
    message_id = session.message_ids.get(kind)
    if message_id is not None:
        update["messageId"] = message_id
    return update


def _grouped(bridge: DraftBridge, session: Session, kind: str, data: Json, update: Json) -> Json:
    made = {key: one for key, one in data.items() if key not in ("content", "index", "final")}
    had = taken(made)
    index, visible = data.get("index"), made.pop("visible", None)
    fresh_start = index == 0 or kind in session.ended
    if fresh_start or (index is None and session.last != kind):
        made_id = f"{MADE_MESSAGE}{bridge.around.fresh()}" if fresh_start else None
        session.message_ids[kind] = made_id
        session.ended.discard(kind)
    if "messageId" in had:
        # Another bridge knew the message and made the index.
        session.message_ids[kind] = None
    else:
        had.update((key, data[key]) for key in ("index", "final") if key in data)
        if session.message_ids.get(kind) is not None:
            made["messageId"] = session.message_ids[kind]
    if data.get("final") is True:
        session.ended.add(kind)
    if visible is False:
        update["content"]["annotations"] = dict(_HIDDEN)
    elif visible is True:
        had["visible"] = True
    update.update(made)
    if is_block(had.get("block")):
        update["content"] = had.pop("block")
    if isinstance(had.get("messageId"), str):
        update["messageId"] = had.pop("messageId")
    keep_all(update, had)
    return update
