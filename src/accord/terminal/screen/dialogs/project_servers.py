"""The dialog that asks for consent to an MCP server of the project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.strip import Strip

from accord.mcp.project_file import ProjectServer
from accord.terminal.model.permissions.request_text import exact
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import fitted
from accord.terminal.screen.dialogs.choice_dialog import ChoiceDialog, Row
from accord.terminal.screen.dialogs.dialog import text_lines
from accord.terminal.screen.dialogs.text_in_view import Extent, ending_of


class ServersDialog(ChoiceDialog):
    """Asks whether an MCP server of the project's own file is used."""

    _ROWS: ClassVar[tuple[Row, ...]] = (
        Row("Use it, now and in the future", ("1", "y"), "allow", "∞ always"),
        Row("Do not use it", ("2", "n"), "reject", "∞ always"),
    )

    def __init__(self, *asked: object) -> None:
        super().__init__(*asked)
        self.server: ProjectServer = self.question.request

    @property
    def heading(self) -> str:
        """The title: who asks."""
        return "This project configures an MCP server"

    @property
    def hint(self) -> str:
        """The keys of the dialog."""
        return "Esc: not now, ask me again · ↑↓ Enter"

    @property
    def rows(self) -> Sequence[Row]:
        """The two answers: yes and no."""
        return self._ROWS

    def body(self, look: Look) -> list[Strip]:
        """What the server runs, and the file that configures it."""
        palette, server = look.palette, self.server
        lines = text_lines(exact(server.name), look, palette.strong)
        lines += text_lines(f"It {exact(server.described)}", look, palette.text)
        lines += text_lines(f"From {exact(str(server.file))}", look, palette.dim)
        if server.unset:
            missing = ", ".join(exact(name) for name in server.unset)
            lines += text_lines(f"It needs {missing}, which is not set.", look, palette.warning)
        said = "The authors of the project wrote this. Agree only if you trust them."
        lines += text_lines(said, look, palette.warning)
        self.extent = Extent(ends=tuple(ending_of(0, len(lines))))
        return fitted(lines, look.width)

    def chosen(self, index: int) -> None:
        """Answer with yes or no."""
        self.answer(index == 0)
