"""The options of a command for an agent behind a URL, read and checked."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field

from accord.cli.usage_error import UsageError
from accord.errors import LocalProtocolError
from accord.transport.remote_transport import remote_address
from accord.transport.request_headers import request_headers


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
        token = None if arguments.token_env is None else read_variable(arguments.token_env)
        headers: dict[str, str] = {}
        for text in arguments.header_env:
            name, found, variable = text.partition("=")
            if not found:
                raise UsageError(f"--header-env takes HEADER=NAME, not {text!r}")
            headers[name] = read_variable(variable)
        request_headers(token, headers)
    except LocalProtocolError as error:
        raise UsageError(str(error)) from None
    return RemoteAgent(arguments.url, token, headers, arguments.insecure)


def read_variable(name: str) -> str:
    """Return the value of an environment variable.

    Raises:
        UsageError: it is not set.
    """
    value = os.environ.get(name)
    if not value:
        raise UsageError(f"the environment variable {name!r} is not set")
    return value
