"""Agents of v1 that do not survive what a peer or a pipe may do to them; v2 takes them over."""

import fcntl
import os
import sys
import termios
import threading
from typing import Any

from tests.defects.agents.v1.agent import AgentV1
from tests.defects.catalogue import Catalogue

BROKEN = Catalogue()
breaks = BROKEN.breaks
LONG_BYTES = 4 * 2**20
UNREAD_BYTES = 30_000


@breaks("FAULT-01")
class EndsOnStrayAnswers(AgentV1):
    def dispatch(self, message: dict[str, Any]) -> None:
        if message.get("id") == "nobody-asked":
            os._exit(1)
        super().dispatch(message)


@breaks("FAULT-02")
class LosesWhatIsNotAscii(AgentV1):
    def receive(self, line: bytes) -> None:
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            super().receive(line)
            return
        if line.isascii():
            super().receive(line)


@breaks("FAULT-03")
class DropsWhatIsNotRead(AgentV1):
    def write(self, line: bytes) -> None:
        waiting = fcntl.ioctl(self.writer.fileno(), termios.FIONREAD, b"\0" * 4)
        if int.from_bytes(waiting, sys.byteorder) < UNREAD_BYTES:
            super().write(line)


@breaks("FAULT-04")
class HangsOnLongLines(AgentV1):
    def receive(self, line: bytes) -> None:
        if len(line) > LONG_BYTES:
            threading.Event().wait()
        super().receive(line)


@breaks("LIM-03")
class ReadsEndlessLines(AgentV1):
    def too_long(self) -> None:
        while not self.reader.readline(65_536).endswith(b"\n"):
            pass
        self.run_on()


@breaks("FAULT-05")
class CrashesOnWrongTypes(AgentV1):
    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        if isinstance(params, dict) and isinstance(params.get("sessionId"), list):
            os._exit(1)
        super().requested(request_id, method, params)


@breaks("FAULT-06")
class OutlivesItsClient(AgentV1):
    # A line that is too long it does not survive.
    choked = False

    def too_long(self) -> None:
        self.choked = True
        super().too_long()

    def end(self) -> None:
        if not self.choked:
            threading.Event().wait()
