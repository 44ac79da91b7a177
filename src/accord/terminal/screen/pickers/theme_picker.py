"""The picker of a theme, which shows each one before it is chosen."""

from __future__ import annotations

from typing import ClassVar

from accord.terminal.screen.pickers.picker import NamePicker
from accord.terminal.screen.pickers.search_matches import Row
from accord.terminal.screen.widget_themes import THEME_TEXTS, THEMES, apply_theme


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
            apply_theme(self.app, row.key)

    def action_close(self) -> None:
        """Restore the old theme and close."""
        apply_theme(self.app, self._before)
        super().action_close()
