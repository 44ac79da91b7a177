"""Reports while the user waits: the silence of the agent, and the time until a retry.

Invariant: they come at growing intervals, and only while the user waits.
"""

from __future__ import annotations

from collections.abc import Sequence

from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.amounts_and_durations import duration_words
from accord.terminal.model.text.display_text import one_line
from accord.terminal.plain.display.chat_printer import ChatPrinter

QUIET_STEPS = (1, 3, 6, 12)
"""Silence is reported at these multiples of the quiet time, then at every last one."""

WAIT_STEPS = (600, 300, 120, 60, 30, 10, 0)
"""Remaining seconds until a retry at which they are reported."""


class WaitReports:
    """What was said of the waits in one chat.  Guards: nothing is said twice."""

    def __init__(self, chat: Chat, printer: ChatPrinter, *, quiet: float) -> None:
        self._chat = chat
        self._printer = printer
        self._quiet_steps = tuple(quiet * times for times in QUIET_STEPS)
        self._quiet_told = 0.0
        self._wait_told: float | None = None

    def problem_changed(self) -> None:
        """Begin again with the time until a retry."""
        self._wait_told = None

    def tell(self) -> None:
        """Print what is due."""
        chat = self._chat
        quiet = chat.quiet_for
        if quiet is None or quiet < self._quiet_told:
            self._quiet_told = 0.0
        step = _step_before(quiet or 0.0, self._quiet_steps)
        if step > self._quiet_told:
            self._quiet_told = step
            did = f"; last: {one_line(chat.last_did)}" if chat.last_did else ""
            self._printer.remark(
                f"The agent has been quiet for {duration_words(step)}{did}. Ctrl-C stops it."
            )
        left = self._seconds_to_retry()
        if left is None:
            return
        passed = [step for step in WAIT_STEPS if left <= step]
        if passed and (self._wait_told is None or passed[-1] < self._wait_told):
            self._wait_told = passed[-1]
            when = f"in {duration_words(left)}" if passed[-1] else "now"
            self._printer.remark(f"You can try again {when}: /retry.")

    def _seconds_to_retry(self) -> float | None:
        problem = self._chat.problem
        if problem is None or problem.retry_at is None:
            return None
        return max(problem.retry_at - self._chat.clock(), 0.0)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until a report is due even if nothing happens."""
        times: list[float] = []
        quiet = self._chat.quiet_for
        if quiet is not None:
            times.append(_step_after(quiet, self._quiet_steps) - quiet)
        left = self._seconds_to_retry()
        if left:
            times.append(left - max((step for step in WAIT_STEPS if step < left), default=0))
        return min(times) if times else None


def _step_before(seconds: float, steps: Sequence[float]) -> float:
    last = steps[-1]
    if seconds >= last:
        return seconds // last * last
    return max((step for step in steps if step <= seconds), default=0)


def _step_after(seconds: float, steps: Sequence[float]) -> float:
    last = steps[-1]
    if seconds >= last:
        return (seconds // last + 1) * last
    return min(step for step in steps if step > seconds)
