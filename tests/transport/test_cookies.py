"""Cookies are kept for the connection, within bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.transport.cookies import COOKIE_CHARS_MAX, COOKIES_MAX, Cookies


def test_cookies_are_kept_and_replaced() -> None:
    """TR-HTTP-03."""
    cookies = Cookies()
    cookies.store("route=a; Path=/; HttpOnly")
    cookies.store("other = b ")
    cookies.store("route=c; Secure")
    assert cookies.header() == "route=c; other=b"
    assert cookies.header("route=mine; x=1") == "route=mine; other=b; x=1"
    cookies.store("route=; Max-Age=0")
    assert cookies.header() == "other=b"
    cookies.store("other=d; Max-Age=60")
    assert cookies.header() == "other=d"
    cookies.clear()
    assert cookies.header() == ""


@pytest.mark.parametrize(
    "date",
    [
        "Thu, 01-Jan-1970 00:00:01 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Mon, 01 Jan 0001 00:00:00 GMT",
    ],
)
def test_a_cookie_that_expired_is_forgotten(date: str) -> None:
    """RFC 6265, 5.3: servers delete a cookie in this way too, HAProxy among them."""
    cookies = Cookies()
    cookies.store("route=a")
    cookies.store(f"route=; Expires={date}; path=/")
    assert cookies.header() == ""


@pytest.mark.parametrize(
    "attributes",
    [
        "Expires=Fri, 31 Dec 9999 23:59:59 GMT",
        "Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60",
        "Expires=never",
        "Expires=99 99 99 99",
        "Expires",
    ],
)
def test_a_cookie_that_has_not_expired_is_kept(attributes: str) -> None:
    """RFC 6265, 5.3: Max-Age wins, and what is not a date says nothing."""
    cookies = Cookies()
    cookies.store(f"route=a; {attributes}")
    assert cookies.header() == "route=a"


def test_a_secure_cookie_is_not_taken_from_a_plain_connection() -> None:
    """RFC 6265bis, 5.7."""
    cookies = Cookies()
    cookies.store("a=1; Secure", is_secure=False)
    assert cookies.header() == ""


@pytest.mark.parametrize("header", ["", "x", "=x", "a=\x07", "a=ä", f"a={'x' * COOKIE_CHARS_MAX}"])
def test_malformed_cookies_are_dropped(header: str) -> None:
    """Ours: nothing that a server sends makes an invalid request."""
    cookies = Cookies()
    cookies.store(header)
    assert cookies.header() == ""


@given(st.lists(st.text()), st.text())
def test_any_cookies_make_a_valid_header(headers: list[str], own: str) -> None:
    """Ours: bounded, and never a line break of the server's."""
    cookies = Cookies()
    for number, header in enumerate(headers * 5):
        cookies.store(header)
        cookies.store(f"{number}={number}; max-age={header}")
        cookies.store(f"{number}={number}; expires={header}")
    made = cookies.header()
    assert made.isascii()
    assert made.isprintable()
    assert made.count("; ") < COOKIES_MAX
