"""Any damage gets one sentence with the file's path and what can be done, and no other harm."""

import random
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.errors import StoreError
from accord.schema import v2
from accord.store.database_file import open_file
from accord.store.rescue import Rescued, rescue
from accord.store.session_store import SessionRecord
from accord.store.sqlite import SqliteStore, try_store
from tests.store.damage import (
    NAMED,
    PAGE,
    SESSIONS,
    UPDATES,
    Damaging,
    changed,
    make_store,
    noise,
    overwritten,
    page_damages,
)

PAGES_MAX = 60
REQUESTS = 1 + 4 * SESSIONS + 3
"""What `use` asks of a store that refuses everything."""


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "sessions.sqlite3"
    make_store(path)
    return path


def damaged_copy(whole: Path, folder: Path, damage: Damaging) -> Path:
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    path = folder / "sessions.sqlite3"
    shutil.copy(whole, path)
    damage(path)
    return path


async def use(path: Path) -> list[StoreError]:
    """Do everything with a store; what it refused."""
    store = SqliteStore(path)
    refused: list[StoreError] = []

    async def tried(work: Any) -> Any:
        try:
            return await work
        except StoreError as error:
            refused.append(error)
            return None

    await tried(store.list(None, None))
    for number in range(SESSIONS):
        name = f"session-{number}"
        await tried(store.get(name))
        await tried(store.holder(name))
        await tried(store.kept(name, "history"))
        log = await tried(store.read(name))
        if log is not None:

            async def replayed(log: Any = log) -> None:
                async for _ in log.replay():
                    pass

            await tried(replayed())
    await tried(store.put(SessionRecord("session-1", "/w", title="new")))
    log = await tried(store.create(SessionRecord("another", "/w")))
    if log is not None:
        text = v2.AgentMessageChunk(message_id="m", content=v2.TextContent(text="x"))
        await tried(log.append(text))
    await tried(store.delete("session-2"))
    await tried(store.aclose())
    return refused


def assert_told(error: StoreError, path: Path) -> None:
    text = str(error)
    if error.reason == "session_missing":
        return
    assert str(path) in text, text
    helps = ("sessions rescue", "ACCORD_STATE_DIR", "update accord", "free some")
    assert any(one in text for one in helps), text
    assert text.isprintable(), text


def check(path: Path) -> None:
    """Whatever is wrong with it: told in words; and left as it is where that is said."""
    before = path.read_bytes() if path.is_file() else b""
    at_once: StoreError | None = None
    try:
        try_store(path)
    except StoreError as problem:
        at_once = problem
    if at_once is not None:
        assert_told(at_once, path)
        if "was not changed" in str(at_once) and path.is_file():
            assert path.read_bytes() == before
    refused = anyio.run(use, path)
    for error in refused:
        assert_told(error, path)
    if len(refused) == REQUESTS and path.is_file():
        assert path.read_bytes() == before


@pytest.mark.parametrize("name", NAMED)
def test_every_kind_of_damage_is_told(whole: Path, tmp_path: Path, name: str) -> None:
    """Issue 12: damage in the schema page raised an error that nobody caught."""
    check(damaged_copy(whole, tmp_path / "damaged", NAMED[name]))


def test_damage_at_every_place_is_told(whole: Path, tmp_path: Path) -> None:
    """Issue 12: any damage gets one sentence with the file's path and what can be done."""
    pages = whole.stat().st_size // 8192
    assert pages <= PAGES_MAX
    for name, damage in page_damages(pages):
        path = damaged_copy(whole, tmp_path / "damaged", damage)
        try:
            check(path)
        except BaseException as error:
            error.add_note(name)
            raise


