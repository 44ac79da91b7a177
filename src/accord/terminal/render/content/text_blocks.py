"""The text of content blocks as growing Markdown; others are put between by their kind.

A block whose audience excludes the user is not dropped: it is one line that unfolds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.schema.struct import UNSET, UnknownVariant
from accord.terminal.render.block import Target
from accord.terminal.render.markdown.markdown_lines import MarkdownLines
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, indented, strip_of, wrapped

TEXT_SHOWN_MAX = 200_000
"""Characters of one text after which its beginning is folded."""
TEXT_FOLDED_STEP = 50_000


def is_for_user(block: Any) -> bool:
    """Whether the audience of a content block, if it has one, includes the user."""
    annotations = getattr(block, "annotations", None)
    if annotations is None or annotations is UNSET:
        return True
    audience = getattr(annotations, "audience", None)
    if audience is None or audience is UNSET or not audience:
        return True
    return "user" in audience


def unfolds(block: Any) -> bool:
    """Whether a content block has more than is shown folded."""
    if isinstance(block, UnknownVariant) or not is_for_user(block):
        return True
    embedded = getattr(getattr(block, "resource", None), "text", None)
    return isinstance(embedded, str) or isinstance(getattr(block, "description", None), str)


def beginning_folded(text: str) -> int:
    """The number of leading characters that are folded because the text is very long.

    It grows in large steps, so that a growing text is not laid out again with every word.
    """
    if len(text) <= TEXT_SHOWN_MAX:
        return 0
    at = (len(text) - TEXT_SHOWN_MAX + TEXT_FOLDED_STEP) // TEXT_FOLDED_STEP * TEXT_FOLDED_STEP
    blank = text.find("\n\n", at)
    return blank + 2 if 0 <= blank < at + TEXT_FOLDED_STEP else at


class Prose:
    """Renders content blocks.  Guards: growing text is not laid out from its beginning."""

    __slots__ = ("_base", "_is_literal", "_look", "_texts", "targets")

    def __init__(self, look: Look, base: Style | None = None, *, is_literal: bool = False) -> None:
        self._look = look
        self._base = look.palette.text if base is None else base
        # Shown as typed, not as Markdown.
        self._is_literal = is_literal
        # One per run of text, in order.
        self._texts: list[MarkdownLines] = []
        # The targets of the last lines, by line number.
        self.targets: dict[int, Target] = {}

    def lines(self, blocks: Sequence[Any], *, show_all: bool = False) -> list[Strip]:
        """Render the blocks; with `show_all` even those that are not meant for the user."""
        found: list[Strip] = []
        count = 0
        self.targets = {}
        for for_user, text, block in _grouped(blocks):
            if text is None:
                part = _content(block, self._look, is_shown=for_user, unfolded=show_all)
            elif not for_user and not show_all:
                part = [_left_out(self._look, f"text, {len(text)} characters")]
            else:
                part = self._text(text, count, show_all=show_all)
            if text is not None:
                count += 1
            if found and part:
                found.append(Strip([]))
            target = _target(block) if text is None and (for_user or show_all) else None
            if target is not None:
                self.targets[len(found)] = target
            found += part
        return found

    def _text(self, text: str, number: int, *, show_all: bool) -> list[Strip]:
        look = self._look
        folded = 0 if show_all else beginning_folded(text)
        if folded:
            said = f"{look.fold_mark(True)}{folded:,} characters above"
            head = strip_of((cut(said, look.width), look.palette.dim))
            return [head, Strip([]), *self._text(text[folded:], number, show_all=True)]
        if self._is_literal:
            lines = wrapped(visible(text).strip("\n"), look.width)
            return [Strip([Segment(line, self._base)] if line else []) for line in lines]
        while len(self._texts) <= number:
            self._texts.append(MarkdownLines(look, self._base))
        return self._texts[number].set(text)


def _grouped(blocks: Sequence[Any]) -> list[tuple[bool, str | None, Any]]:
    """Blocks in order, adjacent texts with the same audience as one."""
    found: list[tuple[bool, str | None, Any]] = []
    run: list[str] = []
    is_run_for_user = True
    for block in blocks:
        text = getattr(block, "text", None)
        for_user = is_for_user(block)
        if run and (not isinstance(text, str) or for_user is not is_run_for_user):
            found.append((is_run_for_user, "".join(run), None))
            run = []
        if isinstance(text, str):
            run.append(text)
            is_run_for_user = for_user
        else:
            found.append((for_user, None, block))
    if run:
        found.append((is_run_for_user, "".join(run), None))
    return found


def _left_out(look: Look, what: str) -> Strip:
    said = f"{look.fold_mark(True)}{what}; for the agent only"
    return strip_of((cut(said, look.width), look.palette.dim))


def _content(block: Any, look: Look, *, is_shown: bool, unfolded: bool) -> list[Strip]:
    # `non_text_blocks.py` renders images, resources, links and unknown blocks.
    from accord.terminal.render.content.non_text_blocks import content_lines

    if not is_shown and not unfolded:
        return [_left_out(look, str(getattr(block, "type", "") or type(block).__name__))]
    return content_lines(block, look, unfolded=unfolded)


def _target(block: Any) -> Target | None:
    from accord.terminal.render.content.non_text_blocks import content_target

    return content_target(block)


def marked(strips: list[Strip], mark: str, style: Style) -> list[Strip]:
    """Prefix each line with a mark."""
    return indented(strips, (mark, style), (mark, style))
