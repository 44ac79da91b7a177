"""The gateway as an ASGI application: agents by their paths, and what tools ask a server for.

What always holds
    * Every request passes the guard against foreign pages and hosts; all but the two questions
      whether the gateway lives need credentials as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Final

import anyio

from accord.gateway.access.access import Access
from accord.gateway.access.login_endpoint import LoginEndpoint
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.gateway import Gateway
from accord.machine.redacted_logs import logger, place_of
from accord.schema.codec import encode
from accord.transport.remote_limits import RemoteLimits
from accord.transport.server.answers import HttpAnswer, json_answer, text_answer
from accord.transport.server.application import RemoteApplication
from accord.transport.server.authorization import AuthHook
from accord.transport.server.connections import Connections
from accord.transport.server.request_guard import Refusal, RequestGuard
from accord.transport.server.requests import Receive, RemoteRequest, Scope, Send, read_request

_log = logger("accord.gateway")

WELL_KNOWN: Final = "/.well-known/acp-agents.json"
"""Where the gateway lists its agents."""
ALIVE: Final = "/healthz"
READY: Final = "/readyz"
METRICS: Final = "/metrics"
DEFAULT_PATH: Final = "/acp"


def path_of(name: str) -> str:
    """Return where an agent is served."""
    return f"/agents/{name}/acp"


class GatewayApplication:
    """Serves the agents of a gateway.  The first agent is also at `/acp`."""

    def __init__(
        self,
        gateway: Gateway,
        *,
        access: Access,
        origins: Iterable[str] | None = None,
        hosts: Iterable[str] | None = None,
        limits: RemoteLimits | None = None,
        metrics: Callable[[], bytes] | None = None,
    ) -> None:
        self.gateway = gateway
        self.is_draining = False
        self._access = access
        self._metrics = metrics
        self._remotes: dict[str, tuple[HostedAgent, RemoteApplication]] = {}
        options = {"origins": origins, "hosts": hosts, "limits": limits}
        for number, agent in enumerate(gateway.agents.values()):
            paths = (path_of(agent.name), DEFAULT_PATH) if number == 0 else (path_of(agent.name),)
            for path in paths:
                remote = RemoteApplication(
                    partial(self._serve, agent),
                    path=path,
                    auth=self._auth_for(agent.name),
                    **options,  # type: ignore[arg-type]
                )
                self._remotes[path] = (agent, remote)
        self._first = next(iter(self._remotes.values()))[1]
        self._login = LoginEndpoint(access, self._first.guard)

    # ---- what a listener needs

    @property
    def limits(self) -> RemoteLimits:
        """The bounds of every connection."""
        return self._first.limits

    @property
    def guard(self) -> RequestGuard:
        """What is refused before it is read."""
        return self._first.guard

    @property
    def is_encrypted(self) -> bool:
        """Whether TLS ends in this program."""
        return self._first.is_encrypted

    @is_encrypted.setter
    def is_encrypted(self, value: bool) -> None:
        for _, remote in self._remotes.values():
            remote.is_encrypted = value

    def connections_at(self, path: str) -> Connections:
        """Return the connections to the agent at a path."""
        return self._remotes[path][1].connections

    async def admit(self, request: RemoteRequest) -> str | Refusal:
        """Return the principal of a request, or why the request is refused."""
        found = self._remotes.get(request.path)
        if found is None:
            # The same answers as at a path that there is: a stranger learns nothing.
            admitted = await self._first.admit(replace(request, path=self._first.path))
            return admitted if isinstance(admitted, Refusal) else Refusal(404, "Not found")
        return await found[1].admit(request)

    def _auth_for(self, agent: str) -> AuthHook:
        """Return an `auth` function that also asks whether somebody may use an agent."""

        async def check(request: RemoteRequest) -> str | None:
            identity = await self._access.auth(request)
            return identity if identity is not None and self._may_use(identity, agent) else None

        return check

    def _may_use(self, identity: str, agent: str) -> bool:
        principal = self._access.principal(identity)
        return principal is not None and self._access.rights(principal, agent) is not None

    async def aclose(self) -> None:
        """End every connection; new ones are refused."""
        self.is_draining = True
        async with anyio.create_task_group() as tasks:
            for _, remote in self._remotes.values():
                tasks.start_soon(remote.aclose)

    async def __aenter__(self) -> GatewayApplication:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    # ---- requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, one WebSocket, or the server's own life."""
        if scope["type"] == "lifespan":
            await self._first(scope, receive, send)
            return
        request = read_request(scope, is_encrypted=self.is_encrypted)
        if self._login.serves(request):
            await (await self._login.answer(request)).send(send)
            return
        if scope["type"] == "http" and request.path in _PAGES:
            await (await self._page(request)).send(send)
            return
        _, remote = self._remotes.get(request.path, (None, self._first))
        await remote(scope, receive, send)

    async def _page(self, request: RemoteRequest) -> HttpAnswer:
        if request.method not in ("GET", "HEAD"):
            return text_answer(405, "Only GET is possible here", ("allow", "GET, HEAD"))
        if request.path in (ALIVE, READY):
            refusal = self.guard.refusal(request)
            if refusal is not None:
                return text_answer(refusal.status, refusal.reason)
            if request.path == READY and self.is_draining:
                return text_answer(503, "shutting down", ("retry-after", "5"))
            return text_answer(200, "ok")
        admitted = await self._first.admit(replace(request, path=self._first.path))
        if isinstance(admitted, Refusal):
            headers = (("www-authenticate", "Bearer"),) if admitted.status == 401 else ()
            return text_answer(admitted.status, admitted.reason, *headers)
        if request.path == METRICS:
            if self._metrics is None:
                return text_answer(404, "Not found")
            return HttpAnswer(200, self._metrics(), "text/plain; version=0.0.4; charset=utf-8")
        return json_answer(200, encode({"agents": await self._agents(admitted)}))

    async def _agents(self, principal: str) -> list[dict[str, Any]]:
        """Describe the agents that somebody may use."""
        mine = [
            agent for name, agent in self.gateway.agents.items() if self._may_use(principal, name)
        ]
        return [await _description(agent) for agent in mine]

    async def _serve(self, agent: HostedAgent, transport: Any, identity: str) -> None:
        principal = self._access.principal(identity)
        if principal is not None:
            await self.gateway.serve(transport, principal, agent)


async def _description(agent: HostedAgent) -> dict[str, Any]:
    settings = agent.settings
    found: dict[str, Any] = {"id": agent.name, "path": path_of(agent.name)}
    for key in ("title", "description", "icon"):
        value = getattr(settings, key)
        if value is not None:
            found[key] = value
    try:
        profile = await agent.profile()
    except Exception as error:  # noqa: BLE001 - one agent that cannot start hides no other
        _log.error("the agent %s cannot be asked what it is (%s)", agent.name, place_of(error))
        return {**found, "available": False}
    answer: Mapping[str, Any] = profile.initialized
    about = answer.get("agentInfo") if isinstance(answer.get("agentInfo"), Mapping) else {}
    assert isinstance(about, Mapping)
    return {
        **found,
        "available": True,
        "name": about.get("title") or about.get("name") or agent.name,
        "version": about.get("version"),
        "protocolVersions": [1, 2],
        "capabilities": answer.get("agentCapabilities") or {},
    }


_PAGES: Final = frozenset({WELL_KNOWN, ALIVE, READY, METRICS})
