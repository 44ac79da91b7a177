"""Sessions of browsers: their cookies, how long they last, how many there are."""

from __future__ import annotations

import pytest

from accord.gateway.access import browser_sessions
from accord.gateway.access.browser_sessions import (
    PER_PRINCIPAL_MAX,
    SESSION_SECONDS_MAX,
    BrowserSessions,
)
from accord.gateway.access.principal import Principal
from tests.gateway.access.issuer import Clock

ANN = Principal(name="ann", display_name="Ann", identity="ann")
BOB = Principal(name="bob", display_name="Bob", identity="bob")


def value_of(header: str) -> str:
    """The value in a `Set-Cookie` header."""
    return header.partition("=")[2].partition(";")[0]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sessions(clock: Clock) -> BrowserSessions:
    return BrowserSessions(is_secure=True, port=443, clock=clock)


def test_a_cookie_is_for_this_host_alone_and_not_for_scripts(sessions: BrowserSessions) -> None:
    """Research, 3, threat 1: `__Host-` and SameSite=Strict."""
    name, _, rest = sessions.begin(ANN, None, None).partition("=")
    value, *attributes = rest.split("; ")
    assert name == sessions.cookie_name == "__Host-accord"
    # 256 bits.
    assert len(value) == 43
    assert attributes == ["Path=/", "Max-Age=43200", "HttpOnly", "SameSite=Strict", "Secure"]


def test_without_tls_the_name_tells_ports_apart() -> None:
    """Ours: browsers send a cookie to every port of a host, and take the prefix over TLS only."""
    local = BrowserSessions(is_secure=False, port=8000)
    header = local.begin(ANN, None, None)
    assert header.startswith("accord-8000=")
    assert "Secure" not in header
    names = {BrowserSessions(is_secure=False, port=0).cookie_name for _ in range(2)}
    assert len(names) == 2
    assert local.forgetting_cookie() == "accord-8000=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"


def test_a_cookie_is_found_until_its_session_is_over(
    sessions: BrowserSessions, clock: Clock
) -> None:
    """Issue 17: expiry."""
    value = value_of(sessions.begin(ANN, b"key", None))
    found = sessions.find(value)
    assert found is not None
    assert (found.principal, found.key) == (ANN, b"key")
    assert sessions.find(value[:-1]) is None
    assert sessions.find("") is None
    clock.now += SESSION_SECONDS_MAX - 1
    assert sessions.find(value) is not None
    clock.now += 1
    assert sessions.find(value) is None


def test_a_session_does_not_outlive_its_token(sessions: BrowserSessions, clock: Clock) -> None:
    """Ours."""
    header = sessions.begin(ANN, None, 60)
    assert "Max-Age=60;" in header
    clock.now += 60
    assert sessions.find(value_of(header)) is None
    # And no token makes it longer.
    assert "Max-Age=43200;" in sessions.begin(ANN, None, 10**9)


def test_the_end_of_a_session_is_its_own(sessions: BrowserSessions) -> None:
    """Issue 17: revoked at logout."""
    first, second = (value_of(sessions.begin(ANN, None, None)) for _ in range(2))
    sessions.end(first)
    sessions.end(first)
    assert sessions.find(first) is None
    assert sessions.find(second) is not None


def test_the_value_itself_is_not_kept(sessions: BrowserSessions) -> None:
    """Issue 17: hashed on the side of the server."""
    value = value_of(sessions.begin(ANN, None, None))
    assert value not in repr(vars(sessions))


def test_one_principal_has_a_bounded_number_and_does_not_drive_out_others(
    sessions: BrowserSessions,
) -> None:
    """Issue 17: bounded."""
    of_bob = value_of(sessions.begin(BOB, None, None))
    values = [value_of(sessions.begin(ANN, None, None)) for _ in range(PER_PRINCIPAL_MAX + 5)]
    found = [sessions.find(value) is not None for value in values]
    assert found == [False] * 5 + [True] * PER_PRINCIPAL_MAX
    assert sessions.find(of_bob) is not None


def test_there_is_a_bound_for_all(
    sessions: BrowserSessions, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: also for many users of an identity provider."""
    monkeypatch.setattr(browser_sessions, "SESSIONS_MAX", 3)
    for number in range(5):
        one = Principal(name=f"user-{number}", display_name="x", identity=f"user-{number}")
        sessions.begin(one, None, 60)
    assert len(sessions) == 3
    clock.now += 60
    sessions.begin(ANN, None, None)
    assert len(sessions) == 1
