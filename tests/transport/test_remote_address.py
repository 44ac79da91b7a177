"""URLs of remote agents: what is read, what is refused, what is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.errors import LocalProtocolError
from accord.transport.remote_address import (
    RemoteAddress,
    is_loopback,
    is_url,
    parse_address,
    require_encryption,
    shown_url,
    url_advice,
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("wss://a.example/acp", RemoteAddress("wss", "a.example", 443, "/acp")),
        ("WS://LocalHost:8000", RemoteAddress("ws", "localhost", 8000, "/")),
        ("http://[::1]:1/acp?x=1#part", RemoteAddress("http", "::1", 1, "/acp", "x=1")),
        ("https://bücher.example/", RemoteAddress("https", "xn--bcher-kva.example", 443, "/")),
    ],
)
def test_a_url_is_read(url: str, expected: RemoteAddress) -> None:
    """Ours: the parts that a transport needs."""
    assert parse_address(url) == expected


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("ftp://a.example", "begins with"),
        ("a.example/acp", "begins with"),
        ("https:///acp", "begins with"),
        ("https://user:secret@a.example/", "a token instead"),
        ("http://127.0.0.1\\@evil.example/", "characters"),
        ("https://a.example/ b", "characters"),
        ("https://a.example:70000/", "valid URL"),
        ("https://a.example:0/", "port"),
        ("https://[::1/", "valid URL"),
        ("https://a.example/ü", "percent-encoded"),
        ("https://a\r\nb/", "characters"),
        (f"https://a.example/{'a' * 9000}", "longer"),
        (f"https://{'ü' * 70}.example/", "host name"),
    ],
)
def test_a_bad_url_is_refused_without_its_secrets(url: str, word: str) -> None:
    """Ours: the error says what is wrong."""
    with pytest.raises(LocalProtocolError, match=word) as caught:
        parse_address(url)
    assert "secret" not in str(caught.value)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """Ours: nothing but LocalProtocolError."""
    for url in (text, f"wss://{text}", f"https://a.example/{text}"):
        try:
            address = parse_address(url)
        except LocalProtocolError:
            continue
        assert address.target.isascii()
        assert address.host.isascii()
        assert 0 < address.port < 65536
        assert parse_address(f"{address}").host == address.host


def test_what_is_shown_has_no_query() -> None:
    """Ours: tokens often travel there."""
    address = parse_address("wss://a.example:444/acp?token=secret")
    assert str(address) == "wss://a.example:444/acp"
    assert address.target == "/acp?token=secret"
    assert parse_address("http://[::1]:80/").authority == "[::1]"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("::ffff:8.8.8.8", False),
        ("0.0.0.0", False),
        ("localhost.example", False),
        ("127.0.0.1.example", False),
        ("10.0.0.1", False),
        ("127.1", False),
    ],
)
def test_loopback_is_this_machine_only(host: str, expected: bool) -> None:
    """Seed 004: `localhost`, 127.0.0.0/8 and ::1."""
    assert is_loopback(host) is expected


@pytest.mark.rule("TR-HTTP-18")
@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_plain_connections_lead_to_this_machine_only(scheme: str) -> None:
    """Seed 004, 14.5: encrypted in production; the flag is explicit."""
    away = parse_address(f"{scheme}://a.example/acp")
    with pytest.raises(LocalProtocolError, match=f"{scheme}s://.*insecure=True"):
        require_encryption(away, insecure=False)
    require_encryption(away, insecure=True)
    require_encryption(parse_address(f"{scheme}://127.0.0.1:1/acp"), insecure=False)
    require_encryption(parse_address(f"{scheme}s://a.example/acp"), insecure=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://a.example", True),
        ("WSS://a.example", True),
        ("npx", False),
        ("/usr/bin/agent", False),
        ("file:///agent", False),
        ("http:/a", False),
    ],
)
def test_urls_are_told_from_commands(text: str, expected: bool) -> None:
    """Ours: where a command takes either."""
    assert is_url(text) is expected


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("htps://a.example/acp", True),
        ("https:/a.example/acp", True),
        ("localhost:8000", True),
        ("localhost:8000/acp", True),
        ("agents.example.com/acp", True),
        ("[::1]:8000/acp", True),
        ("https://a.example/acp", False),
        ("team", False),
        ("my-agent", False),
        ("claude.code", False),
        ("./agent.py", False),
    ],
)
def test_a_url_with_a_mistake_is_told_how_one_begins(text: str, looks: bool) -> None:
    """Ours: for a name that is not known."""
    assert bool(url_advice(text)) is looks


@pytest.mark.parametrize(
    "url",
    [
        "https://ann:hunter2@a.example/acp",
        "https://ann:hunter2",
        "https://a.example:hunter2/acp",
        "htps://ann:hunter2@a.example/acp?token=hunter2",
        "wss://[hunter2/acp",
        "wss://a.example/acp?token=hunter2#hunter2 ",
    ],
)
def test_a_wrong_url_is_refused_without_its_secrets(url: str) -> None:
    """Ours: a password in the wrong place is in no error."""
    with pytest.raises(LocalProtocolError) as refused:
        parse_address(url)
    assert "hunter2" not in str(refused.value)


def test_what_is_shown_of_a_url_has_neither_credentials_nor_a_query() -> None:
    assert shown_url("htps://ann:hunter2@a.example/acp?token=x#y") == "htps://a.example/acp"
