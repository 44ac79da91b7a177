"""The footer: agent, mode, model, context usage and folder.

This module does not know how anything is set; a click runs the same action as a key.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from accord.terminal.model.chat import Chat
from accord.terminal.model.key_bindings import key_text
from accord.terminal.model.labels.amounts_and_durations import cost_words, counted
from accord.terminal.model.labels.session_settings import context_share, mode_name, model_name
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.widgets.clickable_line import Part, PartsLine, fit

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController

_GAP = " · "
_BAR_CELLS = 8
_FOLDERS = "folders"
# From wide to narrow: the context as a bar, the whole path, "folders" in words.
_VARIANTS = (
    (True, True, True),
    (True, False, True),
    (False, False, True),
    (False, False, False),
)
_TIGHT, _FULL = 0.8, 0.95
"""Shares of the context at which its usage is highlighted."""


class Footer(PartsLine):
    """The last line of the screen; on a narrow screen less important parts are dropped."""

    DEFAULT_CSS = """
    Footer { height: 1; dock: bottom; padding: 0 1; background: $panel; color: $text; }
    """

    def __init__(self, controller: ChatController) -> None:
        super().__init__()
        self._controller = controller
        self._chat: Chat | None = None

    def show(self, chat: Chat) -> None:
        """Show the state of another chat."""
        self._chat = chat
        self.refresh()

    def refresh_chat(self) -> None:
        """Draw the footer again if something changed."""
        self.renew()

    def parts(self, width: int) -> list[Part]:
        """The parts: agent and settings on the left, folder and help on the right."""
        chat = self._chat
        keys = self._keys()
        if chat is None:
            return fit([keys], width)
        for variant in _VARIANTS:
            parts = self._about(chat, *variant)
            if sum(part.cells + len(_GAP) for part in (*parts, keys)) - len(_GAP) <= width:
                return self._joined([*parts, keys], width)
        narrowest = self._about(chat, *_VARIANTS[-1])
        return self._joined(fit([*narrowest, keys], width, len(_GAP)), width)

    def _about(self, chat: Chat, bar: bool, path: bool, words: bool) -> list[Part]:
        parts = [
            self._agent(chat),
            *self._settings(chat),
            *self._usage(chat, bar=bar),
            *self._folders(chat, whole=path, words=words),
        ]
        return [part for part in parts if part.text]

    def _joined(self, kept: list[Part], width: int) -> list[Part]:
        dim = self.palette.dim
        found: list[Part] = []
        free = width - sum(part.cells for part in kept) - len(_GAP) * (len(kept) - 1)
        for part in kept:
            is_right = part.target in (_FOLDERS, "help")
            if found:
                # The free space is before the first part of the right side.
                blank = " " * (free + len(_GAP)) if is_right and free > 0 else _GAP
                free = 0 if is_right else free
                found.append(Part(blank, dim))
            found.append(part)
        return found

    def _agent(self, chat: Chat) -> Part:
        name = one_line(chat.agent_name) or "agent"
        return Part(name, self.palette.strong, weight=8, least=16)

    def _settings(self, chat: Chat) -> list[Part]:
        palette = self.palette
        mode, model = mode_name(chat.transcript), model_name(chat.transcript)
        return [
            Part(one_line(mode), palette.accent, weight=7, least=14, target="pick_options"),
            Part(one_line(model), palette.text, weight=6, least=14, target="pick_options"),
        ]

    def _usage(self, chat: Chat, *, bar: bool) -> list[Part]:
        palette = self.palette
        found: list[Part] = []
        share = context_share(chat.transcript.usage)
        if share is not None:
            style = palette.dim
            if share >= _TIGHT:
                style = palette.error if share >= _FULL else palette.warning
            full = min(round(share * _BAR_CELLS), _BAR_CELLS)
            drawn = "█" * full + "░" * (_BAR_CELLS - full) + " " if bar else ""
            found.append(Part(f"context {drawn}{share:.0%}", style, weight=5))
        cost = chat.transcript.usage.cost
        if cost is not None:
            found.append(Part(cost_words(cost), palette.dim, weight=2))
        return found

    def _folders(self, chat: Chat, *, whole: bool, words: bool) -> list[Part]:
        palette = self.palette
        folder = one_line(shortened(chat.folder))
        text = folder if whole else folder.rpartition("/")[2] or folder
        found = [Part(text, palette.dim, weight=3, least=10, target=_FOLDERS)]
        if chat.roots:
            # Say that the user added folders outside the project.
            count = len(chat.roots)
            more = f"+{counted(count, 'folder') if words else count}"
            found.append(Part(more, palette.dim, weight=4, target=_FOLDERS))
        return found

    def _keys(self) -> Part:
        keys = self._controller.settings.keys_of("help")
        key = "question_mark" if "question_mark" in keys else (keys[0] if keys else "")
        text = f"{key_text(key)} keys" if key else ""
        return Part(text, self.palette.accent, weight=9, target="help")

    def pressed(self, target: str) -> None:
        """Run the action of the part that was clicked."""
        action = "pick_options" if target == _FOLDERS else target
        self.call_next(self.app.run_action, f"perform({action!r})")


def shortened(folder: str) -> str:
    """A folder with ~ for the user's home."""
    home = os.path.expanduser("~").rstrip("/")
    if home and (folder == home or folder.startswith(home + "/")):
        return "~" + folder[len(home) :]
    return folder
