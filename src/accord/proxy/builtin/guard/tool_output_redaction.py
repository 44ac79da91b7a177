"""Redacts the output of tool calls, which is sent again and again while it grows.

A running tool call may have written half of a secret.  If the end of its text may be the beginning
of a secret, it is held back until more arrives or the call ends.

What always holds: when a call, its turn or its agent ends, all of its output has been sent.  At
most `CALLS_MAX` calls are kept, each with its last output; beyond that, the oldest is sent whole.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from accord.machine.redaction.redactor import Redactor
from accord.machine.redaction.update_chunks import FINAL, Json, at, kind_of, with_text
from accord.proxy.message import Message, Neighbour
from accord.schema.method import SESSION_UPDATE

CALLS_MAX: Final = 64
_TEXTS: Final = (
    *("output", "stdout", "stderr", "text", "content"),
    *("formatted_output", "aggregated_output"),
)

_Here: TypeAlias = tuple[Any, str | None, str]
"""A call: the conversation, the session, and its id."""


class ToolOutputRedactor:
    """The tool calls with held-back output."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._calls: dict[_Here, tuple[Neighbour, Json]] = {}
        # The fields that an update replaces as a whole.
        self._parts = {"content": self._content, "rawOutput": self._raw}

    def told(self, message: Message, update: Json) -> Json:
        """Return the redacted fields of an update of a tool call."""
        call_id = update.get("toolCallId")
        if not isinstance(call_id, str):
            return {}
        here = message.conversation, message.session_id, call_id
        if kind_of(update) == "tool_call_content_chunk":
            # A chunk is added to the existing content.
            if here in self._calls:
                self._release(here)
            return {}
        _, left = self._calls.pop(here, (None, {}))
        left = {name: value for name, value in left.items() if name not in update}
        if update.get("status") in FINAL:
            whole: Json = self._redactor.value(left, keep_ids=True)
            return whole
        said = {name: part(update[name]) for name, part in self._parts.items() if name in update}
        for name, part in said.items():
            if part != self._redactor.value(update[name], keep_ids=True):
                left[name] = update[name]
        if left:
            self._calls[here] = message.client, left
            if len(self._calls) > CALLS_MAX:
                self._release(next(iter(self._calls)))
        return said

    def turn_ends(self, message: Message) -> None:
        """Send all held-back output of the session before this message."""
        of = message.conversation, message.session_id
        for here in [one for one in self._calls if one[:2] == of]:
            self._release(here)

    def agent_gone(self, client: Neighbour) -> None:
        """Send all held-back output to this client: the agent is gone."""
        for here in [one for one in self._calls if one[0] is client.conversation]:
            self._release(here)

    def _release(self, here: _Here) -> None:
        client, left = self._calls.pop(here)
        _, session_id, call_id = here
        update = {"sessionUpdate": "tool_call_update", "toolCallId": call_id}
        update |= self._redactor.value(left, keep_ids=True)
        client.notify(SESSION_UPDATE, {"sessionId": session_id, "update": update})

    def _content(self, items: Any) -> Any:
        """Redact content items; texts may still grow, links and diffs are complete."""
        whole = self._redactor.value(items, keep_ids=True)
        if not isinstance(items, list):
            return whole
        return [self._item(*one) for one in zip(items, whole, strict=True)]

    def _item(self, item: Any, whole: Any) -> Any:
        text = at(item, ("content", "text"))
        if not isinstance(text, str) or item.get("type") != "content":
            return whole
        return with_text(whole, ("content", "text"), self._redactor.so_far(text))

    def _raw(self, value: Any) -> Any:
        """Redact raw output: a text, or an object with texts under the usual names."""
        if isinstance(value, str):
            return self._redactor.so_far(value)
        whole = self._redactor.value(value, keep_ids=True)
        for name in _TEXTS if isinstance(value, dict) else ():
            if isinstance(value.get(name), str):
                whole[name] = self._redactor.so_far(value[name])
        return whole
