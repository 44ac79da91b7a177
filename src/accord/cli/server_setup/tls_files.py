"""The certificate and the key of a server, checked before it starts."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Final

from accord.cli.usage_error import UsageError

_PRIVATE_KEY: Final = (b"PRIVATE KEY-----", "private key")


def tls_context(cert: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """Return what TLS needs; None without a certificate.

    Raises:
        UsageError: the two files cannot be used.
    """
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise UsageError("--tls-cert and --tls-key must be given together")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2", "http/1.1"])
    try:
        context.load_cert_chain(cert, key, password=_no_password)
    except (OSError, ssl.SSLError) as error:
        reason = _why_unusable(cert, key, error)
        raise UsageError(f"the certificate or its key cannot be used: {reason}") from None
    return context


def _why_unusable(cert: Path, key: Path, error: OSError) -> str:
    """Say what is wrong with one of the files; OpenSSL says only that something is."""
    for path, block, what in ((cert, b"CERTIFICATE-----", "certificate"), (key, *_PRIVATE_KEY)):
        if not path.is_file():
            return f"{str(path)!r} does not exist"
        try:
            text = path.read_bytes()
        except OSError as unreadable:
            return f"{str(path)!r} cannot be read: {unreadable.strerror}"
        if block not in text:
            return f"{str(path)!r} has no {what} in the form of PEM"
    if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
        return f"the key in {str(key)!r} does not belong to the certificate in {str(cert)!r}"
    return str(error)


def _no_password() -> str:
    """Refuse a key with a password: OpenSSL would ask for it on the terminal, and wait."""
    raise UsageError("--tls-key: the key has a password; decrypt it first (openssl pkey)")
