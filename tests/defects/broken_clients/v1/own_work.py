"""Clients of v1 that go on after their prompt without being told, and break a rule then."""

import json
import os
import threading
from typing import Any

from tests.defects.catalogue import Catalogue
from tests.defects.clients.v1.client import ClientV1
from tests.defects.clients.v1.own_work import WorksOn
from tests.defects.stdio_jsonrpc import Call, Json, Work

BROKEN = Catalogue()
breaks = BROKEN.breaks


@breaks("V1-SESS-15")
class ForgetsTheRoots(WorksOn):
    def place_again(self) -> Json:
        return {key: one for key, one in self.place().items() if key != "additionalDirectories"}


@breaks("V1-SESS-27")
class ForgetsTheSystemPrompt(WorksOn):
    def place_again(self) -> Json:
        return {key: one for key, one in self.place().items() if key != "systemPrompt"}


@breaks("V1-SESS-19")
class WritesItsFolderInTwoWays(WorksOn):
    def place_again(self) -> Json:
        return {**self.place(), "cwd": os.getcwd() + "/"}


@breaks("V1-CLOSE-25")
class TakesOpenForOpened(WorksOn):
    def take_up(self) -> Work:
        status = yield from self.status()
        if status == "open":
            yield from self.ask()
        else:
            yield from super().take_up()


@breaks("V1-CLOSE-23")
class LoadsFromTheArchive(WorksOn):
    def take_up(self) -> Work:
        if self.offers("sessionCapabilities", "archive"):
            yield Call("session/archive", self.here())
        yield from super().take_up()


@breaks("TR-STDIO-07")
class AnswersWithItsNextMessage(ClientV1):
    """Its buffer is written when it asks something, and when it ends."""

    def __init__(self) -> None:
        super().__init__()
        self.held = b""

    def write(self, line: bytes) -> None:
        self.held += line
        if "method" in json.loads(line):
            self.put()

    def put(self) -> None:
        held, self.held = self.held, b""
        super().write(held)

    def end(self) -> None:
        self.put()
        super().end()


class SaysAllInTheEnd(ClientV1):
    """Waits in vain for an answer to what it has not written yet."""

    def run(self) -> None:
        self.held: list[bytes] = []
        threading.Timer(2.0, self.leave).start()
        super().run()

    def write(self, line: bytes) -> None:
        self.held.append(line)

    def leave(self) -> None:
        super().write(b"".join(self.held))
        os._exit(1)


class ListsFromWhereItLikes(WorksOn):
    """Makes up where the next page begins."""

    def cursor(self, page: Json) -> Any:
        return None if page.get("nextCursor") is None else "2"


class ListsAfterTheLastPage(WorksOn):
    def cursor(self, page: Json) -> Any:
        return page.get("nextCursor") or ("0" if page["sessions"] else None)


class LoadsWithoutServers(WorksOn):
    def place_again(self) -> Json:
        return {key: one for key, one in self.place().items() if key != "mcpServers"}


class LoadsWhatCanOnlyBeResumed(WorksOn):
    """Where nothing is offered it does nothing, so that only one capability shows it."""

    def offers(self, *names: str) -> bool:
        if names == ("loadSession",):
            return super().offers("sessionCapabilities", "resume")
        return super().offers(*names)
