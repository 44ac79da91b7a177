"""Tool calls: announced once and then patched, as in v1.

The first that is heard of a call becomes `tool_call`, everything later `tool_call_update`.  v1
knows no appending, so content that is added piece by piece is sent again as a whole, though not
more often than every `CONTENT_SECONDS` (`TERMINAL_SECONDS` for what a terminal prints).

What always holds
    * v1 is told of a call before it is told anything about it.
    * Of each session at most `CALLS_KEPT` calls are known, the content of `ENDED_KEPT` ended ones
      among them; of each call's content at most `CONTENT_CHARS_KEPT` characters, and of all of it
      at most `SESSION_CHARS_KEPT`: over that, the calls that came first are let go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from accord.protocol.tool_status import is_final
from accord.translate.content_blocks import block_to_v1, size_of
from accord.translate.message import CannotTranslate, Json
from accord.translate.meta_store import OFFICIAL, keep, restore
from accord.translate.v2_agent.client_features import TranslationContext, copied, merged_meta
from accord.translate.v2_agent.updates.diffs import diff_to_v1, text_item
from accord.translate.v2_agent.updates.terminals import TERMINALS_KEPT, Terminals

CALLS_KEPT: Final = 4096
ENDED_KEPT: Final = 64
CONTENT_CHARS_KEPT: Final = 1024 * 1024
SESSION_CHARS_KEPT: Final = 8 * 1024 * 1024
CONTENT_SECONDS: Final = 0.1
TERMINAL_SECONDS: Final = 0.2

KINDS: Final = frozenset(
    {"read", "edit", "delete", "move", "search"}
    | {"execute", "think", "fetch", "switch_mode", "other"}
)
STATUSES: Final = frozenset({"pending", "in_progress", "completed", "failed"})
OTHER_STATUSES: Final = {"paused": "in_progress", "cancelled": "failed"}
# Fields that v1 cannot take back.
UNCLEARABLE: Final = ("name", "rawInput", "rawOutput")


class _Call:
    """The known state of one call."""

    __slots__ = ("chars", "content", "meta", "name", "terminals", "title", "told_at")

    def __init__(self) -> None:
        self.name: str | None = None
        self.title: str | None = None
        # The items as v1 has them; a terminal is named by its id, since its text changes.
        self.content: list[Json | str] = []
        self.chars = 0
        self.terminals: frozenset[str] = frozenset()
        self.meta: Json | None = None
        self.told_at = float("-inf")


class ToolCalls:
    """The tool calls and terminals of one session."""

    def __init__(self, context: TranslationContext, session_id: str) -> None:
        self._context = context
        self._session_id = session_id
        self._calls: dict[str, _Call] = {}
        self._ended: deque[str] = deque()
        self._terminals = Terminals()
        self._chars = 0
        # The calls that have shown a terminal.
        self._showing: dict[str, dict[str, None]] = {}

    # ---- what the agent says

    def patch(self, update: Json) -> Sequence[Json]:
        """Take a new or changed call."""
        call_id = update["toolCallId"]
        call = self._calls.get(call_id)
        if "_meta" in update:
            old = None if call is None else call.meta
            meta, update["_meta"] = merged_meta(old, update["_meta"])
        else:
            meta = None if call is None else call.meta
        if call is None:
            call = self._new(call_id)
            try:
                self._first(update, call)
            except CannotTranslate:
                # In strict mode the call was not announced.
                self._chars -= self._calls.pop(call_id).chars
                raise
        else:
            self._later(update, call)
        call.meta = meta
        return (update,)

    def append(self, update: Json) -> Sequence[Json]:
        """Take one more content item."""
        call_id = update["toolCallId"]
        call = self._calls.get(call_id)
        said: list[Json] = []
        if call is None:
            said += self.patch({"sessionUpdate": "tool_call_update", "toolCallId": call_id})
            call = self._calls[call_id]
        before = len(call.content)
        self._add(call_id, call, [update["content"]])
        if update.get("_meta"):
            # The metadata belongs to this item, not to the call.
            self._attach(call.content[before:], update["_meta"])
        return [*said, *self._soon(call_id, call, CONTENT_SECONDS)]

    def _attach(self, items: Sequence[Json | str], meta: Json) -> None:
        first = next((item for item in items if not isinstance(item, str)), None)
        if first is None:
            self._context.lost("_meta of a piece of content")
        else:
            keep(first, OFFICIAL, "_meta", meta)

    def terminal(self, update: Json) -> Sequence[Json]:
        """Take a terminal that is new, has changed or has ended."""
        has_ended = self._terminals.update(update)
        return self._printed(update["terminalId"], 0 if has_ended else TERMINAL_SECONDS)

    def output(self, update: Json) -> Sequence[Json]:
        """Take output of a terminal."""
        self._terminals.print(update)
        return self._printed(update["terminalId"], TERMINAL_SECONDS)

    # ---- what is asked

    def asked_about(self, patch: Json) -> tuple[Sequence[Json], Json]:
        """Return a call for a permission request, and the update that announces it if it is new."""
        patch = {"sessionUpdate": "tool_call_update", **patch}
        announced: Sequence[Json] = ()
        if patch["toolCallId"] not in self._calls:
            announced = [copied(one) for one in self.patch(copied(patch))]
        self.patch(patch)
        del patch["sessionUpdate"]
        return announced, patch

    def shown(self, call_id: str) -> list[Json]:
        """Return the content of a call as v1 shows it."""
        call = self._calls.get(call_id)
        return [] if call is None else self._shown(call)

    def title_of(self, call_id: str) -> str | None:
        """Return the title of a call as v1 shows it."""
        call = self._calls.get(call_id)
        return None if call is None else call.title

    # ---- what waits

    def due(self, call_id: str) -> Sequence[Json]:
        """Send a delayed call that is due."""
        call = self._calls.get(call_id)
        return () if call is None else [self._whole(call_id, call)]

    def flush(self) -> Sequence[Json]:
        """Send all delayed calls now."""
        dues = self._context.dues
        waiting = [key for key in dues if key[0] == self._session_id]
        said: list[Json] = []
        for key in waiting:
            del dues[key]
            said += self.due(key[1])
        return said

    # ---- inside

    def _new(self, call_id: str) -> _Call:
        call = self._calls[call_id] = _Call()
        if len(self._calls) > CALLS_KEPT:
            oldest = next(iter(self._calls))
            self._chars -= self._calls.pop(oldest).chars
        return call

    def _first(self, update: Json, call: _Call) -> None:
        for name in [name for name in update if update[name] is None]:
            del update[name]
        self._fields(update, call)
        update["sessionUpdate"] = "tool_call"
        if "title" not in update:
            update["title"] = call.title = call.name or update["toolCallId"]
            keep(update, OFFICIAL, "title", None)

    def _later(self, update: Json, call: _Call) -> None:
        if "title" in update and update["title"] is None:
            update["title"] = call.name or update["toolCallId"]
            keep(update, OFFICIAL, "title", None)
        for name, default in (("kind", "other"), ("status", "pending")):
            if name in update and update[name] is None:
                update[name] = default
                keep(update, OFFICIAL, name, None)
        for name in ("content", "locations"):
            if name in update and update[name] is None:
                update[name] = []
        cleared = [name for name in UNCLEARABLE if name in update and update[name] is None]
        for name in cleared:
            del update[name]
        self._fields(update, call)
        for name in cleared:
            self._context.lose(update, name, None, f"cleared {name}")
        if self._context.dues.pop((self._session_id, update["toolCallId"]), None) is not None:
            # Delayed changes are included.
            update.setdefault("content", self._shown(call))

    def _fields(self, update: Json, call: _Call) -> None:
        """Convert the fields to v1; nulls were removed before."""
        call.name = update.get("name", call.name)
        call.title = update.get("title", call.title)
        self._words(update)
        if "capabilities" in update:
            keep(update, OFFICIAL, "capabilities", update.pop("capabilities"))
        if "locations" in update:
            _restore_lines(update["locations"])
        if "content" in update:
            self._chars -= call.chars
            call.content, call.chars = [], 0
            self._add(update["toolCallId"], call, update["content"])
            update["content"] = self._shown(call)
            call.told_at = self._context.around.now()

    def _words(self, update: Json) -> None:
        kind = update.get("kind")
        if kind is not None and kind not in KINDS:
            update["kind"] = "other"
            self._context.lose(update, "kind", kind, "tool kind")
        status = update.get("status")
        if status is None:
            return
        if status not in STATUSES:
            update["status"] = OTHER_STATUSES.get(status, "in_progress")
            self._context.lose(update, "status", status, "tool status")
        if is_final(status):
            self._end(update["toolCallId"])

    def _end(self, call_id: str) -> None:
        """Forget calls that ended long ago, except that they existed."""
        self._ended.append(call_id)
        if len(self._ended) > ENDED_KEPT:
            oldest = self._ended.popleft()
            call = self._calls.get(oldest)
            if call is not None:
                self._let_go(oldest, call)

    def _let_go(self, call_id: str, call: _Call) -> None:
        """Forget all of a call except that it was announced, unless a change of it is delayed."""
        if (self._session_id, call_id) not in self._context.dues:
            self._chars -= call.chars
            call.content, call.chars, call.terminals = [], 0, frozenset()

    def _add(self, call_id: str, call: _Call, items: Sequence[Json]) -> None:
        before = call.chars
        for item in items:
            said = self._item(item)
            call.content += said
            call.chars += size_of(said)
        while call.chars > CONTENT_CHARS_KEPT and len(call.content) > 1:
            call.chars -= size_of(call.content.pop(0))
            self._context.lost("content of a long tool call")
        self._chars += call.chars - before
        if self._chars > SESSION_CHARS_KEPT:
            self._let_some_go(call)
        call.terminals = frozenset(item for item in call.content if isinstance(item, str))
        for terminal_id in call.terminals:
            self._showing.setdefault(terminal_id, {})[call_id] = None
            if len(self._showing) > TERMINALS_KEPT:
                del self._showing[next(iter(self._showing))]

    def _let_some_go(self, current: _Call) -> None:
        for call_id, call in self._calls.items():
            if self._chars <= SESSION_CHARS_KEPT // 2:
                return
            if call is not current:
                self._let_go(call_id, call)

    def _item(self, item: Json) -> list[Json | str]:
        kind = item["type"]
        if kind == "content":
            item["content"] = block_to_v1(item["content"], self._context.lost)
            return [item]
        if kind == "diff":
            return list[Json | str](diff_to_v1(item, self._context))
        if kind == "terminal":
            self._context.lost("terminal")
            terminal_id: str = item["terminalId"]
            return [terminal_id]
        said = text_item(f"[{kind}]")
        self._context.lose(said, "raw", item, "tool call content")
        return [said]

    def _shown(self, call: _Call) -> list[Json]:
        return [
            self._terminals.shown(item) if isinstance(item, str) else copied(item)
            for item in call.content
        ]

    def _printed(self, terminal_id: str, seconds: float) -> Sequence[Json]:
        said: list[Json] = []
        for call_id in list(self._showing.get(terminal_id, ())):
            call = self._calls.get(call_id)
            if call is not None and terminal_id in call.terminals:
                said += self._soon(call_id, call, seconds)
            else:
                del self._showing[terminal_id][call_id]
        return said

    def _soon(self, call_id: str, call: _Call, seconds: float) -> Sequence[Json]:
        """Send the call again: at once, or after a delay."""
        if self._context.around.now() >= call.told_at + seconds:
            self._context.dues.pop((self._session_id, call_id), None)
            return [self._whole(call_id, call)]
        self._context.dues.setdefault((self._session_id, call_id), call.told_at + seconds)
        return ()

    def _whole(self, call_id: str, call: _Call) -> Json:
        call.told_at = self._context.around.now()
        said: Json = {
            "sessionUpdate": "tool_call_update",
            "toolCallId": call_id,
            "content": self._shown(call),
        }
        if call.meta is not None:
            said["_meta"] = copied(call.meta)
        return said


def _restore_lines(locations: list[Json]) -> None:
    """Restore line 0, which only v1 has."""
    for location in locations:
        restore(location, {"line": lambda value: value == 0})
