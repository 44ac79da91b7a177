"""Syntax highlighting in pieces.

Code is coloured in pieces of so many lines, each of which begins in the state that the one before
ended in: so a long block that grows is coloured once, and not from its head with every word.
What a piece looks like depends on the code alone, never on how it arrived.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from accord.terminal.model.text.display_text import cut
from accord.terminal.render.palette import Palette
from accord.terminal.render.text_runs import Line, Run

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]

PIECE_LINES = 50
LINE_COLOURED_MAX = 2_000
"""Characters of a line; a piece with a longer one is not coloured: it is data, not code."""
LINES_COLOURED_MAX = 5_000
"""Lines of a block; what comes after them is not coloured."""

MARGIN_WIDTH_MIN = 8

Token: TypeAlias = tuple[Any, str]
State: TypeAlias = tuple[str, ...]
_ROOT: State = ("root",)
# The language that agents show most, and whose lexer takes longest to make.
_WARM = "python"


@lru_cache(maxsize=64)
def lexer_for(language: str) -> Lexer | None:
    """The lexer of a language as a fence names it, or by a file name; None: shown plain."""
    if not language or len(language) > 40:
        return None
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    names, endings = _languages()
    try:
        if language in names:
            return get_lexer_by_name(language, stripnl=False, ensurenl=False)
        _, dot, ending = language.rpartition(".")
        if dot + ending in endings:
            return get_lexer_for_filename(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        pass
    return None


@lru_cache(maxsize=1)
def _languages() -> tuple[frozenset[str], frozenset[str]]:
    """The names of languages, and how the names of their files end, with the dot if they have one.

    Pygments looks through every file of every package that is installed before it says no.
    """
    from pygments.lexers import get_all_lexers

    names: set[str] = set()
    endings: set[str] = set()
    for _, aliases, patterns, _ in get_all_lexers(plugins=False):
        names.update(alias.lower() for alias in aliases)
        endings.update("".join(pattern.rpartition(".")[1:]).lower() for pattern in patterns)
    return frozenset(names), frozenset(endings)


def warm_up() -> None:
    """Load what colours need, in a quiet moment: the first block of code would wait for it."""
    lexer_for(_WARM)


@lru_cache(maxsize=8)
def _styles(name: str) -> Any:
    from pygments.styles import get_style_by_name  # type: ignore[import-untyped]

    return get_style_by_name(name)


@lru_cache(maxsize=4096)
def style_of(token: Any, palette: Palette) -> Style:
    """The colour of a token: foreground only, since what lies under it is not Pygments' matter."""
    if palette.pygments is None:
        return Style.null()
    said = _styles(palette.pygments).style_for_token(token)
    return Style(
        color=f"#{said['color']}" if said["color"] else None,
        bold=said["bold"] or None,
        italic=said["italic"] or None,
    )


def _lexed(lexer: Any, text: str, state: State) -> tuple[list[Token], State]:
    """The tokens of a text that begins in a state, and the state that it ends in."""
    from pygments.lexer import RegexLexer

    if type(lexer).get_tokens_unprocessed is not RegexLexer.get_tokens_unprocessed:
        return [(kind, said) for _, kind, said in lexer.get_tokens_unprocessed(text)], _ROOT
    # What Pygments does itself, but it tells nobody the state that it ends in.
    found: list[Token] = []
    stack, at = list(state), 0
    while at < len(text):
        for match_at, action, change in lexer._tokens[stack[-1]]:
            match = match_at(text, at)
            if match is None:
                continue
            if action is None:
                pass
            elif isinstance(action, tuple):
                # A token type; they are tuples, and whatever else acts is called.
                found.append((cast("Any", action), match.group()))
            else:
                found.extend((kind, said) for _, kind, said in action(lexer, match))
            at = match.end()
            _change(stack, change)
            break
        else:
            from pygments.token import Error, Whitespace  # type: ignore[import-untyped]

            if text[at] == "\n":
                stack = list(_ROOT)
            found.append((Whitespace if text[at] == "\n" else Error, text[at]))
            at += 1
    return found, tuple(stack)


def _change(stack: list[str], change: Any) -> None:
    """Go to another state, as Pygments writes it."""
    if change is None:
        return
    if isinstance(change, int):
        del stack[1 if abs(change) >= len(stack) else change :]
        return
    for state in change if isinstance(change, tuple) else (change,):
        if state == "#pop":
            if len(stack) > 1:
                stack.pop()
        elif state == "#push":
            stack.append(stack[-1])
        else:
            stack.append(state)


