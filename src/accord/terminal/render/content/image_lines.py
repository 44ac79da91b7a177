"""Render pictures: a line with type and size, and the picture below it if the terminal can draw it.

This module does not know what writes to the terminal.  A picture consists of characters, so that
scrolling, cropping and drawing over it cannot garble the screen:

    kitty   The picture is sent to the terminal once and stored there under a number.  Placeholder
            characters mark its place, and the terminal replaces them by parts of the picture.
            Pending data is in `transmissions`; the owner of the screen takes it from there after
            rendering and writes it unchanged.
    sixel   Sixel graphics are painted over the characters and would stay when those are gone.  So
            pictures are drawn as half blocks in two colours, in any terminal with true colours.

Invariant: no byte of a picture is in a segment; the data sent to the terminal is base64 in a frame
of ours.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from accord.terminal.model.labels.amounts_and_durations import size_words
from accord.terminal.model.settings import ImageSetting
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.content.image_decoder import ImageFacts, image_facts, read_png
from accord.terminal.render.render_options import ImageMode, Look
from accord.terminal.render.text_runs import Run, shortened, strip_of

COLUMNS_MAX, ROWS_MAX = 60, 20
SENT_BYTES_MAX = 8_000_000
"""The largest picture that is sent to the terminal."""
SENT_MAX = 64
"""How many pictures the terminal stores; for others only the size is shown."""
CHUNK = 4096

# Kitty's placeholder for a part of a picture, and its combining marks for the numbers of rows and
# columns.
_PLACE = "\U0010eeee"
_NUMBERS = (
    "\u0305\u030d\u030e\u0310\u0312\u033d\u033e\u033f\u0346\u034a\u034b\u034c\u0350\u0351\u0352"
    "\u0357\u035b\u0363\u0364\u0365\u0366\u0367\u0368\u0369\u036a\u036b\u036c\u036d\u036e\u036f"
    "\u0483\u0484\u0485\u0486\u0487\u0592\u0593\u0594\u0595\u0597\u0598\u0599\u059c\u059d\u059e"
    "\u059f\u05a0\u05a1\u05a8\u05a9\u05ab\u05ac\u05af\u05c4\u0610\u0611\u0612\u0613\u0614\u0615"
)


def image_mode(setting: ImageSetting, environ: Mapping[str, str]) -> ImageMode:
    """Return how pictures are drawn: as configured, or as the terminal's variables suggest."""
    if setting != "auto":
        return setting
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "").lower()
    if environ.get("TMUX") or environ.get("STY") or term.startswith(("tmux", "screen", "dumb")):
        return "none"
    if environ.get("KITTY_WINDOW_ID") or term in ("xterm-kitty", "xterm-ghostty"):
        return "kitty"
    if program == "ghostty":
        return "kitty"
    if program in ("wezterm", "iterm.app", "mintty") or term.startswith(("foot", "mlterm")):
        return "sixel"
    return "none"


class Transmissions:
    """The picture data for the terminal.

    Guards: every picture is sent once per size, the terminal has it in one size only, and it never
    has more than `SENT_MAX` pictures.
    """

    def __init__(self) -> None:
        # By the digest of the picture: its number, and the columns and rows it was sent for.
        self._sent: dict[bytes, tuple[int, int, int]] = {}
        self._last = 0
        self._waiting: list[str] = []
        # Called when data is pending; it must be written after rendering.
        self.on_waiting: Callable[[], None] = lambda: None

    def number_of(self, data: bytes, columns: int, rows: int) -> int | None:
        """Return the number of a picture of this size in the terminal."""
        key = sha256(data).digest()
        known = self._sent.get(key)
        if known is not None and known[1:] == (columns, rows):
            return known[0]
        if known is None and (len(self._sent) >= SENT_MAX or len(data) > SENT_BYTES_MAX):
            return None
        if known is not None:
            # The window was resized, and nothing shows the old size any more.
            self._waiting.append(_dropped(known[0]))
        self._last += 1
        self._sent[key] = (self._last, columns, rows)
        self._waiting += _frames(self._last, data, columns, rows)
        self.on_waiting()
        return self._last

    def take(self) -> str:
        """Return the pending data, and forget it."""
        found = "".join(self._waiting)
        self._waiting.clear()
        return found

    def forget(self) -> str:
        """Return the sequence that deletes all pictures, for when the screen is closed."""
        found = "".join(_dropped(number) for number, _, _ in self._sent.values())
        self._sent.clear()
        self._waiting.clear()
        self._last = 0
        return found


