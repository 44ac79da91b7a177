"""Entries become rows: pairs, streams, lives, turns."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from accord.tracing.display.row import Row
from accord.tracing.display.statistics import figures_of, percentile
from accord.tracing.display.timeline import Timeline, timeline_of
from accord.tracing.recording_file import Entry, read_recording
from tests.tracing.samples import SESSION, Tape, long, prompt, talk


def rows_of(tape: Tape) -> list[Row]:
    return timeline_of(read_recording(tape.lines).entries).rows


def one(rows: list[Row], **facts: Any) -> Row:
    """The only row of which these facts hold."""
    (row,) = (row for row in rows if all(getattr(row, name) == it for name, it in facts.items()))
    return row


def test_a_question_and_its_answer_are_one_row_with_its_latency() -> None:
    """Issue 4: requests paired with answers and their latency."""
    row = one(rows_of(talk()), method="fs/read_text_file")
    assert (row.kind, row.title, row.status) == ("call", "/project/area.py", "ok")
    assert len(row.frames) == 2
    assert row.seconds is not None
    assert abs(row.seconds - 0.004) < 1e-6


def test_a_stream_of_chunks_is_one_row() -> None:
    """Issue 4: streams of chunks folded into one row."""
    first, last = (row for row in rows_of(talk()) if row.kind == "stream")
    assert first.title == "I look at the file first, then I test."
    assert len(first.frames) == 9
    assert last.title == "The area is a product now."


def test_chunks_of_two_sessions_do_not_tear_each_other_apart() -> None:
    """Ours: sessions run side by side."""
    tape = Tape()
    tape.initialize()
    for word in ("a", "b", "c"):
        tape.chunk(word)
        tape.chunk(word.upper(), session="other")
    streams = [row for row in rows_of(tape) if row.kind == "stream"]
    assert [(row.session, row.title) for row in streams] == [(SESSION, "abc"), ("other", "ABC")]


def test_a_tool_call_is_one_row_with_its_life() -> None:
    """Issue 4: tool calls with their life."""
    row = one(rows_of(talk()), kind="tool", title="Edit area.py")
    assert [status for _, status in row.steps] == ["pending", "in_progress", "completed"]
    assert row.status == "completed"
    assert row.seconds is not None
    assert row.seconds > 2.4


def test_a_permission_shows_how_long_it_was_waited_for_and_what_was_said() -> None:
    """Issue 4: permission waits visible."""
    row = one(rows_of(talk()), kind="permission")
    assert (row.title, row.status) == ("Edit area.py", "once")
    assert row.seconds is not None
    assert round(row.seconds, 3) == 2.4


def test_what_happens_in_a_turn_belongs_to_it() -> None:
    """Issue 4: a timeline of turns."""
    rows = rows_of(talk())
    turn = one(rows, kind="turn")
    assert (turn.title, turn.status) == ("Mend the area, please", "end_turn")
    assert [row.method for row in rows if row.turn is None] == [
        "initialize",
        "session/new",
        "session/prompt",
        None,
    ]


def test_a_turn_of_v2_ends_when_the_session_is_idle() -> None:
    """V2-PROMPT-04: the result comes at insertion."""
    tape = Tape()
    turn = tape.ask("client", "session/prompt", prompt("x"))
    tape.answer("agent", turn, {"messageId": "m"})
    tape.update("state_update", state="running")
    tape.update("terminal_update", terminalId="t", command="ls")
    tape.update("terminal_output_chunk", terminalId="t", data="eA==")
    tape.update("terminal_update", terminalId="t", exitStatus={"exitCode": 0})
    tape.update("state_update", 1.0, state="idle", stopReason="end_turn")
    tape.chunk("background")
    rows = rows_of(tape)
    row = one(rows, kind="turn")
    assert row.status == "end_turn"
    assert row.seconds is not None
    assert row.seconds > 1
    assert rows[-1].turn is None
    terminal = one(rows, kind="terminal")
    assert (terminal.title, terminal.status, len(terminal.frames)) == ("ls", "exit 0", 3)


def test_what_is_not_answered_is_open() -> None:
    """Ours: a hang is what people look for."""
    tape = Tape()
    tape.ask("client", "initialize", {})
    assert rows_of(tape)[0].end is None


def test_every_entry_is_in_one_row() -> None:
    """Ours: nothing is hidden."""
    recording = read_recording(long(2000).lines)
    numbers = sorted(n for row in timeline_of(recording.entries).rows for n in row.frames)
    assert numbers == [entry.number for entry in recording.entries]


def test_figures_are_per_method_and_side() -> None:
    """Issue 4: per-method p50 and p99."""
    figures = {one.method: one for one in figures_of(rows_of(talk()))}
    read = figures["fs/read_text_file"]
    assert (read.speaker, read.count, read.errors, read.unanswered) == ("agent", 1, 0, 0)
    assert read.p50 == read.p99 == read.longest
    assert figures["agent_message_chunk"].count == 15
    assert figures["agent_message_chunk"].p50 is None


def test_percentiles_are_values_that_were_measured() -> None:
    """Ours: nearest rank."""
    values = [float(number) for number in range(1, 101)]
    assert (percentile(values, 0.5), percentile(values, 0.99)) == (50, 99)
    assert percentile([3.0], 0.99) == 3
    assert percentile([], 0.5) is None


ANY = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["content", "text", "title", "type", "id"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
KINDS = st.sampled_from(
    [
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
        "terminal_update",
        "plan",
        "state_update",
    ]
)


@given(
    st.lists(
        st.tuples(
            KINDS,
            st.dictionaries(
                st.sampled_from(
                    [
                        "content",
                        "status",
                        "title",
                        "toolCallId",
                        "terminalId",
                        "exitStatus",
                        "entries",
                        "state",
                    ]
                ),
                ANY,
            ),
        )
    )
)
def test_no_update_is_too_strange(updates: list[tuple[str, dict[str, Any]]]) -> None:
    """Issue 4: the agents may be hostile."""
    timeline = Timeline()
    for number, (kind, content) in enumerate(updates, 1):
        params = {"sessionId": "s", "update": {**content, "sessionUpdate": kind}}
        raw = json.dumps({"method": "session/update", "params": params}).encode()
        row = timeline.feed(Entry(number, 0.1, "frame", "agent", raw))
        assert row.frames[-1] == number
