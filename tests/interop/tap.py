"""A recording tap between a client and an agent on stdio.

    tap.py LOG -- AGENT COMMAND...

Starts the agent, passes bytes both ways unchanged, and writes every line with its sender to LOG
(one JSON object a line: `from`, `line`).  It does not know what the lines mean, and runs on a bare
Python.

Invariants
    * A line is in the log before its last byte is passed on, and both directions share one lock:
      a cause is always logged before its effect.
    * End of input, a peer that went away and the agent's exit code are passed on; a signal that
      ends the tap ends the agent.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

Sender = Literal["agent", "client"]
CHUNK_BYTES = 65536


@dataclass(frozen=True)
class Frame:
    """One line that went over the pipe."""

    sender: Sender
    line: str

    @property
    def message(self) -> Any:
        """The line as JSON.  Raises ValueError when it is none."""
        return json.loads(self.line)


def read_log(path: Path) -> list[Frame]:
    """The lines of a log, in the order in which they passed."""
    entries = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [Frame(entry["from"], entry["line"]) for entry in entries]


class Log:
    """The log file; guards that lines of both directions are written whole and in order."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lock = threading.Lock()

    def write(self, sender: Sender, line: bytes) -> None:
        text = line.decode("utf-8", "backslashreplace")
        entry = json.dumps({"from": sender, "line": text}).encode() + b"\n"
        with self._lock:
            self._file.write(entry)


def chunks(source: int) -> Iterator[bytes]:
    while chunk := os.read(source, CHUNK_BYTES):
        yield chunk


def pump(source: int, target: int, sender: Sender, log: Log) -> None:
    """Pass bytes on until either end is gone, then close the target."""
    held = b""
    with suppress(BrokenPipeError):
        for chunk in chunks(source):
            *lines, held = (held + chunk).split(b"\n")
            for line in lines:
                log.write(sender, line)
            while chunk:
                chunk = chunk[os.write(target, chunk) :]
    if held:
        log.write(sender, held)
    os.close(target)


def main(arguments: list[str]) -> int:
    split = arguments.index("--")
    with Path(arguments[0]).open("ab", buffering=0) as file:
        log = Log(file)
        agent = subprocess.Popen(
            arguments[split + 1 :], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert agent.stdin is not None
        assert agent.stdout is not None
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda received, _: agent.send_signal(received))
        # A daemon: it sits in a read that only the client can end.
        threading.Thread(
            target=pump, args=(0, os.dup(agent.stdin.fileno()), "client", log), daemon=True
        ).start()
        agent.stdin.close()
        pump(agent.stdout.fileno(), 1, "agent", log)
        agent.stdout.close()
        code = agent.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    exit_code = main(sys.argv[1:])
    # No clean-up of the interpreter: the thread that waits for the client must not hold it up.
    os._exit(exit_code)
