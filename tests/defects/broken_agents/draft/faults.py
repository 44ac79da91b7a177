"""Agents of the 2026-02 draft that do not survive what a peer or a pipe may do to them."""

import fcntl
import os
import sys
import termios
import threading
from typing import Any

from tests.conformance.draft_agent import Agent
from tests.defects.broken_agents.v1.faults import LONG_BYTES, UNREAD_BYTES
from tests.defects.catalogue import Catalogue

Json = dict[str, Any]
BROKEN = Catalogue()
breaks = BROKEN.breaks


@breaks("FAULT-01")
class EndsOnStrayAnswers(Agent):
    def dispatch(self, message: Json) -> None:
        if message.get("id") == "nobody-asked":
            os._exit(1)
        super().dispatch(message)


@breaks("FAULT-02")
class LosesWhatIsNotAscii(Agent):
    def receive(self, line: bytes) -> None:
        if line.isascii():
            super().receive(line)


@breaks("FAULT-03")
class DropsWhatIsNotRead(Agent):
    def send(self, message: Json) -> None:
        waiting = fcntl.ioctl(sys.stdout.fileno(), termios.FIONREAD, b"\0" * 4)
        if int.from_bytes(waiting, sys.byteorder) < UNREAD_BYTES:
            super().send(message)


@breaks("FAULT-04")
class HangsOnLongLines(Agent):
    def receive(self, line: bytes) -> None:
        if len(line) > LONG_BYTES:
            threading.Event().wait()
        super().receive(line)


@breaks("FAULT-05")
class CrashesOnWrongTypes(Agent):
    def dispatch(self, message: Json) -> None:
        params = message.get("params")
        if isinstance(params, dict) and isinstance(params.get("sessionId"), list):
            os._exit(1)
        super().dispatch(message)


@breaks("FAULT-06")
class OutlivesItsClient(Agent):
    def run(self) -> None:
        super().run()
        threading.Event().wait()
