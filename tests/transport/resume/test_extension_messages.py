"""The words of the resume extension, both ways."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.transport.resume.extension_messages import (
    ConnectionSaid,
    OtherSaid,
    ReceivedSaid,
    ResumeRequest,
    connection_frame,
    read_count,
    read_extension_frame,
    read_resume_query,
    received_frame,
    resume_query,
)

COUNTS = st.integers(0, 10**17)


@given(st.text(st.characters(exclude_categories=["Cs"])), COUNTS)
def test_the_first_frame_of_a_server_is_read_as_it_was_written(text: str, count: int) -> None:
    """Ours: both notifications survive the wire."""
    said = read_extension_frame(connection_frame(text, count))
    assert said == ConnectionSaid(connection_id=text, received=count)
    assert read_extension_frame(received_frame(count)) == ReceivedSaid(count=count)
    message = json.loads(connection_frame(text, count))
    assert message["params"] == {"connectionId": text, "received": count}


@given(st.binary() | st.binary().map(lambda rest: b'"_accord/' + rest))
def test_no_bytes_make_the_reader_fail(frame: bytes) -> None:
    """Ours: what a peer sends is data."""
    read_extension_frame(frame)


@pytest.mark.parametrize(
    "frame",
    [
        b'{"jsonrpc":"2.0","method":"session/update","params":{"text":"_accord/received"}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"method":"_accord/received"}}',
        b'{"method":"session/update","_accord/',
    ],
)
def test_a_frame_that_only_mentions_the_extension_is_plain_acp(frame: bytes) -> None:
    """Ours: it is counted and delivered."""
    assert read_extension_frame(frame) is None


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("_accord/else", "{}"),
        ("_accord/received", "{}"),
        ("_accord/received", '{"count":"1"}'),
        ("_accord/connection", '{"connectionId":"a","received":-1}'),
        ("_accord/connection", "[]"),
    ],
)
def test_what_is_not_understood_is_still_no_acp(method: str, params: str) -> None:
    """Ours: a later version may say more."""
    frame = f'{{"jsonrpc":"2.0","method":"{method}","params":{params}}}'.encode()
    assert read_extension_frame(frame) == OtherSaid(method)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), COUNTS)
def test_an_upgrade_asks_for_what_the_server_reads(text: str, count: int) -> None:
    """Ours: any id survives the query."""
    expected = ResumeRequest(None, 0) if text == "new" else ResumeRequest(text, count)
    assert read_resume_query("other=1&" + resume_query(text, count)) == expected


def test_an_upgrade_without_the_extension_and_one_for_a_new_connection() -> None:
    """Ours: a client that does not know of it is served plainly."""
    assert read_resume_query("") is None
    assert read_resume_query("token=a") is None
    assert read_resume_query(resume_query()) == ResumeRequest(None, 0)
    assert read_resume_query("accord-resume=abc") == ResumeRequest("abc", -1)
    assert read_resume_query("accord-resume=abc&accord-received=-5") == ResumeRequest("abc", -1)


@given(st.text())
def test_only_decimal_digits_are_a_count(text: str) -> None:
    """Ours: `int` reads much more than digits."""
    count = read_count(text)
    if count is not None:
        assert count >= 0
        assert text.lstrip("0") in (str(count), "")
    assert read_count("1" * 19) is None
    assert read_count("²") is None
