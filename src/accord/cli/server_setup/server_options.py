"""Where `accord serve` listens and who may come in, from the command line and a file.

What always holds
    * What is unsafe needs an explicit word, and nothing is served without a credential.
    * The command line wins over the file; users of both may come in.
"""

from __future__ import annotations

import ssl
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from accord.cli.server_setup.target import Target
from accord.cli.server_setup.tls_files import tls_context
from accord.cli.server_setup.token_file import read_token_file
from accord.cli.usage_error import UsageError
from accord.configuration.user_paths import state_folder
from accord.gateway.access.api_keys import TOKEN_CHARS_MIN, new_token
from accord.gateway.configuration.config_file import GatewayConfig
from accord.gateway.configuration.listener import (
    EVERYWHERE,
    PORT_MAX,
    ListenerSettings,
    exposure_problem,
)
from accord.gateway.configuration.users import User
from accord.transport.request_headers import is_token
from accord.transport.server.request_guard import LOOPBACK_HOSTS

TOKEN_VARIABLE: Final = "ACCORD_SERVE_TOKEN"
STATE_FOLDER: Final = "gateway"
"""The folder of gateways' sessions in the user's state folder, with one for each target."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """What a gateway needs besides its agents; a token that `is_new` has to be shown."""

    config: GatewayConfig
    token: str | None = field(repr=False)
    is_new: bool
    hosts: tuple[str, ...]
    tls: ssl.SSLContext | None
    data: Path

    @property
    def listener(self) -> ListenerSettings:
        """The address, after the command line has replaced parts of the file."""
        return self.config.listener

    def origin(self, port: int) -> str:
        """The beginning of all URLs for a client on this computer."""
        host = "localhost" if self.listener.host in EVERYWHERE else _in_url(self.listener.host)
        scheme = "https" if self.tls is not None else "http"
        return f"{scheme}://{host}:{port}"


def options_of(
    arguments: Namespace, environment: Mapping[str, str], config: GatewayConfig, target: Target
) -> ServerOptions:
    """Check the arguments; the folder of the sessions is named after the target.

    Raises:
        UsageError: they do not fit together, or a file cannot be used.
    """
    listener = _listener(arguments, config.listener)
    tls = tls_context(listener.tls_cert, listener.tls_key)
    problem = exposure_problem(listener)
    if problem is not None:
        raise UsageError(problem)
    users = _users(arguments.token_file, config)
    token = _token(arguments.token, environment)
    # Nothing is served without a credential.
    is_new = token is None and not users and config.oauth is None
    own = () if listener.host in EVERYWHERE else (_in_url(listener.host),)
    data: Path | None = arguments.data or config.data
    return ServerOptions(
        config=replace(config, agents=target.agents, listener=listener, users=users),
        token=new_token() if is_new else token,
        is_new=is_new,
        hosts=(*LOOPBACK_HOSTS, *own, *listener.allow_hosts),
        tls=tls,
        data=state_folder() / STATE_FOLDER / target.name if data is None else data.absolute(),
    )


def _listener(arguments: Namespace, said: ListenerSettings) -> ListenerSettings:
    if arguments.port is not None and not 0 <= arguments.port <= PORT_MAX:
        raise UsageError(f"--port must be a number from 0 to {PORT_MAX}")
    has_certificate = arguments.tls_cert is not None or arguments.tls_key is not None
    source = arguments if has_certificate else said
    return ListenerSettings(
        host=said.host if arguments.host is None else arguments.host,
        port=said.port if arguments.port is None else arguments.port,
        path=said.path if arguments.path is None else arguments.path,
        allow_hosts=(*said.allow_hosts, *arguments.allow_host),
        allow_origins=(*said.allow_origins, *arguments.allow_origin),
        tls_cert=source.tls_cert,
        tls_key=source.tls_key,
        insecure_http=said.insecure_http or arguments.insecure_http,
    )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _token(given: str | None, environment: Mapping[str, str]) -> str | None:
    variable = environment.get(TOKEN_VARIABLE)
    if given is not None and variable is not None:
        raise UsageError(f"{TOKEN_VARIABLE} cannot be used together with --token")
    name, token = ("--token", given) if given is not None else (TOKEN_VARIABLE, variable)
    if token is None:
        return None
    if not is_token(token):
        # A new token instead would lock out whoever has this one.
        said = "it is empty" if not token else "one is visible ASCII without spaces"
        raise UsageError(f"{name} is set, but cannot be used as a token; {said}")
    if len(token) < TOKEN_CHARS_MIN:
        raise UsageError(
            f"{name}: the token can be guessed; it needs {TOKEN_CHARS_MIN} characters or more"
        )
    return token


def _users(file: Path | None, config: GatewayConfig) -> Mapping[str, User]:
    if file is None:
        return config.users
    users = read_token_file(file)
    for name in users:
        if name in config.users:
            raise UsageError(f"--token-file: {config.file} already has a user {name!r}")
    return {**config.users, **users}
