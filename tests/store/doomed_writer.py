"""A program that writes sessions until it is killed; for `test_sqlite_killed.py`.

Started once, it forks a warm child for every line on stdin (`PATH SEED`), says `pid N`, and
`dead` once that child is.  A child says every update, after it was awaited, as `SESSION NUMBER`.
"""

import os
import random
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import anyio

from accord.schema import v2
from accord.store import SessionLog, SessionRecord
from accord.store.sqlite import SqliteStore

AT_ONCE = 4


def say(text: str) -> None:
    """In one piece: what is said before the end is said whole."""
    os.write(1, f"{text}\n".encode())


def numbered(number: int, size: int) -> v2.AgentMessage:
    """An update that can be told from all others."""
    text = v2.TextContent(text="x" * size)
    return v2.AgentMessage(message_id=str(number), content=[text])


class Writing:
    """What one child does."""

    def __init__(self, path: Path, seed: str) -> None:
        self._store = SqliteStore(path)
        self._seed = seed
        self._dice = random.Random(seed)

    async def session(self, index: int) -> None:
        """Go on with a session of somebody who is dead, or make one; then write and write."""
        name, number, log = await self._begin(index)
        while True:
            # Now and then more than a page, so that the write-ahead log is moved often.
            for _ in range(self._dice.randint(1, 8)):
                number += 1
                size = 20_000 if self._dice.random() < 0.05 else 60
                writing = log.append(numbered(number, size))
                assert writing is not None
                await writing
                say(f"{name} {number}")
            await self._store.keep(name, "number", b"%d" % number)
            say(f"kept:{name} {number}")
            record = await self._store.get(name)
            assert record is not None
            await self._store.put(replace(record, title=f"title {number}"))

    async def _begin(self, index: int) -> tuple[str, int, SessionLog]:
        known = (await self._store.list(None, None)).sessions
        if len(known) > index and self._dice.random() < 0.5:
            name = known[index].session_id
            log = await self._store.open(name)
            assert log is not None
            numbers = [int(update.message_id) async for update in log.replay()]
            return name, len(numbers), log
        name = f"{self._seed}-{index}"
        return name, 0, await self._store.create(SessionRecord(name, "/w"))

    async def write(self) -> None:
        """Several sessions at a time, so that commits are shared."""
        async with anyio.create_task_group() as tasks:
            for index in range(AT_ONCE):
                tasks.start_soon(self.session, index)


async def warm_up() -> None:
    """Load once what every child would load; the thread ends with the store."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "s.sqlite3")
        log = await store.create(SessionRecord("a", "/w"))
        writing = log.append(numbered(1, 1))
        assert writing is not None
        await writing
        assert [update async for update in log.replay()]
        await store.aclose()


def main() -> None:
    """Fork on demand."""
    anyio.run(warm_up)
    for line in sys.stdin:
        path, seed = line.split()
        pid = os.fork()
        if pid == 0:
            try:
                anyio.run(Writing(Path(path), seed).write)
            finally:
                os._exit(1)
        say(f"pid {pid}")
        os.waitpid(pid, 0)
        say("dead")


if __name__ == "__main__":
    main()
