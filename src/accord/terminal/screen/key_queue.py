"""A queue that handles one key completely before it passes on the next.

This module does not know the prompt, nor what else is on the screen.

Textual gives a key to the widget that has the focus, and every widget has a message queue of its
own.  A letter is written there; a key with a binding first goes up to the app, and a key with
priority never gets down.  In a burst, such keys would overtake their neighbours or fall behind.

Invariants
    * Keys and pasted text take effect in the order in which they came, whichever widget, screen
      or binding they are for.
    * What is typed before there is a prompt waits for it.  A lone Enter is dropped then.
    * A slow handler delays the next key by at most `WAIT_SECONDS_MAX`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from textual import events
from textual.app import App
from textual.dom import DOMNode

EARLY_MAX = 10_000
"""Keys that wait for a prompt; more of them before the first frame are not typed on purpose."""
TYPED_MAX = 1_000_000
"""Queued keys; a terminal without bracketed paste may send this many."""
WAIT_SECONDS_MAX = 2.0

_ENTER = ("enter", "ctrl+j")
"""Before we read the terminal in raw mode, it turns Enter into a line feed."""

Typed: TypeAlias = events.Key | events.Paste


@runtime_checkable
class EditableField(Protocol):
    """A text field that handles editing keys as well as letters."""

    def edits(self, key: str, character: str | None) -> bool:
        """Whether a key only moves the cursor or edits in this field."""
        ...


class KeyQueue:
    """Passes keys and pasted text on to an app.  Guards the invariants of this module.

    `deliver` hands an event to Textual; `has_priority` tells whether the app has a priority
    binding for a key.
    """

    def __init__(
        self,
        app: App[int],
        deliver: Callable[[events.Event], Awaitable[None]],
        has_priority: Callable[[str], bool],
    ) -> None:
        self._app = app
        self._deliver = deliver
        self._has_priority = has_priority
        # Typed for the prompt before there was one.
        self._early: list[Typed] = []
        self._is_early = True
        self._typed: deque[Typed] = deque()
        self._holds = 0
        # The number of the key that is being handled, and when we stop waiting for it.
        self._in_progress: int | None = None
        self._count = 0
        self._deadline: asyncio.TimerHandle | None = None

    async def put(self, event: Typed) -> None:
        """Take a key or pasted text from the terminal."""
        if self._is_early:
            self._keep_early(event)
        elif len(self._typed) < TYPED_MAX:
            self._typed.append(event)
            await self._pass_on()

    def _keep_early(self, event: Typed) -> None:
        if isinstance(event, events.Key) and event.key in _ENTER:
            if not self._early:
                return
            event = events.Key("enter", "\r")
        if len(self._early) < EARLY_MAX:
            self._early.append(event)

    # ---- holding keys back

    def hold(self) -> None:
        """Hold keys back until a prompt has the focus.  Pair each call with `release`."""
        self._holds += 1

    def open(self) -> None:
        """Pass keys to what is on the screen; earlier ones still wait for the prompt."""
        self._is_early = False

    def release(self) -> None:
        """Pass the held keys on: the prompt has the focus."""
        self._holds = max(self._holds - 1, 0)
        self._is_early = False
        if self._early and not self._holds:
            self._typed.extendleft(reversed(self._early))
            self._early.clear()
        self._app.call_later(self._pass_on)

    # ---- one key after the other

    async def _pass_on(self) -> None:
        """Pass on the next key, unless another one is still being handled."""
        while self._typed and not self._holds and self._in_progress is None:
            self._count += 1
            self._in_progress = number = self._count
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(WAIT_SECONDS_MAX, self._done, number)
            path = self._path()
            is_written = self._is_written(path[0], self._typed[0])
            for event in self._take(path[0]) if is_written else (self._typed.popleft(),):
                await self._deliver(event)
            self._follow(number, path, is_again=is_written)

    def _take(self, node: DOMNode) -> Iterator[Typed]:
        """Take all leading keys that a text field writes: it keeps their order."""
        while self._typed and self._is_written(node, self._typed[0]):
            yield self._typed.popleft()

    def _is_written(self, node: DOMNode, typed: Typed) -> bool:
        """Whether a widget handles this key alone, with no effect elsewhere."""
        if isinstance(typed, events.Paste) or self._has_priority(typed.key):
            return False
        if isinstance(node, EditableField):
            return node.edits(typed.key, typed.character)
        return node.check_consume_key(typed.key, typed.character)

    def _path(self) -> list[DOMNode]:
        """The way of a key: from the focus up, and the focus once more for its consequences."""
        first: DOMNode = self._app.focused or self._app.screen
        return [first, *first.ancestors_with_self]

    def _follow(self, number: int, path: Sequence[DOMNode], *, is_again: bool) -> None:
        """Follow a key along its path, and once more for what was done above the focus."""
        if self._in_progress != number:
            return
        for at, node in enumerate(path):
            if node.call_later(self._follow, number, path[at + 1 :], is_again=is_again):
                return
        if is_again:
            self._done(number)
        else:
            # From the focus of this moment: the key may have opened another screen.
            self._follow(number, self._path(), is_again=True)

    def _done(self, number: int) -> None:
        if self._in_progress == number:
            self._in_progress = None
            assert self._deadline is not None
            self._deadline.cancel()
            self._app.call_later(self._pass_on)
