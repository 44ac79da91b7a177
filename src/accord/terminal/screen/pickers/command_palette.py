"""The command palette: a picker of an action.

This module does not know what happens with the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from accord.terminal.model.key_bindings import GROUP_TEXTS, KeyBinding, key_text
from accord.terminal.screen.pickers.picker import NamePicker
from accord.terminal.screen.pickers.search_matches import Row


class PaletteScreen(NamePicker):
    """The command palette.  Returns the name of an action, or None."""

    heading: ClassVar[str] = "What do you want to do?"
    choose_text: ClassVar[str] = "do it"

    def __init__(self, actions: Sequence[KeyBinding]) -> None:
        super().__init__()
        self.show(
            [
                Row(
                    action.name,
                    action.text[:1].upper() + action.text[1:],
                    note=", ".join(map(key_text, action.keys)),
                    group=GROUP_TEXTS.get(action.group, action.group),
                    words=action.name,
                )
                for action in actions
            ]
        )
