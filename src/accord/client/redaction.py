"""Text without what looks like a secret, for logs that outlive the moment.

Must not know where the text comes from.  Pure.

What always holds: what is replaced is replaced by the same mark, whatever its length was.  It is a
net with holes: who must not tell a secret must not hand it here.
"""

from __future__ import annotations

import re

MARK = "[secret]"

_NAMES = r"[\w-]*(?:key|token|secret|passw(?:or)?d|passwd|credential|auth(?:orization)?)[\w-]*"
_PATTERNS = (
    # Known forms of keys: they say what they are, wherever they stand.
    (
        re.compile(
            r"\b(?:sk|pk|rk)-[\w-]{12,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}"
            r"|\bxox[abprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
            r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
        ),
        MARK,
    ),
    # https://user:password@host
    (re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^\s/@'\"]+@", re.IGNORECASE), rf"\1{MARK}@"),
    # Authorization: Bearer x, and without the name before it
    (re.compile(r"\b(bearer|basic)\s+[\w+/=.~-]{6,}", re.IGNORECASE), rf"\1 {MARK}"),
    # API_KEY=x, "password": "x", X-Api-Key: x
    (
        re.compile(
            rf"\b({_NAMES}['\"]?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s'\",;&]+)", re.IGNORECASE
        ),
        rf"\1{MARK}",
    ),
    # --password x
    (re.compile(rf"(--?{_NAMES})\s+(?!-)(\"[^\"]*\"|'[^']*'|\S+)", re.IGNORECASE), rf"\1 {MARK}"),
)


def without_secrets(text: str) -> str:
    """The text with what looks like a key, a token or a password replaced."""
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


__all__ = ["MARK", "without_secrets"]
