"""Agents of v2 that break a rule of the wire or of initialization.

Where the rule is the same as in v1, the override is the same.
"""

import json
from typing import Any

from tests.defects import batches
from tests.defects.agents.v1.extras import AgentV1Extras
from tests.defects.agents.v2.agent import AgentV2
from tests.defects.broken_agents.v1 import logins as v1_logins
from tests.defects.broken_agents.v1 import updates
from tests.defects.broken_agents.v1 import wire as v1_wire
from tests.defects.catalogue import Catalogue
from tests.defects.stdio_jsonrpc import Json, Refused, Work, bad_params, line_of

BROKEN = Catalogue()
breaks = BROKEN.breaks


def as_in_v1(made: type[Any]) -> type[Any]:
    return type(f"{made.__name__}V2", (made, AgentV2), {})


for _rule in ("V1-GEN-01", "V1-GEN-02", "V1-GEN-03", "V1-GEN-04"):
    breaks(_rule)(as_in_v1(v1_wire.BROKEN[_rule]))
for _rule in ("V1-EXT-04", "V1-EXT-05", "TR-STDIO-02", "TR-STDIO-03", "TR-STDIO-07"):
    breaks(_rule)(as_in_v1(v1_wire.BROKEN[_rule]))
for _rule in ("TR-STDIO-08", "LIM-01", "LIM-02"):
    breaks(_rule)(as_in_v1(v1_wire.BROKEN[_rule]))
breaks("V1-PROV-01")(as_in_v1(v1_logins.HasHiddenProviders))
for _rule in ("V1-ELIC-10", "V1-ELIC-12", "V1-ELIC-16", "V1-ELIC-18", "V1-ELIC-24"):
    breaks(_rule)(as_in_v1(updates.BROKEN[_rule]))
breaks("V1-PROXY-08")(as_in_v1(updates.BROKEN["V1-PROXY-08"]))
breaks("V2-GEN-06")(as_in_v1(batches.IgnoresArrays))
for _rule in ("TR-BATCH-02", "TR-BATCH-04", "TR-BATCH-05", "TR-BATCH-06"):
    breaks(_rule)(as_in_v1(batches.WRONG[_rule]))
breaks("V2-INIT-05")(as_in_v1(v1_wire.ServesBeforeInitialize))


@breaks("V1-GEN-08")
class WritesSnakeCase(AgentV2):
    def setup(self, session: Json) -> Json:
        return {**super().setup(session), "config_options": []}


@breaks("V1-GEN-09")
class AddsKeysOfItsOwn(AgentV2):
    def setup(self, session: Json) -> Json:
        return {**super().setup(session), "colour": "blue"}


class WithExtras(AgentV2, AgentV1Extras):
    """With providers and a login that can be asked for."""

    auth_methods: tuple[Json, ...] = ()

    def capabilities(self) -> Json:
        return {**super().capabilities(), "providers": {}, "auth": {"status": {}}}


for _rule in ("V1-AUTH-13", "V1-PROV-03", "V1-PROV-04", "V1-PROV-05"):
    _made = v1_logins.BROKEN[_rule]
    breaks(_rule)(type(f"{_made.__name__}V2", (_made, WithExtras), {}))


@breaks("V2-GEN-01")
class HasFractionsAsIds(AgentV2):
    def new_id(self) -> Any:
        self.last_id += 1
        return self.last_id + 0.5


@breaks("V2-GEN-02")
class ReusesIds(AgentV2):
    def send(self, message: Json) -> None:
        if message.get("method") != "session/request_permission":
            super().send(message)
            return
        again = {"id": message["id"], "method": "_example.org/hello", "params": {}}
        # In one piece, so that the first is still open when the second comes.
        self.write(line_of(message) + line_of(again))

    def answered(self, message: Json) -> None:
        if message.get("error", {}).get("code") != -32601:
            super().answered(message)


@breaks("V2-GEN-03")
class AnswersWithoutAnId(AgentV2):
    def refuse(self, request_id: Any, error: Json) -> None:
        super().refuse(None if request_id == "abc" else request_id, error)


@breaks("V2-GEN-04")
class HasASessionOfNoShape(AgentV2):
    def options(self, session: Json) -> list[Json]:
        return [{**one, "name": 5} for one in super().options(session)]


