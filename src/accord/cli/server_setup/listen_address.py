"""The address of `--listen`: commands that take it serve this computer only."""

from __future__ import annotations

from accord.cli.usage_error import UsageError
from accord.conformance.network.address import Address, read_address


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
