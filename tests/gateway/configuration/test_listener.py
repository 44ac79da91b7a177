"""Whether it is safe to listen."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.gateway.configuration.listener import ListenerSettings, exposure_problem

CERT = Path("cert.pem")


@pytest.mark.parametrize(
    ("listener", "problem"),
    [
        (ListenerSettings(), None),
        (ListenerSettings(host="localhost"), None),
        (ListenerSettings(host="::1"), None),
        (ListenerSettings(host="192.0.2.1"), "certificate"),
        (ListenerSettings(host="0.0.0.0", allow_hosts=("a",)), "certificate"),
        (ListenerSettings(host="", allow_hosts=("a",)), "certificate"),
        (ListenerSettings(host="192.0.2.1", insecure_http=True), None),
        (ListenerSettings(host="192.0.2.1", tls_cert=CERT, tls_key=CERT), None),
        (ListenerSettings(host="::", tls_cert=CERT, tls_key=CERT), "allow_hosts"),
        (ListenerSettings(host="::", insecure_http=True), "allow_hosts"),
        (ListenerSettings(host="::", insecure_http=True, allow_hosts=("a",)), None),
    ],
)
def test_listening_beyond_this_computer_needs_tls_and_a_name(
    listener: ListenerSettings, problem: str | None
) -> None:
    """Issue 17: no bind beyond loopback without TLS unless a flag says so in words."""
    found = exposure_problem(listener)
    assert (found is None) if problem is None else (found is not None and problem in found)


def test_cookies_are_secure_where_browsers_come_over_tls() -> None:
    """Ours: also behind a proxy that has it."""
    assert not ListenerSettings().has_secure_cookies
    assert ListenerSettings(insecure_http=True).has_secure_cookies
    assert ListenerSettings(tls_cert=CERT, tls_key=CERT).has_secure_cookies
