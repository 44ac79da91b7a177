"""Stores that take virtual time, and forget what was not committed when their process dies.

`SlowStore` keeps a `MemoryStore`; `SeededWriter` makes the real SQLite store work without its
thread.  Both commit in groups, in the order of the calls.
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from pathlib import Path
from random import Random
from typing import Any

import anyio

from accord.store import MemoryStore
from accord.store.owner_process import Owner, this_process
from accord.store.session_store import Page, SessionLog, SessionRecord
from accord.store.sqlite import SqliteStore
from accord.store.writer_thread import Writer, tell
from tests.simulation.runtime.loop import SeededLoop

# No process has this number, so that whoever comes next finds the owner dead.
NOBODY = 2**30


class Life:
    """Of one agent's process: once it is dead, nothing that it does leaves a trace."""

    def __init__(self) -> None:
        self.dead = False


class _Waiting:
    """Work that is done with the next commit."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.done = anyio.Event()

    def __await__(self) -> Generator[Any, Any, Any]:
        if not self.done.is_set():
            yield from self.done.wait().__await__()
        return self.result


def _at_once(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("the memory store waited")


class SlowStore:
    """A memory store behind a queue."""

    def __init__(self, inner: MemoryStore, loop: SeededLoop, random: Random, life: Life) -> None:
        self._inner = inner
        self._loop = loop
        self._random = random
        self._life = life
        self._queue: list[_Waiting] = []
        self._seconds = random.choice((0.0, 0.001, 0.05))

    def submit(self, work: Callable[[], Any]) -> _Waiting:
        """Have it done soon, after all that was handed in before."""
        waiting = _Waiting(work)
        if not self._queue:
            self._loop.call_later(self._random.random() * self._seconds, self._commit)
        self._queue.append(waiting)
        return waiting

    def _commit(self) -> None:
        queue, self._queue = self._queue, []
        for waiting in queue:
            if not self._life.dead:
                waiting.result = waiting.work()
        for waiting in queue:
            waiting.done.set()

    async def _do(self, method: Callable[..., Coroutine[Any, Any, Any]], *args: Any) -> Any:
        return await self.submit(lambda: _at_once(method(*args)))

    async def create(self, record: SessionRecord) -> SessionLog:
        """As the store inside, later."""
        return SlowLog(self, await self._do(self._inner.create, record))

    async def get(self, session_id: str) -> SessionRecord | None:
        """As the store inside, later."""
        found: SessionRecord | None = await self._do(self._inner.get, session_id)
        return found

    async def open(self, session_id: str) -> SessionLog | None:
        """As the store inside, later."""
        log = await self._do(self._inner.open, session_id)
        return None if log is None else SlowLog(self, log)

    async def release(self, session_id: str) -> None:
        """As the store inside, later."""
        await self._do(self._inner.release, session_id)

    async def put(self, record: SessionRecord) -> None:
        """As the store inside, later; what is to be put is put even if nobody waits for it."""
        await self.submit(lambda: _at_once(self._inner.put(record)))

    async def list(self, cwd: str | None, cursor: str | None, archived: bool | None = None) -> Page:
        """As the store inside, later."""
        page = await self._do(self._inner.list, cwd, cursor, archived)
        return page or Page(())

    async def delete(self, session_id: str) -> bool:
        """As the store inside, later."""
        return bool(await self._do(self._inner.delete, session_id))

    async def fork(self, session_id: str, record: SessionRecord) -> SessionLog | None:
        """As the store inside, later."""
        log = await self._do(self._inner.fork, session_id, record)
        return None if log is None else SlowLog(self, log)

    async def keep(self, session_id: str, name: str, value: bytes) -> None:
        """As the store inside, later."""
        await self._do(self._inner.keep, session_id, name, value)

    async def kept(self, session_id: str, name: str) -> bytes | None:
        """As the store inside, later."""
        found: bytes | None = await self._do(self._inner.kept, session_id, name)
        return found


class SlowLog:
    """A log behind the same queue."""

    def __init__(self, store: SlowStore, inner: Any) -> None:
        self._store = store
        self._inner = inner

    def append(self, update: Any) -> Any:
        """In the order of the calls; committed later, whoever waits for it."""
        return self._store.submit(lambda: self._inner.append(update))

    async def replay(self) -> AsyncIterator[Any]:
        """All that is committed."""
        await self._store.submit(lambda: None)
        if self._inner is not None:
            async for update in self._inner.replay():
                yield update


class SeededWriter(Writer):
    """SQLite's writer as a callback of the loop instead of a thread."""

    def __init__(self, path: Path, loop: SeededLoop, random: Random, life: Life) -> None:
        super().__init__(path)
        self._loop = loop
        self._random = random
        self._life = life
        self._due = False
        self._seconds = random.choice((0.0, 0.001, 0.05))

    def _start(self) -> None:
        if not self._due:
            self._due = True
            self._loop.call_later(self._random.random() * self._seconds, self._pump)

    def _pump(self) -> None:
        self._due = False
        if self._queue.empty():
            return
        group, _ = self._gather()
        if not self._life.dead:
            self._do(group)
        for one in group if self._life.dead else ():
            one.settle(None, None)
        tell(group)
        if not self._queue.empty():
            self._start()

    def end(self) -> None:
        """The process is gone: the file is closed as it is."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def sqlite_store(path: Path, loop: SeededLoop, random: Random, life: Life) -> SqliteStore:
    """The real store over a file, on the loop's time, owned by a process of its own."""
    store = SqliteStore(path)
    store._writer = SeededWriter(path, loop, random, life)
    owner = this_process()
    store._owner = Owner(owner.token, NOBODY, 0, owner.place)
    return store
