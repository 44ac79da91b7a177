"""Lists to choose from: options, sessions, agents, actions, themes."""

from accord.terminal.screen.pickers.named import AgentsScreen, PaletteScreen, ThemeScreen
from accord.terminal.screen.pickers.options import OptionsScreen
from accord.terminal.screen.pickers.picker import NamePicker, Picker
from accord.terminal.screen.pickers.rows import Row
from accord.terminal.screen.pickers.sessions import SessionsScreen

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
