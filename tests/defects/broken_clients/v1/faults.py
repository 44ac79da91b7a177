"""Clients that do not survive what a peer may send them; those of v2 are made of those of v1."""

import os
import threading
from typing import Any

from tests.defects.catalogue import Catalogue
from tests.defects.clients.v1.client import ClientV1
from tests.defects.stdio_jsonrpc import Json

BROKEN = Catalogue()
breaks = BROKEN.breaks
LONG_BYTES = 4 * 2**20


@breaks("FAULT-01")
class EndsOnStrayAnswers(ClientV1):
    def dispatch(self, message: Json) -> None:
        if message.get("id") == "nobody-asked":
            os._exit(1)
        super().dispatch(message)


@breaks("FAULT-02")
class EndsOnWhatIsNotAscii(ClientV1):
    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        if not method.isascii():
            os._exit(1)
        super().requested(request_id, method, params)


@breaks("FAULT-04")
class HangsOnLongLines(ClientV1):
    def receive(self, line: bytes) -> None:
        if len(line) > LONG_BYTES:
            threading.Event().wait()
        super().receive(line)


@breaks("FAULT-05")
class CrashesOnWrongTypes(ClientV1):
    def notified(self, method: str, params: Any) -> None:
        if isinstance(params, dict) and isinstance(params.get("sessionId"), list):
            os._exit(1)
        super().notified(method, params)
