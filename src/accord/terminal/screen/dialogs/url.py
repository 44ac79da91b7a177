"""The dialog that asks whether to open a page.

Invariants
    * The page is shown in full, with its host, before anything is done with it; nothing is fetched.
    * It is opened in the user's browser only after a yes.  If that fails, the user can copy the
      address, and the agent is told yes only when the user says so.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio.to_thread
from rich.style import Style
from textual.strip import Strip

from accord.client.services.elicitation import UrlRequest
from accord.machine.console.control_characters import visible
from accord.terminal.model.permissions.request_text import exact
from accord.terminal.model.text.display_text import cut, one_line
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import fitted, indented, strip_of
from accord.terminal.screen.dialogs.choice_dialog import ChoiceDialog, Row
from accord.terminal.screen.dialogs.dialog import text_lines
from accord.terminal.screen.dialogs.text_in_view import Extent, ending_of
from accord.terminal.screen.web_browser import OpenPage, open_page

_HOST = "Host  "
_YES = Row("Open it in my browser", ("1", "y"), "allow")
_NO = Row("Decline", ("2", "n"), "reject")
_COPY = Row("Copy the address", ("3", "c"), "other")
_MYSELF = Row("I opened it myself; continue", ("1", "y"), "allow")


class UrlDialog(ChoiceDialog):
    """Asks whether to visit a page."""

    # Opens a page; tests replace it.
    open_page: OpenPage = staticmethod(open_page)

    def __init__(self, *asked: object) -> None:
        super().__init__(*asked)
        self.page: UrlRequest = self.question.request
        # "asking", then "opening" while the system tries, or "failed".
        self.state = "asking"

    @property
    def heading(self) -> str:
        """The title: who asks."""
        return f"{one_line(self.chat.agent_name) or 'The agent'} asks you to visit a page"

    @property
    def hint(self) -> str:
        """The keys of the dialog."""
        return "Opening…" if self.state == "opening" else "Esc: not now · ↑↓ Enter"

    @property
    def rows(self) -> Sequence[Row]:
        """Yes, no, and the address to copy."""
        if self.state == "opening":
            return (_NO, _COPY)
        return (_YES if self.state == "asking" else _MYSELF, _NO, _COPY)

    def body(self, look: Look) -> list[Strip]:
        """The whole address with its host, what is odd about it, and why."""
        palette, page = look.palette, self.page
        lines: list[Strip] = []
        if self.state == "failed":
            said = "Could not open a browser. Copy the address and open it yourself."
            lines += text_lines(said, look, palette.warning)
        # Above the agent's text, which could imitate it; it must be seen in full.
        begin = len(lines)
        host = text_lines(exact(page.host), look, palette.strong, indent=len(_HOST))
        lines += indented(host, (_HOST, palette.dim))
        ends = [*range(begin, len(lines))]
        begin = len(lines)
        lines += address_lines(page, look)
        mark = look.mark("⚠ ", "! ")
        for warning in page.warnings:
            lines += text_lines(mark + warning, look, palette.warning)
        ends += ending_of(begin, len(lines))
        lines.append(Strip.blank(0))
        lines += text_lines(visible(page.message).strip(), look, palette.text)
        self.extent = Extent(ends=tuple(ends))
        return fitted(lines, look.width)

    # ---- answering

    def chosen(self, index: int) -> None:
        """Open, decline or copy."""
        row = self.rows[index]
        if row is _COPY:
            self.app.copy_to_clipboard(self.page.url)
            self.notify("Address copied.", markup=False)
        elif row is _NO:
            self.answer(False)
        elif row is _MYSELF:
            self._went()
        else:
            self.state = "opening"
            self.redraw()
            self.run_worker(self._open(), exclusive=True)

    async def _open(self) -> None:
        worked = await anyio.to_thread.run_sync(
            self.open_page, self.page.url, abandon_on_cancel=True
        )
        if worked:
            self._went()
        elif not self.question.is_answered:
            self.state = "failed"
            self.focused_row = None
            self.redraw()
            self.refresh_chat()

    def _went(self) -> None:
        if not self.question.is_answered and not self.is_early:
            self.chat.page_opened(self.page)
            self.answer(True)


def address_lines(page: UrlRequest, look: Look) -> list[Strip]:
    """The whole address, the host in it highlighted."""
    palette = look.palette
    url = exact(page.url)
    at = _host_at(url, page.host)
    marked = range(at, at + len(page.host)) if at >= 0 else range(0)
    host = palette.strong + Style(reverse=True)
    lines: list[Strip] = []
    start = 0
    for part in cut(url, max(look.width, 8)):
        cells = [(one, host if start + n in marked else palette.text) for n, one in enumerate(part)]
        lines.append(strip_of(*cells).simplify())
        start += len(part)
    return lines


def _host_at(url: str, host: str) -> int:
    """The position of the host, behind a user name that may look like one."""
    begin = url.find("://") + 3
    ends = [found for sign in "/?#" if (found := url.find(sign, begin)) >= 0]
    netloc = url[begin : min(ends, default=len(url))]
    begin += netloc.rfind("@") + 1
    return url.lower().find(host.lower(), begin)
