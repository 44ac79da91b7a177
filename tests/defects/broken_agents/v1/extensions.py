"""Agents of v1 that break a rule about what few agents have, or about extensions."""

import os
from typing import Any

from tests.defects.agents.v1.agent import AgentV1
from tests.defects.agents.v1.extras import AgentV1Extras
from tests.defects.catalogue import Catalogue
from tests.defects.stdio_jsonrpc import Json, Refused, Work

BROKEN = Catalogue()
breaks = BROKEN.breaks


@breaks("V1-AUTH-17")
class RepeatsItsLogin(AgentV1Extras):
    def request_session_new(self, params: Json) -> Json:
        for _ in range(2):
            self.notify("auth/status_update", self.request_auth_status({}))
        return super().request_session_new(params)


@breaks("V1-EXT-01")
class TakesTraceparentForItsOwn(AgentV1):
    def notify(self, method: str, params: Json) -> None:
        super().notify(method, {**params, "_meta": {"traceparent": "mine"}})


@breaks("V1-EXT-06")
class HasHiddenExtensions(AgentV1):
    def request_session_new(self, params: Json) -> Json:
        self.notify("_example.org/hello", {})
        return super().request_session_new(params)


@breaks("V1-EXT-08")
class DeniesWithoutAReason(AgentV1):
    def request_session_list(self, params: Json) -> Json:
        if params.get("cursor") not in (None, *self.sessions):
            raise Refused(-32052, "denied")
        return super().request_session_list(params)


@breaks("V1-SESS-11")
class DropsRoots(AgentV1):
    def roots(self, params: Json) -> list[str]:
        first, *rest = super().roots(params)
        return [first, *(root for root in rest if os.path.isdir(root))]


@breaks("V1-LOAD-05")
class ReplaysNotices(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        super().update(session, what, **fields)
        if what == "notice":
            self.remember(session, {"sessionUpdate": what, **fields})


@breaks("V1-MCP-07")
class TakesAnIdTwice(AgentV1):
    def capabilities(self) -> Json:
        return {**super().capabilities(), "mcpCapabilities": {"http": True, "acp": True}}

    def servers(self, params: Json, *, required: bool) -> list[Json]:
        found = params.get("mcpServers")
        if isinstance(found, list) and found and all("serverId" in one for one in found):
            return []
        return super().servers(params, required=required)


@breaks("V1-ELIC-11")
class AsksForSecretsByForm(AgentV1):
    def do_browse(self, session: Json, rest: str) -> Work:
        yield from self.do_elicit(session, rest)


@breaks("V1-ELIC-19")
class BelievesForms(AgentV1):
    spoilt = False

    def answered(self, message: Json) -> None:
        result = message.get("result")
        content = result.get("content") if isinstance(result, dict) else None
        if isinstance(content, dict) and not isinstance(content.get("name", ""), str):
            self.spoilt = True
        super().answered(message)

    def act(self, session: Json, text: str) -> Work:
        reason = yield from super().act(session, text)
        return "refusal" if self.spoilt else reason


class TakesAnyProtocol(AgentV1Extras):
    """Sets a provider whatever its protocol is called."""

    def request_providers_set(self, params: Json) -> Json:
        one = self.provider(params)
        if one is None or "headers" not in params:
            return super().request_providers_set(params)
        one["current"] = {"apiType": params["apiType"], "baseUrl": params["baseUrl"]}
        one["secret"] = params["headers"]
        return {}


@breaks("V1-PROV-06")
class TellsHeaders(TakesAnyProtocol):
    def request_providers_list(self, params: Json) -> Json:
        page = super().request_providers_list(params)
        secrets = {name: one.get("secret") for name, one in self.providers.items()}
        return {**page, "_meta": {"example.org/headers": secrets}}


@breaks("V1-PROV-09")
class CrashesOnUnknownProtocols(TakesAnyProtocol):
    def request_providers_set(self, params: Json) -> Json:
        if str(params.get("apiType")).startswith("_"):
            os._exit(1)
        return super().request_providers_set(params)
