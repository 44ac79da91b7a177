"""Pickers for an agent, an action (the command palette) and a theme.

This module does not know what happens with the choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from accord.terminal.model.key_bindings import GROUP_TEXTS, KeyBinding
from accord.terminal.model.key_names import key_text
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.pickers.picker import NamePicker
from accord.terminal.screen.pickers.rows import Row
from accord.terminal.screen.widget_themes import THEME_TEXTS, THEMES, wear


class AgentsScreen(NamePicker):
    """The configured agents.  Returns a name, or None."""

    heading: ClassVar[str] = "Which agent?"
    choose_text: ClassVar[str] = "start"

    def __init__(self, agents: Mapping[str, str], current: str | None = None) -> None:
        super().__init__()
        self.show(
            [
                Row(name, one_line(name), one_line(about), current=name == current)
                for name, about in agents.items()
            ]
        )


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


class ThemeScreen(NamePicker):
    """The themes, with a preview; Esc restores the old one."""

    heading: ClassVar[str] = "Theme"

    def __init__(self, current: str) -> None:
        super().__init__()
        self._before = current
        self.show(
            [
                Row(theme.name, THEME_TEXTS[theme.name], current=theme.name == current)
                for theme in THEMES
            ]
        )

    def meant(self, row: Row | None) -> None:
        """Preview the theme under the cursor."""
        if row is not None and row.key != self.app.theme:
            wear(self.app, row.key)

    def action_close(self) -> None:
        """Restore the old theme and close."""
        wear(self.app, self._before)
        super().action_close()
