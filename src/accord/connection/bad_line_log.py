"""What the log says about lines that are no messages: the first, and how many came behind it."""

from accord.connection.limits import NOISE_BYTES_SHOWN
from accord.machine.logs import logger

_log = logger("accord.connection")

# A peer that prints between its messages all the time is not worth more lines than these.
ROWS_MAX = 20


class Noise:
    """Counts bad lines in a row.

    Guards: of each row the first line is quoted when it comes, and the others are counted and
    told once, when the row is over.  So many rows are told, and no more.
    """

    def __init__(self) -> None:
        # How many came behind the first of this row.
        self.more = 0
        self._rows = 0

    def heard(self, count: int, reason: str, frame: bytes, hint: str) -> None:
        """A bad line, the so-manieth of its row; the hint is for people."""
        if count > 1:
            self.more = count - 1
            return
        self.over()
        self._rows += 1
        if self._rows <= ROWS_MAX:
            if frame.lstrip().startswith(b"{"):
                # Somebody meant it as a message, and did not print it by mistake.
                hint = ""
            last = "; of further ones nothing is told" if self._rows == ROWS_MAX else ""
            _log.warning("bad frame: %s: %s%s%s", reason, quoted(frame), hint, last)

    def over(self) -> None:
        """A good frame came, or the end."""
        if self.more and self._rows >= ROWS_MAX:
            self.more = 0
        elif self.more:
            lines = "line that is no message" if self.more == 1 else "lines that are no messages"
            _log.warning("bad frames: %d more %s", self.more, lines)
            self.more = 0


def quoted(frame: bytes) -> str:
    """The beginning of a line, for people."""
    text = frame[:NOISE_BYTES_SHOWN].decode("utf-8", "replace")
    return f"{text!r}{'…' if len(frame) > NOISE_BYTES_SHOWN else ''}"


__all__ = ["ROWS_MAX", "Noise", "quoted"]
