"""Clients that are broken in another way than the one of their rule, or odd and right."""

from __future__ import annotations

import os
from typing import Any

from tests.defects.batches import ProcessesBatches
from tests.defects.client_v1 import IMAGE, ClientV1
from tests.defects.client_v2 import ClientV2
from tests.defects.odd import OddPeers
from tests.defects.wire import HOLD, Call, Json, Refused, Work

ODD = OddPeers()


@ODD.judged("V1-PROMPT-01", "V1-SESS-01", "V1-INIT-01", fails="V1-PROMPT-01")
class PromptsBeforeTheSessionIsOpen(ClientV1):
    """Asks for a session and prompts at once, by the id that it expects."""

    def open(self, **more: Any) -> Work:
        params = {"sessionId": "kit-1", "prompt": self.blocks()}
        self.send({"id": "new", "method": "session/new", "params": {**self.place(), **more}})
        self.session_id = "kit-1"
        yield Call("session/prompt", params)


@ODD.judged("V1-PROMPT-02", "V1-PERM-02", fails="V1-PROMPT-02")
class AlwaysSendsAnImage(ClientV1):
    """In ordinary prompts; when it is told to attach one, it looks first."""

    def step_prompt(self) -> Work:
        yield from self.open()
        yield from self.ask([*self.blocks(), IMAGE])


@ODD.judged("V2-PROMPT-01", "V2-GEN-01", version="2", fails="V2-PROMPT-01")
class AlwaysSendsAnImageInV2(ClientV2):
    def step_prompt(self) -> Work:
        if not self.session_id:
            yield from self.open()
        yield from self.ask([*self.blocks(), IMAGE])


@ODD.judged("V1-CAP-09", "V1-CLOSE-04", fails="V1-CAP-09 V1-CLOSE-04")
class ListsAtEveryStart(ClientV1):
    def introduce(self) -> Work:
        yield from super().introduce()
        yield Call("session/list", {})


@ODD.judged("V1-CLOSE-06", "V1-CLOSE-07", opens="V1-CLOSE-06 V1-CLOSE-07")
class ShowsOnePage(ClientV1):
    def step_list(self) -> Work:
        if self.offers("sessionCapabilities", "list"):
            yield Call("session/list", {})


@ODD.judged("V2-SESS-20", version="2", opens="V2-SESS-20")
class ShowsOnePageInV2(ClientV2):
    def step_list(self) -> Work:
        yield Call("session/list", {})


@ODD.judged("V1-GEN-13", "V1-AUTH-12", fails="V1-AUTH-12", opens="V1-GEN-13")
class NeverLogsIn(ClientV1):
    def log_in(self) -> Work:
        yield from ()
        raise Refused(0, "not logged in")


@ODD.judged("V1-CREQ-02", "V1-CREQ-05", opens="V1-CREQ-02 V1-CREQ-05")
class DoesNotListenToCancelledRequests(ClientV1):
    def notification_cancel_request(self, _params: Json) -> None:
        """It may."""


@ODD.judged("V1-CANCEL-03", "V1-PERM-05", opens="V1-PERM-05")
class DecidesAtOnce(ClientV1):
    def decide(self, params: Json) -> Work:
        yield from ()
        chosen = params["options"][0]["optionId"]
        return {"outcome": {"outcome": "selected", "optionId": chosen}}


@ODD.judged("V1-CFG-02", opens="V1-CFG-02")
class SetsNothing(ClientV1):
    def step_mode(self) -> Work:
        yield from self.step_prompt()


@ODD.judged("V2-INIT-04", version="2")
class StaysWithoutAWord(ClientV2):
    """Goes on with nothing, and leaves it to its user to end it."""

    def introduce(self) -> Work:
        try:
            yield from super().introduce()
        except Refused:
            while True:
                yield HOLD


@ODD.judged("V2-INIT-09", version="2")
class SendsNothingWithoutItsImage(ClientV2):
    def step_image(self) -> Work:
        yield from self.open()
        if not self.offers("session", "prompt", "image"):
            raise Refused(0, "the agent takes no images")
        yield from self.ask([*self.blocks(), IMAGE])


@ODD.judged("V2-GEN-06", "TR-BATCH-02", "TR-BATCH-04", "TR-BATCH-05", "TR-BATCH-06", version="2")
class ProcessesArrays(ProcessesBatches, ClientV2):
    pass


@ODD.judged("TR-STDIO-02", "TR-STDIO-04", "V1-GEN-01")
class IsEndedInTheMiddle(ClientV1):
    def end(self) -> None:
        self.write(b'{"jsonrpc": "2.0", "method": "session/ca')
        os._exit(0)


@ODD.judged("V1-INIT-09", fails="V1-INIT-09")
class SendsPromptsOfNoShape(ClientV1):
    def blocks(self) -> list[Json]:
        return [{"type": "text"}]