@breaks("V2-GEN-05")
class ServesVersionTwoOnly(AgentV2):
    def request_initialize(self, params: Json) -> Json:
        if params.get("protocolVersion") == 1:
            data = {"requested": 1, "supported": [2]}
            raise Refused(-32022, "Unsupported protocol version", data)
        return super().request_initialize(params)


@breaks("TR-BATCH-08")
class BatchesTerminals(AgentV2):
    def do_edit(self, session: Json, rest: str) -> Work:
        name = self.show_terminal(session, "ls")
        update = {"sessionUpdate": "terminal_update", "terminalId": name, "command": "ls"}
        params = {"sessionId": session["id"], "update": update}
        call = {"jsonrpc": "2.0", "method": "session/update", "params": params}
        self.write(json.dumps([call, call]).encode() + b"\n")
        yield from super().do_edit(session, rest)


@breaks("V2-GEN-07")
class TakesTextWithoutText(AgentV2):
    def request_session_prompt(self, params: Json) -> Work:
        if params.get("prompt") == [{"type": "text"}]:
            params = {**params, "prompt": [{"type": "text", "text": "hello"}]}
        return super().request_session_prompt(params)


@breaks("V1-EXT-07")
class RefusesWithoutItsCode(AgentV2):
    def check_prompt(self, blocks: Any) -> None:
        if blocks == [{"type": "text"}]:
            raise Refused(-32603, "Internal error")
        super().check_prompt(blocks)


@breaks("V2-GEN-08")
class MintsValues(AgentV2):
    def diff(self, path: str, old: str, new: str) -> Json:
        whole = super().diff(path, old, new)
        return {**whole, "patch": {**whole["patch"], "format": "svn_patch"}}


@breaks("V2-GEN-11")
class RefusesForeignMetadata(AgentV2):
    def request_session_prompt(self, params: Json) -> Work:
        if "_meta" in params:
            raise bad_params("foreign metadata")
        return super().request_session_prompt(params)


@breaks("V2-INIT-01")
class TakesNamelessClients(AgentV2):
    def request_initialize(self, params: Json) -> Json:
        if params.get("protocolVersion") == 2 and self.client is None:
            params = {"info": {}, **params}
        return super().request_initialize(params)


@breaks("V2-INIT-02")
class AnswersWithTheAskedVersion(AgentV2):
    def request_initialize(self, params: Json) -> Json:
        result = super().request_initialize(params)
        return {**result, "protocolVersion": 9} if params["protocolVersion"] == 9 else result


@breaks("V2-INIT-03")
class RefusesVersionsWithoutACode(AgentV2):
    def refuse_version(self, version: int) -> None:
        raise bad_params("no such version")


@breaks("V2-INIT-06")
class TakesAnyRepetition(AgentV2):
    def request_initialize(self, params: Json) -> Json:
        if self.client is not None:
            return self.introduction()
        return super().request_initialize(params)


@breaks("V2-INIT-08")
class IsStrictWithNewerVersions(AgentV2):
    def request_initialize(self, params: Json) -> Json:
        if params.get("protocolVersion") == 3 and "info" not in params:
            raise bad_params("info is missing")
        return super().request_initialize(params)


@breaks("V2-INIT-09")
class TakesTrueForAMarker(AgentV2):
    def can(self, *names: str) -> bool:
        value: Any = self.client
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return value is True or isinstance(value, dict)


@breaks("V2-INIT-10")
class CannotList(AgentV2):
    def request_session_list(self, params: Json) -> Json:
        if not params and len(self.sessions) == 1:
            raise Refused(-32603, "Internal error")
        return super().request_session_list(params)


KEY = {"type": "agent", "methodId": "key", "name": "Key"}


@breaks("V2-AUTH-01")
class CannotLogOut(AgentV2):
    auth_methods = (KEY,)

    def request_auth_logout(self, _params: Json) -> Json:
        raise Refused(-32601, "Method not found")


@breaks("V2-AUTH-03")
class HasNamelessLogins(AgentV2):
    auth_methods = ({"type": "agent", "methodId": "key"},)


@breaks("V2-AUTH-04")
class ListsTerminalsAlways(AgentV2):
    auth_methods = ({"type": "terminal", "methodId": "tty", "name": "Terminal"},)

    def may_list(self, method: Json) -> bool:
        return True
