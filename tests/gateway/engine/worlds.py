"""Engines of each kind for tests: with clocks that a test moves, and a process that can restart."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from accord.gateway.engine.interface import Engine, Event, Lease, NewEvent, Node, SessionRecord
from accord.gateway.engine.memory import MemoryDisk, MemoryEngine
from accord.gateway.engine.sqlite import SqliteEngine

LEASE_SECONDS = 10.0
LOG_BYTES_MAX = 100_000
START = 1_000_000_000.0


class World:
    """One storage, and the engine that is open on it."""

    def __init__(self) -> None:
        self.now = START
        self.lease_now = 0.0
        self._stack = AsyncExitStack()
        self.engine: Engine

    @abstractmethod
    def make_engine(self, **options: Any) -> Engine:
        """A new engine over the same storage."""

    def _options(self) -> dict[str, Any]:
        return {
            "now": lambda: self.now,
            "lease_clock": lambda: self.lease_now,
            "lease_seconds": LEASE_SECONDS,
            "log_bytes_max": LOG_BYTES_MAX,
        }

    async def __aenter__(self) -> World:
        self.engine = await self._stack.enter_async_context(self.make_engine(**self._options()))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def restart(self) -> None:
        """The process ends, and another one begins."""
        await self._stack.aclose()
        await self.__aenter__()

    # ---- what most tests begin with

    async def owned(self, session: str = "s", node: str = "a") -> Lease:
        """A new session with an owner."""
        await self.engine.create(record(session))
        return await self.engine.own(session, await self.engine.enter(node))

    async def taken_over(self, lease: Lease, node: str = "b") -> Lease:
        """The lease of another node, after the time of the first one has passed."""
        self.lease_now += LEASE_SECONDS
        return await self.engine.own(lease.session, await self.engine.enter(node))


class MemoryWorld(World):
    """In memory."""

    def __init__(self) -> None:
        super().__init__()
        self._disk = MemoryDisk()

    def make_engine(self, **options: Any) -> Engine:
        return MemoryEngine(self._disk, **options)


class SqliteWorld(World):
    """In a file."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.path = folder / "gateway.sqlite3"

    def make_engine(self, **options: Any) -> Engine:
        return SqliteEngine(self.path, **options)


def record(session: str = "s", **fields: Any) -> SessionRecord:
    """A record with what every one needs."""
    given: dict[str, Any] = {
        "agent": "tidy",
        "principal": "ann",
        "cwd": "/w",
        "protocol_version": 2,
        **fields,
    }
    return SessionRecord(session=session, **given)


def events(*frames: str) -> list[NewEvent]:
    """Events with these frames."""
    return [NewEvent("update", frame.encode()) for frame in frames]


async def frames_of(engine: Engine, session: str = "s", after: int = 0) -> list[str]:
    """The frames of a log after a number, read page by page."""
    return [event.frame.decode() for event in await all_events(engine, session, after)]


async def all_events(engine: Engine, session: str = "s", after: int = 0) -> list[Event]:
    """The events of a log after a number, which have no gap."""
    found: list[Event] = []
    while True:
        page = await engine.read_after(session, after, 3)
        assert [event.seq for event in page.events] == list(
            range(after + 1, after + 1 + len(page.events))
        )
        found += page.events
        if not page.events:
            assert after == page.last
            return found
        after = page.events[-1].seq


def gone_node(name: str = "gone") -> Node:
    """A node that never entered."""
    return Node(name, "never")
