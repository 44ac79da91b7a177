"""Methods that the protocol calls unstable: any version may change or remove them.

Each needs `unstable=True` and an agent that offers it.  v1 and v2 use the same names and fields
here, so that one form serves both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from accord.client.connection.client_lifecycle import ClientCore
from accord.client.session.request_checks import encode
from accord.client.wire.wire_interface import AuthStatus
from accord.errors import LocalProtocolError
from accord.schema.codec import decode
from accord.schema.struct import UNSET, Raw

SessionStatus: TypeAlias = Literal["open", "saved"]


@dataclass(frozen=True, slots=True)
class Provider:
    """A service that may run the agent's model; without `current` it is disabled."""

    provider_id: str
    supported: tuple[str, ...]
    required: bool
    # The API type and the base URL that are set.
    current: tuple[str, str] | None = None


class Unstable:
    """`client.unstable`; each method raises `LocalProtocolError` if the agent does not offer it."""

    def __init__(self, client: ClientCore) -> None:
        self._client = client
        self._required: frozenset[str] | None = None

    @property
    def _schema(self) -> Any:
        return self._client.link.wire.schema

    async def _call(self, method: str, params: Mapping[str, Any]) -> Raw:
        return await self._client.call(self._client.open_link, method, encode(params))

    # ---- logins

    async def auth_status(self) -> AuthStatus:
        """Ask whether a login is needed; asking changes nothing."""
        self._client.require("auth_status", "the status of the login", unstable=True)
        read = self._client.link.wire.read_auth_status
        status = await self._client.read(("auth/status", b"{}"), read)
        assert status is not None, "a version without login states does not offer them"
        return status

    # ---- sessions

    async def archive_session(self, session_id: str) -> None:
        """Hide a session from the list; a session that is open here is closed."""
        self._client.require("archive", "archiving sessions", unstable=True)
        await self._call("session/archive", {"sessionId": session_id})
        session = self._client.link.sessions.get(session_id)
        if session is not None:
            session.over()

    async def unarchive_session(self, session_id: str) -> None:
        """Show a session in the list again, without opening it."""
        self._client.require("archive", "archiving sessions", unstable=True)
        await self._call("session/unarchive", {"sessionId": session_id})

    async def session_status(self, session_id: str) -> SessionStatus:
        """Whether the agent has a session open or only saved; this does not open it here."""
        self._client.require("status", "the status of a session", unstable=True)
        schema = self._schema
        params = encode({"sessionId": session_id})
        answer = await self._client.read(
            ("session/status", params), lambda raw: decode(schema.SessionStatusResponse, raw)
        )
        return "open" if answer.status == "open" else "saved"

    async def set_title(self, session_id: str, title: str) -> str:
        """Set the title of a session; returns it as the agent stored it."""
        self._client.require("title", "naming sessions", unstable=True)
        if not title.strip():
            raise LocalProtocolError("a session cannot be given an empty title")
        schema = self._schema
        params = encode({"sessionId": session_id, "title": title})
        answer = await self._client.read(
            ("session/set_title", params), lambda raw: decode(schema.SetSessionTitleResponse, raw)
        )
        stored: str = answer.title
        return stored

    # ---- providers of models

    async def list_providers(self) -> tuple[Provider, ...]:
        """The services that may run the agent's model."""
        self._client.require("providers", "providers", unstable=True)
        schema = self._schema
        answer = await self._client.read(
            ("providers/list", b"{}"), lambda raw: decode(schema.ListProvidersResponse, raw)
        )
        found = tuple(_provider(info) for info in answer.providers)
        self._required = frozenset(one.provider_id for one in found if one.required)
        return found

    async def set_provider(
        self,
        provider_id: str,
        api_type: str,
        base_url: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Set up a service from scratch; sessions that are opened later use it."""
        self._client.require("providers", "providers", unstable=True)
        params: dict[str, Any] = {
            "providerId": provider_id,
            "apiType": api_type,
            "baseUrl": base_url,
        }
        if headers is not None:
            params["headers"] = dict(headers)
        await self._call("providers/set", params)

    async def disable_provider(self, provider_id: str) -> None:
        """Disable a service.

        Raises:
            LocalProtocolError: the agent requires it.
        """
        if self._required is None:
            await self.list_providers()
        self._client.require("providers", "providers", unstable=True)
        if provider_id in (self._required or ()):
            raise LocalProtocolError(f"the agent requires the provider {provider_id!r}")
        await self._call("providers/disable", {"providerId": provider_id})


def _provider(info: Any) -> Provider:
    current = None
    if info.current is not UNSET and info.current is not None:
        current = (info.current.api_type, info.current.base_url)
    return Provider(info.provider_id, tuple(info.supported), info.required, current)


__all__ = ["AuthStatus", "Provider", "Unstable"]
