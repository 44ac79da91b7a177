"""Session info, notices and the rest: commands, title, usage, compaction, child sessions.

A client that did not say that it understands notices, compaction or child sessions is told the
first two in words, and of the last nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from accord.translate.content_blocks import block_to_v1, blocks_to_v1
from accord.translate.message import Json
from accord.translate.meta_store import OFFICIAL, is_text, is_valid, kept, restore, take
from accord.translate.v2_agent.client_features import TranslationContext, merged_meta

# The number of compactions, child sessions and the like whose metadata is kept.
ENTITIES_KEPT: Final = 128

STATES: Final = frozenset({"running", "idle", "requires_action", "unknown"})
COMPACTION_LINES: Final = {
    "completed": "The context was compacted.",
    "failed": "The context could not be compacted",
    "cancelled": "Compacting the context was cancelled.",
}


class Facts:
    """The other updates of one session."""

    def __init__(self, context: TranslationContext) -> None:
        self._context = context
        self._metas: dict[tuple[str, Any], Json | None] = {}

    # ---- commands, title, usage

    def commands(self, update: Json) -> Sequence[Json]:
        """Convert the complete list of commands."""
        commands = [self._command(command) for command in update["availableCommands"]]
        update["availableCommands"] = commands
        dropped = kept(update, OFFICIAL).get("availableCommands")
        if isinstance(dropped, list) and all(map(_is_command, dropped)):
            # Commands of v1 that are not valid in v2.
            take(update, OFFICIAL)
            commands += dropped
        return (update,)

    def info(self, update: Json) -> Sequence[Json]:
        """Convert the session's title and time of change."""
        restore(update, {"updatedAt": is_text})
        return self._same(update, None)

    def usage(self, update: Json) -> Sequence[Json]:
        """Convert the usage of the context."""
        if "cost" in update and update["cost"] is None:
            del update["cost"]
            self._context.lose(update, "cost", None, "cleared cost")
        return (update,)

    def _command(self, command: Json) -> Json:
        kind = command.pop("type", "command")
        restore(command, {"name": is_text})
        if kind != "command":
            said: Json = {"name": command["name"], "description": command["description"]}
            self._context.lose(said, "raw", {"type": kind, **command}, "command")
            return said
        spoken = command.get("input")
        if spoken is not None and spoken.get("type", "text") != "text":
            self._context.lose(command, "input", command.pop("input"), "command input")
        elif spoken is not None:
            spoken.pop("type", None)
        return command

    # ---- notices and compaction

    def notice(self, update: Json) -> Sequence[Json]:
        """Convert a notice for the user."""
        if self._context.features.notices:
            return (update,)
        if update["severity"] not in ("warning", "error"):
            self._context.lost("notice")
            return ()
        parts = [update["title"], update.get("description")]
        return [self._words("\n".join(part for part in parts if part), update, "notice")]

    def compaction(self, update: Json) -> Sequence[Json]:
        """Convert the state of a compaction."""
        if self._context.features.compaction:
            if update.get("summary"):
                update["summary"] = blocks_to_v1(update["summary"], self._context.lost)
            return self._same(update, update["compactionId"])
        key = ("compaction", update["compactionId"])
        status = update["status"]
        is_new = key not in self._metas
        self._remember(key, None)
        line = COMPACTION_LINES.get(status)
        if line is None:
            return [self._words("Compacting the context.", update, "compaction")] if is_new else ()
        if status == "failed":
            line = f"{line}: {update['error']}" if update.get("error") else f"{line}."
        return [self._words(line, update, "compaction")]

    def compaction_chunk(self, update: Json) -> Sequence[Json]:
        """Convert one more block of a compaction's summary."""
        if not self._context.features.compaction:
            self._context.lost("compaction summary")
            return ()
        update["content"] = block_to_v1(update["content"], self._context.lost)
        return (update,)

    def _words(self, text: str, update: Json, kind: str) -> Json:
        said: Json = {
            "sessionUpdate": "agent_message_chunk",
            "messageId": f"{kind}-{self._context.around.fresh()}",
            "content": {"type": "text", "text": text},
        }
        self._context.lose(said, "raw", update, kind)
        return said

    # ---- child sessions

    def subagent(self, update: Json) -> Sequence[Json]:
        if not self._context.features.subagents:
            self._context.hide(update["sessionId"])
            self._context.lost("subagent")
            return ()
        state = update.get("state")
        if state is not None:
            if "background" in state:
                self._context.lose(state, "background", state.pop("background"), "background")
            if state["state"] not in STATES:
                self._context.lose(state, "state", state["state"], "state")
                state["state"] = "unknown"
        return self._same(update, update["sessionId"])

    def session_message(self, update: Json) -> Sequence[Json]:
        """Convert a whole message between sessions."""
        if not self._context.features.subagents:
            self._context.lost("session message")
            return ()
        if update.get("content"):
            update["content"] = blocks_to_v1(update["content"], self._context.lost)
        return self._same(update, update["messageId"])

    def session_message_chunk(self, update: Json) -> Sequence[Json]:
        """Convert one more block of a message between sessions."""
        if not self._context.features.subagents:
            self._context.lost("session message")
            return ()
        update["content"] = block_to_v1(update["content"], self._context.lost)
        return (update,)

    # ---- inside

    def _same(self, update: Json, entity: Any) -> Sequence[Json]:
        """Return the update with the whole metadata of its entity."""
        if "_meta" in update:
            key = (update["sessionUpdate"], entity)
            left, update["_meta"] = merged_meta(self._metas.get(key), update["_meta"])
            self._remember(key, left)
        return (update,)

    def _remember(self, key: tuple[str, Any], meta: Json | None) -> None:
        self._metas[key] = meta
        if len(self._metas) > ENTITIES_KEPT:
            del self._metas[next(iter(self._metas))]


def _is_command(value: Any) -> bool:
    from accord.schema import v1

    return is_valid(v1.AvailableCommand, value)
