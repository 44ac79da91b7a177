"""Agents of v1 that break a rule about logins or providers."""

from tests.defects.agents.v1.agent import AgentV1
from tests.defects.agents.v1.extras import AgentV1Extras
from tests.defects.catalogue import Catalogue
from tests.defects.stdio_jsonrpc import Json, Refused, bad_params

BROKEN = Catalogue()
breaks = BROKEN.breaks


# Logins.


@breaks("V1-AUTH-01")
class TakesAnyLogin(AgentV1Extras):
    def request_authenticate(self, params: Json) -> Json:
        self.logged_in = True
        return {}


@breaks("V1-AUTH-02")
class ListsTerminalsAlways(AgentV1):
    auth_methods = ({"id": "tty", "name": "Terminal", "type": "terminal"},)

    def capabilities(self) -> Json:
        return {key: value for key, value in super().capabilities().items() if key != "auth"}

    def may_list(self, method: Json) -> bool:
        return True


class LoggedOut(AgentV1Extras):
    """Nothing works before a login, as the rules about logins need it."""

    def __init__(self) -> None:
        super().__init__()
        self.logged_in = False


@breaks("V1-AUTH-08")
class NeverLogsOut(LoggedOut):
    def request_logout(self, _params: Json) -> Json:
        return {}


@breaks("V1-AUTH-11")
class DoesNotSayHowToLogIn(LoggedOut):
    def demand_login(self) -> None:
        if not self.logged_in:
            raise Refused(-32000, "Authentication required")


@breaks("V1-AUTH-13")
class HidesItsLogin(AgentV1Extras):
    def request_auth_status(self, _params: Json) -> Json:
        self.demand_login()
        self.logged_in = not self.logged_in
        return super().request_auth_status(_params)


@breaks("V1-AUTH-16")
class HasNoActiveAccount(AgentV1Extras):
    def accounts(self) -> list[Json]:
        return [{"label": "one"}, {"label": "two"}]


@breaks("V1-PROV-01")
class HasHiddenProviders(AgentV1):
    def request_providers_list(self, _params: Json) -> Json:
        return {"providers": []}


@breaks("V1-PROV-03")
class UsesDisabledProviders(AgentV1Extras):
    def request_providers_disable(self, params: Json) -> Json:
        if params.get("providerId") == "main":
            raise bad_params("the provider is required")
        return {}


@breaks("V1-PROV-04")
class DisablesEveryProvider(AgentV1Extras):
    def request_providers_disable(self, params: Json) -> Json:
        if one := self.provider(params):
            one["current"] = None
        return {}


@breaks("V1-PROV-05")
class SetsUnknownProviders(AgentV1Extras):
    def request_providers_set(self, params: Json) -> Json:
        return {}
