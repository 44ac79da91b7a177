"""Shows the progress of `accord check` on standard error.

What always holds: on a terminal one line is overwritten; elsewhere a line is printed at the start
and then every `LINE_SECONDS`, so that a log shows what takes the time.
"""

from __future__ import annotations

import sys
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import anyio

from accord.cli.console import complain, show_progress

if TYPE_CHECKING:
    from types import TracebackType

    from accord.conformance.check_definition import Check
    from accord.conformance.run.check_runner import CheckRun

LINE_SECONDS = 10.0
TERMINAL_SECONDS = 1.0


class CheckProgress:
    """The progress of one run; call `began` and `done` for each check."""

    def __init__(self, role: str, version: str, total: int, *, shown: bool) -> None:
        self._about = f"{role}, version {version}"
        self._total = total
        self._shown = shown
        self._terminal = shown and sys.stderr.isatty()
        self._running: list[str] = []
        self._done = 0
        self._start = time.monotonic()
        self._tasks = AsyncExitStack()

    def began(self, check: Check[Any]) -> None:
        """Note that a check has started."""
        self._running.append(check.name)
        if self._terminal:
            show_progress(self._line())

    def done(self, run: CheckRun) -> None:
        """Note that a check has ended."""
        if run.check.name in self._running:
            self._running.remove(run.check.name)
        self._done += 1
        if self._terminal:
            show_progress(self._line())

    def _line(self) -> str:
        seconds = time.monotonic() - self._start
        # What the program does may make further checks possible.
        total = max(self._total, self._done + len(self._running))
        line = f"{self._about}: {self._done} of {total} checks, {seconds:.0f} s"
        return line + (f"; running {self._running[0]}" if self._running else "")

    async def _tell(self) -> None:
        while True:
            if self._terminal:
                show_progress(self._line())
            else:
                complain(self._line())
            await anyio.sleep(TERMINAL_SECONDS if self._terminal else LINE_SECONDS)

    async def __aenter__(self) -> CheckProgress:
        if self._shown:
            tasks = await self._tasks.enter_async_context(anyio.create_task_group())
            self._tasks.callback(tasks.cancel_scope.cancel)
            tasks.start_soon(self._tell)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._tasks.__aexit__(None, None, None)
        if self._terminal:
            show_progress("")
