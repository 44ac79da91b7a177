"""The second look: what is still a message, and what kind of fault the rest is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from accord.jsonrpc.envelope import Envelope, Id
from accord.jsonrpc.error_codes import INVALID_REQUEST, PARSE_ERROR
from accord.jsonrpc.malformed_frames import Fault, Verdict, salvage

# Deeper than any parser goes: how far that is depends on the Python, and programs may change it.
DEEP = b"[" * 200_000 + b"]" * 200_000


def fault_of(frame: bytes) -> Fault:
    """What is wrong with a frame, at the usual limit."""
    found = salvage(frame, 128)
    assert isinstance(found, Fault)
    return found


def message_in(frame: bytes) -> Envelope:
    """The message that could be saved."""
    found = salvage(frame, 128)
    assert isinstance(found, Envelope)
    return found


@given(st.binary() | st.text(st.sampled_from('{}[]",:\\a1 id')).map(str.encode))
def test_any_bytes_are_a_message_or_a_fault(frame: bytes) -> None:
    """Ours: bad input is data."""
    assert isinstance(salvage(frame, 128), Envelope | Fault)


@pytest.mark.rule("TR-STDIO-08")
@pytest.mark.parametrize(
    ("frame", "verdict", "code"),
    [
        (b"", Verdict.BLANK, PARSE_ERROR),
        (b" \t\r\n", Verdict.BLANK, PARSE_ERROR),
        (b"\xef\xbb\xbf", Verdict.BLANK, PARSE_ERROR),
        (b"xx", Verdict.NOISE, PARSE_ERROR),
        (b"[INFO] ready", Verdict.NOISE, PARSE_ERROR),
        (b'{"id":1,', Verdict.NOISE, PARSE_ERROR),
        (b'{"id":1.5,"method":"x"} trailing', Verdict.NOISE, PARSE_ERROR),
        (b'"\xff"', Verdict.NOISE, PARSE_ERROR),
        (b"42", Verdict.NOISE, INVALID_REQUEST),
        (b"null", Verdict.NOISE, INVALID_REQUEST),
        (b'"text"', Verdict.NOISE, INVALID_REQUEST),
        (b'"\\ud83d"', Verdict.NOISE, INVALID_REQUEST),
        (b'{"id":[1]}', Verdict.NOISE, INVALID_REQUEST),
        (b"[]", Verdict.ARRAY, INVALID_REQUEST),
        (b' [{"id":1,"method":"x"}]', Verdict.ARRAY, INVALID_REQUEST),
    ],
)
def test_what_is_no_message_has_its_verdict(frame: bytes, verdict: Verdict, code: int) -> None:
    """TR-STDIO-08: blank, not UTF-8, not JSON, bare values; V1-GEN-14: arrays."""
    fault = fault_of(frame)
    assert (fault.verdict, fault.code, fault.id) == (verdict, code, None)


@pytest.mark.rule("V2-GEN-01")
@pytest.mark.parametrize(
    "bad_id", [b"1.5", b"true", b"[1]", b"{}", b"9223372036854775808", b"1" * 5000]
)
def test_a_bad_id_is_refused_with_null_and_an_answer_with_it_is_dropped(bad_id: bytes) -> None:
    """V2: bad ids get -32600 with id null; V1-GEN-04: an answer gets nothing."""
    request = fault_of(b'{"id":' + bad_id + b',"method":"x"}')
    assert (request.verdict, request.id) == (Verdict.REFUSED, None)
    for outcome in (b'"result":1', b'"error":1', b'"method":"x","result":1'):
        assert fault_of(b'{"id":' + bad_id + b"," + outcome + b"}").verdict is Verdict.DROPPED


@pytest.mark.rule("V2-GEN-01")
@pytest.mark.parametrize("id_text", [b"1.0", b"1e3"])
def test_an_id_with_a_fraction_is_read_in_answers_only(id_text: bytes) -> None:
    """V2: a request with such an id is refused; an answer has a caller who waits."""
    request = fault_of(b'{"id":' + id_text + b',"method":"x"}')
    assert (request.verdict, request.id) == (Verdict.REFUSED, None)
    assert message_in(b'{"id":' + id_text + b',"result":1}').id == int(float(id_text))
    both = fault_of(b'{"id":' + id_text + b',"method":"x","result":1}')
    assert both.verdict is Verdict.DROPPED


@pytest.mark.rule("V1-GEN-04")
def test_a_bad_method_is_refused_only_where_there_is_an_id() -> None:
    """V1: a malformed notification is met with silence."""
    assert fault_of(b'{"method":5}').verdict is Verdict.DROPPED
    request = fault_of(b'{"id":"7","method":5}')
    assert (request.verdict, request.id) == (Verdict.REFUSED, "7")


def test_an_answer_with_a_bad_method_is_an_answer() -> None:
    """Ours: somebody waits for it."""
    message = message_in(b'{"id":1,"method":5,"result":{}}')
    assert (message.id, message.method, bytes(message.result)) == (1, UNSET, b"{}")


def test_a_bad_version_does_not_spoil_the_rest() -> None:
    """Ours: 2.0 as a number is tolerated like a missing member."""
    message = message_in(b'{"jsonrpc":2.0,"id":1,"method":"x","params":[1]}')
    assert (message.jsonrpc, message.id, message.method) == (UNSET, 1, "x")
    assert bytes(message.params) == b"[1]"


@pytest.mark.parametrize("key", ["method", "id", "other"])
def test_lone_surrogates_are_repaired(key: str) -> None:
    """Ours: JavaScript emits them; they are not a reason to lose a message."""
    frame = b'{"id":1,"method":"x","%b":"a\\ud83d","\\udc00":1}' % key.encode()
    message = message_in(frame)
    assert message.id == ("a\ufffd" if key == "id" else 1)
    assert message.method == ("a\ufffd" if key == "method" else "x")


def test_a_byte_order_mark_is_ignored() -> None:
    """Ours: some programs on Windows begin with one."""
    assert message_in(b'\xef\xbb\xbf{"id":1,"method":"x"}').method == "x"


@pytest.mark.rule("LIM-01")
@pytest.mark.parametrize("deep", [b"[" * 200 + b"]" * 200, DEEP])
@pytest.mark.parametrize(
    ("members", "verdict", "request_id"),
    [
        (b'"id":7,"method":"x","params":', Verdict.REFUSED, 7),
        (b'"id":null,"method":"x","params":', Verdict.REFUSED, None),
        (b'"method":"x","params":', Verdict.DROPPED, None),
        (b'"result":', Verdict.DROPPED, None),
        (b'"id":"7","result":', Verdict.ANSWERS, "7"),
        (b'"id":7,"error":', Verdict.ANSWERS, 7),
        (b'"id":7,"other":', Verdict.MUTE, 7),
        (b'"id":null,"other":', Verdict.NOISE, None),
        (b'"id":', Verdict.NOISE, None),
        (b'"other":', Verdict.NOISE, None),
        (b'"method":"x","id":', Verdict.REFUSED, None),
        (b'"method":', Verdict.DROPPED, None),
    ],
)
def test_what_is_too_deep_is_judged_by_what_it_would_have_been(
    deep: bytes, members: bytes, verdict: Verdict, request_id: Id
) -> None:
    """LIM-01: the id where it can be read, and no answer to a notification."""
    # A version that is not a string brings the shallower of the two here as well.
    fault = fault_of(b'{"jsonrpc":2,' + members + deep + b"}")
    assert (fault.verdict, fault.code, fault.id) == (verdict, INVALID_REQUEST, request_id)


@pytest.mark.rule("LIM-01")
def test_the_id_may_come_behind_what_is_too_deep() -> None:
    """LIM-01: members have no order, and keys may be written with escapes."""
    fault = fault_of(b'{"params":' + DEEP + b',"method":"x","\\q":0,"\\u0069d":7}')
    assert (fault.verdict, fault.id) == (Verdict.REFUSED, 7)


@pytest.mark.rule("LIM-01")
def test_an_array_that_is_too_deep_is_refused_as_a_whole() -> None:
    """LIM-01: never processed as a batch."""
    fault = fault_of(DEEP)
    assert (fault.verdict, fault.reason) == (Verdict.REFUSED, "nested deeper than 128 levels")
