"""The options of commands that listen, checked: what is unsafe needs an explicit word."""

from __future__ import annotations

import ssl
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accord.cli.usage_error import UsageError
from accord.conformance.network.address import Address, read_address
from accord.transport.request_headers import is_token
from accord.transport.server.authorization import AuthHook, bearer_tokens
from accord.transport.server.request_guard import LOOPBACK_HOSTS, is_loopback

TOKEN_VARIABLE: Final = "ACCORD_SERVE_TOKEN"
ONE_USER: Final = "user"
PORT_MAX: Final = 65535
EVERYWHERE: Final = ("0.0.0.0", "::", "")
_PRIVATE_KEY: Final = (b"PRIVATE KEY-----", "private key")
# A name and a token.
_WORDS: Final = 2


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Where and for whom an agent is served."""

    host: str
    port: int
    path: str
    hosts: tuple[str, ...]
    origins: tuple[str, ...]
    auth: AuthHook | None
    tls: ssl.SSLContext | None

    def url(self, port: int) -> str:
        """The URL for a client on this computer."""
        host = "localhost" if self.host in EVERYWHERE else _in_url(self.host)
        scheme = "https" if self.tls is not None else "http"
        return f"{scheme}://{host}:{port}/{self.path.strip('/')}"


def options_of(arguments: Namespace, environment: Mapping[str, str]) -> ServerOptions:
    """Check the arguments.

    Raises:
        UsageError: they do not fit together, or a file cannot be used.
    """
    host: str = arguments.host
    if not 0 <= arguments.port <= PORT_MAX:
        raise UsageError(f"--port must be a number from 0 to {PORT_MAX}")
    tokens = _tokens(arguments.token_file, environment)
    tls = _tls(arguments.tls_cert, arguments.tls_key)
    if not (host == "localhost" or (host not in EVERYWHERE and is_loopback(host))):
        if not tokens:
            raise UsageError(f"serving beyond this computer needs --token-file or {TOKEN_VARIABLE}")
        if tls is None and not arguments.insecure_http:
            raise UsageError(
                "serving beyond this computer needs --tls-cert and --tls-key; behind a proxy that"
                " has TLS, use --insecure-http"
            )
        if host in EVERYWHERE and not arguments.allow_host:
            raise UsageError(
                "name the host that clients will use, such as --allow-host agents.example.com"
            )
    own = () if host in EVERYWHERE else (_in_url(host),)
    return ServerOptions(
        host=host,
        port=arguments.port,
        path=arguments.path,
        hosts=(*LOOPBACK_HOSTS, *own, *arguments.allow_host),
        origins=tuple(arguments.allow_origin),
        auth=bearer_tokens(tokens) if tokens else None,
        tls=tls,
    )


def listen_address(url: str) -> Address:
    """Read the address to listen on.

    Raises:
        UsageError: it is not an address of this machine.
    """
    try:
        address = read_address(url)
    except ValueError as error:
        raise UsageError(f"--listen: {error}") from None
    if address.tls or not address.is_loopback:
        raise UsageError(
            "--listen takes an address of this machine, such as http://127.0.0.1:0/acp"
        )
    return address


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _tokens(file: Path | None, environment: Mapping[str, str]) -> dict[str, str]:
    """Read the tokens: token -> name."""
    variable = environment.get(TOKEN_VARIABLE)
    if variable is not None and not is_token(variable):
        # Serving everybody would be the opposite of what was asked for.
        raise UsageError(
            f"{TOKEN_VARIABLE} is set, but cannot be a token, "
            + ("since it is empty" if not variable else "which is visible ASCII without spaces")
        )
    if file is None:
        return {} if variable is None else {variable: ONE_USER}
    if variable is not None:
        raise UsageError(f"--token-file and {TOKEN_VARIABLE} cannot be used together")
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--token-file: {str(file)!r} cannot be read: {error}") from None
    tokens: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        # The line is not shown: it may be a token.
        if len(words) != _WORDS or not is_token(words[1]):
            raise UsageError(f"--token-file: line {number} must be a name and a token, in ASCII")
        name, token = words
        if token in tokens:
            raise UsageError(f"--token-file: the token on line {number} is a duplicate")
        tokens[token] = name
    if not tokens:
        raise UsageError(f"--token-file: {str(file)!r} has no token")
    return tokens


def _tls(cert: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise UsageError("--tls-cert and --tls-key must be given together")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2", "http/1.1"])
    try:
        context.load_cert_chain(cert, key, password=_no_password)
    except (OSError, ssl.SSLError) as error:
        reason = _why_unusable(cert, key, error)
        raise UsageError(f"the certificate or its key cannot be used: {reason}") from None
    return context


def _why_unusable(cert: Path, key: Path, error: OSError) -> str:
    """Say what is wrong with one of the files; OpenSSL says only that something is."""
    for path, block, what in ((cert, b"CERTIFICATE-----", "certificate"), (key, *_PRIVATE_KEY)):
        if not path.is_file():
            return f"{str(path)!r} does not exist"
        try:
            text = path.read_bytes()
        except OSError as unreadable:
            return f"{str(path)!r} cannot be read: {unreadable.strerror}"
        if block not in text:
            return f"{str(path)!r} has no {what} in the form of PEM"
    if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
        return f"the key in {str(key)!r} does not belong to the certificate in {str(cert)!r}"
    return str(error)


def _no_password() -> str:
    """Refuse a key with a password: OpenSSL would ask for it on the terminal, and wait."""
    raise UsageError("--tls-key: the key has a password; decrypt it first (openssl pkey)")
