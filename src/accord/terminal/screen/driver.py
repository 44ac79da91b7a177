"""A Textual driver that lets only sequences of the screen reach the terminal.

Text of agents is made visible where it is drawn.  This is the second line of defence: a mistake
there cannot ring the bell or start a sequence that is not one of the screen's own.

Invariants
    * Output has no control characters except line endings, tabs and the escapes of sequences.
    * The sequences are those of the screen: CSI, the window's title, the clipboard, the shape of
      the pointer and images.  All others are written as text.
    * The bell rings through `ring` alone.
"""

from __future__ import annotations

import re

from textual.drivers.linux_driver import LinuxDriver

from accord.machine.console.control_characters import visible

BELL = "\a"
# CSI, and strings of our own: title, pointer, clipboard and pictures, ended by ST.
_OUR_STRINGS = r"\](?:2|22|52);[^\x00-\x1f\x7f-\x9f]*\x1b\\|_G[^\x00-\x1f\x7f-\x9f]*\x1b\\"
# It never backtracks, so that the cost is linear in the length of a large image.
_FOREIGN = re.compile(
    rf"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]|\x1b(?!\[|\\|{_OUR_STRINGS})"
)
# Textual ends these with BEL; a terminal that does not know the sequence would ring.
_ENDED_BY_BELL = re.compile(r"(\x1b\](?:2|22|52);[^\x00-\x1f\x7f-\x9f]*)\a")


class ScreenDriver(LinuxDriver):
    """Writes to the terminal.  Guards the invariants of this module."""

    def write(self, data: str) -> None:
        """Write screen output, filtered."""
        super().write(screen_only(data))

    def ring(self) -> None:
        """Ring the terminal's bell."""
        super().write(BELL)


def screen_only(data: str) -> str:
    """The data with all other control characters written out as text."""
    if BELL in data:
        data = _ENDED_BY_BELL.sub("\\1\x1b\\\\", data)
    if _FOREIGN.search(data) is None:
        return data
    return _FOREIGN.sub(lambda found: visible(found[0], "exact"), data)
