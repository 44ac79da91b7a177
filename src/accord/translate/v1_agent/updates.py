"""Converts the agent's updates to v2.

This is the hot path: a chunk is changed in place, and costs a few lookups.

What always holds
    * An update that v2 has no form for is dropped and counted, never sent as it is.
    * Updates leave in the order in which they came.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from accord.schema.method import SESSION_UPDATE
from accord.translate.adapter import NOTHING, Outs
from accord.translate.content_blocks import block_to_v2, blocks_to_v2
from accord.translate.message import AGENT, CLIENT, CannotTranslate, Json, Notification, Out
from accord.translate.meta_store import OFFICIAL, Check, is_text, keep, restore, taken
from accord.translate.v1_agent.config_options import Options
from accord.translate.v1_agent.message_ids import MESSAGES, USER_CHUNK
from accord.translate.v1_agent.session_state import NOT_HISTORY, Core, Past, Session
from accord.translate.v1_agent.terminal_meta import shown_terminals
from accord.translate.v1_agent.tool_calls import ToolCalls
from accord.translate.v1_agent.turns import Turns

MAIN_PLAN: Final = "main"
TOOL_CALLS: Final = ("tool_call", "tool_call_update")
# The current state of a session, which a client needs even without the history.
PRESENT: Final = frozenset(
    {
        "available_commands_update",
        "config_option_update",
        "current_mode_update",
        "notice",
        "session_info_update",
        "usage_update",
    }
)
ENTRY: Final[dict[str, Check]] = {"status": is_text, "priority": is_text}
PLANS: Final = frozenset({"items", "file", "markdown"})
Handler = Callable[[Session, Json], Json | None]
RFC_3339: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)?)?\s*([Zz]|[+-]\d\d(?::?\d\d)?)?"
)


def commands_to_v2(holder: Json) -> list[Json]:
    """Remove the commands from an update and convert them; dropped data is kept in its metadata."""
    found: dict[str, Json] = {}
    dropped: list[Json] = []
    for command in holder.pop("availableCommands"):
        name: str = command["name"]
        plain = name.removeprefix("/")
        if not plain or plain in found or any(char.isspace() for char in plain):
            dropped.append(command)
            continue
        found[plain] = _command_to_v2(command, plain)
    if dropped:
        keep(holder, OFFICIAL, "availableCommands", dropped)
    return list(found.values())


def _command_to_v2(command: Json, plain: str) -> Json:
    if "_meta" in command:
        other = taken(command, "raw", _is_other)
        if other is not None and other["name"] == plain:
            return {**other}
        restore(command, {"input": lambda value: isinstance(value, dict) and _is_tagged(value)})
    if plain != command["name"]:
        keep(command, OFFICIAL, "name", command["name"])
    said: Json = {"type": "command", **command, "name": plain}
    if said.get("input") is not None:
        said["input"] = {"type": "text", **said["input"]}
    return said


def _is_tagged(value: Json) -> bool:
    """Whether this is of a type that v1 does not have."""
    return is_text(value.get("type")) and value["type"] not in ("command", "text")


def _is_other(value: Any) -> bool:
    if not isinstance(value, dict) or not _is_tagged(value):
        return False
    return is_text(value.get("name")) and is_text(value.get("description"))


def time_to_v2(holder: Json) -> None:
    """Convert `updatedAt` to RFC 3339; a value that is not a time is kept in the metadata."""
    said: Any = holder.get("updatedAt")
    if not isinstance(said, str):
        return
    read = RFC_3339.fullmatch(said.strip())
    if read is None:
        keep(holder, OFFICIAL, "updatedAt", holder.pop("updatedAt"))
        return
    day, minutes, seconds, zone = read.groups()
    zone = (zone or "Z").upper()
    if len(zone) == 3:
        zone += ":00"
    elif len(zone) == 5:
        zone = f"{zone[:3]}:{zone[3:]}"
    time = f"{minutes or '00:00'}{(seconds or ':00').replace(',', '.')}"
    written = f"{day}T{time}{zone}"
    if written != said:
        holder["updatedAt"] = written
        keep(holder, OFFICIAL, "updatedAt", said)


class Updates:
    """Translates the agent's `session/update`."""

    def __init__(self, core: Core, turns: Turns, options: Options, tool_calls: ToolCalls) -> None:
        self._core = core
        self._sessions = core.sessions
        self._turns = turns
        self._options = options
        self._tool_calls = tool_calls
        self._handlers: dict[str, Handler] = {
            USER_CHUNK: self._user_chunk,
            **dict.fromkeys(MESSAGES - {USER_CHUNK}, self._chunk),
            "tool_call": self._tool_call,
            "tool_call_update": self._tool_call,
            "plan": self._plan,
            "plan_update": self._plan_update,
            "plan_removed": self._plan_removed,
            "available_commands_update": self._commands,
            "current_mode_update": options.mode_changed,
            "config_option_update": self._config_options,
            "session_info_update": self._info,
            "usage_update": self._usage,
            "notice": self._same,
            "compaction_update": self._compaction,
            "compaction_summary_chunk": self._block,
        }
        if core.unstable:
            self._handlers |= {
                "subagent_update": self._subagent,
                "session_message": self._session_message,
                "session_message_chunk": self._block,
            }
        core.on_notification[AGENT, SESSION_UPDATE] = self.receive

    def receive(self, params: Json) -> Outs:
        """Take the next update of the agent."""
        session = self._sessions.get(params["sessionId"])
        if session is None:
            return self._core.on_unknown(params)
        update: Json = params["update"]
        kind: str = update["sessionUpdate"]
        turn = session.turn
        if turn is not None and turn.inserted and session.past is None:
            before: Outs = NOTHING
        elif session.past is Past.SUPPRESSED and kind not in PRESENT:
            return self._left_out(session, update)
        elif session.past is not None:
            before = NOTHING
        elif session.answering is not None:
            return self._before_answer(session, params)
        elif turn is not None:
            before = self._turns.insert(session)
        elif session.open or session.child:
            before = self._turns.noticed(session, kind, update)
        else:
            return NOTHING
        if "_meta" in update and kind in TOOL_CALLS:
            terminals = shown_terminals(session, update)
            if terminals:
                before = [*before, *self._told(session, terminals)]
        try:
            said = self._handlers.get(kind, self._unknown)(session, update)
        except CannotTranslate as error:
            self._core.around.log(f"{kind} was not translated: {error.message}")
            said = None
        if said is None:
            return before
        if session.replay is not None:
            return [*before, *self._told(session, [said])]
        if session.log is not None and said["sessionUpdate"] not in NOT_HISTORY:
            session.log.add(said)
        params["update"] = said
        told: Out = (CLIENT, Notification(SESSION_UPDATE, params))
        if not before and not session.questions:
            return (told,)
        return [*before, told, *self._turns.settle(session)]

    def _told(self, session: Session, updates: list[Json]) -> Outs:
        """Return the updates to send; what must come before a replayed one is added."""
        replay = session.replay
        if replay is not None:
            updates = [one for update in updates for one in replay.add(update)]
        return [self._core.tell(session, one) for one in updates]

    def _left_out(self, session: Session, update: Json) -> Outs:
        """Count the messages of a history that is not replayed, for later ids."""
        replay = session.replay
        assert replay is not None
        kind: str = update["sessionUpdate"]
        if kind == USER_CHUNK:
            replay.add(self._chunk(session, update))
            return NOTHING
        if kind in MESSAGES:
            if update.get("messageId") is None and session.message_kind != kind:
                session.fresh_message(kind)
            session.message_kind = kind
        elif kind in TOOL_CALLS:
            session.message_kind = None
        replay.rest()
        return NOTHING

    def _before_answer(self, session: Session, params: Json) -> Outs:
        """Take an update that follows the agent's answer before ours is sent."""
        answering = session.answering
        assert answering is not None
        update: Json = params["update"]
        kind = update["sessionUpdate"]
        if kind == "available_commands_update":
            # The answer lists them.
            self._commands(session, update)
            return answering()
        if kind not in PRESENT:
            # A new update: the client must know the session first.
            return [*answering(), *self.receive(params)]
        said = self._handlers[kind](session, update)
        return NOTHING if said is None else [self._core.tell(session, said)]

    def _unknown(self, session: Session, update: Json) -> Json | None:
        kind = update["sessionUpdate"]
        self._core.around.log(f"the update {kind} has no form in v2")
        self._core.lost(f"update {kind}")
        return None

    # ---- messages

    def _chunk(self, session: Session, update: Json) -> Json:
        message_id: Any = update.get("messageId")
        kind: str = update["sessionUpdate"]
        if message_id is None:
            if session.message_kind == kind:
                update["messageId"] = session.message_id
            else:
                update["messageId"] = session.fresh_message(kind)
        else:
            session.message_kind = kind
            session.message_id = message_id
        block: Json = update["content"]
        if len(block) != 2 or block["type"] != "text":
            update["content"] = block_to_v2(block)
        return update

    def _user_chunk(self, session: Session, update: Json) -> Json | None:
        if self._turns.is_echo(session, update["content"]):
            return None
        chunk = self._chunk(session, update)
        if session.replay is not None:
            return chunk
        known, session.user_message_id = session.user_message_id, chunk["messageId"]
        if "_meta" not in chunk or chunk["messageId"] == known:
            return chunk
        # In v2 the metadata of a chunk is not that of the message, such as who wrote it.
        content = [chunk.pop("content")]
        return {**chunk, "sessionUpdate": "user_message", "content": content}

    def _tool_call(self, session: Session, update: Json) -> Json:
        update["sessionUpdate"] = "tool_call_update"
        session.message_kind = None
        session.approvals.told(update)
        self._tool_calls.to_v2(session, update)
        session.seen(update)
        return update

    # ---- plans

    def _plan(self, session: Session, update: Json) -> Json:
        update["sessionUpdate"] = "plan_update"
        plan: Json = {"type": "items", "planId": MAIN_PLAN, "entries": update.pop("entries")}
        restore(update, {"planId": is_text})
        plan["planId"] = update.pop("planId", MAIN_PLAN)
        for entry in plan["entries"]:
            restore(entry, ENTRY)
        update["plan"] = plan
        return update

    def _plan_update(self, session: Session, update: Json) -> Json:
        plan: Json = update["plan"]
        other = taken(plan, "raw", _is_other_plan)
        if other is not None:
            update["plan"] = other
            return update
        for entry in plan.get("entries", ()):
            restore(entry, ENTRY)
        if plan["type"] == "items" or self._core.unstable:
            return update
        text = plan.get("content") or plan.get("uri") or plan["type"]
        task: Json = {"content": text, "priority": "medium", "status": "in_progress"}
        shown: Json = {"type": "items", "planId": plan["planId"], "entries": [task]}
        keep(shown, OFFICIAL, "raw", plan)
        update["plan"] = shown
        return update

    def _plan_removed(self, session: Session, update: Json) -> Json:
        if self._core.unstable:
            return update
        plan: Json = {"type": "items", "planId": update["planId"], "entries": []}
        said: Json = {"sessionUpdate": "plan_update", "plan": plan}
        keep(said, OFFICIAL, "raw", update)
        return said

    # ---- the session

    def _commands(self, session: Session, update: Json) -> Json:
        update["availableCommands"] = commands_to_v2(update)
        session.remember_commands(update["availableCommands"])
        return update

    def _config_options(self, session: Session, update: Json) -> Json:
        self._options.updated(session, update)
        return update

    def _info(self, session: Session, update: Json) -> Json:
        if "title" in update:
            session.title = update["title"]
        time_to_v2(update)
        return update

    def _usage(self, session: Session, update: Json) -> Json:
        if update.get("cost", update) is None:
            # v1 has no way to clear it: null says nothing there.
            del update["cost"]
        restore(update, {"cost": lambda value: value is None})
        return update

    # ---- the rest

    def _same(self, session: Session, update: Json) -> Json:
        return update

    def _block(self, session: Session, update: Json) -> Json:
        update["content"] = block_to_v2(update["content"])
        return update

    def _compaction(self, session: Session, update: Json) -> Json:
        if update.get("summary"):
            update["summary"] = blocks_to_v2(update["summary"])
        return update

    def _session_message(self, session: Session, update: Json) -> Json:
        if update.get("content"):
            update["content"] = blocks_to_v2(update["content"])
        return update

    def _subagent(self, session: Session, update: Json) -> Json:
        self._core.child_of(session, update["sessionId"])
        state = update.get("state")
        if state is not None:
            restore(state, {"state": is_text})
        return update


def _is_other_plan(value: Any) -> bool:
    """Whether this is a plan of a type that v1 does not have."""
    if not isinstance(value, dict) or not is_text(value.get("type")):
        return False
    return value["type"] not in PLANS and is_text(value.get("planId"))
