"""The headers that a caller adds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.errors import LocalProtocolError
from accord.transport.request_headers import request_headers


def test_a_token_becomes_a_bearer_header() -> None:
    """Ours: beside the caller's own headers."""
    assert request_headers("abc", {"X-Team": "blue one"}) == (
        ("X-Team", "blue one"),
        ("Authorization", "Bearer abc"),
    )
    assert request_headers() == ()


@pytest.mark.parametrize(
    ("token", "headers", "word"),
    [
        ("", None, "visible ASCII"),
        ("a b", None, "visible ASCII"),
        ("a\r\nb", None, "visible ASCII"),
        (7, None, "visible ASCII"),
        ("a", {"authorization": "Basic x"}, "cannot be used together"),
        (None, {"X-A": "1", "x-a": "2"}, "twice"),
        (None, {"X A": "1"}, "name"),
        (None, {"": "1"}, "name"),
        (None, {"X-A": "secret\r\nX-B: 1"}, "plain ASCII"),
        (None, {"X-A": " secret"}, "plain ASCII"),
        (None, {"X-A": 1}, "plain ASCII"),
        (None, {"Upgrade": "secret"}, "belongs"),
        (None, {"Sec-WebSocket-Key": "secret"}, "belongs"),
        (None, {"Acp-Connection-Id": "secret"}, "belongs"),
    ],
)
def test_what_would_break_a_request_is_refused(token: Any, headers: Any, word: str) -> None:
    """Ours: and the error does not show the value."""
    with pytest.raises(LocalProtocolError, match=word) as caught:
        request_headers(token, headers)
    assert "secret" not in str(caught.value)


@given(st.dictionaries(st.text(), st.text()), st.none() | st.text())
def test_what_comes_out_is_always_a_valid_header(
    headers: dict[str, str], token: str | None
) -> None:
    """Ours: nobody injects a header through a value."""
    try:
        made = request_headers(token, headers)
    except LocalProtocolError:
        return
    for name, value in made:
        assert name.isascii()
        assert value.isascii()
        assert not set(name + value) & set("\r\n\0")
