"""Outcomes: every shape of an answer settles the call in one way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from accord.jsonrpc.envelope import Envelope
from accord.jsonrpc.events import CallAnswered, CallFailed
from accord.jsonrpc.responses import read_error, settled


def outcome_of(*, result: bytes = b"", error: bytes = b"") -> CallAnswered | CallFailed:
    """How a call ends with these members, where empty means absent."""
    return settled(1, Envelope("2.0", 1, result=Raw(result), error=Raw(error)), None)


@pytest.mark.rule("V1-GEN-03")
def test_a_result_of_any_value_is_a_result() -> None:
    """V1: null is a result, and a null error is none."""
    for result in (b"{}", b"null", b"0"):
        for error in (b"", b"null"):
            event = outcome_of(result=result, error=error)
            assert isinstance(event, CallAnswered)
            assert bytes(event.result) == result


@pytest.mark.parametrize("result", [b"", b"null"])
def test_an_error_keeps_code_message_and_data(result: bytes) -> None:
    """JSON-RPC 2.0 section 5.1; a null beside it, as JSON-RPC 1.0 has it, does not matter."""
    event = outcome_of(result=result, error=b'{"code":-32077,"message":"no","data":{"a":1}}')
    assert isinstance(event, CallFailed)
    assert (event.code, event.message, event.malformed) == (-32077, "no", False)
    assert event.data is not None
    assert bytes(event.data) == b'{"a":1}'


@pytest.mark.parametrize("data", [b"", b',"data":null'])
def test_an_error_without_data_has_none(data: bytes) -> None:
    """Ours: absent and null data mean the same."""
    event = outcome_of(error=b'{"code":1,"message":"no"%b}' % data)
    assert isinstance(event, CallFailed)
    assert event.data is None


def test_an_answer_with_both_or_neither_fails_the_call() -> None:
    """V1-GEN-03 broken by the peer: the caller is told, and does not hang."""
    both = outcome_of(result=b"{}", error=b'{"code":1,"message":"no"}')
    assert isinstance(both, CallFailed)
    assert (both.code, both.message) == (-32603, "the answer has both result and error")
    assert both.malformed
    assert both.data is not None
    for error in (b"", b"null"):
        neither = outcome_of(error=error)
        assert isinstance(neither, CallFailed)
        assert (neither.code, neither.message) == (
            -32603,
            "the answer has neither result nor error",
        )
        assert neither.malformed


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (b'{"code":-32000}', -32000, "Authentication required"),
        (b'{"code":-32077}', -32077, "Error -32077"),
        (b'{"code":-32000.0,"message":"login"}', -32000, "login"),
        (b'{"code":-32000,"message":"\\ud83d"}', -32000, "\ufffd"),
    ],
)
def test_a_malformed_error_with_a_code_tells_what_can_be_read(
    error: bytes, code: int, message: str
) -> None:
    """Ours: the code is what matters; all of it is in the data, and it is noted."""
    event = outcome_of(error=error)
    assert isinstance(event, CallFailed)
    assert (event.code, event.message, event.malformed) == (code, message, False)
    assert event.note == "the error in the answer is malformed"
    assert event.data is not None
    assert bytes(event.data) == error


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (b'"boom"', "boom"),
        (b'"\\ud83d"', "\ufffd"),
        (b'""', "Internal error"),
        (b"5", "Internal error"),
        (b"[1]", "Internal error"),
        (b"{}", "Internal error"),
        (b'{"code":1.5,"message":"odd"}', "odd"),
        (b'{"code":1e400,"message":"odd"}', "odd"),
        (b'{"code":true,"message":5}', "Internal error"),
        (b'{"code":"-32000","message":"text"}', "text"),
        (b'{"code":%b,"message":"odd"}' % (b"1" * 5000), "odd"),
    ],
)
def test_an_error_without_a_code_says_that_it_is_malformed(error: bytes, text: str) -> None:
    """Ours: `"error": "boom"` is never told as an internal error that the peer did not report."""
    event = outcome_of(error=error)
    assert isinstance(event, CallFailed)
    assert (event.message, event.malformed) == ("the error in the answer is malformed", True)
    assert event.data is not None
    assert bytes(event.data) == error
    assert read_error(Raw(error)) == (None, text, Raw(error))


@given(st.integers(-(2**31), 2**31 - 1), st.text())
def test_good_errors_are_read_as_they_are(code: int, message: str) -> None:
    """V1-GEN-11: any code is an error."""
    from accord.jsonrpc.envelope import json_text

    error = Raw(b'{"code":%d,"message":%b}' % (code, json_text(message)))
    assert read_error(error) == (code, message, None)
