"""Clients of the 2026-02 draft that break a rule.  Where it is one of v1, so is the override."""

import os
from pathlib import Path
from typing import Any

from tests.defects.broken_clients.v1 import wire as v1_wire
from tests.defects.catalogue import Catalogue
from tests.defects.clients.draft import ClientDraft
from tests.defects.stdio_jsonrpc import Call, Json, Refused, Work

BROKEN = Catalogue()
breaks = BROKEN.breaks

for _rule in ("V1-GEN-01", "V1-GEN-03", "TR-STDIO-02", "TR-STDIO-04"):
    _made = v1_wire.BROKEN[_rule]
    breaks(_rule)(type(f"{_made.__name__}Draft", (_made, ClientDraft), {}))


@breaks("V1-GEN-02")
class AnswersNobody(ClientDraft):
    def introduce(self) -> Work:
        self.answer("nobody", {})
        yield from super().introduce()


@breaks("D26-04")
class NamesNoCapabilities(ClientDraft):
    def introduction(self) -> Json:
        whole = super().introduction()
        del whole["capabilities"]
        return whole


@breaks("D26-10")
class DoesNotSayWhetherItIsGranted(ClientDraft):
    def granted(self, params: Json) -> Json:
        return {"outcome": {"outcome": "selected", "optionId": "allow"}}


@breaks("D26-11")
class DoesNotSayHowItIsWritten(ClientDraft):
    def request_fs_read_text_file(self, params: Json) -> Json:
        return {"content": super().request_fs_read_text_file(params)["content"]}


@breaks("D26-12")
class KnowsNoPermissions(ClientDraft):
    def handler(self, kind: str, method: str) -> Any:
        return None if method == "session/request_permission" else super().handler(kind, method)


@breaks("D26-17")
class LoadsUnasked(ClientDraft):
    def step_load(self) -> Work:
        self.session_id = "kit-1"
        yield Call("session/load", self.here())


@breaks("D26-18")
class GoesOnWithoutWhatIsNeeded(ClientDraft):
    def serves(self, needed: Json) -> bool:
        return True


@breaks("D26-19")
class EndsOnMetadata(ClientDraft):
    def notification_session_update(self, params: Json) -> None:
        self.ended = self.ended or "_meta" in params
        super().notification_session_update(params)


@breaks("D26-20")
class HasNoCodeForUnknownMethods(ClientDraft):
    def refuse(self, request_id: Any, error: Json) -> None:
        if error["code"] == -32601:
            error = {**error, "code": -32603}
        super().refuse(request_id, error)


@breaks("D26-23")
class ReadsEverywhere(ClientDraft):
    def inside(self, path: Any) -> Path:
        return Path(os.getcwd(), path)


@breaks("D26-25")
class WantsAbsoluteNames(ClientDraft):
    def inside(self, path: Any) -> Path:
        if not str(path).startswith(("/", "..")):
            raise Refused(-32602, "path must be absolute")
        return super().inside(path)


@breaks("D26-33")
class HasOfficialCodes(ClientDraft):
    def refuse(self, request_id: Any, error: Json) -> None:
        if error["code"] == -32004:
            error = {**error, "code": -32002}
        super().refuse(request_id, error)
