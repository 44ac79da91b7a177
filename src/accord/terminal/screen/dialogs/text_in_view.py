"""How much of a dialog's text is in view, and whether that is enough to approve.

Invariants
    * If not all lines are in view, the dialog says how many are.
    * What a user must have seen before they agree has been on the screen, in the place that the
      screen has for it; a dialog in a tab that is not in front shows nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.css.query import NoMatches
from textual.errors import NoWidget
from textual.strip import Strip

from accord.terminal.model.labels.amounts_and_durations import counted
from accord.terminal.model.text.display_text import columns
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, strip_of
from accord.terminal.screen.widgets.scrollable_lines import Body, Lines

ENDING_LINES = 3
"""Last lines that must be seen: a single one could be only a bracket or half a word."""
READ_FIRST = "Read to the end first: PgDn, End."


@dataclass(frozen=True, slots=True)
class Extent:
    """The places of the parts, as line numbers from the top."""

    # The last lines of each part that must have been in view before it can be allowed.
    ends: tuple[int, ...] = ()
    # Of each file that would be changed, the first line that shows a change.
    changes: tuple[int, ...] = ()
    # The last line of the command.
    ends_with: str = ""
    # Lines that were left out.
    left_out: int = 0


def ending_of(begin: int, end: int) -> range:
    """Return the last lines of a part from `begin` to before `end`."""
    return range(max(begin, end - ENDING_LINES), end)


class ReadProgress:
    """The ends that have been in view.  Guards: a new question is read from the beginning."""

    def __init__(self) -> None:
        self._asked: object = None
        # By their order: on a screen of another width they are other lines.
        self._seen: set[int] = set()

    def look(self, asked: object, extent: Extent, view: tuple[int, int]) -> None:
        """Note that these lines of this question are in view."""
        self._begin(asked)
        top, bottom = view
        self._seen.update(at for at, end in enumerate(extent.ends) if top <= end < bottom)

    def unseen(self, asked: object, extent: Extent) -> list[int]:
        """The lines that have not been in view."""
        self._begin(asked)
        return [end for at, end in enumerate(extent.ends) if at not in self._seen]

    def _begin(self, asked: object) -> None:
        if self._asked != asked:
            self._asked, self._seen = asked, set()


class ExtentLine(Lines, can_focus=False):
    """One line below a text that does not fit: how much of it is in view.

    No text of an agent can imitate it, since it is outside the scrolled area.
    """


def view_of(body: Body) -> tuple[int, int]:
    """The first line in view, and the one behind the last; the same where none is."""
    try:
        seen = body.screen.find_widget(body).visible_region
    except (NoMatches, NoWidget):
        return 0, 0
    top = body.scroll_offset.y + max(seen.y - body.region.y, 0)
    return top, min(top + seen.height, body.count)


def extent_lines(
    extent: Extent, view: tuple[int, int], count: int, is_read: bool, look: Look, rows: int
) -> list[Strip]:
    """Return lines about what is in view, the most important last."""
    palette = look.palette
    top, bottom = view
    shown = max(bottom - top, 0)
    files = sum(at >= bottom for at in extent.changes)
    below = f", {counted(files, 'changed file')} below" if files else ""
    more = " · PgDn, End" if bottom < count else ""
    if not is_read:
        more = " · to allow, scroll to the end: PgDn, End"
    total = f"{count + extent.left_out:,}"
    left_out = f", {extent.left_out:,} left out" if extent.left_out else ""
    # The longest that fits; on a narrow screen the numbers matter most.
    words = next(
        (
            words
            for words in (
                f"{total} lines, {shown} of them shown{left_out}{below}{more}",
                f"{shown} of {total} lines{left_out}{below}{' · PgDn, End' if more else ''}",
            )
            if columns(words) <= look.width
        ),
        f"{shown} of {total} lines{' · End' if more else ''}",
    )
    lines = [strip_of((cut(words, look.width), palette.warning))]
    if rows > 1 and extent.ends_with:
        mark = look.mark("… ends: ", "... ends: ")
        said = last_columns(extent.ends_with, look.width - columns(mark))
        lines.insert(0, strip_of((mark, palette.dim), (said, palette.code)))
    return lines


def last_columns(text: str, width: int) -> str:
    """Return the end of a text in this many columns."""
    if columns(text) <= width:
        return text
    taken = 1
    for count, character in enumerate(reversed(text)):
        taken += columns(character)
        if taken > width:
            return f"…{text[len(text) - count :]}" if count else "…"[:width]
    return text
