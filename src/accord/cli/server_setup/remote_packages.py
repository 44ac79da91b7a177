"""The packages that serving needs, before anything that imports them."""

from __future__ import annotations

import anyio

from accord.cli.console import complain
from accord.errors import ConfigError
from accord.machine import optional_packages


def require_remote_packages(command: str = "serve") -> None:
    """Install what a checkout needs, or say which package is missing.

    Raises:
        ConfigError: a package is missing, or cannot be installed.
    """
    if optional_packages.is_missing("remote"):
        complain(f"accord {command}: installing the packages for HTTP and WebSocket (only once)")
        anyio.run(optional_packages.install, "remote")
    try:
        import granian
        import websockets
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise ConfigError(f"serving needs the package {package}; install accord[remote]") from None
    del granian, websockets
