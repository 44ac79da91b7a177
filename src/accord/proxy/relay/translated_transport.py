"""A transport to an agent of any version, which looks like an agent of another version.

What always holds: what `Transport` promises, and nothing of either side is read faster than the
other side takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

import anyio
from anyio.abc import TaskGroup

from accord.errors import LocalProtocolError, SpawnFailed
from accord.jsonrpc.framing import FrameTooLong
from accord.machine.redacted_logs import logger
from accord.proxy.relay.local_services import LocalHost
from accord.proxy.relay.relay import Connect, Relay
from accord.proxy.relay.translators import NOTHING_SPECIAL, Outside, Settings, surroundings
from accord.translate.message import Json
from accord.translate.validation import Spoken
from accord.transport.subprocess import StderrListener, SubprocessTransport
from accord.transport.transport import BACKLOG_BYTES_MAX, Ended, Receiver, Transport

_log = logger("accord.proxy")

# How long an agent may take to answer open requests after its client has disconnected.
LAST_ANSWERS_SECONDS_MAX = 2.0


Version = Literal[1, 2, "draft", "2-early"]
"""A version of the protocol, as people name it."""

_OUTSIDE: dict[Version, Outside] = {1: "v1", 2: "v2", "draft": "draft", "2-early": "v2-early"}
_INSIDE: dict[Version, Spoken] = {1: "v1", 2: "v2", "draft": "draft"}
Known = TypeVar("Known")


def _known(version: Version | None, names: Mapping[Version, Known]) -> Known | None:
    if version is None:
        return None
    if version not in names:
        known = ", ".join(map(repr, names))
        raise LocalProtocolError(f"unknown version {version!r}; known versions are {known}")
    return names[version]


class Translated:
    """A transport to an agent that speaks another version than the client behind this.

    `connect` is a transport to the agent, or a function that makes one; with a function an agent
    that understands only its own version's `initialize` can be started again.
    """

    def __init__(
        self,
        connect: Transport | Connect,
        *,
        to: Outside | None = None,
        speaks: Spoken | None = None,
        settings: Settings = NOTHING_SPECIAL,
        keep_secret: Callable[[str, Json], None] | None = None,
        found: Callable[[Spoken], None] = lambda _: None,
    ) -> None:
        """`to` is the version to serve; None means the one that the client speaks.

        `speaks` is the agent's version if it is known; otherwise `found` gets it.
        """
        self._restartable = callable(connect)
        self._connect: Connect = connect if callable(connect) else lambda: connect
        self._to: Outside | None = to
        self._speaks: Spoken | None = speaks
        self._settings = settings
        self._keep_secret = keep_secret or _forget
        self._found = found
        self._receiver: Receiver | None = None
        self._relay: Relay | None = None
        self._said: list[bytes] = []
        self._wake = anyio.Event()
        self._inside = False
        self._paused = False
        self._over: Ended | None = None

    @classmethod
    def spawn(
        cls,
        *command: str,
        to: Version | None = None,
        speaks: Version | None = None,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        stderr: StderrListener | None = None,
        strict: bool = False,
        unstable: bool = False,
        host: bool = True,
    ) -> Translated:
        """Return a transport to a program, given word by word; the client's `initialize` starts it.

        `to` is the version to serve (None: the client's), `speaks` the agent's own (None: it is
        detected).  With `strict`, data without a counterpart is an error.  With `host`, an agent
        of v1 whose client offers no files and terminals gets those of this machine.
        """
        outside, inside = _known(to, _OUTSIDE), _known(speaks, _INSIDE)
        parts = frozenset(("fs", "terminal")) if host else frozenset[str]()
        return cls(
            lambda: SubprocessTransport(command, cwd=cwd, env=env, stderr=stderr),
            to=outside,
            speaks=inside,
            settings=Settings(strict, unstable, parts),
        )

    @property
    def losses(self) -> dict[str, int]:
        """The number of things that had no counterpart in the other version, by kind."""
        if self._relay is None or self._relay.translator is None:
            return {}
        lost = dict(self._relay.translator.losses)
        for port in (self._relay.client, self._relay.agent):
            for kind, count in port.unsaid.items():
                lost[kind] = lost.get(kind, 0) + count
        return lost

    @property
    def unstarted(self) -> SpawnFailed | None:
        """Why the agent could not be started at all."""
        return None if self._relay is None else self._relay.unstarted

    @property
    def backlog(self) -> int:
        """Bytes that the agent has not taken yet."""
        transport = None if self._relay is None else self._relay.transport
        return 0 if transport is None else transport.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Get ready; the client's `initialize` starts the agent."""
        self._receiver = receiver
        host = LocalHost(tasks) if self._settings.host else None
        # A lost notification is an error in strict mode, and only the log can report it.
        log = _log.warning if self._settings.strict else _log.info
        read = _unread if host is None else host.read
        around = surroundings(log, _log.warning, read, self._keep_secret)
        self._relay = Relay(
            self._connect,
            self._say,
            tasks,
            around,
            to=self._to,
            speaks=self._speaks,
            settings=self._settings,
            restartable=self._restartable,
            host=host,
            ended=self._ended,
            found=self._found,
        )
        if host is not None:
            host.tell = self._relay.from_host
        tasks.start_soon(self._relay.keep_time, name="translator's clock")
        tasks.start_soon(self._deliver, name="translated")

    def _say(self, data: bytes) -> None:
        """Deliver bytes to the client: at once, or from a task if its own `write` caused them."""
        if self._inside or self._paused or self._said:
            self._said.append(data)
            self._wake.set()
        else:
            assert self._receiver is not None
            self._receiver.data_received(data)

    async def _deliver(self) -> None:
        assert self._receiver is not None
        while True:
            while self._said and not self._paused:
                data = b"".join(self._said)
                self._said.clear()
                self._receiver.data_received(data)
            if self._over is not None and not self._said:
                break
            self._wake = anyio.Event()
            await self._wake.wait()
        self._receiver.ended(self._over)

    def _ended(self, why: Ended) -> None:
        if self._over is None:
            self._over = why
            self._wake.set()

    def write(self, data: bytes) -> None:
        """Take the client's bytes and send the agent what they mean."""
        if self._relay is None or self._over is not None:
            return
        self._inside = True
        try:
            self._relay.client_data(data)
        except FrameTooLong as error:
            self._ended(Ended(f"the client sent too long a message: {error}"))
        finally:
            self._inside = False

    async def drain(self) -> None:
        """Wait until the agent has taken most of it."""
        if self._relay is not None and self._relay.transport is not None:
            await self._relay.transport.drain()

    def pause(self) -> None:
        """Deliver nothing until `resume`; the agent is not read meanwhile."""
        self._paused = True
        if self._relay is not None and self._relay.transport is not None:
            self._relay.transport.pause()

    def resume(self) -> None:
        self._paused = False
        self._wake.set()
        if self._relay is not None and self._relay.transport is not None:
            self._relay.transport.resume()

    def close_write(self) -> None:
        """Tell the agent that the client has disconnected; its last messages still arrive."""
        transport = None if self._relay is None else self._relay.transport
        if isinstance(transport, SubprocessTransport):
            transport.close_write()

    async def finish(self, seconds: float = LAST_ANSWERS_SECONDS_MAX) -> None:
        """Wait, within a bound, until every request of the disconnected client is answered."""
        if self._relay is not None:
            self._relay.client_rest()
            with anyio.move_on_after(seconds):
                await self._relay.quiet.wait()

    async def aclose(self) -> None:
        if self._relay is not None:
            await self._relay.close_agent()
        self._ended(Ended("closed here", clean=True))


async def carry(outer: Transport, inner: Transport) -> Ended | None:
    """Pass bytes on between a client and a transport to its agent until one of them ends.

    Returns why the agent ended; None if the client ended first.
    """
    ended: Ended | None = None
    async with anyio.create_task_group() as tasks:
        lane = _Lanes(outer, inner, tasks)
        try:
            await inner.start(lane.from_agent, tasks)
            await outer.start(lane.from_client, tasks)
            await lane.over.wait()
            ended = lane.from_agent.why
            if ended is None and isinstance(inner, Translated):
                await inner.finish()
                await outer.drain()
        finally:
            # An interrupt must not leave an agent behind.
            with anyio.CancelScope(shield=True):
                await inner.aclose()
        await outer.drain()
        await outer.aclose()
        tasks.cancel_scope.cancel()
    return ended


class _Lanes:
    def __init__(self, outer: Transport, inner: Transport, tasks: TaskGroup) -> None:
        self.over = anyio.Event()
        self.from_client = _Lane(outer, inner, tasks, self.over)
        self.from_agent = _Lane(inner, outer, tasks, self.over)


class _Lane:
    """One direction; its source pauses while its destination is slow."""

    def __init__(
        self, source: Transport, to: Transport, tasks: TaskGroup, over: anyio.Event
    ) -> None:
        self._source = source
        self._to = to
        self._tasks = tasks
        self._over = over
        self._waiting = False
        self.why: Ended | None = None

    def data_received(self, data: bytes) -> None:
        self._to.write(data)
        if not self._waiting and self._to.backlog > BACKLOG_BYTES_MAX:
            self._waiting = True
            self._source.pause()
            self._tasks.start_soon(self._wait)

    async def _wait(self) -> None:
        await self._to.drain()
        self._waiting = False
        self._source.resume()

    def ended(self, why: Ended) -> None:
        self.why = why
        self._over.set()


def _unread(path: str) -> str | None:
    return None


def _forget(method: str, credentials: Json) -> None:
    _log.warning("the credentials for %s cannot be stored here and were dropped", method)
