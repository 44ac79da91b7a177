"""The cookies of one connection, kept and sent back.

A connection talks to one address only, so that a cookie's domain and path need not be compared.
A cookie that is over at once (`Max-Age=0`, or an `Expires` in the past) is dropped; others live as
long as the connection.
"""

from email.utils import mktime_tz, parsedate_tz
from typing import Final

from accord.machine import clock
from accord.transport.request_headers import fits_header

COOKIES_MAX: Final = 64
COOKIE_CHARS_MAX: Final = 4096


class Cookies:
    """Guards: at most COOKIES_MAX cookies of at most COOKIE_CHARS_MAX characters; a header that
    is made of them is valid.
    """

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def store(self, header: str, *, is_secure: bool = True) -> None:
        """Take one `Set-Cookie` header."""
        pair, *attributes = header.split(";")
        name, found, value = pair.partition("=")
        name, value = name.strip(), value.strip()
        if not found or not name or len(pair) > COOKIE_CHARS_MAX or not fits_header(name + value):
            return
        named = {key.strip().lower(): text.strip() for key, _, text in _pairs(attributes)}
        if _is_over(named.get("max-age", ""), named.get("expires", "")):
            self._values.pop(name, None)
            return
        if "secure" in named and not is_secure:
            return
        if name in self._values or len(self._values) < COOKIES_MAX:
            self._values[name] = value

    def header(self, own: str = "") -> str:
        """Return the value of the `Cookie` header; the caller's own cookies win."""
        given = (part.partition("=") for part in own.split(";"))
        merged = {**self._values, **{k.strip(): v.strip() for k, found, v in given if found}}
        return "; ".join(f"{name}={value}" for name, value in merged.items())

    def clear(self) -> None:
        """Forget all of them."""
        self._values.clear()


def _is_over(max_age: str, expires: str) -> bool:
    """Whether a cookie is to be dropped; `Max-Age` wins over `Expires`."""
    if max_age.lstrip("-").isdecimal():
        return int(max_age[:20]) <= 0
    try:
        date = parsedate_tz(expires)
        return date is not None and mktime_tz(date) <= clock.seconds()
    except (ValueError, TypeError, IndexError, OverflowError):
        # Not a date: such an attribute is ignored.
        return False


def _pairs(attributes: list[str]) -> list[tuple[str, str, str]]:
    return [attribute.partition("=") for attribute in attributes]


__all__ = ["COOKIES_MAX", "COOKIE_CHARS_MAX", "Cookies"]