class Code:
    """Lines of code in one language as runs.

    Guards: `runs` gives one list of runs for each line, whose texts are the line again.  Pieces
    that are complete are coloured once.
    """

    def __init__(self, fence: str, palette: Palette) -> None:
        self.palette = palette
        # The language as the fence names it.
        self.fence = fence
        # None if there is none; a lexer that failed on a piece is not asked again.
        self._lexer: Lexer | None = None
        self._has_lexer = palette.pygments is None
        # Lines that were here and are somebody else's now.
        self._passed = 0
        self._seen: list[str] = []
        self._done: list[list[Run]] = []
        self._begin = self._state = _ROOT

    def runs(self, lines: list[str]) -> list[list[Run]]:
        """Each line as runs; cheap where `lines` begins as it did the last time."""
        done = len(self._done)
        if self._seen[:done] != lines[:done]:
            self._done, self._state, done = [], self._begin, 0
        while len(lines) - done >= PIECE_LINES:
            piece, self._state = self._piece(lines[done : done + PIECE_LINES], done, self._state)
            self._done += piece
            done += PIECE_LINES
        self._seen = lines[:done]
        if done == len(lines):
            return list(self._done)
        tail, _ = self._piece(lines[done:], done, self._state)
        return self._done + tail

    def pass_pieces(self, lines: list[str]) -> None:
        """Forget these lines, which are whole pieces: what is given from now on follows them."""
        self.runs(lines)
        self._passed += len(lines)
        self._begin, self._done, self._seen = self._state, [], []

    def _piece(self, lines: list[str], at: int, state: State) -> tuple[list[list[Run]], State]:
        too_long = any(len(line) > LINE_COLOURED_MAX for line in lines)
        if not self._has_lexer and any(lines):
            # Not before there is code: until then the name of the language may still be growing.
            self._has_lexer = True
            self._lexer = lexer_for(self.fence.strip("{}.").lower())
        if self._lexer is None or too_long or self._passed + at >= LINES_COLOURED_MAX:
            return [[(line, Style.null())] for line in lines], _ROOT
        try:
            tokens, state = _lexed(self._lexer, "\n".join(lines) + "\n", state)
        except (RecursionError, ValueError, LookupError, TypeError, AttributeError):
            # Whatever a lexer stumbles over, code is shown.
            self._lexer = None
            return [[(line, Style.null())] for line in lines], _ROOT
        found: list[list[Run]] = [[]]
        for kind, said in tokens:
            style = style_of(kind, self.palette)
            head, *rest = said.split("\n")
            if head:
                found[-1].append((head, style))
            found.extend([(line, style)] if line else [] for line in rest)
        del found[len(lines) :]
        return found, state


def code_lines(code: Code, lines: list[str], width: int) -> list[Line]:
    """Lines of clean code on their background, each as wide as there is room; long ones broken."""
    under = code.palette.code_background
    # Without a background a bar tells code from words; with next to no room nothing does.
    bar = "│ " if under.bgcolor is None else " "
    left = Segment(bar if width > MARGIN_WIDTH_MIN else "", code.palette.border + under)
    room = width - len(left.text)
    found: list[Line] = []
    for runs in code.runs(lines):
        for part in _broken(runs, room):
            used = sum([cell_len(text) for text, _ in part])
            line = [Segment(text, style + under) for text, style in part if text]
            if left.text:
                line.insert(0, left)
            if under.bgcolor is not None and used < room:
                line.append(Segment(" " * (room - used), under))
            found.append(line)
    return found


def _broken(runs: list[Run], width: int) -> list[list[Run]]:
    """A line of code in parts of at most so many cells, wherever that cuts it."""
    if sum([cell_len(text) for text, _ in runs]) <= width:
        return [runs]
    found: list[list[Run]] = [[]]
    used = 0
    for text, style in runs:
        for piece in cut(text, 1) if not text.isascii() else text:
            wide = cell_len(piece)
            if used + wide > width and found[-1]:
                found.append([])
                used = 0
            if wide > width:
                continue
            last = found[-1]
            if last and last[-1][1] is style:
                last[-1] = (last[-1][0] + piece, style)
            else:
                last.append((piece, style))
            used += wide
    return found


__all__ = ["Code", "code_lines", "lexer_for", "style_of", "warm_up"]
