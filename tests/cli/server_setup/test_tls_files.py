"""The certificate of a server and its key."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from accord.cli.server_setup.tls_files import tls_context
from accord.cli.usage_error import UsageError
from tests.hang_limit import HANG_SECONDS
from tests.machine.certificates import make_certificate


def test_a_key_with_a_password_is_refused_and_nobody_is_asked(tmp_path: Path) -> None:
    """OpenSSL would ask on the terminal, where nobody may sit."""
    made = make_certificate(tmp_path)
    locked = tmp_path / "locked.pem"
    subprocess.run(
        ["openssl", "pkey", "-in", made.key, "-aes128", "-passout", "pass:word", "-out", locked],
        check=True,
        timeout=HANG_SECONDS,
    )
    with pytest.raises(UsageError, match="has a password"):
        tls_context(made.certificate, locked)


def test_a_certificate_and_a_key_that_do_not_fit_are_told_apart(tmp_path: Path) -> None:
    """Ours: OpenSSL says `PEM lib` for most of it."""
    (tmp_path / "other").mkdir()
    made, other = make_certificate(tmp_path), make_certificate(tmp_path / "other")
    certificate, key = made.certificate, made.key
    for cert, private, words in (
        (key, certificate, f"{str(key)!r} has no certificate"),
        (certificate, certificate, f"{str(certificate)!r} has no private key"),
        (certificate, other.key, "does not belong to the certificate"),
        (tmp_path / "none", key, "does not exist"),
    ):
        with pytest.raises(UsageError, match=re.escape(words)):
            tls_context(cert, private)
