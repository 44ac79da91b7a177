"""The picker of a configured agent.

This module does not know what happens with the choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.pickers.picker import NamePicker
from accord.terminal.screen.pickers.search_matches import Row


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