def test_damage_anywhere_in_the_schema_is_told(whole: Path, tmp_path: Path) -> None:
    """Issue 12: bytes that are not text there raised UnicodeDecodeError."""
    for seed in range(150):
        chance = random.Random(seed)
        start = PAGE - 2200 + chance.randrange(2000)
        damage = overwritten(start, chance.randbytes(chance.randrange(1, 60)))
        path = damaged_copy(whole, tmp_path / "damaged", damage)
        before = path.read_bytes()
        try:
            open_file(path, "NORMAL").close()
        except StoreError as error:
            assert_told(error, path)
            assert path.read_bytes() == before


def rescued_of(path: Path) -> Rescued | None:
    before = path.read_bytes()
    rescued = None
    with suppress(StoreError):
        rescued = rescue(path)
    assert path.read_bytes() == before
    return rescued


async def texts_of(path: Path) -> dict[str, list[str]]:
    store = SqliteStore(path)
    found: dict[str, list[str]] = {}
    for record in (await store.list(None, None)).sessions:
        log = await store.read(record.session_id)
        assert log is not None
        found[record.session_id] = [update.content.text async for update in log.replay()]
    await store.aclose()
    return found


def test_a_store_that_is_whole_is_saved_whole(whole: Path, tmp_path: Path) -> None:
    """Issue 12: rescue reads without SQLite what SQLite wrote."""
    path = damaged_copy(whole, tmp_path / "damaged", lambda _: None)
    rescued = rescued_of(path)
    assert rescued is not None
    assert (rescued.sessions, rescued.updates) == (SESSIONS, SESSIONS * UPDATES)
    assert (rescued.unnamed, rescued.unreadable, rescued.missing) == (0, 0, 0)
    assert anyio.run(texts_of, rescued.target) == anyio.run(texts_of, path)
    assert anyio.run(SqliteStore(rescued.target).kept, "session-1", "history") == b"x" * 5000


def test_what_is_still_in_the_log_is_saved_too(whole: Path, tmp_path: Path) -> None:
    """Issue 12: a store that was killed has its last updates in the log."""
    path = damaged_copy(whole, tmp_path / "damaged", lambda _: None)

    async def write() -> Path:
        store = SqliteStore(path)
        log = await store.create(SessionRecord("late", "/w", title="Late"))
        text = v2.AgentMessageChunk(message_id="m", content=v2.TextContent(text="last words"))
        done = log.append(text)
        assert done is not None
        await done
        copy = tmp_path / "killed.sqlite3"
        shutil.copy(path, copy)
        shutil.copy(f"{path}-wal", f"{copy}-wal")
        await store.aclose()
        return copy

    rescued = rescued_of(anyio.run(write))
    assert rescued is not None
    assert anyio.run(texts_of, rescued.target)["late"] == ["last words"]


def test_damage_costs_what_it_hits(whole: Path, tmp_path: Path) -> None:
    """Issue 12: what is readable is saved, wherever the damage is."""
    before = anyio.run(texts_of, whole)
    pages = whole.stat().st_size // 8192
    most = 0
    for name, damage in page_damages(pages):
        path = damaged_copy(whole, tmp_path / "damaged", damage)
        rescued = rescued_of(path)
        if rescued is None:
            assert "cut" in name, name
            continue
        after = anyio.run(texts_of, rescued.target)
        known = {text for texts in before.values() for text in texts}
        assert all(text in known for texts in after.values() for text in texts), name
        if "cut" not in name:
            # One page of many: nearly everything is there.
            assert rescued.updates >= SESSIONS * UPDATES * 0.5, name
            most = max(most, rescued.updates)
    assert most == SESSIONS * UPDATES


@pytest.mark.parametrize("name", NAMED)
def test_rescue_saves_or_says_that_there_is_nothing(whole: Path, tmp_path: Path, name: str) -> None:
    """Issue 12: rescue takes any file."""
    path = damaged_copy(whole, tmp_path / "damaged", NAMED[name])
    if path.is_dir():
        with pytest.raises(StoreError, match="cannot be read"):
            rescue(path)
        return
    rescued = rescued_of(path)
    if rescued is not None:
        anyio.run(SqliteStore(rescued.target).list, None, None)


