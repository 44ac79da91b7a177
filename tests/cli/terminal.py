"""A program in a terminal of its own, as a person would sit in front of it: a pty, no more."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.hang_limit import HANG_SECONDS, Patience

SECONDS_MAX = HANG_SECONDS
CTRL_C, CTRL_D = "\x03", "\x04"
ACCORD = (sys.executable, "-m", "accord")


class TerminalProgram:
    """What the program has written so far, and the keys to press."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self._process = process
        self._master = master
        self._output = b""

    @property
    def text(self) -> str:
        """Everything on the screen, with plain line ends."""
        return self._output.decode(errors="replace").replace("\r\n", "\n")

    @property
    def written(self) -> bytes:
        """Every byte that came to the terminal."""
        return self._output

    def read_for(self, seconds: float) -> None:
        """Read what comes within this time."""
        patience = Patience(seconds)
        while patience.left:
            if not select.select([self._master], [], [], patience.left)[0] or not self._read():
                return

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._master, keys.encode())

    def send(self, number: int) -> None:
        """A signal to the program, as a system that goes down sends it."""
        self._process.send_signal(number)

    def wait_for(self, text: str, times: int = 1) -> None:
        """Read until the text has been written this often."""
        while self.text.count(text) < times:
            assert self._read(), f"{text!r} did not come; there is:\n{self.text}"

    def exit_code(self) -> int:
        """Read until the end, and how it ended."""
        while self._read():
            pass
        return self._process.wait(SECONDS_MAX)

    def children(self) -> list[int]:
        """The processes that it has started, by the system's own list."""
        return [
            pid
            for pid in (
                int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()
            )
            if _parent_of(pid) == self._process.pid
        ]

    def _read(self) -> bool:
        if not select.select([self._master], [], [], SECONDS_MAX)[0]:
            raise AssertionError(f"nothing came for {SECONDS_MAX} s; there is:\n{self.text}")
        try:
            more = os.read(self._master, 65536)
        except OSError:
            # How Linux says that nobody has the other end open any more.
            return False
        self._output += more
        return bool(more)


def _parent_of(pid: int) -> int | None:
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(after_name[1])


def is_running(pid: int) -> bool:
    """Whether the process is there and not just waiting to be buried."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@contextmanager
def in_terminal(
    *arguments: str,
    width: int = 80,
    env: Mapping[str, str] | None = None,
    program: Sequence[str] = ACCORD,
    cwd: Path | None = None,
) -> Iterator[TerminalProgram]:
    """Run `accord`, or another program, with these arguments in a terminal of this width."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    own = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        (*program, *arguments),
        cwd=cwd,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**own, "NO_COLOR": "1", **(env or {})},
        start_new_session=True,
        # So that Ctrl-C is a signal to this program.
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(slave)
    try:
        yield TerminalProgram(process, master)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(master)
