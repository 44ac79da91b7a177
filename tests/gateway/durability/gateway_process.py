"""The gateway of `gateway_program.py` as a process, and the journal of its agents."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import anyio
from anyio import to_thread

from tests.gateway.durability import gateway_program
from tests.hang_limit import HANG_SECONDS

ROOT = Path(__file__).resolve().parents[3]


class GatewayProcess:
    """A gateway in a folder, which keeps its port and its file over any number of lives."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "gateway.sqlite3"
        self.journal = folder / "journal"
        self.journal.touch()
        self.port = 0
        self._process: subprocess.Popen[str] | None = None

    async def start(self) -> None:
        """Start it, and wait until it listens."""
        await to_thread.run_sync(self._start)

    def _start(self) -> None:
        program = [sys.executable, "-m", gateway_program.__name__]
        self._process = process = subprocess.Popen(
            [*program, str(self.path), str(self.port), str(self.journal)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        word, _, port = process.stdout.readline().partition(" ")
        assert word == "port", "the gateway did not start"
        self.port = int(port)

    @property
    def pid(self) -> int:
        """The process id of the running gateway."""
        assert self._process is not None
        return self._process.pid

    @property
    def memory_bytes(self) -> int:
        """What the process has in memory, without what it shares."""
        text = Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
        assert found is not None
        return int(found.group(1)) * 1024

    async def kill(self) -> None:
        """End it by SIGKILL."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            await to_thread.run_sync(process.communicate)

    # ---- the journal

    def _noted(self, word: str) -> list[str]:
        lines = self.journal.read_text().splitlines()
        return [line.partition(" ")[2] for line in lines if line.startswith(f"{word} ")]

    def prompts(self) -> list[str]:
        """The keys of all prompts that reached an agent, in order."""
        return self._noted("prompt")

    def processes(self) -> list[int]:
        """The agents' processes that live, and the children that left their groups."""
        return [pid for pid in map(int, self._noted("process")) if _is_ours(pid, self.journal)]

    def leaders(self) -> list[int]:
        """The agents themselves."""
        return [pid for pid in self.processes() if os.getpgid(pid) == pid and _reads(pid)]

    async def no_process_is_left(self, among: set[int]) -> None:
        """Wait until none of these processes lives."""
        with anyio.fail_after(HANG_SECONDS):
            while among & set(self.processes()):
                await anyio.sleep(0.01)


def _is_ours(pid: int, journal: Path) -> bool:
    """Whether a process lives and is one of those that write this journal."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z" and os.fsencode(journal) in words


def _reads(pid: int) -> bool:
    """Whether it has a pipe as its stdin: the child that left the group has none."""
    try:
        return os.readlink(f"/proc/{pid}/fd/0").startswith("pipe:")
    except (FileNotFoundError, ProcessLookupError):
        return False


def kill_process(pid: int) -> None:
    """SIGKILL to one process, if it still lives."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
