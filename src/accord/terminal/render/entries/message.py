"""Render messages: the user's with a mark, the agent's as Markdown, thoughts folded."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.terminal.model.chat import Chat, Entry
from accord.terminal.model.people import other_author
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.block import Block, CachedBlock, Fold, Target
from accord.terminal.render.content.text_blocks import Prose, beginning_folded, marked, unfolds
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, indented, lines_needed, strip_of
from accord.transcript import Message

USER_LINES_MAX = 14
"""How many lines of the user's message are shown when folded."""
_FIRST_WORDS = 400
"""How many characters are searched for the first words of a thought."""


class MessageBlock(CachedBlock[Message]):
    """A message whose text grows.  The parts of it that were laid out are kept for one look."""

    __slots__ = ("_prose", "_prose_look")

    def __init__(self, entry: Message, *, folded: bool = False) -> None:
        super().__init__(entry, folded=folded)
        self._prose: Prose | None = None
        self._prose_look: Look | None = None

    def release(self) -> None:
        self._prose = None

    def prose(self, look: Look, *, is_thought: bool = False, is_literal: bool = False) -> Prose:
        """Return the renderer of the text, which is kept as long as the look is the same."""
        if self._prose is None or self._prose_look != look:
            base = look.palette.thought if is_thought else None
            if is_literal:
                base = look.palette.user_text
            self._prose = Prose(look, base, is_literal=is_literal)
            self._prose_look = look
        return self._prose

    def guess(self, look: Look) -> int:
        text = self.entry.text
        if text and not text.isspace():
            return lines_needed(text, look.width)
        return sum(not hasattr(block, "text") for block in self.entry.blocks)

    def opened_by(self, line: int) -> Target | None:
        """Return the file or the address in this line."""
        return None if self._prose is None else self._prose.targets.get(line)

    def text(self) -> str:
        return visible(self.entry.text)


class AgentBlock(MessageBlock):
    """A message of the agent."""

    __slots__ = ()

    def __init__(self, entry: Message) -> None:
        # Folded content shows only what is meant for the user.
        super().__init__(entry, folded=True)

    @property
    def is_foldable(self) -> bool:  # type: ignore[override]
        return bool(beginning_folded(self.entry.text)) or any(map(unfolds, self.entry.blocks))

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        del chat
        return self.prose(look).lines(self.entry.blocks, show_all=not self.folded)

    def target_at(self, line: int) -> Target | None:
        opened = self.opened_by(line)
        if opened is not None:
            return opened
        # Lines of a message are not targets, except for those that unfold.
        mark = "▸ "
        lines = self._lines or []
        is_mark = line < len(lines) and lines[line].text.startswith(mark)
        return Fold() if self.folded and self.is_foldable and is_mark else None


class UserBlock(MessageBlock):
    """A message of the user, sent here or elsewhere."""

    __slots__ = ("_is_long",)

    def __init__(self, entry: Message) -> None:
        super().__init__(entry, folded=True)
        self._is_long = False

    @property
    def is_foldable(self) -> bool:  # type: ignore[override]
        return self._is_long or any(map(unfolds, self.entry.blocks))

    def guess(self, look: Look) -> int:
        found = super().guess(look)
        return min(found, USER_LINES_MAX + 1) if self.folded else found

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        palette = look.palette
        is_elsewhere = self._is_elsewhere(chat)
        mark = look.mark("❯ ", "> ")
        style = palette.elsewhere if is_elsewhere else palette.user
        inner = replace(look, width=max(look.width - 2, 1))
        prose = self.prose(inner, is_literal=True)
        lines = prose.lines(self.entry.blocks, show_all=not self.folded)
        self._is_long = len(lines) > USER_LINES_MAX + 1
        if self._is_long and self.folded:
            more = f"{look.fold_mark(True)}{len(lines) - USER_LINES_MAX} more lines"
            lines = [*lines[:USER_LINES_MAX], strip_of((cut(more, inner.width), palette.dim))]
            self.targets[USER_LINES_MAX] = Fold()
        author = other_author(self.entry, chat)
        if author is not None or is_elsewhere:
            said = cut(author or "sent from elsewhere", inner.width)
            lines = [*lines, strip_of((said, palette.dim))]
        return indented(lines, (mark, style), (look.mark("│ ", "  "), style)) if lines else []

    def target_at(self, line: int) -> Target | None:
        return self.targets.get(line) or self.opened_by(line)

    def _is_elsewhere(self, chat: Chat) -> bool:
        """Whether another client sent it during our session."""
        # The sender of loaded history is unknown.
        self.is_unsettled = not self.entry.is_own and chat.phase == "starting"
        if self.entry.is_own or self.is_unsettled:
            return False
        return all(one is not self.entry for one in islice(chat.entries, chat.history_end))


class ThoughtBlock(MessageBlock):
    """A thought of the agent: one line that unfolds."""

    __slots__ = ()

    is_foldable = True

    def __init__(self, entry: Message) -> None:
        super().__init__(entry, folded=True)

    def guess(self, look: Look) -> int:
        body = super().guess(look)
        return min(body, 1) if self.folded else body + bool(body)

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        palette = look.palette
        text = self.entry.text
        if not text.strip() and all(hasattr(block, "text") for block in self.entry.blocks):
            return []
        is_live = chat.is_busy and bool(chat.entries) and chat.entries[-1] is self.entry
        self.is_unsettled = is_live
        name = "Thinking" if is_live else "Thought"
        head = f"{look.fold_mark(self.folded)}{name}"
        if self.folded:
            words = one_line(text.lstrip()[:_FIRST_WORDS]).replace("**", "").lstrip("#> -")
            said = f"{head}: {words}" if words else head
            return [strip_of((cut(said, look.width, look.mark("…", "...")), palette.thought))]
        inner = replace(look, width=max(look.width - 2, 1))
        body = self.prose(inner, is_thought=True).lines(self.entry.blocks, show_all=True)
        lines = marked(body, look.mark("│ ", "| "), palette.border)
        return [strip_of((cut(head, look.width), palette.thought)), *lines]


def message_block(entry: Message, chat: Chat) -> Block:
    """The block of a message, chosen by its role."""
    del chat
    if entry.role == "user":
        return UserBlock(entry)
    return ThoughtBlock(entry) if entry.role == "thought" else AgentBlock(entry)


__all__ = ["AgentBlock", "Entry", "ThoughtBlock", "UserBlock", "message_block"]
