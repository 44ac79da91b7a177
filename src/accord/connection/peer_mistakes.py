"""The peer's mistakes: tolerated and logged, or in strict mode the end of the connection.

What always holds
    * Of consecutive malformed lines the first is logged when it arrives, and the number of the
      others when a good frame follows.  At most `BAD_RUNS_MAX` such runs are logged.
    * Every other kind of mistake is logged once, and at most `KINDS_MAX` kinds are.
"""

import logging
import os
import re
from collections.abc import Callable

from accord.errors import RequestError
from accord.jsonrpc.error_codes import PARSE_ERROR
from accord.jsonrpc.events import FrameRejected, StrayAnswer
from accord.machine.redacted_logs import logger
from accord.schema.codec import Invalid

_log = logger("accord.connection")

STRICT_VARIABLE = "ACCORD_STRICT"
_NO = frozenset(("", "0", "false", "no", "off"))

# How much of a malformed line is quoted.
BAD_LINE_BYTES_SHOWN = 200
BAD_RUNS_MAX = 20
KINDS_MAX = 100
# Shared by all connections that have none: an empty set of its own costs 216 bytes each.
_NO_KINDS: frozenset[str] = frozenset()
_NUMBERS = re.compile(r"\d+")


def strict_by_default() -> bool:
    """Whether `ACCORD_STRICT` is set to anything that does not mean no."""
    return os.environ.get(STRICT_VARIABLE, "").strip().lower() not in _NO


class PeerMistakes:
    """What happens when one peer breaks a rule."""

    def __init__(self, *, strict: bool, break_off: Callable[[str], None]) -> None:
        self._strict = strict
        self._break_off = break_off
        # Added to messages about lines that are not JSON, for the person who reads them.
        self.bad_line_hint = ""
        # Malformed lines after the first one of the current run.
        self.bad_lines_after_first = 0
        self._bad_runs = 0
        self._kinds = _NO_KINDS

    def tolerate(self, text: str, level: int = logging.INFO, *, kind: str | None = None) -> None:
        """Log a mistake once per kind; in strict mode break off instead.

        Texts that differ only in their numbers are of the same kind.
        """
        if self._strict:
            self._break_off(text)
        else:
            self._log_once(f"tolerated: {text}", text if kind is None else kind, level)

    def notification_failed(self, method: str, error: Exception) -> None:
        """Log an exception from a notification handler."""
        if isinstance(error, Invalid | RequestError):
            # The peer is at fault, so the traceback is of no interest.
            self.tolerate(f"ignored the notification {method}: {error}", logging.WARNING)
        else:
            _log.error("handling the notification %s failed", method, exc_info=error)

    def stray_answer(self, event: StrayAnswer) -> None:
        """Log an answer that none of our calls waits for."""
        text = "" if event.message is None else f": {event.message} (code {event.code})"
        if event.id is None:
            self.tolerate(f"the peer could not read one of our messages{text}", logging.WARNING)
        elif event.kind == "late":
            _log.debug("a late answer to request %s, which was withdrawn%s", event.id, text)
        elif event.kind == "second":
            self.tolerate(f"a second or late answer to request {event.id}{text}", logging.WARNING)
        else:
            text = f"an answer to request {event.id!r}, which was never made{text}"
            self.tolerate(text, logging.WARNING)

    def frame_rejected(self, event: FrameRejected, frame: bytes) -> None:
        """Log a frame that is not a valid message."""
        hint = self.bad_line_hint if event.code == PARSE_ERROR else ""
        sender_sees_it = event.answer is not None and event.count == 0
        if self._strict and not sender_sees_it:
            self._break_off(f"{event.reason}: {quoted(frame)}{hint}")
        elif event.count:
            self._bad_line(event.count, event.reason, frame, hint)
        else:
            text = f"refused a frame: {event.reason}"
            self._log_once(f"{text}: {quoted(frame)}", text, logging.WARNING)

    def _bad_line(self, count: int, reason: str, frame: bytes, hint: str) -> None:
        """Take the `count`-th malformed line of a run."""
        if count > 1:
            self.bad_lines_after_first = count - 1
            return
        self.bad_lines_over()
        self._bad_runs += 1
        if self._bad_runs <= BAD_RUNS_MAX:
            if frame.lstrip().startswith(b"{"):
                # This was meant as a message; the peer did not print it by mistake.
                hint = ""
            last = "; further bad frames are not logged" if self._bad_runs == BAD_RUNS_MAX else ""
            _log.warning("bad frame: %s: %s%s%s", reason, quoted(frame), hint, last)

    def bad_lines_over(self) -> None:
        """End the run: a good frame arrived, or the connection ended."""
        more, self.bad_lines_after_first = self.bad_lines_after_first, 0
        if more and self._bad_runs < BAD_RUNS_MAX:
            lines = "line that is not a message" if more == 1 else "lines that are not messages"
            _log.warning("bad frames: %d more %s", more, lines)

    def _log_once(self, text: str, kind: str, level: int) -> None:
        kind = _NUMBERS.sub("0", kind)
        if kind in self._kinds or len(self._kinds) > KINDS_MAX:
            return
        self._kinds |= {kind}
        if len(self._kinds) > KINDS_MAX:
            _log.log(level, "further kinds of mistakes are not logged (limit: %d)", KINDS_MAX)
        else:
            _log.log(level, "%s", text)


def quoted(frame: bytes) -> str:
    """The beginning of a line, for people."""
    text = frame[:BAD_LINE_BYTES_SHOWN].decode("utf-8", "replace")
    return f"{text!r}{'…' if len(frame) > BAD_LINE_BYTES_SHOWN else ''}"
