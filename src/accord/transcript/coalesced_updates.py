"""Updates for a consumer that fell behind: at most one waits for each item that changed.

`Update.item` is live, so the last update of an item says all that the ones before it said, but for
the text that each of them brought.  That text is joined.

What always holds
    * The text of a joined update is that of its parts, in their order.  Of a message that was
      replaced since, it is what took the place of the rest.
    * What a message, a summary or a thought says is not held twice: only its place is held here.
      Of any other text, such as output of a terminal, at most the last `TEXT_CHARS_MAX` are held.
"""

from __future__ import annotations

from typing import Any

from accord.transcript.changes import Update
from accord.transcript.items.content import Content

TEXT_CHARS_MAX = 1024 * 1024
_PIECES_MAX = 1024

# There is one of each in a session, and its item may be another object every time.
_SINGLE = frozenset({"commands", "mode", "config_options", "session_info", "usage", "state"})
# What brings text that was put at the end of its item, or is all of it.
_GROWING = frozenset({"message", "thought", "compaction", "session_message"})


def _key(update: Update) -> object:
    """The same for two updates that can be joined, as long as one of them is held."""
    return update.kind if update.kind in _SINGLE else id(update.item)


class LateUpdates:
    """Updates that wait.  Guards: of two updates of one item, the later one is in the earlier one.

    Truthy while one waits.
    """

    __slots__ = ("_texts", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[object, Update] = {}
        # Of those that others were joined to.
        self._texts: dict[object, _Place | _Tail] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def is_waiting(self, update: Update) -> bool:
        """Whether an update of the same item waits, so that this one must be joined to it."""
        return _key(update) in self._waiting

    def add(self, update: Update) -> Update | None:
        """Take an update.  Return what waits in its place; None if it was joined to another."""
        key = _key(update)
        # Of the same class as the update, which no type checker can know.
        first: Any = self._waiting.get(key)
        if first is None:
            # Others may hold the update too, and what was received may be large.
            waiting = self._waiting[key] = _of(update, update.text)
            return waiting
        text = self._texts.get(key)
        if text is not None:
            text.add(update.text)
        elif isinstance(update.item, Content) and update.kind in _GROWING:
            self._texts[key] = _Place(update.item, first.text, update.text)
        else:
            self._texts[key] = _Tail(first.text, update.text)
        first.item = update.item
        first.replaces = first.replaces or update.replaces
        return None

    def take(self, update: Update) -> Update:
        """Return the joined form of an update whose turn has come; others are unchanged."""
        key = _key(update)
        if self._waiting.get(key) is not update:
            return update
        del self._waiting[key]
        text = self._texts.pop(key, None)
        return update if text is None else _of(update, text.joined())

    def clear(self) -> None:
        self._waiting.clear()
        self._texts.clear()


def _of(update: Update, text: str) -> Update:
    return type(update)(update.item, text, None, update.replaces)  # type: ignore[arg-type]


class _Place:
    """Text that can be read from its item when it is wanted."""

    __slots__ = ("_before", "_end", "_item", "_replacements", "_start")

    def __init__(self, item: Content, first: str, second: str) -> None:
        self._item = item
        self._before = [first]
        self._begin(second)

    def _begin(self, text: str) -> None:
        self._end = self._item.size
        self._start = self._end - len(text)
        self._replacements = self._item.replacements

    def add(self, text: str) -> None:
        if self._item.replacements != self._replacements:
            self._before.clear()
            self._begin(text)
        elif self._item.size - self._end == len(text):
            self._end += len(text)
        else:
            # The item also got text that is not to be shown.
            self._before.append(self._item.text[self._start : self._end])
            self._begin(text)

    def joined(self) -> str:
        if self._item.replacements != self._replacements:
            # It was replaced by an update for another consumer, such as one of the next turn.
            return "".join(self._before)
        return "".join((*self._before, self._item.text[self._start : self._end]))


class _Tail:
    """The last part of a text that its item does not keep unchanged."""

    __slots__ = ("_chars", "_pieces")

    def __init__(self, first: str, second: str) -> None:
        self._pieces = [first]
        self._chars = len(first)
        self.add(second)

    def add(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._chars += len(text)
            if len(self._pieces) > _PIECES_MAX or self._chars > 2 * TEXT_CHARS_MAX:
                self._pieces = [self.joined()]
                self._chars = len(self._pieces[0])

    def joined(self) -> str:
        return "".join(self._pieces)[-TEXT_CHARS_MAX:]
