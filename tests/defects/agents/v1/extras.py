"""The small agent of v1 with all that one may have besides: logins, forks, titles, providers."""

from tests.defects.agents.v1.agent import AgentV1
from tests.defects.stdio_jsonrpc import Json, bad_params


class AgentV1Extras(AgentV1):
    """Still correct; for rules that bind only who offers these."""

    auth_methods: tuple[Json, ...] = ({"id": "key", "name": "Key"},)

    def __init__(self) -> None:
        super().__init__()
        self.logged_in = True
        self.needs_login = True
        self.providers: dict[str, Json] = {
            "main": {"required": True, "current": {"apiType": "openai", "baseUrl": "http://x/"}},
            "spare": {"required": False, "current": {"apiType": "openai", "baseUrl": "http://x/"}},
        }

    def capabilities(self) -> Json:
        whole = super().capabilities()
        for name in ("fork", "archive", "status", "title", "systemPrompt"):
            whole["sessionCapabilities"][name] = {}
        whole["auth"] = {"logout": {}, "status": {}}
        whole["providers"] = {}
        return whole

    # Logins.

    def request_auth_status(self, _params: Json) -> Json:
        state = "authenticated" if self.logged_in else "unauthenticated"
        return {"state": state, "accounts": self.accounts()}

    def accounts(self) -> list[Json]:
        return [{"label": "one", "active": True}, {"label": "two"}]

    # Sessions.

    def request_session_new(self, params: Json) -> Json:
        prompt = params.get("systemPrompt")
        if prompt is not None and self.cannot_apply(prompt):
            raise bad_params("this system prompt cannot be applied")
        return super().request_session_new(params)

    def cannot_apply(self, prompt: Json) -> bool:
        blocks = prompt.get("content") or [{}]
        return prompt.get("mode") != "append" or any(one.get("type") != "text" for one in blocks)

    def request_session_fork(self, params: Json) -> Json:
        source = self.session(params)
        servers = self.servers(params, required=False)
        forked = self.new_session(self.fork_id(source), self.fork_roots(source, params))
        forked["history"] = self.fork_history(source)
        self.connect(forked, servers)
        self.keep()
        return {"sessionId": forked["id"], **self.setup(forked)}

    def fork_history(self, source: Json) -> list[Json]:
        return list(source["history"])

    def fork_id(self, _source: Json) -> str:
        return self.new_session_id()

    def fork_roots(self, _source: Json, params: Json) -> list[str]:
        return self.roots(params)

    def known(self, params: Json) -> Json:
        return self.session(params, active=False)

    def request_session_archive(self, params: Json) -> Json:
        session = self.known(params)
        self.cancel_turns(session)
        session["active"] = False
        session["archived"] = True
        return {}

    def request_session_unarchive(self, params: Json) -> Json:
        self.known(params)["archived"] = False
        return {}

    def request_session_list(self, params: Json) -> Json:
        wanted = params.get("archived") or "exclude"
        if wanted not in ("exclude", "include", "only"):
            raise bad_params("no such filter")
        page = super().request_session_list(params)
        page["sessions"] = [one for one in page["sessions"] if self.fits(one, wanted)]
        return page

    def fits(self, entry: Json, wanted: str) -> bool:
        archived = bool(self.sessions[entry["sessionId"]].get("archived"))
        return wanted == "include" or archived == (wanted == "only")

    def listed(self, session: Json) -> Json:
        title = {"title": session["title"]} if session.get("title") else {}
        archived = bool(session.get("archived"))
        return {**super().listed(session), "archived": archived, **title}

    def request_session_status(self, params: Json) -> Json:
        return {"status": "open" if self.known(params)["active"] else "saved"}

    def request_session_set_title(self, params: Json) -> Json:
        session = self.known(params)
        title = str(params.get("title")).strip()
        if not title:
            raise bad_params("an empty title")
        session["title"] = title
        return {"title": title}

    # Providers.

    def request_providers_list(self, _params: Json) -> Json:
        listed: list[Json] = []
        for name, one in self.providers.items():
            current = {"current": one["current"]} if one["current"] else {}
            entry = {"providerId": name, "supported": ["openai"], "required": one["required"]}
            listed.append({**entry, **current})
        return {"providers": listed}

    def provider(self, params: Json) -> Json | None:
        return self.providers.get(str(params.get("providerId")))

    def request_providers_set(self, params: Json) -> Json:
        one = self.provider(params)
        if one is None or params.get("apiType") != "openai" or "baseUrl" not in params:
            raise bad_params("no such provider, or not of this type")
        one["current"] = {"apiType": "openai", "baseUrl": params["baseUrl"]}
        return {}

    def request_providers_disable(self, params: Json) -> Json:
        one = self.provider(params)
        if one is not None:
            if one["required"]:
                raise bad_params("the provider is required")
            one["current"] = None
        return {}
