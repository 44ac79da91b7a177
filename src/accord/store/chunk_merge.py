"""Merges consecutive chunks of one text.

A model's answer arrives in hundreds of chunks.  On replay a run of chunks with the same id becomes
one chunk with the same meaning.  A chunk with anything besides its text, such as `_meta`, is not
merged.

Pure: updates in, updates out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from accord.schema import v2
from accord.schema.struct import UNSET

# The longest merged chunk, far below the frame limit.
COALESCED_CHARACTERS_MAX = 256 * 1024

_MESSAGES = frozenset((v2.AgentMessageChunk, v2.AgentThoughtChunk, v2.UserMessageChunk))


class Coalescer:
    """Returns updates in order, with runs of chunks merged.

    Guards: what is held back is one run, or nothing.
    """

    def __init__(self) -> None:
        self._kind: Any = None
        self._id = ""
        self._first: Any = None
        self._parts: list[Any] = []
        self._length = 0

    def take(self, updates: Iterable[Any]) -> list[Any]:
        """Take updates; return those that are complete."""
        done: list[Any] = []
        for update in updates:
            kind = type(update)
            if kind in _MESSAGES:
                content = update.content
                if (
                    update.meta is UNSET
                    and type(content) is v2.TextContent
                    and content.meta is UNSET
                    and content.annotations is UNSET
                ):
                    self._add(kind, update.message_id, content.text, update, done)
                    continue
            elif kind is v2.TerminalOutputChunk and update.meta is UNSET:
                self._add(kind, update.terminal_id, update.data, update, done)
                continue
            self._give(done)
            done.append(update)
        return done

    def rest(self) -> list[Any]:
        """Return the run that is still held back."""
        done: list[Any] = []
        self._give(done)
        return done

    def _add(self, kind: Any, key: str, part: Any, update: Any, done: list[Any]) -> None:
        length = self._length + len(part)
        if kind is self._kind and key == self._id and length <= COALESCED_CHARACTERS_MAX:
            self._parts.append(part)
            self._length = length
            return
        self._give(done)
        self._kind, self._id, self._first = kind, key, update
        self._parts, self._length = [part], len(part)

    def _give(self, done: list[Any]) -> None:
        if self._kind is None:
            return
        if len(self._parts) == 1:
            done.append(self._first)
        elif self._kind is v2.TerminalOutputChunk:
            done.append(v2.TerminalOutputChunk(terminal_id=self._id, data=b"".join(self._parts)))
        else:
            text = v2.TextContent(text="".join(self._parts))
            done.append(self._kind(message_id=self._id, content=text))
        self._kind = self._first = None
        self._parts, self._length = [], 0
