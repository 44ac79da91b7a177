"""`session/update` of the draft: the data is read by the type beside it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.schema.codec import Invalid, decode, encode, to_python, to_raw
from accord.schema.draft import (
    ENUMS,
    UPDATE_TYPES,
    AgentMessageChunk,
    SessionNotification,
    ToolCall,
    ToolCallUpdate,
    UserMessageChunk,
    decode_update,
    update_notification,
)
from accord.schema.struct import UNSET, UnknownVariant
from tests.schema.draft.examples import UPDATES
from tests.schema.draft.strategies import values


def _notification(type_: str, data: object) -> SessionNotification:
    return SessionNotification(session_id="s", type=type_, data=to_raw(data))


@pytest.mark.parametrize(("type_", "data"), UPDATES)
def test_each_kind_of_update_survives_a_round_trip(type_: str, data: dict[str, Any]) -> None:
    """Ours: the way there and back through the envelope loses nothing."""
    update = decode_update(_notification(type_, data))
    assert not isinstance(update, UnknownVariant)
    again = update_notification("s", update)
    assert again.type == type_
    assert to_python(again.data) == data


def test_there_is_an_example_of_every_type_and_no_other_type() -> None:
    """The draft: nine types."""
    assert {type_ for type_, _ in UPDATES} == set(UPDATE_TYPES)
    assert set(ENUMS["UpdateType"].values) == set(UPDATE_TYPES)
    assert len(UPDATE_TYPES) == 9


@given(
    st.sampled_from(sorted(UPDATE_TYPES)).flatmap(
        lambda type_: st.tuples(st.just(type_), values(UPDATE_TYPES[type_]))
    ),
    st.just(UNSET) | st.text(max_size=5),
)
@settings(max_examples=100)
def test_any_update_survives_the_whole_way(pair: tuple[str, Any], timestamp: Any) -> None:
    """Ours: for all values, as bytes of the notification."""
    type_, update = pair
    text = encode(update_notification("s", update, timestamp=timestamp))
    notification = decode(SessionNotification, text)
    assert (notification.type, notification.timestamp) == (type_, timestamp)
    assert decode_update(notification) == update


def test_user_and_agent_chunks_keep_their_author() -> None:
    """The draft: two types share one form."""
    assert isinstance(
        decode_update(_notification("user_message_chunk", {"content": "a"})), UserMessageChunk
    )
    assert isinstance(
        decode_update(_notification("agent_message_chunk", {"content": "a"})), AgentMessageChunk
    )


def test_a_tool_call_may_leave_its_status_out() -> None:
    """The draft: one of its own examples does."""
    call = decode_update(_notification("tool_call", {"id": "c", "tool": "t", "input": {}}))
    assert isinstance(call, ToolCall)
    assert call.status is UNSET


def test_a_terminal_that_runs_has_no_exit_code() -> None:
    """Ours: null is legal there, since the draft does not say what else to write."""
    output = {"type": "terminal", "terminalId": "t", "exitCode": None}
    update = decode_update(_notification("tool_call_update", {"id": "c", "output": output}))
    assert isinstance(update, ToolCallUpdate)
    assert to_python(encode(update.output)) == output


def test_an_unknown_type_is_kept_whole_and_noted() -> None:
    """Ours: the list is closed in the draft, and open on input with us."""
    notes: list[str] = []
    update = decode_update(_notification("weather", {"rain": True}), notes=notes)
    assert update == UnknownVariant("type", "weather", b'{"rain":true}')
    assert notes == ["unknown variant 'weather' (at $.type)"]
    assert decode_update(_notification("weather", {"rain": True})) == update


def test_strict_reading_refuses_an_unknown_type() -> None:
    """Ours: strict mode lives with nothing."""
    with pytest.raises(Invalid, match="unknown variant") as caught:
        decode_update(_notification("weather", {}), strict=True)
    assert caught.value.path == "$.type"


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"planId": "p", "steps": [{"id": "a", "status": "x"}]}, "$.data.steps[0].description"),
        ({"planId": 1, "steps": []}, "$.data.planId"),
        ([], "$.data"),
    ],
)
def test_bad_data_is_refused_with_a_path_from_the_notification(data: object, path: str) -> None:
    """Ours: the peer is told which field of its message was bad."""
    with pytest.raises(Invalid) as caught:
        decode_update(_notification("plan", data))
    assert caught.value.path == path


def test_notes_carry_a_path_from_the_notification() -> None:
    """Ours: the same for what was tolerated."""
    notes: list[str] = []
    decode_update(_notification("tool_call_update", {"id": "c", "error": None}), notes=notes)
    assert notes == ["null, read as empty (at $.data.error)"]
