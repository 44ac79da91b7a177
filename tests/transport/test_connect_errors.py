"""Why a remote agent could not be reached."""

from __future__ import annotations

import errno
import os
import socket
import ssl

import pytest

from accord.errors import ConnectionLost
from accord.transport.connect_errors import (
    closed_early,
    connect_failed,
    connect_reason,
    status_reason,
    status_refused,
)
from accord.transport.remote_address import parse_address
from accord.transport.request_headers import HiddenValues

NOTHING = HiddenValues(())
ADDRESS = parse_address("wss://a.example/acp?token=secret")


def _os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _certificate_error(
    words: str = "certificate has expired", code: int = 10
) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "failed")
    error.verify_message, error.verify_code = words, code
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (_os_error(errno.ECONNREFUSED), "(connection refused); is the server running there?"),
        (_os_error(errno.EHOSTUNREACH), "check the network"),
        (_os_error(errno.ECONNRESET), "check that an ACP server is there"),
        (_os_error(errno.ENOTCONN), "closed the connection before it answered"),
        (_os_error(errno.EMFILE), "Too many open files"),
        (socket.gaierror(-2, "Name or service not known"), "check its spelling"),
        (TimeoutError(), "firewall"),
        (_certificate_error(), "the certificate is not valid: certificate has expired"),
        (ssl.SSLError(1, "wrong version number"), "does port 443 of a.example speak TLS"),
        (EOFError(), "check that an ACP server is there"),
        (ValueError("did not receive a valid HTTP response"), "valid HTTP response"),
        (ValueError(), "ValueError"),
        (OSError("odd"), "odd"),
    ],
)
def test_an_error_of_the_network_says_what_happened(error: Exception, words: str) -> None:
    """Ours: a person can tell refused from unreachable from a bad certificate."""
    failed = connect_failed(ADDRESS, error)
    assert isinstance(failed, ConnectionLost)
    assert str(failed).startswith("cannot connect to wss://a.example/acp: ")
    assert words in str(failed)
    assert failed.status is None
    assert "secret" not in str(failed)


@pytest.mark.parametrize(
    ("words", "code", "advice"),
    [
        ("self-signed certificate", 18, "SSL_CERT_FILE names its file"),
        ("unable to get local issuer certificate", 20, "SSL_CERT_FILE names its file"),
        ("Hostname mismatch", 62, "use a name that it is for"),
        ("IP address mismatch", 64, "use a name that it is for"),
        ("certificate has expired", 10, "must be renewed there"),
        ("certificate revoked", 23, ""),
    ],
)
def test_a_certificate_that_is_refused_says_what_helps(words: str, code: int, advice: str) -> None:
    """Ours: a file of authorities does not help against a wrong name or an old certificate."""
    reason = connect_reason(ADDRESS, _certificate_error(words, code))
    assert reason.startswith(f"the certificate is not valid: {words}")
    assert advice in reason
    assert ("SSL_CERT_FILE" in reason) == ("SSL_CERT_FILE" in advice)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (200, "not an ACP endpoint (status 200); check the host"),
        (301, "redirects to https://b.example/x (status 301); use that URL"),
        (400, "not an ACP endpoint (status 400)"),
        (401, "give a token"),
        (403, "check the token, and the server's lists of origins and hosts"),
        (404, "the usual path is /acp"),
        (405, "not an ACP endpoint (status 405)"),
        (421, "--allow-host"),
        (426, "use http:// or https://"),
        (500, "the server failed (status 500); try again later"),
        (501, "not an ACP endpoint (status 501)"),
        (503, "try again later"),
    ],
)
def test_a_status_says_what_to_do(status: int, words: str) -> None:
    """Issue 16: 401 asks for a token, 404 for another path, 421 for another name."""
    reason = status_reason(status, NOTHING, location="https://b.example/x?token=secret")
    assert words in reason
    assert "secret" not in reason
    failed = status_refused(ADDRESS, status, reason)
    assert (failed.status, str(failed)) == (
        status,
        f"cannot connect to wss://a.example/acp: {reason}",
    )


def test_a_refused_token_is_told_from_a_missing_one() -> None:
    assert "may be wrong, revoked or expired" in status_reason(
        401, HiddenValues([("Authorization", "Bearer wrong")])
    )


def test_the_server_s_words_are_shown_in_one_short_line() -> None:
    """Ours: they are a stranger's."""
    text = status_reason(302, NOTHING, body="a\x1b[31m\nb" + "c" * 1000)
    assert "it redirects (status 302)" in text
    assert "it said: a⟨U+001B⟩[31m bccc" in text
    assert "\x1b" not in text
    assert len(text) < 500
    assert "html" not in status_reason(400, NOTHING, body="<!doctype html><html>")


@pytest.mark.parametrize(
    ("url", "scheme"), [("ws://localhost/a", "wss"), ("http://[::1]/", "https")]
)
def test_a_plain_connection_that_is_closed_at_once_may_need_tls(url: str, scheme: str) -> None:
    assert f"use {scheme}:// if it has TLS" in closed_early(parse_address(url))
    assert "if it has TLS" not in closed_early(ADDRESS)


@pytest.mark.parametrize("name", ["Authorization", "X-Key", "Cookie"])
def test_a_server_that_repeats_a_credential_is_not_quoted_with_it(name: str) -> None:
    """Issue 16: tokens are in no error."""
    hidden = HiddenValues([(name, "Bearer s3cr3t-t0ken")])
    for text in (
        "you sent Bearer s3cr3t-t0ken",
        "bad token s3cr3t-t0ken",
        "https://x/s3cr3t-t0ken",
    ):
        for status in (302, 400, 401, 500):
            said = status_reason(status, hidden, location=text, body=text)
            assert "s3cr3t" not in said
            assert "[secret]" in said
