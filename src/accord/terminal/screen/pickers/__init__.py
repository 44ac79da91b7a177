"""Pickers for options, sessions, agents, actions and themes."""

from accord.terminal.screen.pickers.agents_actions_themes import (
    AgentsScreen,
    PaletteScreen,
    ThemeScreen,
)
from accord.terminal.screen.pickers.option_picker import OptionsScreen
from accord.terminal.screen.pickers.picker import NamePicker, Picker
from accord.terminal.screen.pickers.rows import Row
from accord.terminal.screen.pickers.session_picker import SessionsScreen

__all__ = [
    "AgentsScreen",
    "NamePicker",
    "OptionsScreen",
    "PaletteScreen",
    "Picker",
    "Row",
    "SessionsScreen",
    "ThemeScreen",
]
