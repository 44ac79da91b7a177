"""Why a remote agent could not be reached."""

from __future__ import annotations

import errno
import os
import socket
import ssl

import pytest

from accord.errors import ConnectionLost
from accord.transport.connect_errors import connect_failed, status_refused
from accord.transport.remote_address import parse_address

ADDRESS = parse_address("wss://a.example/acp?token=secret")


def _os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _certificate_error() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "failed")
    error.verify_message = "certificate has expired"
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (_os_error(errno.ECONNREFUSED), "nothing listens on port 443 of a.example"),
        (_os_error(errno.EHOSTUNREACH), "a.example is unreachable"),
        (_os_error(errno.ECONNRESET), "closed the connection before it answered"),
        (_os_error(errno.EMFILE), "Too many open files"),
        (socket.gaierror(-2, "Name or service not known"), "cannot be resolved"),
        (TimeoutError(), "did not answer in time"),
        (_certificate_error(), "the certificate is not valid: certificate has expired"),
        (ssl.SSLError(1, "wrong version number"), "does port 443 of a.example speak TLS"),
        (EOFError(), "closed the connection before it answered"),
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
    ("status", "words"),
    [
        (200, "not an ACP endpoint (status 200)"),
        (301, "redirects to https://b.example/ (status 301)"),
        (400, "not an ACP endpoint (status 400)"),
        (401, "token"),
        (403, "refuses"),
        (404, "/acp"),
        (500, "the server failed (status 500)"),
        (503, "try again later"),
    ],
)
def test_a_status_says_what_to_do(status: int, words: str) -> None:
    """Ours: 401 asks for a token, 404 for another path."""
    failed = status_refused(ADDRESS, status, location="https://b.example/")
    assert failed.status == status
    assert words in str(failed)


def test_the_server_s_words_are_shown_in_one_short_line() -> None:
    """Ours: they are a stranger's."""
    text = str(status_refused(ADDRESS, 302, body="a\x1b[31m\nb" + "c" * 1000))
    assert "it redirects (status 302)" in text
    assert "it said: a⟨U+001B⟩[31m bccc" in text
    assert "\x1b" not in text
    assert len(text) < 500
