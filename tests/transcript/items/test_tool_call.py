"""Tool calls: a final status stays, unknown words have a meaning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.schema.struct import Raw
from accord.transcript import ToolCall
from accord.transcript.items.tool_call import FINAL_STATUSES, STATUSES
from tests.transcript.wire_updates import folding_v1, text


@given(st.lists(st.sampled_from([*sorted(STATUSES), "_mine"])))
@pytest.mark.rule("V1-TOOL-13")
def test_the_first_final_status_is_the_last_one(words: list[str]) -> None:
    """v1 (S003): a final status never goes back or changes again."""
    call = ToolCall("c")
    for word in words:
        call.report(word)
    final = [word for word in words if word in FINAL_STATUSES]
    if final:
        assert call.status == final[0]
        assert call.is_final
    else:
        assert not call.is_final


@pytest.mark.rule("V2-UPS-10")
def test_unknown_words_count_as_in_progress_and_as_other() -> None:
    """v2: and the words themselves are kept."""
    call = ToolCall("c")
    call.patch(kind="_paint", status="_drying")
    assert (call.kind, call.status) == ("other", "in_progress")
    assert (call.reported_kind, call.reported_status) == ("_paint", "_drying")


def test_a_call_that_ends_well_after_all_is_not_cancelled() -> None:
    """Ours: the mark was our guess, the status is the agent's word."""
    call = ToolCall("c")
    call.cancelled = True
    call.report("in_progress")
    assert call.cancelled
    call.report("completed")
    assert not call.cancelled


def test_a_call_that_fails_after_the_cancellation_stays_cancelled() -> None:
    """Ours: v1 has no other word for a cancelled call than failed."""
    call = ToolCall("c")
    call.cancelled = True
    call.report("failed")
    assert call.cancelled
    assert repr(call) == "ToolCall('c', '', 'failed')"


def test_a_call_that_says_that_it_was_cancelled_is() -> None:
    """v2."""
    call = ToolCall("c")
    call.report("cancelled")
    assert call.cancelled


def test_what_a_tool_was_given_and_gave_back_is_read_as_plain_values() -> None:
    """Ours: nobody needs to know how the JSON text is kept."""
    call = ToolCall("c")
    assert (call.input, call.output) == (None, None)
    call.patch(raw_input=Raw(b'{"path": "a", "lines": [1, 2]}'), raw_output=Raw(b'"done"'))
    assert (call.input, call.output) == ({"path": "a", "lines": [1, 2]}, "done")


def test_json_that_python_cannot_hold_is_nothing_and_stays_readable_as_text() -> None:
    """Ours: a number that no float can hold must not raise where somebody only looks."""
    call = ToolCall("c")
    call.patch(raw_input=Raw(b"1e400"))
    assert call.input is None
    assert call.raw_input is not None
    assert bytes(call.raw_input) == b"1e400"


def test_later_updates_leave_a_snapshot_alone() -> None:
    """Issue 12: a yes is about the call as it was shown; only its end is told of later."""
    call = ToolCall("c")
    call.patch(title="List the files", status="pending")
    shown = call.snapshot()
    call.patch(title="Delete the files", status="completed")
    assert (shown.title, shown.status, shown.is_final) == ("List the files", "pending", False)
    assert (shown.content, shown.locations, shown.diffs) == ([], [], [])
    assert shown.is_over


def test_a_call_that_was_cancelled_is_over() -> None:
    """Issue 12: an approval does not outlive its call."""
    call = ToolCall("c")
    assert not call.is_over
    call.cancelled = True
    assert call.is_over


def test_a_call_names_the_terminals_that_it_shows() -> None:
    """Issue 14: output of a command stands under its own call."""
    fold = folding_v1()
    content = [{"type": "content", "content": text("x")}, {"type": "terminal", "terminalId": "t"}]
    fold("tool_call", toolCallId="c", title="T", content=content)
    (call,) = fold.transcript.tool_calls
    assert call.terminal_ids == ["t"]
