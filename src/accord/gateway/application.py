"""The gateway as an ASGI application: agents by their paths, and what tools ask a server for.

What always holds
    * Every request passes the guard against foreign pages and hosts; all but the files of the page
      and the two questions whether the gateway lives need credentials as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Final

import anyio

from accord.errors import LocalProtocolError
from accord.gateway.access.access import Access
from accord.gateway.access.authenticate_method import authenticate
from accord.gateway.access.limits import TOO_MANY_REQUESTS
from accord.gateway.access.login_endpoint import LOGIN_PATH, LOGOUT_PATH, LoginEndpoint
from accord.gateway.access.principal import Principal
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.gateway import Gateway
from accord.gateway.metrics import metrics_of
from accord.machine.redacted_logs import logger, place_of
from accord.schema.codec import encode
from accord.transport.http.message_routes import CONNECTION_HEADER
from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.extension_messages import read_resume_query
from accord.transport.server.answers import HttpAnswer, json_answer, text_answer, without_body
from accord.transport.server.application import (
    NOT_FOUND,
    PREFLIGHT,
    UNKNOWN_SENDER,
    RemoteApplication,
)
from accord.transport.server.authorization import principal_of
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

PageFile = Callable[[RemoteRequest], HttpAnswer | None]
"""Answers requests for the files of a page; None for every other path."""


def path_of(name: str) -> str:
    """Return where an agent is served."""
    return f"/agents/{name}/acp"


class GatewayApplication:
    """Serves the agents of a gateway.  The first agent is also at `path`."""

    def __init__(
        self,
        gateway: Gateway,
        *,
        access: Access,
        path: str = DEFAULT_PATH,
        origins: Iterable[str] | None = None,
        hosts: Iterable[str] | None = None,
        limits: RemoteLimits | None = None,
        page: PageFile | None = None,
        folder: str | None = None,
    ) -> None:
        """Serve the agents at their paths, and the pages of the gateway.

        `page` has the files of a web client, which everybody may see.  In `folder` clients begin
        their sessions unless their users choose another one.

        Raises:
            LocalProtocolError: a host, an origin or a limit is invalid, or the path is one of the
                gateway's own.
        """
        self.gateway = gateway
        self.is_draining = False
        self._access = access
        self._page_file = page
        self._folder = folder
        self._remotes: dict[str, tuple[HostedAgent, RemoteApplication]] = {}

        def add(agent: HostedAgent, at: str) -> RemoteApplication:
            serve = partial(self._serve, agent)
            remote = RemoteApplication(
                serve, path=at, auth=access.auth, origins=origins, hosts=hosts, limits=limits
            )
            self._remotes[remote.path] = (agent, remote)
            return remote

        for agent in gateway.agents.values():
            add(agent, path_of(agent.name))
        first = next(iter(gateway.agents.values()))
        self._first = add(first, path)
        self.path = self._first.path
        if self.path in (*_PAGES, LOGIN_PATH, LOGOUT_PATH):
            raise LocalProtocolError(f"{self.path} is a page of the gateway; choose another path")
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
        """Return the identity of a request's sender, or why the request is refused.

        Whoever is unknown gets the same answer at every path, and whoever is known the same at the
        paths of agents that do not exist or that they may not use.
        """
        refusal = self.guard.refusal(request)
        if refusal is not None:
            _log.info("a request was refused: %s", refusal.reason)
            return refusal
        if self._first.is_preflight(request):
            return PREFLIGHT
        identity = await principal_of(self._access.auth, request, self.limits.auth_seconds)
        if identity is None:
            return UNKNOWN_SENDER
        if request.path in _PAGES:
            return identity
        agent, _ = self._remotes.get(request.path, (None, None))
        principal = self._access.principal(identity)
        if agent is None or principal is None or not self._may_use(identity, agent.name):
            return NOT_FOUND
        return self._no_room(request, principal) or identity

    def _no_room(self, request: RemoteRequest, principal: Principal) -> Refusal | None:
        """Say why there may be no new connection now; None if there may."""
        if _continues(request):
            return None
        if self.is_draining:
            return Refusal(503, "shutting down; try again in 5 s", (("retry-after", "5"),))
        reached = self.gateway.usage.reached(principal.name, "connections")
        if reached is None:
            return None
        seconds = reached.retry_after_header
        return Refusal(
            TOO_MANY_REQUESTS, f"{reached}; try again in {seconds} s", (("retry-after", seconds),)
        )

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
        if not request.is_websocket and request.method == "HEAD":
            send = without_body(send)
        if self._login.serves(request):
            await (await self._login.answer(request)).send(send)
        elif request.path in (ALIVE, READY) and not request.is_websocket:
            await self._life(request).send(send)
        elif (file := self._file(request)) is not None:
            send = without_body(send) if request.method == "HEAD" else send
            # A client that does not read its answer does not keep the request for ever.
            with anyio.move_on_after(self.limits.stall_seconds):
                await file.send(send)
        else:
            admitted = await self.admit(request)
            if request.path in _PAGES and not isinstance(admitted, Refusal):
                if request.is_websocket:
                    admitted = NOT_FOUND
                else:
                    await (await self._page(request, admitted)).send(send)
                    return
            _, remote = self._remotes.get(request.path, (None, self._first))
            await remote.serve(request, admitted, scope, receive, send)

    def _life(self, request: RemoteRequest) -> HttpAnswer:
        """Answer whether the gateway lives; it needs no credentials and tells nothing else."""
        refusal = self.guard.refusal(request)
        if refusal is not None:
            return text_answer(refusal.status, refusal.reason)
        if request.method not in _READING:
            return _READ_ONLY
        if request.path == READY and self.is_draining:
            return text_answer(503, "shutting down", ("retry-after", "5"))
        return text_answer(200, "ok")

    def _file(self, request: RemoteRequest) -> HttpAnswer | None:
        """Answer what is asked of the page; None if the request is for something else."""
        if self._page_file is None or request.is_websocket or request.path in self._remotes:
            return None
        answer = self._page_file(request)
        if answer is None:
            return None
        refusal = self.guard.refusal(request)
        if refusal is not None:
            return text_answer(refusal.status, refusal.reason)
        return answer if request.method in _READING else _READ_ONLY

    async def _page(self, request: RemoteRequest, identity: str) -> HttpAnswer:
        if request.method not in _READING:
            return _READ_ONLY
        mine = [name for name in self.gateway.agents if self._may_use(identity, name)]
        if request.path == METRICS:
            body = metrics_of(self.gateway, mine)
            return HttpAnswer(200, body, "text/plain; version=0.0.4; charset=utf-8")
        described = [await _description(self.gateway.agents[name]) for name in mine]
        folder = {} if self._folder is None else {"folder": self._folder}
        return json_answer(200, encode({"agents": described, **folder}))

    async def _serve(self, agent: HostedAgent, transport: Any, identity: str) -> None:
        principal = self._access.principal(identity)
        if principal is not None:
            login = partial(authenticate, self._access, principal)
            await self.gateway.serve(transport, principal, agent, login)


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
    said = answer.get("agentInfo")
    about: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    return {
        **found,
        "available": True,
        "name": about.get("title") or about.get("name") or agent.name,
        "version": about.get("version"),
        "protocolVersions": [1, 2],
        "capabilities": answer.get("agentCapabilities") or {},
    }


def _continues(request: RemoteRequest) -> bool:
    """Whether a request is about a connection that there is, or is none."""
    if not request.is_websocket:
        return CONNECTION_HEADER in request.headers
    resumed = read_resume_query(request.query)
    return resumed is not None and resumed.connection_id is not None


_PAGES: Final = frozenset({WELL_KNOWN, ALIVE, READY, METRICS})
_READING: Final = ("GET", "HEAD")
_READ_ONLY: Final = text_answer(405, "Only GET is possible here", ("allow", "GET, HEAD"))