def _dropped(number: int) -> str:
    return f"\x1b_Ga=d,d=I,i={number},q=2\x1b\\"


def _frames(number: int, data: bytes, columns: int, rows: int) -> list[str]:
    encoded = b64encode(data).decode("ascii")
    # Suppress the terminal's answer, which would be read as keys.
    head = f"a=T,U=1,i={number},f=100,c={columns},r={rows},q=2,"
    found: list[str] = []
    for at in range(0, len(encoded), CHUNK):
        more = 1 if at + CHUNK < len(encoded) else 0
        found.append(f"\x1b_G{head}m={more};{encoded[at : at + CHUNK]}\x1b\\")
        head = ""
    return found


transmissions = Transmissions()
"""The pending data of this process, which has one terminal."""


def image_lines(data: bytes, media_type: str, look: Look, name: str = "") -> list[Strip]:
    """Render a picture: one line about it, and the picture itself if it can be drawn."""
    facts = image_facts(data)
    palette = look.palette
    runs: list[Run] = [
        (f"{look.mark('▣', '#')} {one_line(media_type, 40) or 'image'}", palette.accent)
    ]
    if facts is not None:
        runs.append((f"  {facts.width}{look.mark('×', 'x')}{facts.height}", palette.text))
    runs.append((f"  {size_words(len(data))}", palette.dim))
    if name:
        runs.append((f"  {one_line(name)}", palette.dim))
    found = [strip_of(*shortened(runs, look.width))]
    if facts is not None and look.images != "none" and facts.format == "png":
        found += _drawn(data, facts, look)
    return found


def _drawn(data: bytes, facts: ImageFacts, look: Look) -> list[Strip]:
    columns, rows = _fitted(facts, look.width)
    if not columns:
        return []
    if look.images == "kitty":
        number = transmissions.number_of(data, columns, rows)
        return [] if number is None else _places(number, columns, rows)
    return _half_blocks(data, columns, rows)


def _fitted(facts: ImageFacts, width: int) -> tuple[int, int]:
    """Return the columns and rows of a picture; a cell is about 10 by 20 pixels."""
    if not facts.width or not facts.height:
        return 0, 0
    scale = min(min(width, COLUMNS_MAX) / (facts.width / 10), ROWS_MAX / (facts.height / 20), 1.0)
    columns, rows = round(facts.width / 10 * scale), round(facts.height / 20 * scale)
    return max(min(columns, width), 1), max(rows, 1)


def _places(number: int, columns: int, rows: int) -> list[Strip]:
    # The colour of the placeholders encodes the number.
    style = Style(color=Color.from_rgb(number >> 16 & 255, number >> 8 & 255, number & 255))
    return [
        Strip(
            [
                Segment(
                    "".join(_PLACE + _NUMBERS[row] + _NUMBERS[at] for at in range(columns)), style
                )
            ],
            columns,
        )
        for row in range(rows)
    ]


def _half_blocks(data: bytes, columns: int, rows: int) -> list[Strip]:
    pixels = read_png(data)
    if pixels is None:
        return []
    found: list[Strip] = []
    for row in range(rows):
        upper = pixels.rows[(2 * row) * pixels.height // (2 * rows)]
        lower = pixels.rows[(2 * row + 1) * pixels.height // (2 * rows)]
        segments: list[Segment] = []
        for column in range(columns):
            at = 3 * (column * pixels.width // columns)
            front, back = upper[at : at + 3], lower[at : at + 3]
            style = Style(color=Color.from_rgb(*front), bgcolor=Color.from_rgb(*back))
            segments.append(Segment("▀", style))
        found.append(Strip(segments, columns))
    return found
