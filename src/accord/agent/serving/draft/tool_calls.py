"""Tool calls in the words of the 2026-02 draft: one announcement, legal steps, one output.

The inside speaks of patches and of a list of contents.  The draft announces a call once as
`pending`, moves it by the steps of its own list, and shows one thing at a time.

What always holds
    * Successive statuses of a call are steps of the draft's list; missing ones are made up.
    * Nothing but content follows a final status.
    * A call whose permission was refused, or was open when its turn was cancelled, ends `denied`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from time import monotonic
from typing import Any

from accord.agent.serving.draft.hunks import outputs_of
from accord.agent.serving.draft.terminals import Printed
from accord.schema import draft, v2
from accord.schema.codec import encode
from accord.schema.struct import UNSET, Raw, UnsetType
from accord.translate.draft.vocabulary import FINAL_STATUSES, steps_to
from accord.translate.meta_store import DRAFT

# Of so many calls that have ended, what they show can still be added to.
ENDED_CALLS_KEPT = 64

_STATUSES = {"paused": "in_progress"}
_WORDS = frozenset({"pending", "in_progress", "completed", "failed", "cancelled"})
# What a call is called that has no name of its own, so that its kind can be told from it.
_TOOLS = {
    "read": "fs/read_text_file",
    "edit": "fs/write_text_file",
    "delete": "fs/delete_file",
    "move": "fs/move_file",
    "execute": "terminal/create",
    "fetch": "web/fetch",
    "search": "search",
}

Key = tuple[str, str]


class Shown:
    """What the client knows of one call."""

    __slots__ = ("content", "refused", "started", "status")

    def __init__(self) -> None:
        self.status = "pending"
        self.content: list[Any] = []
        self.refused = False
        self.started: float | None = None


class DraftCalls:
    """The calls of one connection, and the terminals that they show."""

    def __init__(self, terminals: dict[str, Printed]) -> None:
        self._terminals = terminals
        self._calls: dict[Key, Shown] = {}
        self._ended: deque[Key] = deque()
        # Sessions whose past is told again: nobody knows how long things took.
        self.telling_past: set[str] = set()

    def forget(self, session_id: str) -> None:
        """A replay tells everything from the start, but a final status stays one.

        A client that loads a session which it has open already was told of these calls.
        """
        for key in [key for key in self._calls if key[0] == session_id]:
            if session_id in self.telling_past:
                self._calls[key].content = []
            else:
                del self._calls[key]

    def status(self, session_id: str, call_id: str) -> str | None:
        """Where a call stands, as the client knows it."""
        shown = self._calls.get((session_id, call_id))
        return None if shown is None else shown.status

    # ---- permission

    def asking(self, session_id: str, call_id: str) -> list[Any]:
        """The user is about to be asked."""
        shown = self._calls.get((session_id, call_id))
        if shown is None or shown.status != "pending":
            return []
        shown.status = "awaiting_permission"
        return [draft.ToolCallUpdate(id=call_id, status="awaiting_permission")]

    def refused(self, session_id: str, call_id: str) -> None:
        """The user said no: when the call fails now, it was denied."""
        shown = self._calls.get((session_id, call_id))
        if shown is not None:
            shown.refused = True

    # ---- updates

    def update(self, session_id: str, patch: v2.ToolCallUpdate) -> list[Any]:
        """What to say of a patch."""
        key = (session_id, patch.tool_call_id)
        shown = self._calls.get(key)
        said: list[Any] = []
        about: dict[str, Any] = {}
        if shown is None:
            shown = self._calls[key] = Shown()
            said.append(_announced(patch))
        else:
            about = _unsayable(patch)
        if patch.raw_output is not UNSET:
            about["rawOutput"] = patch.raw_output
        output: Any = UNSET
        if isinstance(patch.content, list):
            shown.content = list(patch.content)
            output, more = self._output(key, shown)
            about |= more
        said += self._moved(key, shown, patch.status, output, about)
        return said

    def content(self, session_id: str, chunk: v2.ToolCallContentChunk) -> list[Any]:
        """What to say of one more piece of content."""
        key = (session_id, chunk.tool_call_id)
        shown = self._calls.get(key)
        if shown is None:
            # Nobody announced it; a call without a name is better than content without a call.
            said = self.update(session_id, v2.ToolCallUpdate(tool_call_id=chunk.tool_call_id))
            return [*said, *self.content(session_id, chunk)]
        shown.content.append(chunk.content)
        return self.show_again(key)

    def show_again(self, key: Key) -> list[Any]:
        """What a call shows has changed, such as the text of its terminal."""
        shown = self._calls.get(key)
        if shown is None or not shown.content:
            return []
        output, about = self._output(key, shown)
        return [draft.ToolCallUpdate(id=key[1], output=output, meta=kept_meta(about))]

    def _moved(
        self, key: Key, shown: Shown, wanted: Any, output: Any, about: dict[str, Any]
    ) -> list[Any]:
        """The steps to a status; the last one carries what else there is to say."""
        call_id = key[1]
        steps = self._steps(shown, wanted)
        fields: dict[str, Any] = {"output": output}
        if steps:
            shown.status = steps[-1]
            if "in_progress" in steps:
                shown.started = monotonic()
            if shown.status in FINAL_STATUSES:
                fields |= self._ending(key, shown, output, about)
        said: list[Any] = [draft.ToolCallUpdate(id=call_id, status=step) for step in steps[:-1]]
        if steps or output is not UNSET or about:
            last: Any = steps[-1] if steps else UNSET
            said.append(
                draft.ToolCallUpdate(id=call_id, status=last, meta=kept_meta(about), **fields)
            )
        return said

    def _steps(self, shown: Shown, wanted: Any) -> tuple[str, ...]:
        if not isinstance(wanted, str):
            return ()
        status = _STATUSES.get(wanted, wanted if wanted in _WORDS else "in_progress")
        if status == "in_progress":
            # Who goes on after a no was asking about something else than the work.
            shown.refused = False
        elif shown.refused and status in FINAL_STATUSES:
            status = "denied"
        return steps_to(shown.status, status)

    def _ending(self, key: Key, shown: Shown, output: Any, about: dict[str, Any]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if output is UNSET and any(isinstance(one, v2.Terminal) for one in shown.content):
            # Only now is it known how the command ended.
            fields["output"], more = self._output(key, shown)
            about |= more
        if shown.status in ("failed", "denied") and (text := _last_text(shown.content)):
            fields["error"] = text
        if shown.started is not None and key[0] not in self.telling_past:
            fields["duration"] = round((monotonic() - shown.started) * 1000)
        self._ended.append(key)
        if len(self._ended) > ENDED_CALLS_KEPT:
            self._let_go(self._ended.popleft())
        return fields

    def _let_go(self, key: Key) -> None:
        """Keep of an old call only that it was told; a long session has very many."""
        shown = self._calls.get(key)
        if shown is None:
            return
        for item in shown.content:
            if isinstance(item, v2.Terminal):
                printed = self._terminals.get(item.terminal_id)
                if printed is not None and not printed.is_over:
                    return
                self._terminals.pop(item.terminal_id, None)
        shown.content = []

    # ---- what it shows

    def _output(self, key: Key, shown: Shown) -> tuple[Any, dict[str, Any]]:
        """The one output, and what has no place in it: first diff, else terminal, else text."""
        diffs: list[Any] = []
        terminals: list[Any] = []
        texts: list[str] = []
        for item in shown.content:
            if isinstance(item, v2.Diff):
                diffs += outputs_of(item)
            elif isinstance(item, v2.Terminal):
                terminals.append(self._terminal(key, item.terminal_id))
            elif isinstance(item, v2.Content):
                texts.append(_text_of(item.content))
        found = [*diffs, *terminals]
        if texts:
            found.append(draft.TextOutput(text="\n".join(texts)))
        if not found:
            return UNSET, {}
        return found[0], {} if len(found) == 1 else {"outputs": found}

    def _terminal(self, key: Key, terminal_id: str) -> Any:
        printed = self._terminals.get(terminal_id)
        if printed is None:
            return draft.TerminalOutput(terminal_id=terminal_id)
        printed.shown_in = key
        return printed.said(terminal_id)


def _announced(patch: v2.ToolCallUpdate) -> draft.ToolCall:
    kind = patch.kind if isinstance(patch.kind, str) else "other"
    name = patch.name if isinstance(patch.name, str) else _TOOLS.get(kind, kind)
    about: dict[str, Any] = {"kind": kind}
    if isinstance(patch.title, str):
        about["title"] = patch.title
    places = patch.locations if isinstance(patch.locations, list) else []
    if places[1:]:
        about["locations"] = places
    return draft.ToolCall(
        id=patch.tool_call_id,
        tool=name,
        input=Raw(b"{}") if patch.raw_input is UNSET else patch.raw_input,
        status="pending",
        location=_location(places[0]) if places else UNSET,
        meta=kept_meta(about),
    )


def _location(place: v2.ToolCallLocation) -> draft.Location:
    line = place.line if isinstance(place.line, int) else UNSET
    return draft.Location(path=place.path, line=line)


def _unsayable(patch: v2.ToolCallUpdate) -> dict[str, Any]:
    """What changed of a call that is announced already, and the draft's update has no field for."""
    about: dict[str, Any] = {}
    if isinstance(patch.title, str):
        about["title"] = patch.title
    if isinstance(patch.kind, str):
        about["kind"] = patch.kind
    if isinstance(patch.name, str):
        about["tool"] = patch.name
    if patch.raw_input is not UNSET:
        about["input"] = patch.raw_input
    if isinstance(patch.locations, list):
        about["locations"] = patch.locations
    return about


def _text_of(block: Any) -> str:
    if isinstance(block, v2.TextContent):
        return block.text
    return placeholder(block)


def placeholder(block: Any) -> str:
    """A line in place of content that the draft's texts cannot hold."""
    if isinstance(block, v2.ResourceLink):
        return f"[{block.name}]({block.uri})"
    if isinstance(block, v2.EmbeddedResource):
        text = block.resource.text
        return text if isinstance(text, str) else f"[resource {block.resource.uri}]"
    if isinstance(block, v2.ImageContent):
        return f"[image {block.mime_type}]"
    if isinstance(block, v2.AudioContent):
        return f"[audio {block.mime_type}]"
    return f"[{getattr(block, 'tag', 'content')}]"


def _last_text(items: list[Any]) -> str:
    texts = [one.content for one in items if isinstance(one, v2.Content)]
    return _text_of(texts[-1]) if texts else ""


def kept_meta(about: Mapping[str, Any]) -> dict[str, Raw] | UnsetType:
    """`_meta` with what the draft has no field for; nothing when there is nothing."""
    return {DRAFT: Raw(encode(dict(about)))} if about else UNSET


__all__ = ["DraftCalls", "Key", "Shown", "kept_meta", "placeholder"]
