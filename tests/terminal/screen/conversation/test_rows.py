"""Rows of which only those that somebody looks at exist."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from accord.terminal.model.chat import Chat
from accord.terminal.render.conversation_colours import NONE
from accord.terminal.render.render_options import Look
from accord.terminal.screen.conversation.rows import START, Heights, Place, Rows
from accord.transcript import Plan
from tests.terminal.screen.harness.conversation_stage import new_chat, say, take

LOOK = Look(40, NONE)


def call(chat: Chat, number: int) -> None:
    take(chat, "tool_call", toolCallId=f"c{number}", title=f"Call {number}", status="completed")


def texts(rows: Rows, places: list[Place]) -> list[str]:
    found = [rows.strip_at(place) for place in places]
    return ["" if strip is None else strip.text.rstrip() for strip in found]


def test_a_blank_line_stands_between_blocks_but_not_between_cards() -> None:
    """The seam between blocks and the view."""
    chat = new_chat()
    say(chat, "one", "a")
    say(chat, "two", "b")
    call(chat, 1)
    call(chat, 2)
    say(chat, "three", "c")
    rows = Rows(chat, LOOK)
    found = texts(rows, rows.window(START, 20))
    assert [bool(line) for line in found] == [
        True, False, True, False, True, True, False, True,
    ]  # fmt: skip


def test_a_block_without_lines_takes_no_room() -> None:
    """Blocks that are shown elsewhere leave no gap."""
    chat = new_chat()
    say(chat, "one", "a")
    say(chat, " \n", "t", "agent_thought")
    say(chat, "two", "b")
    rows = Rows(chat, LOOK)
    assert [line for line in texts(rows, rows.window(START, 20)) if line] == ["one", "two"]


def test_an_entry_that_changes_is_measured_again() -> None:
    """What is out of sight is guessed again, what is in sight is rendered."""
    chat = new_chat()
    say(chat, "one", "a")
    rows = Rows(chat, LOOK)
    rows.window(START, 5)
    say(chat, "\n\ntwo", "a")
    rows.entry_changed(chat.take_changes().entries)
    assert texts(rows, rows.window(START, 5)) == ["one", "", "two"]
    assert rows.heights.total == 3


def test_a_rebuild_keeps_how_entries_are_folded() -> None:
    """A list of entries that changed in its middle is built again."""
    chat = new_chat()
    say(chat, "deep", "t", "agent_thought")
    rows = Rows(chat, LOOK)
    rows.blocks[0].toggle()
    chat.entries.insert(0, Plan("p"))
    rows.rebuild()
    assert [block.folded for block in rows.blocks] == [True, False]
    assert rows.index_of(chat.entries[1]) == 1
    assert rows.index_of(Plan("q")) is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b\nc", "d" * 90, "| a |\n|--|\n| b |", ""]), max_size=25),
    st.lists(st.tuples(st.integers(0, 30), st.integers(-12, 12)), max_size=12),
)
def test_walking_agrees_with_counting(said: list[str], steps: list[tuple[int, int]]) -> None:
    """The invariant: a place so many rows away is where counting all rows finds it."""
    chat = new_chat()
    for number, text in enumerate(said):
        role = "agent_thought" if number % 3 == 2 else "agent_message"
        say(chat, text, f"m{number}", role)
    rows = Rows(chat, LOOK)
    every = [
        Place(index, row) for index in range(len(rows.blocks)) for row in range(rows.rows(index))
    ]
    lazy = Rows(chat, LOOK)
    for start, delta in steps:
        if not every:
            assert lazy.end(5) == START
            continue
        at = min(start, len(every) - 1)
        wanted = every[max(min(at + delta, len(every) - 1), 0)]
        found = lazy.up(every[at], -delta) if delta < 0 else lazy.down(every[at], delta)
        assert lazy.window(found, 1) == [wanted]
        assert lazy.window(every[at], 6) == every[at : at + 6]
    if every:
        assert lazy.window(lazy.end(6), 9) == every[-6:]


heights = st.lists(st.integers(0, 9), min_size=1, max_size=70)


@given(heights, st.lists(st.tuples(st.integers(0, 69), st.integers(0, 9)), max_size=20))
def test_sums_are_those_of_counting(
    given_heights: list[int], changes: list[tuple[int, int]]
) -> None:
    """The invariant of the class."""
    kept, plain = Heights(given_heights), list(given_heights)
    for index, height in changes:
        if index < len(plain):
            kept.set(index, height)
            plain[index] = height
    assert kept.total == sum(plain)
    assert [kept.before(at) for at in range(len(plain) + 1)] == [
        sum(plain[:at]) for at in range(len(plain) + 1)
    ]


@given(heights, st.integers(-3, 700))
def test_a_line_is_found_in_the_one_that_has_it(given_heights: list[int], line: int) -> None:
    """The invariant of the class."""
    rows = [(at, row) for at, height in enumerate(given_heights) for row in range(height)]
    found = Heights(given_heights).find(line)
    if 0 <= line < len(rows):
        assert found == rows[line]
    elif line < 0 and rows:
        assert found == rows[0]
    else:
        assert found[0] == len(given_heights) - 1


def test_nothing_has_no_lines() -> None:
    """A conversation begins empty."""
    empty = Heights()
    assert (len(empty), empty.total, empty.find(3), empty.before(0)) == (0, 0, (0, 0), 0)
