"""The last gate before the terminal: what the full screen writes, and nothing else.

Text of agents is made visible where it is drawn.  Here it is made sure that a mistake there, or in
what draws, rings no bell and starts no sequence that is not one of the screen's own.

Invariants
    * What is written has no control characters but line endings, tabs and the escape of a sequence.
    * The sequences are those of the screen: CSI, the window's title, the clipboard, the shape of
      the pointer and pictures.  The others are written as text.
    * The bell rings through `ring` alone.
"""

from __future__ import annotations

import re

from textual.drivers.linux_driver import LinuxDriver

from accord.machine.console.control_characters import visible

BELL = "\a"
# CSI, and strings of our own: title, pointer, clipboard and pictures, ended by ST.
_OUR_STRINGS = r"\](?:2|22|52);[^\x00-\x1f\x7f-\x9f]*\x1b\\|_G[^\x00-\x1f\x7f-\x9f]*\x1b\\"
# No part of it goes back over what it has read, so that a large picture costs its length.
_FOREIGN = re.compile(
    rf"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]|\x1b(?!\[|\\|{_OUR_STRINGS})"
)
# Textual ends these with a bell, which terminals take as well; some of them ring where they do not
# know the sequence.
_ENDED_BY_BELL = re.compile(r"(\x1b\](?:2|22|52);[^\x00-\x1f\x7f-\x9f]*)\a")


class ScreenDriver(LinuxDriver):
    """Writes to the terminal.  Guards the invariants of this module."""

    def write(self, data: str) -> None:
        """Write what the screen is made of."""
        super().write(screen_only(data))

    def ring(self) -> None:
        """Ring the terminal's bell."""
        super().write(BELL)


def screen_only(data: str) -> str:
    """The data with everything that is not the screen's own written out."""
    if BELL in data:
        data = _ENDED_BY_BELL.sub("\\1\x1b\\\\", data)
    if _FOREIGN.search(data) is None:
        return data
    return _FOREIGN.sub(lambda found: visible(found[0], "exact"), data)


__all__ = ["ScreenDriver", "screen_only"]
