"""Tool calls in v1, and the output of the agent's own terminals.

v1 has no upserts: a tool call is created once and then patched, and added content means that all
content is sent again.  Terminals belong to the client, so the output of the agent's own terminals
is shown as text of their tool calls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from accord.protocol.tool_status import is_final
from accord.schema import v1, v2
from accord.schema.struct import UNSET
from accord.translate.content_blocks import to_v1
from accord.translate.diffs import texts_of
from accord.translate.permission_contents import asked_contents

# How much more a terminal must have printed before its text is sent again.
TERMINAL_BYTES_STEP = 4096
# Number of ended calls whose content can still be added to.
ENDED_CALLS_KEPT = 64

_STATUSES = {"paused": "in_progress", "cancelled": "failed"}

_Key = tuple[str, str]


class V1Calls:
    """Remembers the content of tool calls and terminals, since v1 repeats it."""

    def __init__(self) -> None:
        self._shown: dict[_Key, list[Any]] = {}
        self._terminals: dict[str, Printed] = {}
        # Calls that have ended, oldest first; their content is forgotten in time.
        self._ended: deque[_Key] | None = None

    def forget(self, session_id: str) -> None:
        """Forget a session: a replay sends everything from the start."""
        for key in [key for key in self._shown if key[0] == session_id]:
            del self._shown[key]
        for terminal_id, printed in list(self._terminals.items()):
            if printed.shown_in is not None and printed.shown_in[0] == session_id:
                del self._terminals[terminal_id]

    # ---- tool calls

    def tool_call(self, session_id: str, update: Any) -> Sequence[Any]:
        """The creation of a call, or a patch of it."""
        key = (session_id, update.tool_call_id)
        is_first = key not in self._shown
        if isinstance(update.content, list):
            self._shown[key] = update.content.copy()
        elif is_first:
            self._shown[key] = []
        content = self._content_of(session_id, update)
        if is_first and not content:
            # Such as a move, which v1 has no content for.
            content = UNSET
        if isinstance(update.status, str) and is_final(update.status):
            if self._ended is None:
                self._ended = deque()
            self._ended.append(key)
            if len(self._ended) > ENDED_CALLS_KEPT:
                self._let_go(self._ended.popleft())
        if is_first:
            return (_said(v1.ToolCall, update, content, update.tool_call_id),)
        return (_said(v1.ToolCallUpdate, update, content),)

    def asked(self, session_id: str, patch: Any, reason: str | None) -> v1.ToolCallPatch:
        """The call that a permission request is about; the reason is its first text."""
        content = self._content_of(session_id, patch)
        given = content if isinstance(content, list) else []
        why = [] if reason is None else [v1.Content(content=v1.TextContent(text=reason))]
        if given or why:
            content = asked_contents(given, *why)
        asked: v1.ToolCallPatch = _said(v1.ToolCallPatch, patch, content)
        return asked

    def tool_content(self, session_id: str, update: Any) -> Sequence[Any]:
        """A patch with one more content item."""
        shown = self._shown.setdefault((session_id, update.tool_call_id), [])
        shown.append(update.content)
        return self._shown_again(session_id, update.tool_call_id)

    def _let_go(self, key: _Key) -> None:
        """Forget the content of an old call; a long session has very many."""
        for item in self._shown.get(key, ()):
            if type(item) is v2.Terminal:
                printed = self._terminals.get(item.terminal_id)
                if printed is not None and not printed.is_over:
                    return
                self._terminals.pop(item.terminal_id, None)
        if key in self._shown:
            self._shown[key] = []

    def _shown_again(self, session_id: str, tool_call_id: str) -> Sequence[Any]:
        content = self._contents(session_id, tool_call_id)
        if not content:
            # A command without output; empty text would be shown as an empty box.
            return ()
        return (v1.ToolCallUpdate(tool_call_id=tool_call_id, content=content),)

    def _content_of(self, session_id: str, patch: Any) -> Any:
        if not isinstance(patch.content, list):
            return UNSET
        return self._contents(session_id, patch.tool_call_id)

    def _contents(self, session_id: str, tool_call_id: str) -> list[Any]:
        said: list[Any] = []
        for item in self._shown.get((session_id, tool_call_id), ()):
            kind = type(item)
            if kind is v2.Diff:
                for path, old, new in texts_of(item):
                    said.append(v1.Diff(path=path, old_text=old, new_text=new))
            elif kind is v2.Content:
                said.append(v1.Content(content=to_v1(item.content), meta=item.meta))
            elif kind is v2.Terminal:
                printed = self._terminals.get(item.terminal_id)
                if printed is None:
                    said.append(v1.Terminal(terminal_id=item.terminal_id))
                else:
                    printed.shown_in = (session_id, tool_call_id)
                    said += self._printed(item.terminal_id, printed)
        return said

    # ---- terminals of the agent

    def terminal(self, _session_id: str, update: Any) -> Sequence[Any]:
        """A terminal starts, is reset, or ends."""
        printed = self._terminals.setdefault(update.terminal_id, Printed())
        if isinstance(update.output, v2.TerminalOutput):
            printed.data = bytearray(update.output.data)
        if isinstance(update.exit_status, v2.TerminalExitStatus):
            printed.is_over = True
            return self._print_again(printed)
        return ()

    def terminal_output(self, _session_id: str, update: Any) -> Sequence[Any]:
        """A terminal has more output."""
        printed = self._terminals.setdefault(update.terminal_id, Printed())
        printed.data += update.data
        if len(printed.data) - printed.said_bytes < TERMINAL_BYTES_STEP + printed.said_bytes:
            return ()
        return self._print_again(printed)

    def _printed(self, _terminal_id: str, printed: Printed) -> list[v1.Content]:
        """The content for the output of a terminal; without output there is none."""
        return [v1.Content(content=v1.TextContent(text=printed.text))] if printed.data else []

    def _print_again(self, printed: Printed) -> Sequence[Any]:
        if printed.shown_in is None:
            return ()
        printed.said_bytes = len(printed.data)
        return self._shown_again(*printed.shown_in)


class Printed:
    """The output of one of the agent's terminals."""

    __slots__ = ("data", "is_over", "said_bytes", "shown_in")

    def __init__(self) -> None:
        self.data = bytearray()
        self.is_over = False
        self.said_bytes = 0
        self.shown_in: _Key | None = None

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


def known_word(word: str, otherwise: str) -> str:
    """Replace a custom value, since the enumerations of v1 are closed."""
    return otherwise if word.startswith("_") else word


def _said(wanted: Any, patch: Any, content: Any, untitled: Any = UNSET) -> Any:
    """The fields that are set in the patch; null and absence are the same in v1."""
    title, name, kind, status = patch.title, patch.name, patch.kind, patch.status
    locations = patch.locations
    return wanted(
        tool_call_id=patch.tool_call_id,
        title=title if isinstance(title, str) else untitled,
        name=name if isinstance(name, str) else UNSET,
        kind=known_word(kind, "other") if isinstance(kind, str) else UNSET,
        status=_STATUSES.get(status, status) if isinstance(status, str) else UNSET,
        content=content,
        locations=_places(locations) if isinstance(locations, list) else UNSET,
        raw_input=patch.raw_input,
        raw_output=patch.raw_output,
        meta=patch.meta,
    )


def _places(locations: list[Any]) -> list[Any]:
    """The locations, which are identical in both versions except for metadata."""
    return [
        place if place.meta is UNSET else v1.ToolCallLocation(path=place.path, line=place.line)
        for place in locations
    ]
