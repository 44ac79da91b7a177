"""One process of a hosted agent: its wire, its open calls, and the sessions that live in it.

What always holds
    * A message about a session reaches that session in the order in which the agent sent it, also
      when the agent sends it before it has answered the request that opens the session.
    * When the process ends, each of its sessions is told once, after everything the agent sent.
    * What the process started ends with it, also when it was killed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Literal, Protocol

import anyio
from anyio.abc import TaskGroup

from accord.errors import RequestFailed
from accord.jsonrpc.error_codes import INTERNAL_ERROR, METHOD_NOT_FOUND
from accord.machine.redacted_logs import logger
from accord.proxy.component_exit import gone_sentence
from accord.proxy.hop import Endpoint, Hop, OpenRequest, Outbox
from accord.schema.codec import Invalid, decode, encode, to_python
from accord.schema.method import CANCEL_REQUEST
from accord.schema.struct import UNSET, BareStruct, Omit, Raw
from accord.transport.transport import Ended, Transport

_log = logger("accord.gateway")

Version = Literal["v1", "v2"]
"""The version that an agent and all of its sessions speak in the gateway."""

EARLY_MESSAGES_MAX: Final = 1024
"""Messages about a session that the agent has not announced yet; older ones are dropped."""


class Named(BareStruct, frozen=True, kw_only=True):
    """The one part of a message that says which session it is about."""

    session_id: Omit[str] = UNSET


def session_named(params: bytes | Raw) -> str | None:
    """Return the session that params name, if they name one."""
    try:
        named = decode(Named, params)
    except Invalid:
        return None
    return None if named.session_id is UNSET else named.session_id


class AgentSession(Protocol):
    """A session as its process sees it."""

    def told(self, method: str, params: Raw) -> None:
        """Take a notification of the agent."""
        ...

    def asked(self, request: OpenRequest, params: Raw) -> None:
        """Take a request of the agent, to be answered once."""
        ...

    def withdrawn(self, request: OpenRequest) -> None:
        """Take notice that the agent no longer wants an answer."""
        ...

    def process_ended(self, reason: str) -> None:
        """Take notice that the process is gone."""
        ...


class Answer:
    """The answer to one call, for a task that waits, or for a function that is told at once."""

    def __init__(self, told: Callable[[Answer], None] | None = None) -> None:
        self.result: Raw | None = None
        self.error: tuple[int, str, Raw | bytes | None] | None = None
        self.is_lost = False
        """Whether the process ended before it answered."""
        self._told = told
        self._done = anyio.Event()

    def answered(self, result: Raw) -> None:
        """Keep the result, and tell whoever waits."""
        self.result = Raw(bytes(memoryview(result)))
        self._settle()

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        """Keep the error, and tell whoever waits."""
        kept = None if data is None else Raw(bytes(memoryview(data)))
        self.error = (code, message, kept)
        self._settle()

    def lost(self, hop: Hop, why: Ended) -> None:
        """Take notice that there will be no answer."""
        self.is_lost = True
        self.error = (INTERNAL_ERROR, gone_sentence(hop, why), b'{"reason":"agent_gone"}')
        self._settle()

    def _settle(self) -> None:
        self._done.set()
        if self._told is not None:
            self._told(self)

    async def wait(self, method: str) -> Raw:
        """Return the result.

        Raises:
            RequestFailed: the agent answered with an error, or is gone.
        """
        await self._done.wait()
        if self.error is not None:
            code, message, data = self.error
            plain = None if data is None else to_python(data)
            raise RequestFailed(method, code, message, plain)
        assert self.result is not None
        return self.result


class AgentProcess:
    """An agent that runs.  `call` and `notify` speak to it; its sessions hear what it says."""

    def __init__(
        self,
        name: str,
        transport: Transport,
        tasks: TaskGroup,
        *,
        ended: Callable[[AgentProcess], None] = lambda _: None,
    ) -> None:
        self.name = name
        self.sessions: dict[str, AgentSession] = {}
        self.initialized: Raw | None = None
        """What the agent answered to `initialize`."""
        self.why: str | None = None
        """Why the process is gone; None while it runs."""
        self.client: AgentSession | None = None
        """Gets what the agent says about no session."""
        self._tasks = tasks
        self._ended = ended
        self._outbox = Outbox()
        self._hop = Hop("the agent", transport, self, tasks, self._outbox)
        self._early: dict[str, deque[tuple[str, Raw]]] = {}
        self._early_count = 0
        self._is_closing = False

    async def start(self, initialize: bytes) -> Raw:
        """Start the program and initialize it; return its answer.

        Raises:
            SpawnFailed: the program cannot be started.
            RequestFailed: it refused, or ended.
        """
        await self._hop.transport.start(self._hop, self._tasks)
        self.initialized = await self.call("initialize", initialize)
        return self.initialized

    @property
    def backlog(self) -> int:
        """Bytes that the agent has not taken yet."""
        return self._hop.transport.backlog

    async def call(
        self, method: str, params: bytes | Raw, then: Callable[[], None] | None = None
    ) -> Raw:
        """Ask the agent and wait for its answer.

        `then` is called before anything that the agent says after it.

        Raises:
            RequestFailed: it answered with an error, or is gone.
        """
        answer = Answer(None if then is None else lambda _: then())
        call_id = self._hop.call(method, params, answer)
        try:
            return await answer.wait(method)
        except anyio.get_cancelled_exc_class():
            self.take_back(call_id)
            raise

    def begin_call(self, method: str, params: bytes | Raw, told: Callable[[Answer], None]) -> int:
        """Ask the agent; `told` gets the answer before anything that the agent says after it."""
        return self._hop.call(method, params, Answer(told))

    def take_back(self, call_id: int) -> None:
        """Tell the agent that nobody waits for an answer any more."""
        if call_id in self._hop.calls:
            self.notify(CANCEL_REQUEST, encode({"requestId": call_id}))

    def notify(self, method: str, params: bytes | Raw) -> None:
        """Send a notification, if the agent still reads."""
        self._hop.notify(method, params)

    def pause(self) -> None:
        """Read nothing from the agent until `resume`."""
        self._hop.pause()

    def resume(self) -> None:
        """Read again after `pause`."""
        self._hop.resume()

    def adopt(self, agent_session_id: str, session: AgentSession) -> None:
        """Deliver a session's messages to it from now on, beginning with those that came early."""
        self.sessions[agent_session_id] = session
        for method, params in self._early.pop(agent_session_id, ()):
            self._early_count -= 1
            session.told(method, params)
        if self.why is not None:
            # It ended while the session was made.
            del self.sessions[agent_session_id]
            session.process_ended(self.why)

    async def aclose(self) -> None:
        """End the process and everything that it started."""
        self._is_closing = True
        with anyio.CancelScope(shield=True):
            await self._hop.transport.aclose()

    # ---- what the agent says

    def notified(self, end: Endpoint, method: str, params: Raw, frame: bytes | None) -> None:
        """Pass a notification of the agent to its session."""
        del end, frame
        named = session_named(params)
        session = self.client if named is None else self.sessions.get(named)
        if session is not None:
            session.told(method, params)
        elif named is not None:
            self._keep(named, method, params)

    def _keep(self, named: str, method: str, params: Raw) -> None:
        if self._early_count >= EARLY_MESSAGES_MAX:
            _log.warning("%s sent too much about a session that is not open; dropped", self.name)
            return
        self._early_count += 1
        kept = Raw(bytes(memoryview(params)))
        self._early.setdefault(named, deque()).append((method, kept))

    def requested(self, request: OpenRequest, params: Raw) -> None:
        """Pass a request of the agent to its session."""
        named = session_named(params)
        session = self.client if named is None else self.sessions.get(named)
        if session is None:
            request.refuse(METHOD_NOT_FOUND, f"{request.method}: there is no such session here")
        else:
            request.run = session
            session.asked(request, Raw(bytes(memoryview(params))))

    def withdrawn(self, request: OpenRequest, params: Raw) -> None:
        """Take notice that the agent withdrew a request."""
        del params
        if request.run is not None:
            request.run.withdrawn(request)

    def answered(self, request: OpenRequest) -> None:
        """Nothing to do: the session keeps its own list."""

    def gone(self, hop: Hop, why: Ended) -> None:
        """Tell the sessions that the process is gone."""
        self.why = gone_sentence(hop, why)
        sessions, self.sessions = self.sessions, {}
        for session in sessions.values():
            session.process_ended(self.why)
        if self.client is not None:
            self.client.process_ended(self.why)
        self._ended(self)
        if not self._is_closing:
            # What it started may have left its group, and outlives it otherwise.
            self._tasks.start_soon(self.aclose, name="agent's descendants")
