"""Ways to damage a real store, each a name and a function of its path."""

import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio

from accord.schema import v2
from accord.store.session_store import SessionRecord
from accord.store.sqlite import SqliteStore

PAGE = 8192
SESSIONS = 4
UPDATES = 22

Damaging = Callable[[Path], None]


def make_store(path: Path) -> None:
    """Sessions with updates of many sizes, some larger than a page, and values beside them."""

    async def fill() -> None:
        store = SqliteStore(path)
        for number in range(SESSIONS):
            name = f"session-{number}"
            record = SessionRecord(name, "/", title=f"About {number}")
            log = await store.create(record)
            for index in range(UPDATES):
                text = f"{number}.{index} " * (1 if index % 7 else 2500)
                content = v2.TextContent(text=text)
                done = log.append(
                    v2.AgentMessageChunk(message_id=f"m{number}-{index}", content=content)
                )
                assert done is not None
                await done
            await store.keep(name, "history", b"x" * 5000)
            await store.release(name)
        await store.aclose()

    anyio.run(fill)


def overwritten(start: int, data: bytes) -> Damaging:
    """Other bytes at a place."""

    def damage(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(start)
            file.write(data)

    return damage


def truncated(size: int) -> Damaging:
    """Only the beginning."""
    return lambda path: os.truncate(path, size)


def changed(*statements: str) -> Damaging:
    """What another program did with SQL."""

    def damage(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()

    return damage


def replaced(data: bytes) -> Damaging:
    """Something else altogether."""

    def damage(path: Path) -> None:
        path.write_bytes(data)

    return damage


def beside(suffix: str, data: bytes) -> Damaging:
    """A log, or its index, that belongs to something else."""

    def damage(path: Path) -> None:
        Path(f"{path}{suffix}").write_bytes(data)

    return damage


def as_folder(path: Path) -> None:
    """A folder of that name."""
    path.unlink()
    path.mkdir()


def noise(seed: str, size: int) -> bytes:
    """The same random bytes each time."""
    return random.Random(seed).randbytes(size)


def page_damages(pages: int) -> Iterator[tuple[str, Damaging]]:
    """Every page: random bytes in the whole of it, its head, its middle; zeros; cut off there."""
    for number in range(pages):
        start = number * PAGE
        yield f"page {number} random", overwritten(start, noise(f"p{number}", PAGE))
        yield f"page {number} head", overwritten(start, noise(f"h{number}", 120))
        yield f"page {number} middle", overwritten(start + PAGE // 2, noise(f"m{number}", 500))
        yield f"page {number} end", overwritten(start + PAGE - 300, noise(f"e{number}", 300))
        yield f"page {number} zero", overwritten(start, bytes(PAGE))
        yield f"page {number} cut", truncated(start + 1000)


NAMED: dict[str, Damaging] = {
    "schema text": overwritten(PAGE - 700, noise("schema", 200)),
    "header": overwritten(0, noise("header", 100)),
    "header numbers": overwritten(16, noise("numbers", 84)),
    "empty of noise": replaced(noise("noise", 50_000)),
    "text": replaced(b"this is not a database\n" * 100),
    "one byte": replaced(b"S"),
    "magic alone": replaced(b"SQLite format 3\0"),
    "newer": changed("PRAGMA user_version = 99"),
    "version 0": changed("PRAGMA user_version = 0"),
    "another program": changed("PRAGMA application_id = 7"),
    "no sessions table": changed("DROP TABLE sessions"),
    "no events table": changed("DROP TABLE events"),
    "no pruned table": changed("DROP TABLE pruned"),
    "no column": changed("ALTER TABLE sessions DROP COLUMN title"),
    "schema rows gone": changed("DELETE FROM sqlite_master WHERE name = 'sessions'"),
    "schema of nonsense": changed("UPDATE sqlite_master SET sql = 'x' WHERE name = 'kept'"),
    "rows of bytes": changed("UPDATE sessions SET cwd = x'ff', title = x'fe', updated_at = x'00'"),
    "rows of bad text": changed("UPDATE sessions SET title = CAST(x'ff41' AS TEXT)"),
    "rows of numbers": changed("UPDATE sessions SET cwd = 7, rest = 8, created_at = 9"),
    "bad json": changed("UPDATE sessions SET rest = '{'"),
    "other json": changed("""UPDATE sessions SET rest = '{"additional_directories": [1]}'"""),
    "deep json": changed(f"UPDATE sessions SET rest = '{'[' * 100_000}'"),
    "bad updates": changed("UPDATE events SET data = x'7b'"),
    "updates of text": changed("UPDATE events SET data = 'text'"),
    "other updates": changed("UPDATE events SET data = CAST('[1]' AS BLOB)"),
    "kept text": changed("UPDATE kept SET value = 'text'"),
    "owner of nonsense": changed("UPDATE sessions SET owner_token = 7, owner_pid = 'x'"),
    "foreign log": beside("-wal", noise("log", 40_000)),
    "empty log": beside("-wal", b""),
    "foreign index": beside("-shm", noise("index", 32_768)),
    "folder": as_folder,
}
