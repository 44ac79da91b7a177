"""Frames that we write: one line, valid JSON, ids with their type."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from accord.jsonrpc.envelope import (
    ID_MAX,
    ID_MIN,
    Id,
    error_frame,
    notification_frame,
    one_line,
    request_frame,
    result_frame,
)

ids = st.none() | st.integers(ID_MIN, ID_MAX) | st.text()
# Lone surrogates among them, as in file names of the operating system.
any_text = st.text(st.characters(exclude_categories=()))


def parsed(frame: bytes) -> Any:
    """What a plain JSON parser makes of one line."""
    assert b"\n" not in frame
    assert b"\r" not in frame
    return json.loads(frame)


@pytest.mark.rule("V1-GEN-01", "V1-GEN-03", "TR-STDIO-02")
@given(ids, any_text)
def test_each_frame_is_one_line_of_json_rpc(request_id: Id, text: str) -> None:
    """V1: JSON-RPC 2.0 in UTF-8, exactly one of result and error, no raw newline."""
    value = json.dumps({"text": text}, indent=1).replace("\n", "\r\n").encode()
    expected = json.loads(value)
    safe = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    base = {"jsonrpc": "2.0"}
    with_id = {**base, "id": request_id}
    assert parsed(request_frame(request_id, text, value)) == {
        **with_id,
        "method": safe,
        "params": expected,
    }
    assert parsed(request_frame(request_id, text, None)) == {**with_id, "method": safe}
    assert parsed(notification_frame(text, value)) == {**base, "method": safe, "params": expected}
    assert parsed(notification_frame(text, None)) == {**base, "method": safe}
    assert parsed(result_frame(request_id, value)) == {**with_id, "result": expected}
    error = {"code": -32000, "message": safe}
    assert parsed(error_frame(request_id, -32000, text)) == {**with_id, "error": error}
    assert parsed(error_frame(request_id, -32000, text, value)) == {
        **with_id,
        "error": {**error, "data": expected},
    }


@pytest.mark.rule("V1-GEN-02")
@pytest.mark.parametrize(
    ("request_id", "text"),
    [
        (7, b'"id":7,'),
        ("7", b'"id":"7",'),
        (None, b'"id":null,'),
        (2**53 + 1, b'"id":9007199254740993,'),
        (ID_MIN, b'"id":-9223372036854775808,'),
    ],
)
def test_an_id_is_written_with_its_own_type(request_id: Id, text: bytes) -> None:
    """V1: 7 and "7" differ, and large numbers stay exact."""
    assert text in result_frame(request_id, b"{}")


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    """Ours: the name of a file in an error message must not keep the answer from being sent."""
    frame = error_frame("\udc80", -32002, "no \udcff")
    assert parsed(frame)["id"] == "\ufffd"
    assert parsed(frame)["error"]["message"] == "no \ufffd"


def test_what_is_still_encoded_may_be_raw() -> None:
    """Ours: a proxy hands on what it received without a copy."""
    assert parsed(notification_frame("x", Raw(b"[1]"))) == {
        "jsonrpc": "2.0",
        "method": "x",
        "params": [1],
    }


def test_one_line_leaves_a_line_alone() -> None:
    """Ours: the hot path copies nothing."""
    frame = b'{"text":"a\\nb"}'
    assert one_line(frame) is frame
    assert one_line(b"[1,\r\n2]\n") == b"[1,  2] "
