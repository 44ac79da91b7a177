"""Where a gateway listens, and whether that is safe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accord.configuration.toml_table import Table
from accord.errors import LocalProtocolError
from accord.transport.server.request_guard import guard_of, is_loopback

PORT_MAX: Final = 65535
EVERYWHERE: Final = ("0.0.0.0", "::", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerSettings:
    """The address, the names and the certificate.

    `insecure_http` allows plain HTTP beyond this computer, for a proxy with TLS in front of it.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    path: str = "/acp"
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    tls_cert: Path | None = None
    tls_key: Path | None = None
    insecure_http: bool = False

    @property
    def is_local(self) -> bool:
        """Whether only programs on this computer can connect."""
        return self.host == "localhost" or (self.host not in EVERYWHERE and is_loopback(self.host))

    @property
    def has_secure_cookies(self) -> bool:
        """Whether browsers come over TLS, here or at a proxy, and may keep `Secure` cookies."""
        return self.tls_cert is not None or self.insecure_http


def exposure_problem(listener: ListenerSettings) -> str | None:
    """Say why these settings are not safe; None if they are.

    For what remains after the command line has replaced parts of the file.
    """
    if listener.is_local:
        return None
    if listener.tls_cert is None and not listener.insecure_http:
        return (
            "serving beyond this computer needs a certificate (--tls-cert and --tls-key, or tls in"
            " the file); behind a proxy that has TLS, use --insecure-http (insecure_http)"
        )
    if listener.host in EVERYWHERE and not listener.allow_hosts:
        return (
            "name the host that clients will use, such as --allow-host agents.example.com"
            " (allow_hosts)"
        )
    return None


def read_listener(table: Table, folder: Path) -> ListenerSettings:
    """Read the keys of the listener from a file in this folder.

    Raises:
        ConfigError: one has an invalid value.
    """
    port = table.whole("port", least=0)
    if port is not None and port > PORT_MAX:
        raise table.wrong("port", f"must be at most {PORT_MAX}")
    path = table.text("path") or "/acp"
    if not path.startswith("/") or not path.isascii() or any(sign in path for sign in "?# \\"):
        raise table.wrong("path", "must be the path of a URL, such as /acp")
    hosts = _names(table, "allow_hosts")
    origins = _names(table, "allow_origins")
    inner = table.table("tls")
    cert, key = inner.text("cert"), inner.text("key")
    if (cert is None) != (key is None):
        missing = "cert" if cert is None else "key"
        raise inner.wrong(missing, "is missing; cert and key must be given together")
    return ListenerSettings(
        host=table.text("host") or "127.0.0.1",
        port=8000 if port is None else port,
        path=path,
        allow_hosts=hosts,
        allow_origins=origins,
        tls_cert=None if cert is None else folder / Path(cert).expanduser(),
        tls_key=None if key is None else folder / Path(key).expanduser(),
        insecure_http=table.flag("insecure_http", False),
    )


def _names(table: Table, name: str) -> tuple[str, ...]:
    said = table.one_or_more(name) or ()
    hosts, origins = (said, ()) if name == "allow_hosts" else ((), said)
    try:
        guard_of(hosts, origins, has_auth=True)
    except LocalProtocolError as error:
        raise table.wrong(name, str(error)) from None
    return said


__all__ = ["ListenerSettings", "exposure_problem", "read_listener"]
