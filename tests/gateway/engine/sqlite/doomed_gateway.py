"""A program that appends to sessions until it is killed; for `test_engine_killed.py`.

Started once, it forks a warm child for every line on stdin (`PATH SEED`), says `pid N`, and
`dead` once that child is.  A child says every append that has returned as `SESSION SEQ EPOCH`.
"""

import os
import random
import sys
import tempfile
from pathlib import Path

import anyio

from accord.gateway.engine.engine_errors import SessionExists
from accord.gateway.engine.interface import NewEvent, Node, SessionRecord
from accord.gateway.engine.sqlite import SqliteEngine

SESSIONS = 6


def say(text: str) -> None:
    """In one piece: what is said before the end is said whole."""
    os.write(1, f"{text}\n".encode())


async def write(engine: SqliteEngine, session: str, node: Node, dice: random.Random) -> None:
    """Append groups of numbered events, with a snapshot and a trim now and then."""
    lease = await engine.own(session, node)
    last = lease.last
    while True:
        count = dice.randint(1, 30)
        size = 20_000 if dice.random() < 0.05 else 60
        group = [NewEvent("k", b"%d " % (last + 1 + n) + bytes(size)) for n in range(count)]
        last = await engine.append(lease, group)
        say(f"{session} {last} {lease.epoch}")
        if dice.random() < 0.1:
            await engine.extend_snapshot(lease, last, b"%d" % last, 20)
            await engine.trim(lease, last // 2)


async def run(path: str, seed: str) -> None:
    """Several sessions at a time, so that commits are shared."""
    dice = random.Random(seed)
    async with SqliteEngine(Path(path)) as engine, anyio.create_task_group() as tasks:
        # The one before was killed: its sessions are free at once.
        node = await engine.enter("node")
        for number in range(SESSIONS):
            session = f"s{number}"
            try:
                await engine.create(
                    SessionRecord(
                        session=session, agent="a", principal="p", cwd="/w", protocol_version=2
                    )
                )
            except SessionExists:
                pass
            tasks.start_soon(write, engine, session, node, random.Random(dice.random()))


async def warm_up() -> None:
    """Load once what every child would load; the thread ends with the engine."""
    with tempfile.TemporaryDirectory() as folder:
        async with SqliteEngine(Path(folder) / "s.sqlite3"):
            pass


def main() -> None:
    """Fork on demand."""
    # On the loop's own thread: a thread pool would not outlive a fork.
    anyio.run(warm_up)
    for line in sys.stdin:
        path, seed = line.split()
        pid = os.fork()
        if pid == 0:
            try:
                anyio.run(run, path, seed)
            finally:
                os._exit(1)
        say(f"pid {pid}")
        os.waitpid(pid, 0)
        say("dead")


if __name__ == "__main__":
    main()
