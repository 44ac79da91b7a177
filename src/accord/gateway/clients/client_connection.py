"""One connection to a client: where each of its messages goes, and whether it may be sent.

What always holds
    * A session of others does not exist for a client that is not a member of it.
    * What a role does not cover is refused and reaches no agent.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, Protocol

import anyio
from anyio.abc import TaskGroup

from accord.errors import AccordError, RequestError, RequestFailed
from accord.gateway.access.limits import LimitReached, Usage
from accord.gateway.access.principal import Principal
from accord.gateway.agents.agent_process import AgentProcess, Answer, Version, session_named
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.clients.allowed_params import refuse_account_change
from accord.gateway.clients.capabilities import ClientAbilities, with_gateway
from accord.gateway.clients.event_messages import shown, told
from accord.gateway.clients.people_requests import PeopleRequests
from accord.gateway.clients.session_requests import Reply, SessionRequests, Sessions
from accord.gateway.clients.workspace_requests import FileIndexes, WorkspaceRequests
from accord.gateway.configuration.rights import Role, includes
from accord.gateway.sessions.attachment import Attachment
from accord.gateway.sessions.hosted_session import HostedSession
from accord.gateway.sessions.log_events import Event
from accord.gateway.sessions.people.presence import ACTIVITIES
from accord.gateway.sessions.people.roles import refusal, role_needed
from accord.gateway.sessions.requests.client_requests import ClientRequest
from accord.gateway.sessions.session_facts import SessionFacts, role_in
from accord.gateway.sessions.session_registry import SessionRegistry
from accord.gateway.spans.interface import NO_SPAN, NO_SPANS, Span, Spans, below
from accord.jsonrpc.envelope import NO_PARAMS
from accord.jsonrpc.error_codes import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PERMISSION_DENIED,
    RESOURCE_NOT_FOUND,
)
from accord.machine.redacted_logs import logger, place_of
from accord.proxy.hop import Endpoint, Hop, OpenRequest, Outbox
from accord.schema.codec import encode, to_python
from accord.schema.method import CANCEL_REQUEST
from accord.schema.struct import Raw
from accord.schema.v1 import methods as v1
from accord.schema.v2 import methods as v2
from accord.transport.transport import BACKLOG_BYTES_MAX, Ended, Transport

_log = logger("accord.gateway")


BEGINNINGS: Final = frozenset({"session/new", "session/fork", "session/prompt"})
"""What begins something new, for which a gateway that shuts down has no time."""

DRAIN_RETRY_SECONDS: Final = 5.0

METHODS: Final = frozenset({*v1.AGENT_METHODS, *v2.AGENT_METHODS})
"""The names that spans may have."""


class Gateway(Sessions, Protocol):
    """What a connection needs of the gateway."""

    tasks: TaskGroup

    is_draining: bool
    usage: Usage
    sessions: SessionRegistry
    files: FileIndexes
    spans: Spans

    async def find_invited(
        self, session_id: str, principal: Principal, code: str
    ) -> HostedSession | None:
        """Return a session that somebody may see, or join with a code."""
        ...

    def process_for(self, client: Any) -> Awaitable[AgentProcess]:
        """Return a process for what is about no session."""
        ...


class ClientConnection:
    """The owner of the wire to one client."""

    def __init__(
        self,
        transport: Transport,
        principal: Principal,
        agent: HostedAgent,
        version: Version,
        gateway: Gateway,
        *,
        refusal: RequestError | None = None,
    ) -> None:
        """`refusal` is why the client may not have this connection."""
        self.principal = principal.name
        self.display_name = principal.display_name
        self.rights = principal
        self._refusal = refusal
        self.agent = agent
        self.version: Version = version
        self.initialize: dict[str, Any] | None = None
        """What the client said in `initialize`."""
        self.process: AgentProcess | None = None
        """The process that this connection has started and that has no session yet, or all."""
        self.token = secrets.token_hex(8)
        """Tells the prompts of this connection from others in the log."""
        self.over = anyio.Event()
        self._span = NO_SPAN
        # The requests that have no answer yet.
        self._spans: dict[OpenRequest, Span] = {}
        self._following: dict[str, tuple[HostedSession, Attachment]] = {}
        self._gateway = gateway
        self._outbox = Outbox()
        self._hop = Hop("the client", transport, self, gateway.tasks, self._outbox)
        self._abilities = ClientAbilities(version, {})
        requests = SessionRequests(self, gateway)
        people = PeopleRequests(self, requests, gateway)
        workspace = WorkspaceRequests(self, requests, gateway.files)
        self._replies: dict[str, Reply] = {
            **requests.replies(),
            **people.replies(),
            **workspace.replies(),
        }

    async def serve(self) -> None:
        """Serve the client until it goes."""
        about = {"accord.agent": self.agent.name}
        self._span = self._gateway.spans.begin("connection", about)
        await self._hop.transport.start(self._hop, self._gateway.tasks)
        try:
            await self.over.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await self._leave()

    async def _leave(self) -> None:
        # First: an answer that is given below may belong behind what the client was never sent.
        await self._hop.transport.aclose()
        following, self._following = self._following, {}
        for session, attachment in following.values():
            session.detach(attachment)
        process, self.process = self.process, None
        if process is not None and not process.sessions:
            await process.aclose()
        self._span.end()

    # ---- the follower of sessions

    @property
    def is_gone(self) -> bool:
        """Whether the client has gone."""
        return self.over.is_set()

    @property
    def services(self) -> frozenset[str]:
        """What the client does for an agent: files and terminals, by method."""
        return self._abilities.services

    @property
    def backlog(self) -> int:
        """Bytes that the client has not taken yet."""
        return self._hop.transport.backlog

    async def drain(self) -> None:
        """Wait until it has taken most of them."""
        await self._hop.transport.drain()

    def role_in(self, facts: SessionFacts) -> Role | None:
        """Return what the client may do in a session; None if it may not see it."""
        return role_in(facts, self.rights)

    def follow(self, session: HostedSession, role: Role, *, cursor: int) -> Attachment:
        """Follow a session from an event on; again, if the client does so already."""
        old = self.attachment(session.session_id)
        if old is not None:
            session.detach(old)
        attachment = session.attach(self, role, cursor=cursor)
        self._following[session.session_id] = (session, attachment)
        return attachment

    def attachment(self, session_id: str) -> Attachment | None:
        """Return how the client follows a session, if it still does."""
        _, attachment = self._followed(session_id)
        return attachment

    def _followed(self, session_id: str) -> tuple[HostedSession | None, Attachment | None]:
        found = self._following.get(session_id)
        if found is None:
            return None, None
        if found[1].is_over:
            del self._following[session_id]
            return None, None
        return found

    def send(self, frame: bytes) -> None:
        """Write a whole message to the client."""
        self._hop.send(frame)

    def show(self, attachment: Attachment, event: Event) -> None:
        """Send what an event means."""
        session, _ = self._following[attachment.session_id]
        for frame in shown(session, attachment, event):
            self._hop.send(frame)
        own = told(session, attachment, event)
        if own is not None:
            self.extension(*own)

    def extension(self, method: str, params: dict[str, Any], *, droppable: bool = False) -> None:
        """Send a notification of the gateway's own, if the client understands it."""
        if method not in self._abilities.understood:
            return
        if not (droppable and self.backlog >= BACKLOG_BYTES_MAX):
            self._hop.notify(method, encode(params))

    def ask(
        self, method: str, params: bytes, told: Callable[[Answer], None]
    ) -> Callable[[], None] | None:
        """Ask the client something; a client that goes is not taken for an answer."""

        def heard(answer: Answer) -> None:
            if self._hop.why is None:
                told(answer)

        call_id = self._hop.call(method, params, Answer(heard))
        if not call_id:
            return None

        return partial(self._take_back, call_id)

    def ask_alone(
        self, method: str, params: bytes, told: Callable[[Answer], None]
    ) -> Callable[[], None]:
        """Ask the client something that nobody else is asked; its end is an answer too."""
        return partial(self._take_back, self._hop.call(method, params, Answer(told)))

    def _take_back(self, call_id: int) -> None:
        if call_id in self._hop.calls:
            self._hop.notify(CANCEL_REQUEST, encode({"requestId": call_id}))

    def disconnect(self, why: str) -> None:
        """End the connection: the client cannot be sent what it has missed."""
        _log.info("the connection of %s ends: %s", self.principal, why)
        self.over.set()

    # ---- what the client says

    def notified(self, end: Endpoint, method: str, params: Raw, frame: bytes | None) -> None:
        """Pass a notification of the client on to the agent."""
        del end, frame
        seconds = self._gateway.usage.charge(self.principal, memoryview(params).nbytes)
        if seconds > 0:
            self._gateway.tasks.start_soon(self._read_later, seconds, name="rate limit")
        session_id = session_named(params)
        session, attachment = (None, None) if session_id is None else self._followed(session_id)
        if session is None or attachment is None:
            if session_id is None and self.process is not None:
                self.process.notify(method, params)
        elif not includes(attachment.role, role_needed(method)):
            _log.info("%s of a %s was ignored", method, attachment.role)
        elif method == "_accord.session/presence":
            event = to_python(params).get("event")
            if event in ACTIVITIES:
                session.people.presence.note(attachment, event)
        elif method == "session/cancel":
            session.cancel(self)
        else:
            session.forward_notification(method, params)

    async def _read_later(self, seconds: float) -> None:
        """Read nothing of a client that sends too much, for a while."""
        self._hop.pause()
        await anyio.sleep(seconds)
        self._hop.resume()

    def requested(self, request: OpenRequest, params: Raw) -> None:
        """Check a request of the client and pass it to what answers it."""
        method = request.method
        span = self._begin_span(request, params)
        try:
            self._gateway.usage.admit(self.principal, memoryview(params).nbytes)
        except LimitReached as reached:
            error = reached.request_error()
            request.refuse(error.code, error.message, encode(error.data))
            return
        if method == "initialize":
            self._initialize(request, params)
            return
        if self.initialize is None:
            request.refuse(INVALID_REQUEST, f"{method} came before initialize")
            return
        if self._gateway.is_draining and method in BEGINNINGS:
            data = {"reason": "shutting_down", "retryAfter": DRAIN_RETRY_SECONDS}
            request.refuse(INTERNAL_ERROR, "the gateway is shutting down", encode(data))
            return
        try:
            refuse_account_change(self.agent.settings, self.rights, method)
        except RequestFailed as refused:
            request.refuse(refused.code, refused.message, encode(refused.data))
            return
        reply = self._replies.get(method)
        session_id = session_named(params)
        if reply is None and session_id is None:
            reply = self._connection_request
        kept = below(span, Raw(bytes(memoryview(params))))
        if reply is not None:
            self._gateway.tasks.start_soon(self._reply, reply, request, kept, name=method)
        elif session_id is not None:
            self._session_request(session_id, request, kept)

    def _session_request(self, session_id: str, request: OpenRequest, params: Raw) -> None:
        session, attachment = self._followed(session_id)
        if session is None or attachment is None:
            said = f"there is no session {session_id!r} on this connection; load or resume it first"
            request.refuse(RESOURCE_NOT_FOUND, said, encode({"sessionId": session_id}))
        elif not includes(attachment.role, role_needed(request.method)):
            said, data = refusal(attachment.role, request.method)
            request.refuse(PERMISSION_DENIED, said, encode(data))
        elif request.method == "session/prompt":
            session.prompt(self, request, params)
        else:
            session.forward(self, request, params)

    def _begin_span(self, request: OpenRequest, params: Raw) -> Span:
        """Begin the span of a request; it ends with the answer."""
        if self._gateway.spans is NO_SPANS:
            return NO_SPAN
        about = {"accord.agent": self.agent.name}
        session_id = session_named(params)
        # Names that somebody makes up are in no span: there is no end of them.
        if session_id is not None and self.attachment(session_id) is not None:
            about["accord.session"] = session_id
        is_known = request.method in METHODS or request.method in self._replies
        name = request.method if is_known else "other"
        span = self._gateway.spans.begin(name, about, params=params, parent=self._span)
        self._spans[request] = span
        return span

    def withdrawn(self, request: OpenRequest, params: Raw) -> None:
        """Take a request back; what a client that is gone has asked goes on."""
        if params is NO_PARAMS:
            self._spans.pop(request, NO_SPAN).end("client_gone", failed=True)
        if params is not NO_PARAMS and isinstance(request.run, ClientRequest):
            request.run.take_back()

    def answered(self, request: OpenRequest) -> None:
        """End the request's span: the session keeps its own list."""
        code = request.error_code
        self._spans.pop(request, NO_SPAN).end(
            None if code is None else f"error {code}", failed=code is not None
        )

    def gone(self, hop: Hop, why: Ended) -> None:
        """The client is gone."""
        del hop, why
        self.over.set()

    # ---- requests that take time

    async def _reply(self, reply: Reply, request: OpenRequest, params: Raw) -> None:
        try:
            await reply(request, params)
        except (RequestFailed, RequestError) as error:
            data = None if error.data is None else encode(error.data)
            request.refuse(error.code, error.message, data)
        except (AccordError, OSError) as error:
            request.refuse(INTERNAL_ERROR, str(error))
        except Exception as error:  # noqa: BLE001 - also a mistake of ours is an answer
            _log.error("%s failed (%s)", request.method, place_of(error))
            request.refuse(INTERNAL_ERROR, "Internal error")

    def _initialize(self, request: OpenRequest, params: Raw) -> None:
        if self.initialize is not None:
            said = "initialize may not be repeated on this connection"
            request.refuse(INVALID_REQUEST, said)
            return
        read = to_python(params)
        self.initialize = read if isinstance(read, dict) else {}
        self._abilities = ClientAbilities(self.version, self.initialize)
        self._gateway.tasks.start_soon(self._reply, self._first_answer, request, params)

    async def _first_answer(self, request: OpenRequest, params: Raw) -> None:
        del params
        assert self.initialize is not None
        if self._refusal is not None:
            raise self._refusal
        answer = self.agent.known_answer(self.initialize)
        if answer is None:
            try:
                process = await self._gateway.process_for(self)
            except BaseException:
                self.initialize = None
                raise
            answer = process.initialized
        assert answer is not None
        request.answer(encode(with_gateway(to_python(answer), self.version, self._replies)))

    async def _connection_request(self, request: OpenRequest, params: Raw) -> None:
        process = await self._gateway.process_for(self)
        answer = await process.call(request.method, params)
        request.answer(answer)
