"""`ToolContext`: the turn, the session's workspace and the mode that a tool works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.machine.redaction.redactor import Redactor

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.builtin.session_state import Workspace


class ToolContext:
    """What every tool of one turn is given.  `mode` overrides the session's mode."""

    def __init__(self, turn: Turn, workspace: Workspace, mode: str | None = None) -> None:
        self.turn = turn
        self.workspace = workspace
        self._mode = mode
        # Files must stay unchanged, so only known values are redacted.
        self.redactor = Redactor.of_environment(*workspace.settings.secrets).by_value

    @property
    def mode(self) -> str | None:
        """The mode that decides which actions need permission."""
        return self._mode or self.turn.mode
