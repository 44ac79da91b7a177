"""From a URL to a transport."""

from __future__ import annotations

import sys

import pytest

from accord.errors import ConfigError, LocalProtocolError
from accord.transport.remote_limits import RemoteLimits
from accord.transport.remote_transport import remote_transport
from accord.transport.websocket.client import WebSocketTransport


def test_the_scheme_chooses_the_transport() -> None:
    """Ours: and each call makes a new one."""
    make = remote_transport("wss://a.example/acp", token="abc", headers={"X-A": "1"})
    one, other = make(), make()
    assert isinstance(one, WebSocketTransport)
    assert one is not other
    assert str(one.address) == "wss://a.example/acp"


@pytest.mark.rule("TR-HTTP-18")
@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_plain_connections_beyond_this_machine_are_refused(scheme: str) -> None:
    """Seed 004: before anything is sent, unless the caller allows it."""
    with pytest.raises(LocalProtocolError, match="insecure"):
        remote_transport(f"{scheme}://a.example/acp")
    remote_transport("ws://a.example/acp", insecure=True)
    remote_transport("ws://localhost/acp")


def test_bad_headers_and_limits_are_refused_before_anything_is_sent() -> None:
    """Ours: where the mistake was made."""
    with pytest.raises(LocalProtocolError, match="a token is visible ASCII"):
        remote_transport("wss://a.example", token="a b")
    with pytest.raises(LocalProtocolError, match="grace_seconds"):
        remote_transport("wss://a.example", limits=RemoteLimits(grace_seconds=-1))


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: an installation without `remote` says what is missing."""
    for name in list(sys.modules):
        if name.startswith(("accord.transport.websocket.", "websockets")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "websockets", None)
    with pytest.raises(ConfigError, match=r"accord\[remote\]"):
        remote_transport("wss://a.example")
