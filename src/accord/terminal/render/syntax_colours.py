"""Syntax highlighting in pieces.

Code is highlighted in pieces of `PIECE_LINES` lines; each piece starts in the lexer state in which
the previous one ended.  So a long growing block is highlighted once, not from its start with every
word.  The result depends on the code alone, never on how it arrived.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from accord.terminal.model.text.display_text import cut
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.text_runs import Line, Run

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]

PIECE_LINES = 50
LINE_COLOURED_MAX = 2_000
"""A piece with a longer line is not highlighted: it is data, not code."""
LINES_COLOURED_MAX = 5_000
"""Lines after these are not highlighted."""

MARGIN_WIDTH_MIN = 8

Token: TypeAlias = tuple[Any, str]
State: TypeAlias = tuple[str, ...]
_ROOT: State = ("root",)
# The most common language, whose lexer also takes longest to create.
_WARM = "python"


@lru_cache(maxsize=64)
def lexer_for(language: str) -> Lexer | None:
    """Return the lexer for the name of a language or a file; None if there is none."""
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
    """Return the names of languages and the suffixes of their files.

    For an unknown name, Pygments itself would search every installed package.
    """
    from pygments.lexers import get_all_lexers

    names: set[str] = set()
    endings: set[str] = set()
    for _, aliases, patterns, _ in get_all_lexers(plugins=False):
        names.update(alias.lower() for alias in aliases)
        endings.update("".join(pattern.rpartition(".")[1:]).lower() for pattern in patterns)
    return frozenset(names), frozenset(endings)


def warm_up() -> None:
    """Load what highlighting needs while idle, so that the first block of code does not wait."""
    lexer_for(_WARM)


@lru_cache(maxsize=8)
def _styles(name: str) -> Any:
    from pygments.styles import get_style_by_name  # type: ignore[import-untyped]

    return get_style_by_name(name)


@lru_cache(maxsize=4096)
def style_of(token: Any, palette: Palette) -> Style:
    """Return the style of a token: foreground only, since the background is ours."""
    if palette.pygments is None:
        return Style.null()
    said = _styles(palette.pygments).style_for_token(token)
    return Style(
        color=f"#{said['color']}" if said["color"] else None,
        bold=said["bold"] or None,
        italic=said["italic"] or None,
    )


def _lexed(lexer: Any, text: str, state: State) -> tuple[list[Token], State]:
    """Return the tokens of a text that starts in a state, and the state at its end."""
    from pygments.lexer import RegexLexer

    if type(lexer).get_tokens_unprocessed is not RegexLexer.get_tokens_unprocessed:
        return [(kind, said) for _, kind, said in lexer.get_tokens_unprocessed(text)], _ROOT
    # As Pygments does, which however does not return the final state.
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
                # Token types are tuples; any other action is a callable.
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
    """Switch to another state in the notation of Pygments."""
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

    Guards: `runs` returns one list of runs for each line, whose texts joined are the line.
    Complete pieces are highlighted once.
    """

    def __init__(self, fence: str, palette: Palette) -> None:
        self.palette = palette
        # The language as in the fence.
        self.fence = fence
        # None if there is none; a lexer that failed is not used again.
        self._lexer: Lexer | None = None
        self._has_lexer = palette.pygments is None
        # The number of lines that were given away.
        self._passed = 0
        self._seen: list[str] = []
        self._done: list[list[Run]] = []
        self._begin = self._state = _ROOT

    def runs(self, lines: list[str]) -> list[list[Run]]:
        """Return each line as runs; cheap if `lines` starts as in the last call."""
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
        """Forget these lines, which are whole pieces; later lines follow them."""
        self.runs(lines)
        self._passed += len(lines)
        self._begin, self._done, self._seen = self._state, [], []

    def _piece(self, lines: list[str], at: int, state: State) -> tuple[list[list[Run]], State]:
        too_long = any(len(line) > LINE_COLOURED_MAX for line in lines)
        if not self._has_lexer and any(lines):
            # Not before there is code, since the name of the language may still be growing.
            self._has_lexer = True
            self._lexer = lexer_for(self.fence.strip("{}.").lower())
        if self._lexer is None or too_long or self._passed + at >= LINES_COLOURED_MAX:
            return [[(line, Style.null())] for line in lines], _ROOT
        try:
            tokens, state = _lexed(self._lexer, "\n".join(lines) + "\n", state)
        except (RecursionError, ValueError, LookupError, TypeError, AttributeError):
            # Show the code even if the lexer fails.
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
    """Render lines of clean code on a background in the full width; long lines are broken."""
    under = code.palette.code_background
    # Without a background a bar marks code, unless there is almost no room.
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
    """Break a line of code into parts of at most this many cells."""
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
