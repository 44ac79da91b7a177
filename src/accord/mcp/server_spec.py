"""The description of an MCP server: how to reach it, and its variables and headers.

Must not know how a connection is made, nor where the server is configured.

What always holds
    * Values of variables and headers are secrets: `repr` leaves them out, and `secrets` has
      every text that must not be shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from urllib.parse import parse_qsl, urlsplit

from accord.schema import v2
from accord.schema.codec import to_python
from accord.schema.struct import UNSET, Raw, UnknownVariant

Transport = Literal["stdio", "http", "sse"]

SECRET_CHARACTERS_MIN = 4
"""A shorter value is not a secret; hiding every `1` would make a text unreadable."""


CREDENTIAL_CHARACTERS_MIN = 8
"""A shorter value could be an ordinary word of a result."""

_CREDENTIAL = re.compile(r"key|token|secret|passw|passphrase|credential|auth|cookie", re.IGNORECASE)


class Entry(Protocol):
    """A server as a configuration describes it; `configuration.config.McpEntry` is one."""

    @property
    def type(self) -> str:
        """stdio, http or sse."""
        ...

    @property
    def command(self) -> str | None:
        """The program of a stdio server."""
        ...

    @property
    def args(self) -> tuple[str, ...]: ...

    @property
    def env(self) -> Mapping[str, str]: ...

    @property
    def url(self) -> str | None:
        """The address of another server."""
        ...

    @property
    def headers(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """One server to connect to."""

    name: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    # The folder to start it in, and the timeout of an answer, if the client set them.
    cwd: str | None = None
    seconds: float | None = None

    @property
    def secrets(self) -> frozenset[str]:
        """Every text that must not be shown: variables, headers, and the tokens in them."""
        found: set[str] = set(self.env.values())
        for value in self.headers.values():
            # `Bearer abc`: servers quote the token alone.
            found.update((value, *value.split()[1:]))
        try:
            parts = urlsplit(self.url)
            found.update(value for _, value in parse_qsl(parts.query))
            found.add(parts.password or "")
        except ValueError:
            found.add(self.url)
        return frozenset(one for one in found if len(one) >= SECRET_CHARACTERS_MIN)

    @property
    def credentials(self) -> frozenset[str]:
        """Secrets that give access; hidden in results too, where other values are content."""
        found = {value for name, value in self.env.items() if _CREDENTIAL.search(name)}
        for name, value in self.headers.items():
            if _CREDENTIAL.search(name):
                found.update((value, *value.split()[1:]))
        return frozenset(one for one in found if len(one) >= CREDENTIAL_CHARACTERS_MIN)


def spec_of(server: Any) -> ServerSpec | None:
    """Return the spec of a server that a client sent; None for an unknown transport.

    `sse` is not a transport of v2: that of a v1 client arrives as an unknown variant.
    """
    if isinstance(server, v2.McpServerStdio):
        return ServerSpec(
            name=server.name,
            transport="stdio",
            command=server.command,
            args=tuple(server.args or ()),
            env=_pairs(server.env),
            # Only clients of the 2026-02 draft send this.
            cwd=getattr(server, "cwd", None),
        )
    if isinstance(server, v2.McpServerHttp):
        return ServerSpec(
            name=server.name,
            transport="http",
            url=server.url,
            headers=_pairs(server.headers),
            seconds=getattr(server, "timeout", None),
        )
    if isinstance(server, UnknownVariant) and server.tag == "sse":
        members = to_python(Raw(server.raw))
        listed = members.get("headers") or []
        return ServerSpec(
            name=str(members.get("name", "")),
            transport="sse",
            url=str(members.get("url", "")),
            headers={str(one.get("name")): str(one.get("value")) for one in listed},
        )
    return None


def spec_from_entry(name: str, entry: Entry) -> ServerSpec:
    """Return the spec of a configured server."""
    transport: Transport = (
        "stdio" if entry.type == "stdio" else "sse" if entry.type == "sse" else "http"
    )
    return ServerSpec(
        name=name,
        transport=transport,
        command=entry.command or "",
        args=tuple(entry.args),
        env=dict(entry.env),
        url=entry.url or "",
        headers=dict(entry.headers),
    )


def named_apart(specs: Iterable[ServerSpec]) -> list[ServerSpec]:
    """Return the specs in order; of two with the same name the first counts."""
    found: dict[str, ServerSpec] = {}
    for spec in specs:
        found.setdefault(spec.name, spec)
    return list(found.values())


def _pairs(listed: Any) -> dict[str, str]:
    return {} if listed is UNSET else {one.name: one.value for one in listed}
