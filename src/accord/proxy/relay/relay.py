"""The driver of translators: a client's bytes on one side, an agent's on the other.

`initialize` tells the version of the client.  The agent's is found out with one `initialize` that
has the keys of v1 and v2 together, judged by the shape of its answer; an agent that answers in
the shape of the 2026-02 draft, or refuses, is started again and asked in the draft's form.  Then
a translator is chosen, and everything else goes through it.

What always holds
    * Messages of each side are handled and sent in the order in which they came.
    * Messages of the client wait until the agent has answered `initialize`; none is lost.
    * When the agent ends, every open request of the client is answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, Protocol

import anyio
from anyio.abc import TaskGroup

from accord.connection.error_responses import unforeseen
from accord.connection.translation.translator_side import Port
from accord.errors import SpawnFailed
from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_REQUEST
from accord.jsonrpc.framing import FrameTooLong
from accord.proxy.relay.late_draft_detection import LateDraft
from accord.proxy.relay.translators import NOTHING_SPECIAL, Outside, Settings, between
from accord.proxy.relay.version_negotiation import (
    AgentNegotiation,
    InitializeRefused,
    Probe,
    farewell,
    read_initialize,
    repeat_refusal,
)
from accord.translate.message import (
    AGENT,
    CLIENT,
    HOST,
    Answer,
    Failure,
    Json,
    Message,
    Out,
    Request,
    Result,
    Side,
    Surroundings,
    Translator,
)
from accord.translate.validation import Spoken
from accord.transport.transport import Ended, Transport

INITIALIZE: Final = "initialize"
# Messages of a client that may wait until its `initialize` is answered.
EARLY_MESSAGES_MAX: Final = 1024

Connect = Callable[[], Awaitable[Transport] | Transport]
"""Makes a transport to an agent that is not started yet; called again to restart the agent."""


class Host(Protocol):
    """Services of this machine: files and terminals for an agent whose client offers none."""

    def asked(self, message: Message) -> None:
        """Note a message to the agent, to learn of sessions and their folders."""
        ...

    def answered(self, message: Message) -> None:
        """Note a message from the agent."""
        ...

    def ask(self, request: Request) -> None:
        """Begin to serve a request; the answer arrives through `Relay.from_host`."""
        ...


class Relay:
    """One client and one agent: takes the client's bytes, and drives the agent itself."""

    def __init__(
        self,
        connect: Connect,
        write: Callable[[bytes], None],
        tasks: TaskGroup,
        around: Surroundings,
        *,
        to: Outside | None = None,
        speaks: Spoken | None = None,
        settings: Settings = NOTHING_SPECIAL,
        restartable: bool = True,
        host: Host | None = None,
        ended: Callable[[Ended], None] = lambda _: None,
        found: Callable[[Spoken], None] = lambda _: None,
    ) -> None:
        """`to` is the version to serve; None means the one that the client speaks.

        `speaks` is the agent's version if it is known, and `found` gets the one that was found
        out.  `connect` is called only once if the agent is not `restartable`.
        """
        self.client = Port("client", write)
        self.agent = Port("agent", self._write_to_agent)
        self.translator: Translator | None = None
        self.transport: Transport | None = None
        self._connect = connect
        self._tasks = tasks
        self._around = around
        self._to: Outside | None = to
        self._speaks: Spoken | None = speaks
        self._settings = settings
        self._restartable = restartable
        self._host = host
        self._ended = ended
        self._found = found
        self._early: deque[Message] = deque()
        self._opening: Request | None = None
        self._late: LateDraft | None = None
        self._probe: Probe | None = None
        # Frames after the agent's answer to `initialize`, kept until a translator can read them.
        self._behind: list[bytes] = []
        self._armed: float | None = None
        self._rearm = anyio.Event()
        self._receiver: _FromAgent | None = None
        self.unstarted: SpawnFailed | None = None
        """Why the agent could not be started at all."""
        self.quiet = anyio.Event()
        """Set whenever no request of the client is open."""

    # ---- from the client

    def client_data(self, data: bytes) -> None:
        """Take the next bytes of the client.

        Raises:
            FrameTooLong: the client sent a message over the frame limit.
        """
        for frame in self.client.split(data):
            self._from_client(frame)
        self._flush()

    def client_rest(self) -> None:
        """Take the last bytes of the client, which may be a line without an end."""
        for frame in self.client.rest():
            self._from_client(frame)
        self._flush()

    def _from_client(self, frame: bytes) -> None:
        message = self.client.take(frame)
        if message is not None:
            self._client_said(message)
            return
        for entry in self.client.take_entries():
            self._client_said(entry)

    def _client_said(self, message: Message) -> None:
        if self.translator is None:
            self._before_opening(message)
        elif isinstance(message, Request) and message.method == INITIALIZE:
            self.client.refuse(message.key, *repeat_refusal(message.params, self.client.spoken))
        else:
            self._through(CLIENT, message)

    def _before_opening(self, message: Message) -> None:
        if self._opening is not None:
            if len(self._early) < EARLY_MESSAGES_MAX:
                self._early.append(message)
            elif isinstance(message, Request):
                said = "too much was sent before initialize was answered"
                self.client.refuse(message.key, INVALID_REQUEST, said)
            return
        if not isinstance(message, Request):
            return
        if message.method != INITIALIZE:
            said = f"{message.method} came before initialize"
            self.client.refuse(message.key, INVALID_REQUEST, said)
            return
        asked = self._asked(message)
        if asked is not None:
            self._opening = asked[0]
            self._tasks.start_soon(self._open, *asked, name="initialize")

    def _asked(self, request: Request) -> tuple[Request, Outside] | None:
        """The client's `initialize` in its version alone; None when it has been refused."""
        try:
            asked = read_initialize(request.params, self._to)
        except InitializeRefused as error:
            self.client.refuse(request.key, error.code, error.message, error.data)
            return None
        self.client.speak(asked.spoken)
        if asked.may_be_draft:
            self._late = LateDraft(self, request)
        return request._replace(params=asked.params), asked.outside

    # ---- opening

    async def _open(self, request: Request, outside: Outside) -> None:
        try:
            await AgentNegotiation(self, request, outside, self._speaks).run()
        except SpawnFailed as error:
            self.unstarted = error
            self.client.refuse(request.key, INTERNAL_ERROR, f"the agent did not start: {error}")
        except Exception as error:  # noqa: BLE001 - the client is answered whatever it was
            self.client.refuse(request.key, *unforeseen(error, INITIALIZE))
        self._opening = None
        while self._early:
            message = self._early.popleft()
            if self.translator is not None:
                self._through(CLIENT, message)
            elif isinstance(message, Request):
                said = f"{message.method} was sent before initialize succeeded"
                self.client.refuse(message.key, INVALID_REQUEST, said)
        self._flush()

    async def start_agent(self) -> None:
        """Start the agent, in place of a running one if that can be restarted."""
        if self.transport is not None and not self._restartable:
            return
        await self.close_agent()
        made = self._connect()
        transport = await made if isinstance(made, Awaitable) else made
        self.agent = Port("agent", self._write_to_agent)
        self._behind.clear()
        self._receiver = _FromAgent(self)
        self.transport = transport
        await transport.start(self._receiver, self._tasks)

    async def close_agent(self) -> None:
        """End the running agent, if there is one."""
        if self._receiver is not None:
            self._receiver.relay = None
        if self.transport is not None:
            transport, self.transport = self.transport, None
            await transport.aclose()

    async def probe(self, params: Json) -> Answer:
        """Ask the agent to initialize before its version is known."""
        self._probe = Probe()
        self.agent.put(Request(0, INITIALIZE, params))
        self._flush()
        await self._probe.done.wait()
        answer, self._probe = self._probe.answer, None
        assert answer is not None
        return answer

    def candidate(self, outside: Outside, inside: Spoken) -> Translator:
        """Make a translator that is used if the agent speaks this version."""
        return between(outside, inside, self._around, self._settings)

    def adopt(
        self, translator: Translator, inside: Spoken, said: Iterable[Out], result: object
    ) -> None:
        """Use this translator; `said` is its first output, and `result` the agent's answer."""
        self.agent.speak(inside)
        self.translator = translator
        self._found(inside)
        self._send(said)
        if self._late is not None:
            self._late.opened(inside, result)
        behind, self._behind = self._behind, []
        self._from_agent(behind)

    # ---- from the agent

    def agent_data(self, data: bytes) -> None:
        """Take the next bytes of the agent."""
        try:
            frames = self.agent.split(data)
        except FrameTooLong as error:
            self.agent_ended(Ended(f"the agent sent too long a message: {error}"))
            return
        self._from_agent(frames)
        self._flush()

    def _from_agent(self, frames: list[bytes]) -> None:
        for frame in frames:
            if self._probe is not None and self._probe.answer is not None:
                self._behind.append(frame)
                continue
            message = self.agent.take(frame)
            if message is None:
                for entry in self.agent.take_entries():
                    self._agent_said(entry)
            elif self._probe is None and self.translator is not None:
                self._through(AGENT, message)
            else:
                self._agent_said(message)

    def _agent_said(self, message: Message) -> None:
        if self._probe is None and self.translator is not None:
            self._through(AGENT, message)
        elif self._probe is not None and isinstance(message, Result | Failure):
            self._probe.settle(message)
        elif isinstance(message, Request):
            said = f"{message.method} came before initialize was answered"
            self.agent.refuse(message.key, INVALID_REQUEST, said)

    def agent_ended(self, why: Ended) -> None:
        """The agent has ended: answer what is open."""
        if self._probe is not None:
            self._probe.settle(Failure(0, INTERNAL_ERROR, farewell(why)))
            return
        if self.translator is not None:
            self._send(self.translator.agent_gone(farewell(why)))
            self._flush()
        self._ended(why)

    def from_host(self, message: Message) -> None:
        """Take an answer or a notification of the services of this machine."""
        if self.translator is not None:
            self._through(HOST, message)
            self._flush()

    # ---- between

    def _through(self, side: Side, message: Message) -> None:
        assert self.translator is not None
        if self._host is not None and side is AGENT:
            self._host.answered(message)
        try:
            said = self.translator.receive(side, message)
        except Exception as error:  # noqa: BLE001 - one message is lost, the conversation goes on
            code, sentence, data = unforeseen(error, getattr(message, "method", "an answer"))
            if isinstance(message, Request):
                port = self.client if side is CLIENT else self.agent
                port.refuse(message.key, code, sentence, data)
            return
        self._send(said)

    def _send(self, said: Iterable[Out]) -> None:
        assert self.translator is not None
        for side, message in said:
            if side is HOST:
                if self._host is not None and isinstance(message, Request):
                    self._host.ask(message)
                continue
            if self._host is not None and side is AGENT:
                self._host.asked(message)
            port = self.client if side is CLIENT else self.agent
            failure = port.put(message)
            if failure is not None:
                self._send(self.translator.receive(side, failure))

    def _flush(self) -> None:
        self.client.flush()
        self.agent.flush()
        if self.client.open_count:
            if self.quiet.is_set():
                self.quiet = anyio.Event()
        else:
            self.quiet.set()
        if self.translator is not None and self.translator.wake_at != self._armed:
            self._armed = self.translator.wake_at
            self._rearm.set()

    def _write_to_agent(self, data: bytes) -> None:
        if self.transport is not None:
            self.transport.write(data)

    async def keep_time(self) -> None:
        """Wake the translator when it wants to be woken; runs as long as the relay."""
        while True:
            self._rearm = anyio.Event()
            if self._armed is None:
                await self._rearm.wait()
                continue
            seconds = self._armed - self._around.now()
            with anyio.move_on_after(max(0.0, seconds)):
                await self._rearm.wait()
                continue
            assert self.translator is not None
            self._armed = None
            self._send(self.translator.wake())
            self._flush()


class _FromAgent:
    """The receiver of one start of the agent; deaf once another took its place."""

    def __init__(self, relay: Relay) -> None:
        self.relay: Relay | None = relay

    def data_received(self, data: bytes) -> None:
        if self.relay is not None:
            self.relay.agent_data(data)

    def ended(self, why: Ended) -> None:
        if self.relay is not None:
            self.relay.agent_ended(why)
