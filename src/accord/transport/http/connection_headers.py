"""The headers of every request of one connection."""

from collections.abc import Sequence

from accord.transport.cookies import Cookies
from accord.transport.http.connections.exchange import Headers
from accord.transport.http.message_routes import (
    CONNECTION_HEADER,
    JSON_TYPE,
    SESSION_HEADER,
    VERSION_HEADER,
)
from accord.transport.request_headers import HiddenValues
from accord.transport.resume.extension_messages import (
    MESSAGE_HEADER,
    RESUME_HEADER,
    RESUME_VERSION,
)
from accord.version import __version__


class ConnectionHeaders:
    """The caller's headers, the cookies, and the ids that the server gave."""

    def __init__(
        self, given: Sequence[tuple[str, str]], cookies: Cookies, *, is_encrypted: bool
    ) -> None:
        named = [(name.lower(), value) for name, value in given]
        self._own_cookies = "; ".join(value for name, value in named if name == "cookie")
        self._headers = [one for one in named if one[0] != "cookie"]
        if not any(name == "user-agent" for name, _ in named):
            self._headers.append(("user-agent", f"accord/{__version__}"))
        self._cookies = cookies
        # What must not be repeated of them.
        self.hidden = HiddenValues(given)
        self._is_encrypted = is_encrypted
        self.connection_id: str | None = None
        self.protocol_version: int | None = None

    def of(self, session_id: str | None, *more: tuple[str, str]) -> Headers:
        """Return the headers of a request for a session, or for the connection itself."""
        headers = [*self._headers, *more]
        if self.connection_id is not None:
            headers.append((CONNECTION_HEADER, self.connection_id))
        if session_id is not None:
            headers.append((SESSION_HEADER, session_id))
        if self.protocol_version is not None:
            headers.append((VERSION_HEADER, str(self.protocol_version)))
        cookies = self._cookies.header(self._own_cookies)
        if cookies:
            headers.append(("cookie", cookies))
        return headers

    def of_initialize(self) -> Headers:
        """Return the headers of the first request, which offers to resume."""
        kinds = (("content-type", JSON_TYPE), ("accept", JSON_TYPE))
        return self.of(None, *kinds, (RESUME_HEADER.lower(), RESUME_VERSION))

    def of_message(self, session_id: str | None, number: int | None) -> Headers:
        """Return the headers of a POST, which may be numbered."""
        headers = self.of(session_id, ("content-type", JSON_TYPE))
        if number is not None:
            headers.append((MESSAGE_HEADER.lower(), str(number)))
        return headers

    def take_cookies(self, headers: Headers) -> None:
        """Keep the cookies of an answer."""
        for name, value in headers:
            if name == "set-cookie":
                self._cookies.store(value, is_secure=self._is_encrypted)


__all__ = ["ConnectionHeaders"]
