"""The journal: bounded, and kept with the session."""

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.agent.session.agent_session import AgentSession
from accord.builtin import undo_journal
from accord.builtin.undo_journal import Change, Journal


class Keeper:
    """A session that only keeps."""

    def __init__(self, value: bytes | None = None) -> None:
        self.value = value

    async def keep(self, name: str, value: bytes) -> None:
        assert name == "journal"
        self.value = value

    async def kept(self, name: str) -> bytes | None:
        return self.value


def made(keeper: Keeper) -> AgentSession:
    """As far as the journal is concerned."""
    return cast(AgentSession, keeper)


@pytest.fixture
def anyio_backend() -> str:
    """One is enough: nothing here waits."""
    return "asyncio"


async def test_a_file_that_changes_twice_in_a_turn_keeps_its_first_text() -> None:
    """What undo needs is how it was before the turn."""
    keeper = Keeper()
    book = Journal(made(keeper))
    turn = object()
    await book.record(turn, "one", Change("/a", "1", "2"))
    await book.record(turn, "one", Change("/a", "2", "3"), Change("/b", None, "x"))
    await book.record(object(), "two", Change("/a", "3", None))
    again = await Journal.restore(made(keeper))
    assert again.last is not None
    assert again.last.title == "two"
    assert list(again.last.changes.values()) == [Change("/a", "3", None)]
    await again.forget_last()
    assert again.last is not None
    assert set(again.last.changes.values()) == {Change("/a", "1", "3"), Change("/b", None, "x")}
    await again.forget_last()
    await again.forget_last()
    assert again.last is None


async def test_it_is_bounded_in_turns_and_in_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brief: bounded."""
    keeper = Keeper()
    book = Journal(made(keeper))
    for number in range(100):
        await book.record(object(), str(number), Change("/a", "x", "y"))
    count = 0
    while book.last is not None:
        count += 1
        await book.forget_last()
    assert count == undo_journal.TURNS_MAX
    monkeypatch.setattr(undo_journal, "CHARACTERS_MAX", 100)
    turn = object()
    await book.record(turn, "big", Change("/a", "x" * 60, "y" * 60))
    assert book.last is None
    await book.record(turn, "rest of it", Change("/b", "x", "y"))
    assert book.last is None
    await book.record(object(), "small", Change("/a", "x", "y"))
    assert book.last is not None


async def test_what_is_taken_back_is_not_noted_again() -> None:
    """Undo must not be what the next undo takes back."""
    book = Journal(made(Keeper()))
    with book.paused():
        await book.record(object(), "", Change("/a", "x", "y"))
    assert book.last is None


@given(st.binary(max_size=40) | st.sampled_from([b"[]", b"{}", b"[1]", b'[{"title": 1}]', b"null"]))
async def test_an_unreadable_journal_is_an_empty_one(value: bytes) -> None:
    """A store may hold what another version wrote."""
    assert (await Journal.restore(made(Keeper(value)))).last is None
