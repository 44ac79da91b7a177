"""The order of what is typed: each key is done with before the next one is passed on.

Must not know the prompt, nor what else is on the screen.

Textual gives a key to the widget that has the focus, and every widget works through a queue of its
own.  A letter is written there; a key with a binding first goes up to the app, and a key with
priority never gets down.  In a burst those would be done before or behind their neighbours.

What always holds
    * Keys and pasted text have their effect in the order in which they came, whichever widget,
      screen or binding they are for.
    * What is typed before there is a prompt waits for it.  Enter alone says nothing then.
    * Nobody who takes long keeps keys waiting for more than `WAIT_SECONDS_MAX`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from textual import events
from textual.app import App
from textual.dom import DOMNode

EARLY_MAX = 10_000
"""Keys that wait for a prompt; who types more before the first picture has leaned on something."""
TYPED_MAX = 1_000_000
"""Keys that wait for one another: as many as a terminal without bracketed paste may send."""
WAIT_SECONDS_MAX = 2.0

_ENTER = ("enter", "ctrl+j")
"""A terminal that we do not listen to yet makes a line end of Enter."""

Typed: TypeAlias = events.Key | events.Paste


@runtime_checkable
class Editing(Protocol):
    """A text field that also does by itself what other keys than letters ask for."""

    def edits(self, key: str, character: str | None) -> bool:
        """Whether a key does nothing but move or edit in this field."""
        ...


class KeyOrderApp(App[int]):
    """Passes on what is typed.  Guards the invariants at the head of this file."""

    def __init__(self) -> None:
        super().__init__()
        # Typed before there was a prompt, and for it.
        self._early: list[Typed] = []
        self._is_early = True
        self._typed: deque[Typed] = deque()
        self._holds = 0
        # The number of the key that is worked on, and when it is given up.
        self._worked_on: int | None = None
        self._count = 0
        self._deadline: asyncio.TimerHandle | None = None

    async def on_event(self, event: events.Event) -> None:
        """See `App`; here keys come in before anybody gets them."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._is_early:
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

    # ---- what is typed before there is somewhere to type

    def hold_keys(self) -> None:
        """Another prompt will have the focus: keys wait until `give_held`, called as often."""
        self._holds += 1

    def pass_keys(self) -> None:
        """Keys are for what is on the screen; what came before stays for the prompt."""
        self._is_early = False

    def give_held(self) -> None:
        """The prompt has the focus: it gets what was typed for it."""
        self._holds = max(self._holds - 1, 0)
        self._is_early = False
        if self._early and not self._holds:
            self._typed.extendleft(reversed(self._early))
            self._early.clear()
        self.call_later(self._pass_on)

    # ---- one after the other

    async def _pass_on(self) -> None:
        """Pass on what comes next, unless something is still worked on."""
        while self._typed and not self._holds and self._worked_on is None:
            self._count += 1
            self._worked_on = number = self._count
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(WAIT_SECONDS_MAX, self._done, number)
            path = _path(self)
            is_written = self._is_written(path[0], self._typed[0])
            for event in self._take(path[0]) if is_written else (self._typed.popleft(),):
                await super().on_event(event)
            self._follow(number, path, is_again=is_written)

    def _take(self, node: DOMNode) -> Iterator[Typed]:
        """As many as a text field writes, which does that in the order in which it gets them."""
        while self._typed and self._is_written(node, self._typed[0]):
            yield self._typed.popleft()

    def _is_written(self, node: DOMNode, typed: Typed) -> bool:
        """Whether a widget does this by itself, and nothing comes of it elsewhere."""
        if isinstance(typed, events.Paste):
            return False
        ours = self._bindings.key_to_bindings.get(typed.key, ())
        if any(binding.priority for binding in ours):
            return False
        if isinstance(node, Editing):
            return node.edits(typed.key, typed.character)
        return node.check_consume_key(typed.key, typed.character)

    def _follow(self, number: int, path: Sequence[DOMNode], *, is_again: bool) -> None:
        """Go where the key goes, behind it, and once more for what was done above the focus."""
        if self._worked_on != number:
            return
        for at, node in enumerate(path):
            if node.call_later(self._follow, number, path[at + 1 :], is_again=is_again):
                return
        if is_again:
            self._done(number)
        else:
            # Where the focus is now: a key may have opened another screen.
            self._follow(number, _path(self), is_again=True)

    def _done(self, number: int) -> None:
        if self._worked_on == number:
            self._worked_on = None
            assert self._deadline is not None
            self._deadline.cancel()
            self.call_later(self._pass_on)


def _path(app: App[int]) -> list[DOMNode]:
    """Where a key goes now: from the focus up, and the focus once more for what the key led to."""
    first: DOMNode = app.focused or app.screen
    return [first, *first.ancestors_with_self]


__all__ = ["Editing", "KeyOrderApp"]
