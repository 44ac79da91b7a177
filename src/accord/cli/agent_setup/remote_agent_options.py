"""The options of a command for an agent behind a URL, read and checked."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from accord.cli.usage_error import UsageError
from accord.errors import LocalProtocolError
from accord.transport.remote_transport import remote_address
from accord.transport.request_headers import request_headers

# How variables are usually named.  Other words may be secrets.
_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class RemoteAgent:
    """Where a remote agent is, and what to send along."""

    url: str
    token: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    insecure: bool = False


def read_remote_agent(arguments: Namespace) -> RemoteAgent:
    """Read and check the options.

    Raises:
        UsageError: the URL cannot be used, or a variable is missing.
    """
    try:
        remote_address(arguments.url, insecure=arguments.insecure)
        token = None
        if arguments.token_env is not None:
            token = read_variable(arguments.token_env, "--token-env")
        headers: dict[str, str] = {}
        for text in arguments.header_env:
            name, found, variable = text.partition("=")
            if not found:
                raise UsageError(
                    "--header-env takes HEADER=NAME, where NAME is an environment variable"
                )
            headers[name] = read_variable(variable, "--header-env")
        request_headers(token, headers)
    except LocalProtocolError as error:
        raise UsageError(str(error)) from None
    return RemoteAgent(arguments.url, token, headers, arguments.insecure)


def read_variable(name: str, option: str) -> str:
    """Return the value of the environment variable that an option names.

    Raises:
        UsageError: it is not set or empty, or the option has a value instead of a name.
    """
    value = os.environ.get(name)
    if value:
        return value
    if not _VARIABLE.match(name):
        # Perhaps the secret itself, which is not shown.
        raise UsageError(f"{option} takes the name of an environment variable, not its value")
    problem = "is not set" if value is None else "is empty"
    raise UsageError(f"{option}: the environment variable {name} {problem}")
