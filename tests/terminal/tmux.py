"""A real terminal: a program in tmux, its screen as text, and keys as a user presses them.

Nothing is polled: whatever the program writes wakes the test, which then looks at the screen.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.hang_limit import HANG_SECONDS, Patience

SECONDS_MAX = HANG_SECONDS
QUIET_SECONDS = 0.05
"""A program that has written nothing for this long has drawn its picture."""

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Tmux:
    """One program on one screen.  A context manager: at its end the program is gone."""

    def __init__(
        self,
        folder: Path,
        command: str,
        *,
        size: tuple[int, int] = (100, 30),
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self._folder = folder
        self._command = command
        self._size = size
        self._env = dict(env or {})
        self._cwd = cwd or folder
        self._socket = str(folder / "tmux.sock")
        self._pipe = folder / "tmux.pipe"
        self._output = -1
        # What the program has written, byte by byte, as far as it was waited for.
        self.written = bytearray()

    def tmux(self, *words: str) -> str:
        """One command of tmux, and what it says."""
        given = ("tmux", "-S", self._socket, "-f", os.devnull, *words)
        done = subprocess.run(
            given, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
        )
        return done.stdout

    def __enter__(self) -> Self:
        os.mkfifo(self._pipe)
        # Open for both, so that neither side waits for the other and no end is seen.
        self._output = os.open(self._pipe, os.O_RDWR | os.O_NONBLOCK)
        wide, high = self._size
        # The program begins when its output is piped, so that none of it is missed.
        held = f'read go; exec {self._command}; echo "[not started]"'
        more = [part for name, value in self._env.items() for part in ("-e", f"{name}={value}")]
        self.tmux(
            *("new-session", "-d", "-x", str(wide), "-y", str(high), "-c", str(self._cwd)),
            *more,
            f"stty -echo; {held}",
        )
        self.tmux("set-option", "-g", "remain-on-exit", "on")
        self.tmux("set-hook", "-g", "pane-died", f"run-shell 'echo > {self._pipe}'")
        self.tmux("set-option", "-g", "status", "off")
        self.tmux("set-option", "-g", "escape-time", "0")
        self.tmux("resize-window", "-x", str(wide), "-y", str(high))
        self.tmux("pipe-pane", "-O", f"cat > {self._pipe}")
        self.tmux("send-keys", "Enter")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            error.add_note(f"the screen:\n{self.screen()}")
        self.tmux("kill-server")
        os.close(self._output)

    # ---- looking

    def screen(self, *, colours: bool = False) -> str:
        """What is on the screen now."""
        return self.tmux("capture-pane", "-p", *(("-e",) if colours else ()))

    def line_with(self, text: str) -> int:
        """The number of the first line that has a text, from 0."""
        for number, line in enumerate(self.screen().splitlines()):
            if text in line:
                return number
        raise AssertionError(f"no line has {text!r}:\n{self.screen()}")

    def until(self, is_so: Callable[[str], object], seconds: float = SECONDS_MAX) -> str:
        """Wait until the screen is so; the screen then."""
        patience = Patience(seconds)
        while True:
            shown = self.screen()
            if is_so(shown):
                return shown
            left = patience.left
            if not left or not select.select([self._output], [], [], left)[0]:
                raise AssertionError(f"it did not come:\n{shown}")
            self.written += os.read(self._output, 1 << 20)

    def settled(self, is_so: Callable[[str], object], seconds: float = SECONDS_MAX) -> str:
        """Wait until the screen is so when the program has drawn all it had to draw.

        For what is not on the screen: in the middle of a picture everything is missing.
        """
        patience = Patience(seconds)
        while True:
            self.until(is_so, patience.left)
            while select.select([self._output], [], [], QUIET_SECONDS)[0]:
                self.written += os.read(self._output, 1 << 20)
            shown = self.screen()
            if is_so(shown):
                return shown

    def wait_for(self, *texts: str, seconds: float = SECONDS_MAX) -> str:
        """Wait until all of these are on the screen."""
        try:
            return self.until(lambda shown: all(text in shown for text in texts), seconds)
        except AssertionError as error:
            raise AssertionError(f"waited for {texts}: {error}") from None

    def wait_gone(self, text: str, seconds: float = SECONDS_MAX) -> str:
        """Wait until this is not on the screen anymore."""
        return self.settled(lambda shown: text not in shown, seconds)

    @property
    def pid(self) -> int:
        """The process on the screen."""
        return int(self.tmux("display-message", "-p", "#{pane_pid}").strip())

    def wait_ended(self, seconds: float = SECONDS_MAX) -> int:
        """Wait until the program has ended; its exit code."""
        patience = Patience(seconds)
        self._wait_for_process(patience)
        while (code := self._dead()) is None:
            assert patience.left, f"it did not end:\n{self.screen()}"
            # tmux may have missed that its child is gone; another child has it look for both.
            self.tmux("run-shell", "true")
        self.until(lambda _: True)
        return code

    def _wait_for_process(self, patience: Patience) -> None:
        """Read what it writes until it is gone."""
        try:
            process = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            while True:
                there = select.select([process, self._output], [], [], patience.left)[0]
                assert there, f"it did not end:\n{self.screen()}"
                if self._output in there:
                    self.written += os.read(self._output, 1 << 20)
                elif process in there:
                    return
        finally:
            os.close(process)

    def _dead(self) -> int | None:
        """How it ended, as tmux knows: minus the signal where it was killed."""
        asked = "#{pane_dead},#{pane_dead_status},#{pane_dead_signal}"
        dead, status, number = self.tmux("display-message", "-p", asked).strip().split(",")
        if dead != "1" or not (status or number):
            return None
        return int(status) if status else -int(number)

    # ---- typing

    def type(self, text: str) -> None:
        """Letters, as they are."""
        self.tmux("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: Enter, Escape, C-c, M-f, BTab, F2."""
        self.tmux("send-keys", *keys)

    def paste(self, text: str) -> None:
        """A paste, with the brackets that terminals put around it."""
        self.tmux("set-buffer", text)
        self.tmux("paste-buffer", "-p")

    def resize(self, wide: int, high: int) -> None:
        """Another size."""
        self.tmux("resize-window", "-x", str(wide), "-y", str(high))
