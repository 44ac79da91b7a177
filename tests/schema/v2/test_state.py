"""The foreground state of a session, its stop reasons and its background work."""

from typing import Any

import pytest

from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, Raw, UnknownVariant

STATES = ["running", "idle", "requires_action", "unknown", "_waiting"]
REASONS = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error", "_why"]


def state(fields: bytes) -> v2.StateUpdate:
    """Read a `state_update` with these fields, the way it arrives."""
    raw = b'{"sessionId":"s","update":{"sessionUpdate":"state_update",%s}}' % fields
    update = decode(v2.UpdateSessionNotification, raw).update
    assert isinstance(update, v2.StateUpdate)
    return update


@pytest.mark.parametrize("name", STATES)
def test_every_state_is_read_also_one_that_nobody_knows(name: str) -> None:
    """V2-PROMPT-13: an unknown state must stay visible, so that it is not taken for idle."""
    assert state(b'"state":"%s"' % name.encode()) == v2.StateUpdate(state=name)


def test_a_state_is_required() -> None:
    """The schema: `state` is the tag."""
    for raw in (b"{}", b'{"state":5}'):
        with pytest.raises(Invalid):
            decode(v2.StateSnapshot, raw)


@pytest.mark.parametrize("reason", REASONS)
def test_every_stop_reason_is_read(reason: str) -> None:
    """The schema: the tag of idle is open."""
    value = state(b'"state":"idle","stopReason":"%s"' % reason.encode())
    assert value == v2.StateUpdate(state="idle", stop_reason=reason)


@pytest.mark.parametrize(
    ("text", "expected"), [(b"5", UNSET), (b'["end_turn"]', UNSET), (b"null", None)]
)
@pytest.mark.rule("V2-PROMPT-16")
def test_a_malformed_stop_reason_is_not_reported(text: bytes, expected: object) -> None:
    """V2-PROMPT-16: it does not make the update bad."""
    value = state(b'"state":"idle","stopReason":' + text)
    assert value.state == "idle"
    assert value.stop_reason is expected


def test_the_stop_reason_error_carries_the_error() -> None:
    """V2-PROMPT-18: and a malformed error does not hide that there was one."""
    value = state(b'"state":"idle","stopReason":"error","error":{"code":-32603,"message":"m"}')
    assert value.error == v2.Error(code=-32603, message="m")
    assert state(b'"state":"idle","stopReason":"error","error":"m"').error is UNSET


def test_the_data_of_an_error_is_any_json() -> None:
    """The schema: its shape depends on the code."""
    value = decode(v2.Error, b'{"code":-32002,"message":"m","data":{"sessionId":"s"}}')
    assert isinstance(value.data, Raw)
    assert decode(v2.SessionNotFoundErrorData, value.data).session_id == "s"
    unsupported = decode(
        v2.UnsupportedProtocolVersionErrorData, b'{"requested":1,"supported":[2,3]}'
    )
    assert unsupported.supported == [2, 3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"null", None),
        (b"5", UNSET),
        (b'[{"type":"terminal"}]', UNSET),
        (b'[{"type":"terminal","terminalId":"t"},7]', UNSET),
        (b"[]", []),
    ],
)
@pytest.mark.rule("V2-PROMPT-25")
def test_malformed_background_is_unreported_and_not_none(text: bytes, expected: object) -> None:
    """V2-PROMPT-25: one bad item makes the whole list unreported; `[]` alone means no work."""
    value = state(b'"state":"running","background":' + text)
    assert value.background == expected if expected == [] else value.background is expected


def test_background_work_of_every_type_counts() -> None:
    """The schema: terminal, tool call, child session, and types to come."""
    value = state(
        b'"state":"idle","background":[{"type":"terminal","terminalId":"t"},'
        b'{"type":"tool_call","toolCallId":"c"},{"type":"subagent","sessionId":"k"},'
        b'{"type":"_job","n":1}]'
    )
    assert value.background == [
        v2.BackgroundTerminal(terminal_id="t"),
        v2.BackgroundToolCall(tool_call_id="c"),
        v2.BackgroundSubagent(session_id="k"),
        UnknownVariant("type", "_job", b'{"type":"_job","n":1}'),
    ]


def test_usage_is_bounded_to_64_bits() -> None:
    """The schema: uint64; a malformed one is as good as none."""
    good = b'{"totalTokens":18446744073709551615,"inputTokens":1,"outputTokens":2}'
    bad = b'{"totalTokens":18446744073709551616,"inputTokens":1,"outputTokens":2}'
    assert state(b'"state":"idle","usage":' + good).usage == v2.Usage(
        total_tokens=2**64 - 1, input_tokens=1, output_tokens=2
    )
    assert state(b'"state":"idle","usage":' + bad).usage is UNSET


def test_a_state_inside_another_object_has_no_update_tag() -> None:
    """The schema: `subagent_update.state` and `session/status` hold the bare object."""
    snapshot = v2.StateSnapshot(state="running", background=[])
    values: list[Any] = [
        v2.SubagentUpdate(session_id="k", state=snapshot),
        v2.SessionStatusResponse(status="open", state=snapshot),
    ]
    for value in values:
        raw = encode(value)
        assert b'"state":{"state":"running","background":[]}' in raw
        assert decode(type(value), raw) == value