def test_rescue_never_writes_over_a_file(whole: Path, tmp_path: Path) -> None:
    """Issue 12: never overwrites."""
    path = damaged_copy(whole, tmp_path / "damaged", lambda _: None)
    names = [rescue(path).target.name for _ in range(3)]
    assert names == [f"sessions-rescued{end}.sqlite3" for end in ("", "-2", "-3")]
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with pytest.raises(StoreError, match="already exists"):
        rescue(path, taken)
    assert taken.read_text() == "mine"


def test_a_rescue_that_fails_leaves_nothing(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: on a full disk an empty store was left, which looks like what was saved."""
    path = damaged_copy(whole, tmp_path / "damaged", lambda _: None)

    def small(*arguments: Any) -> sqlite3.Connection:
        connection = open_file(*arguments)
        connection.execute("PRAGMA max_page_count = 20")
        return connection

    monkeypatch.setattr("accord.store.rescue.open_file", small)
    with pytest.raises(
        StoreError, match=r"no space left for .*sessions-rescued.sqlite3;"
    ) as failed:
        rescue(path)
    assert failed.value.reason == "store_full"
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_name_that_is_taken_meanwhile_stays(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: two that rescue at the same time do not write to one file."""
    path = damaged_copy(whole, tmp_path / "damaged", lambda _: None)
    place = tmp_path / "place"

    def late(*arguments: Any) -> sqlite3.Connection:
        place.write_text("mine")
        return open_file(*arguments)

    monkeypatch.setattr("accord.store.rescue.open_file", late)
    with pytest.raises(StoreError, match="already exists"):
        rescue(path, place)
    assert place.read_text() == "mine"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["damaged", "place"]


def test_a_store_in_use_is_saved_as_it_is_at_one_time(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: updates were lost that moved from the log into the file between two reads."""
    path = damaged_copy(whole, tmp_path / "damaged", lambda _: None)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("UPDATE sessions SET title = 'in the log'")
    read_bytes = Path.read_bytes

    def then_moved(source: Path) -> bytes:
        data = read_bytes(source)
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return data

    monkeypatch.setattr(Path, "read_bytes", then_moved)
    target = rescue(path).target
    writer.close()
    store = SqliteStore(target)
    page = anyio.run(store.list, None, None)
    assert {one.title for one in page.sessions} == {"in the log"}


def test_updates_that_became_text_are_saved_as_updates(whole: Path, tmp_path: Path) -> None:
    """Ours: one damaged byte makes text of a blob, and what was saved could not be opened."""
    as_text = changed("UPDATE events SET data = CAST(data AS TEXT) WHERE seq = 3")
    rescued = rescue(damaged_copy(whole, tmp_path / "damaged", as_text))
    assert (rescued.updates, rescued.unreadable) == (SESSIONS * UPDATES, 0)
    refused = anyio.run(use, rescued.target)
    assert refused == []


def test_a_damaged_store_keeps_its_log(whole: Path, tmp_path: Path) -> None:
    """Issue 12: what is "left as it is" is not written to, not even what its own log holds."""
    source = damaged_copy(whole, tmp_path / "source", lambda _: None)
    writer = sqlite3.connect(source, isolation_level=None)
    writer.execute("INSERT INTO pruned VALUES ('p', '/', 't', 'u', 'at')")
    query = "SELECT rootpage FROM sqlite_master WHERE name = 'sessions_by_cwd'"
    root = writer.execute(query).fetchone()[0]

    def killed_and_damaged(path: Path) -> None:
        shutil.copy(f"{source}-wal", f"{path}-wal")
        overwritten((root - 1) * PAGE, noise("index", PAGE))(path)

    path = damaged_copy(source, tmp_path / "damaged", killed_and_damaged)
    writer.close()
    log = Path(f"{path}-wal")
    before = path.read_bytes(), log.read_bytes()
    assert before[1]
    with pytest.raises(StoreError, match="was not changed"):
        try_store(path)
    assert (path.read_bytes(), log.read_bytes()) == before
