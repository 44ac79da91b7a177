"""Pickers for options, sessions, people, agents, actions and themes."""

from accord.terminal.screen.pickers.agent_picker import AgentsScreen
from accord.terminal.screen.pickers.command_palette import PaletteScreen
from accord.terminal.screen.pickers.option_picker import OptionsScreen
from accord.terminal.screen.pickers.people_picker import PeopleScreen
from accord.terminal.screen.pickers.picker import NamePicker, Picker
from accord.terminal.screen.pickers.search_matches import Row
from accord.terminal.screen.pickers.session_picker import SessionsScreen
from accord.terminal.screen.pickers.theme_picker import ThemeScreen

__all__ = [
    "AgentsScreen",
    "NamePicker",
    "OptionsScreen",
    "PaletteScreen",
    "PeopleScreen",
    "Picker",
    "Row",
    "SessionsScreen",
    "ThemeScreen",
]
