"""Choosing by a name: an agent, an action, a theme.

This module does not know what becomes of the choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from accord.terminal.model.key_bindings import GROUP_TEXTS, Action
from accord.terminal.model.key_names import key_text
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.pickers.picker import NamePicker
from accord.terminal.screen.pickers.rows import Row
from accord.terminal.screen.themes import THEME_TEXTS, THEMES, wear


class AgentsScreen(NamePicker):
    """The agents that are known, by name, each with a word about it.  Gives a name, or None."""

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
    """Everything that can be done, by name.  Gives the name of an action, or None."""

    heading: ClassVar[str] = "What do you want to do?"
    choose_text: ClassVar[str] = "do it"

    def __init__(self, actions: Sequence[Action]) -> None:
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
    """The themes; each is shown while the cursor is on it, and the old one again after Esc."""

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
        """Back to what was."""
        wear(self.app, self._before)
        super().action_close()


__all__ = ["AgentsScreen", "PaletteScreen", "ThemeScreen"]
