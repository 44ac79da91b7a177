"""Requests to visit a page: reading them, and the warnings about an odd address.

A URL is never opened or fetched here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from accord.client.permissions.path_and_host_patterns import host_of
from accord.client.services.forms import scope_of
from accord.errors import RequestError

URL_CHARACTERS_MAX = 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRequest:
    """A page that the agent wants the user to visit.

    Show `url` and `host` in full and ask before opening it.  `warnings` says what is odd about it.
    """

    message: str
    url: str
    host: str
    elicitation_id: str
    warnings: tuple[str, ...] = ()
    session_id: str | None = None
    tool_call_id: str | None = None
    request_id: str | int | None = None


def read_url(wire: Any) -> UrlRequest:
    """Read a page from the struct of either version.

    Raises:
        RequestError: it is not the full URL of a page.
    """
    url: str = wire.url
    host = host_of(url) if len(url) <= URL_CHARACTERS_MAX else None
    if host is None or urlsplit(url).scheme not in ("http", "https"):
        raise RequestError.invalid_params("not the full URL of a page", "$.url")
    return UrlRequest(
        message=wire.message,
        url=url,
        host=host,
        elicitation_id=wire.elicitation_id,
        warnings=_warnings(url, host),
        **scope_of(wire),
    )


def _warnings(url: str, host: str) -> tuple[str, ...]:
    parts = urlsplit(url)
    found: list[str] = []
    if parts.scheme != "https":
        found.append("The connection is not encrypted.")
    if any(label.startswith("xn--") for label in host.split(".")):
        found.append("The name of the host has letters of other scripts.")
    if "@" in parts.netloc:
        found.append("The address has a user name in front of the host.")
    if host.replace(".", "").isdigit() or ":" in host:
        found.append("The host is a number and not a name.")
    return tuple(found)
