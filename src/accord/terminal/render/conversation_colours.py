"""The styles of a conversation by meaning: for dark and light screens, for high contrast, and
without colours.

Invariant: `NONE` has no colours, only bold, dim, italic, underline and reverse, so that no meaning
depends on colour alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich.style import Style


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """One named style per meaning.  Styles are applied over the background of the caller."""

    name: str
    # Normal, less important and more important text.
    text: Style
    dim: Style
    strong: Style
    emphasis: Style
    struck: Style
    accent: Style
    # The mark next to the user's messages, and their text.
    user: Style
    user_text: Style
    # Messages that the user sent from elsewhere.
    elsewhere: Style
    thought: Style
    heading: Style
    link: Style
    quote: Style
    # `code` is for inline code; `code_background` for blocks of code.
    code: Style
    code_background: Style
    # Diffs: lines, the changed words in them, line numbers, and the header of a hunk.
    added: Style
    removed: Style
    added_word: Style
    removed_word: Style
    line_number: Style
    hunk: Style
    success: Style
    warning: Style
    error: Style
    info: Style
    # Running entries, and those that wait for the user.
    running: Style
    waiting: Style
    border: Style
    # Applied over the selected entry, and over selected text.
    selected: Style
    marked: Style
    # A Pygments style; None for code without colours.
    pygments: str | None


def _style(said: str) -> Style:
    return Style.parse(said)


DARK = Palette(
    name="dark",
    text=Style.null(),
    dim=_style("#8b949e"),
    strong=_style("bold"),
    emphasis=_style("italic"),
    struck=_style("strike #8b949e"),
    accent=_style("#7aa2f7"),
    user=_style("bold #7aa2f7"),
    user_text=_style("#dbe4ff"),
    elsewhere=_style("bold #bb9af7"),
    thought=_style("italic #8b949e"),
    heading=_style("bold #7dcfff"),
    link=_style("underline #7aa2f7"),
    quote=_style("#9aa5b1"),
    code=_style("#e0af68"),
    code_background=_style("on #1b2029"),
    added=_style("on #12301d"),
    removed=_style("on #3a1618"),
    added_word=_style("bold on #1f5c34"),
    removed_word=_style("bold on #7a2529"),
    line_number=_style("#5c6773"),
    hunk=_style("#7dcfff"),
    success=_style("#7ec97f"),
    warning=_style("#e6b450"),
    error=_style("#f7768e"),
    info=_style("#7aa2f7"),
    running=_style("#7dcfff"),
    waiting=_style("bold #e6b450"),
    border=_style("#4b5563"),
    selected=_style("on #222a38"),
    marked=_style("on #34507f"),
    pygments="one-dark",
)

LIGHT = Palette(
    name="light",
    text=Style.null(),
    dim=_style("#6b7280"),
    strong=_style("bold"),
    emphasis=_style("italic"),
    struck=_style("strike #6b7280"),
    accent=_style("#1d4ed8"),
    user=_style("bold #1d4ed8"),
    user_text=_style("#1e2a4a"),
    elsewhere=_style("bold #7c3aed"),
    thought=_style("italic #6b7280"),
    heading=_style("bold #0e6e8c"),
    link=_style("underline #1d4ed8"),
    quote=_style("#4b5563"),
    code=_style("#9a3412"),
    code_background=_style("on #eef0f4"),
    added=_style("on #dcf5e3"),
    removed=_style("on #fde2e2"),
    added_word=_style("bold on #a7e3b8"),
    removed_word=_style("bold on #f5b5b5"),
    line_number=_style("#9ca3af"),
    hunk=_style("#0e6e8c"),
    success=_style("#15803d"),
    warning=_style("#a15c00"),
    error=_style("#b91c1c"),
    info=_style("#1d4ed8"),
    running=_style("#0e6e8c"),
    waiting=_style("bold #a15c00"),
    border=_style("#b6bcc6"),
    selected=_style("on #e3e9f5"),
    marked=_style("on #bcd2fb"),
    pygments="friendly",
)

CONTRAST = Palette(
    name="contrast",
    text=_style("#ffffff"),
    dim=_style("#d0d0d0"),
    strong=_style("bold"),
    emphasis=_style("italic"),
    struck=_style("strike #d0d0d0"),
    accent=_style("bold #00ffff"),
    user=_style("bold #00ffff"),
    user_text=_style("bold #ffffff"),
    elsewhere=_style("bold #ff8cff"),
    thought=_style("italic #d0d0d0"),
    heading=_style("bold underline #ffff00"),
    link=_style("underline #00ffff"),
    quote=_style("#d0d0d0"),
    code=_style("bold #ffff00"),
    code_background=_style("on #1c1c1c"),
    added=_style("#00ff00"),
    removed=_style("#ff9090"),
    added_word=_style("bold reverse #00ff00"),
    removed_word=_style("bold reverse #ff9090"),
    line_number=_style("#d0d0d0"),
    hunk=_style("bold #00ffff"),
    success=_style("bold #00ff00"),
    warning=_style("bold #ffff00"),
    error=_style("bold #ff6060"),
    info=_style("bold #00ffff"),
    running=_style("bold #00ffff"),
    waiting=_style("bold reverse #ffff00"),
    border=_style("#ffffff"),
    selected=_style("on #003a5c"),
    marked=_style("reverse"),
    pygments=None,
)

NONE = Palette(
    name="none",
    text=Style.null(),
    dim=_style("dim"),
    strong=_style("bold"),
    emphasis=_style("italic"),
    struck=_style("strike"),
    accent=_style("bold"),
    user=_style("bold"),
    user_text=_style("bold"),
    elsewhere=_style("bold italic"),
    thought=_style("italic dim"),
    heading=_style("bold underline"),
    link=_style("underline"),
    quote=_style("dim"),
    code=_style("bold"),
    code_background=Style.null(),
    added=_style("bold"),
    removed=_style("dim"),
    added_word=_style("bold underline"),
    removed_word=_style("dim underline"),
    line_number=_style("dim"),
    hunk=_style("bold"),
    success=_style("bold"),
    warning=_style("bold"),
    error=_style("bold reverse"),
    info=Style.null(),
    running=_style("bold"),
    waiting=_style("bold reverse"),
    border=_style("dim"),
    selected=_style("bold"),
    marked=_style("reverse"),
    pygments=None,
)
