"""A client's connection to an agent behind a URL."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from accord.client.options import Options
from accord.connection.limits import Limits
from accord.errors import LocalProtocolError
from accord.transport.remote_address import is_url, parse_address, shown_url, url_advice
from accord.transport.remote_limits import RemoteLimits
from accord.transport.remote_transport import remote_transport
from accord.transport.transport import Transport


def remote_maker(
    url: str,
    limits_of_connection: Limits,
    *,
    token: str | None,
    headers: Mapping[str, str] | None,
    insecure: bool,
    limits: RemoteLimits | None,
) -> Callable[[], Transport]:
    """Return a function that makes a transport to the agent.

    Raises:
        LocalProtocolError: the URL, the token or a header is not valid, or it is not a URL at all.
    """
    if not is_url(url):
        advice = url_advice(url) or "; to start a program, write Client.spawn"
        raise LocalProtocolError(f"{shown_url(url)!r} is not the URL of an agent{advice}")
    if limits is None:
        limits = RemoteLimits(message_bytes=limits_of_connection.frame_bytes)
    return remote_transport(url, token=token, headers=headers, insecure=insecure, limits=limits)


def connect_options(options: Options, url: str) -> Options:
    """Return the options for this agent: a message is a frame of its own, and has no header."""
    draft = options.draft
    if draft.address is None:
        draft = replace(draft, address=str(parse_address(url)))
    return replace(options, framing="lines", draft=draft, is_remote=True)
