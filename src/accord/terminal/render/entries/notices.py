"""Render notices, compactions, messages between sessions, and the client's own remarks."""

from __future__ import annotations

from dataclasses import replace

from rich.style import Style
from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.terminal.model.chat import Chat, Remark
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.block import Block, CachedBlock, OpenSession
from accord.terminal.render.content.text_blocks import Prose, marked
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, indented, lines_needed, strip_of, wrapped
from accord.transcript import Compaction, Notice, SessionMessage


def tone_mark(tone: str, look: Look) -> tuple[str, Style]:
    """The sign and the colour of how serious something is; what we do not know is not serious."""
    palette = look.palette
    if tone == "error":
        return look.mark("✗ ", "x "), palette.error
    if tone == "warning":
        return "! ", palette.warning
    if tone == "success":
        return look.mark("✓ ", "* "), palette.success
    return look.mark("• ", "* "), palette.info


class NoticeBlock(CachedBlock[Notice]):
    """A notice: its title in the colour of its severity, its description below."""

    __slots__ = ()

    def guess(self, look: Look) -> int:
        said = self.entry.description
        return 1 + (lines_needed(said, look.width) if said else 0)

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        del chat
        notice = self.entry
        mark, style = tone_mark(notice.severity, look)
        room = max(look.width - len(mark), 2)
        title = one_line(notice.title) or "Notice"
        if notice.severity not in ("info", "warning", "error", "success"):
            title += f" ({one_line(notice.severity)})"
        found = [strip_of((line, style)) for line in wrapped(title, room)]
        if notice.description:
            said = visible(notice.description).strip("\n")
            found += [strip_of((line, look.palette.dim)) for line in wrapped(said, room)]
        return indented(found, (mark, style))

    def text(self) -> str:
        return visible(f"{self.entry.title}\n{self.entry.description or ''}").strip()


class CompactionBlock(CachedBlock[Compaction]):
    """A compaction of the context; its summary unfolds."""

    __slots__ = ()

    @property
    def is_foldable(self) -> bool:  # type: ignore[override]
        return bool(self.entry.blocks)

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        del chat
        palette, one = look.palette, self.entry
        said, style = {
            "in_progress": ("Compacting the context", palette.running),
            "completed": ("Context compacted", palette.info),
            "failed": ("Compacting the context failed", palette.error),
        }.get(one.status, (f"Compaction: {one_line(one.status)}", palette.info))
        if one.error:
            said = f"{said}: {one_line(one.error)}"
        mark = look.fold_mark(self.folded) if self.is_foldable else look.mark("◇ ", "o ")
        lines = wrapped(said, max(look.width - 2, 2))
        found = indented([strip_of((line, style)) for line in lines], (mark, style))
        if self.is_foldable and not self.folded:
            inner = replace(look, width=max(look.width - 2, 1))
            body = Prose(inner, palette.dim).lines(one.blocks, show_all=True)
            found += marked(body, look.mark("│ ", "| "), palette.border)
        return found


class SessionMessageBlock(CachedBlock[SessionMessage]):
    """What another session wrote to this one, or this one to another."""

    __slots__ = ()

    def guess(self, look: Look) -> int:
        return 1 + lines_needed(self.entry.text, look.width)

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        palette, one = look.palette, self.entry
        own = chat.session_id
        sender, recipient = one.sender_session_id, one.recipient_session_id
        parts = ["Message"]
        if sender and sender != own:
            parts.append(f"from session {one_line(sender)}")
        if recipient and recipient != own:
            parts.append(f"to session {one_line(recipient)}")
        other = sender if sender and sender != own else recipient
        if other and other != own:
            self.targets[0] = OpenSession(other)
        mark = look.mark("✉ ", "@ ")
        head = cut(mark + " ".join(parts), look.width, look.mark("…", "..."))
        inner = replace(look, width=max(look.width - 2, 1))
        body = Prose(inner).lines(one.blocks)
        line = strip_of((head, palette.elsewhere))
        return [line, *marked(body, look.mark("│ ", "| "), palette.elsewhere)]


def notice_block(entry: Notice, chat: Chat) -> Block:
    """The block of a notice."""
    del chat
    return NoticeBlock(entry)


def compaction_block(entry: Compaction, chat: Chat) -> Block:
    """The block of a compaction."""
    del chat
    return CompactionBlock(entry, folded=True)


def session_message_block(entry: SessionMessage, chat: Chat) -> Block:
    """The block of a message between sessions."""
    del chat
    return SessionMessageBlock(entry)


ERROR_LINES = 6
"""How many of the last lines about a failure are shown without unfolding."""


class RemarkBlock(CachedBlock[Remark]):
    """A remark in the colour of its tone; its detail, if any, can be unfolded.

    A failure is explained only here, so the end of its detail is shown at once.
    """

    __slots__ = ()

    @property
    def _lines_at_once(self) -> int:
        return ERROR_LINES if self.entry.tone == "error" else 0

    @property
    def is_foldable(self) -> bool:  # type: ignore[override]
        return len(self._detail()) > self._lines_at_once

    def _detail(self) -> list[str]:
        detail = visible(self.entry.detail).strip("\n")
        return detail.split("\n") if detail else []

    def guess(self, look: Look) -> int:
        shown = self.entry.detail.count("\n") + bool(self.entry.detail)
        if self.folded:
            shown = min(shown, self._lines_at_once)
        return lines_needed(self.entry.text, look.width) + shown

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        del chat
        palette, remark = look.palette, self.entry
        mark, style = tone_mark(remark.tone, look)
        room = max(look.width - len(mark), 2)
        words = palette.dim if remark.tone == "info" else style
        found = [strip_of((line, words)) for line in wrapped(visible(remark.text), room)]
        detail = self._detail()
        if self.folded and self.is_foldable:
            more = f" {look.fold_mark(True)}more".rstrip()
            last = found[-1]
            if last.cell_length + len(more) <= room:
                found[-1] = Strip([*last, *strip_of((more, palette.dim))])
            else:
                found.append(strip_of((cut(more.strip(), room), palette.dim)))
            detail = detail[len(detail) - self._lines_at_once :]
        if detail:
            found += [strip_of((line, palette.dim)) for line in wrapped("\n".join(detail), room)]
        return indented(found, (mark, style if remark.tone != "info" else palette.dim))

    def text(self) -> str:
        return visible(f"{self.entry.text}\n{self.entry.detail}").strip()


def remark_block(entry: Remark, chat: Chat) -> Block:
    """The block of a remark."""
    del chat
    return RemarkBlock(entry, folded=True)
