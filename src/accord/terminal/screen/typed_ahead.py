"""What is typed before there is anything to type into: kept for the prompt until it is there.

Must not know the prompt, nor what else is on the screen.

A terminal hands over what was typed before us as soon as we listen, and Textual gives every key to
the widget that has the focus: while none has, to nobody.

What always holds
    * Keys and pasted text arrive in the order in which they came, whether they were held or not.
    * Enter alone, pressed before there is a prompt, says nothing.
"""

from __future__ import annotations

import asyncio

from textual import events
from textual.app import App
from textual.dom import DOMNode

HELD_MAX = 10_000
"""Keys that are held; who types more before the first picture has leaned on something."""

_ENTER = ("enter", "ctrl+j")
"""A terminal that we do not listen to yet makes a line end of Enter."""


class HoldingApp(App[int]):
    """Holds keys until `give_held`.  Guards the invariants at the head of this file."""

    def __init__(self) -> None:
        super().__init__()
        self._held: list[events.Key | events.Paste] = []
        self._is_holding, self._is_giving = True, False

    async def on_event(self, event: events.Event) -> None:
        """See `App`; here keys come in before anybody gets them."""
        is_typed = isinstance(event, events.Key | events.Paste) and not event.is_forwarded
        if not is_typed or not self._is_holding:
            await super().on_event(event)
            return
        assert isinstance(event, events.Key | events.Paste)
        is_enter = isinstance(event, events.Key) and event.key in _ENTER
        if is_enter and not self._is_giving:
            event = events.Key("enter", "\r")
            if not self._held:
                return
        if len(self._held) < HELD_MAX:
            self._held.append(event)

    def hold_keys(self) -> None:
        """From here on keys are for a prompt that is not there yet."""
        self._is_holding = True

    def pass_keys(self) -> None:
        """From here on keys are for what is on the screen; what is held stays for the prompt."""
        self._is_holding = False

    def give_held(self) -> None:
        """The prompt has the focus: it gets what was typed for it."""
        if not self._held:
            self._is_holding = False
        elif not self._is_giving:
            self._is_giving = True
            self.run_worker(self._give(), exit_on_error=False)

    async def _give(self) -> None:
        try:
            while self._held:
                await super().on_event(self._held.pop(0))
                await self._done_with()
        finally:
            self._is_giving = self._is_holding = False

    async def _done_with(self) -> None:
        """Wait until a key is done with: from the focus up, each may do something about it.

        What a text area does by a binding would else be done behind the keys that follow.
        """
        node: DOMNode = self.focused or self.screen
        for one in node.ancestors_with_self:
            done = asyncio.Event()
            if one.call_later(done.set):
                await done.wait()


__all__ = ["HoldingApp"]
