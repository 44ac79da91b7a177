"""What looks like a secret: in a text, in the name of a variable, in an environment.

For whoever writes down or shows what may hold one: logs, recordings, the output of commands.
Must not know where a text comes from.  No I/O.

What always holds: what is replaced is replaced by the same mark, whatever its length was.  It is a
net with holes: who must not tell a secret must not hand it here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

MARK = "[secret]"

SECRET_PATTERNS = (
    "*API_KEY*",
    "*APIKEY*",
    "*_KEY",
    "*_TOKEN",
    "TOKEN",
    "*_PAT",
    "*SECRET*",
    "*PASSWORD*",
    "*PASSWD*",
    "*PASSPHRASE*",
    "*CREDENTIAL*",
    "*PRIVATE_KEY*",
    "*ACCESS_KEY*",
    "*[Aa][Uu][Tt][Hh]_[Tt][Oo][Kk][Ee][Nn]*",
    "*authToken*",
    "*api_key*",
    "*_token",
    "*password*",
    "*secret*",
)
"""Names of variables that hold secrets, as shell patterns; commands do not inherit them."""

KNOWN_NAMES = frozenset(
    {
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "OPENROUTER_API_KEY",
        "MISTRAL_API_KEY",
        "GROQ_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "NPM_TOKEN",
        "PYPI_TOKEN",
        "HF_TOKEN",
    }
)
"""Variables whose values are secrets whatever they look like."""

KNOWN_CHARACTERS_MIN = 8
"""Shorter values are words that stand in every text."""

GUESSED_CHARACTERS_MIN = 12
"""The same for values that only their variable's name makes suspicious."""

# Every expression below takes a time that grows with the text and not faster: an agent chooses the
# text.  So each begins where no other could, and gives back nothing it has taken (`*+`, `++`).
_NAME = (
    r"(?=[\w-]*?(?:key|token|secret|passwo?r?d|passphrase|credential|auth|cookie|signature))[\w-]++"
)
KEYS = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{12,}+|\bgh[pousr]_\w{20,}+|\bgithub_pat_\w{20,}+"
    r"|\bxox[abprs]-[\w-]{10,}+|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}+"
    r"|(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*+"
    r"|\b[sr]k_(?:live|test)_\w{12,}+|\bglpat-[\w-]{16,}+|\bhf_[A-Za-z0-9]{20,}+"
    r"|\bnpm_[A-Za-z0-9]{30,}+|\bpypi-[\w-]{30,}+"
)
"""Known forms of keys: they say what they are, wherever they stand."""

KEY_BEGINS = r"-----BEGIN (?:[A-Z]{1,20} )?PRIVATE KEY-----"
KEY_ENDS = r"-----END (?:[A-Z]{1,20} )?PRIVATE KEY-----"

_FORMS = (
    (KEYS, MARK),
    # A private key, also one whose end is not there.
    (re.compile(rf"({KEY_BEGINS}).*?(?:{KEY_ENDS}|\Z)", re.DOTALL), rf"\1{MARK}"),
    # https://user:password@host
    (
        re.compile(r"(?<![a-z0-9+.-])([a-z0-9+.-]++://)[^\s/@'\"]++@", re.IGNORECASE),
        rf"\1{MARK}@",
    ),
    # Authorization: Bearer x, and without the name before it
    (re.compile(r"\b(bearer|basic)\s++[\w+/=.~-]{6,}+", re.IGNORECASE), rf"\1 {MARK}"),
)
_VALUE = r"(?:\"[^\"]*+\"|'[^']*+'|[^\s'\",;&]++)"
_NAMED = (
    # API_KEY=x, "password": "x", X-Api-Key: x
    (
        re.compile(rf"(?<![\w-])({_NAME}['\"]?\s*+[=:]\s*+){_VALUE}", re.IGNORECASE),
        rf"\1{MARK}",
    ),
    # --password x
    (
        re.compile(rf"(?<![\w-])(-{_NAME})\s++(?!-)(?:\"[^\"]*+\"|'[^']*+'|\S++)", re.IGNORECASE),
        rf"\1 {MARK}",
    ),
)


def without_known_forms(text: str) -> str:
    """The text without what is a secret by its form alone: a key, a login in an address, a token.

    For text that must stay what it is otherwise, such as source code.
    """
    for pattern, replacement in _FORMS:
        text = pattern.sub(replacement, text)
    return text


def without_secrets(text: str) -> str:
    """The text with what looks like a key, a token or a password replaced, by form or by name."""
    text = without_known_forms(text)
    for pattern, replacement in _NAMED:
        text = pattern.sub(replacement, text)
    return text


# `env A=1 'B=two words' make`: how a command is shown that is given variables.
_ASSIGNMENT = (
    r"(?:'[A-Za-z_]\w*=[^']*'(?:\"'\"'[^']*')*"
    r"|[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|[^\s'\"])*)"
)
_GIVEN = re.compile(_ASSIGNMENT)
_ENVIRONMENT = re.compile(rf"(?<![^\s=])env((?:\s+{_ASSIGNMENT})+)")


def without_values(text: str) -> str:
    """The text without the values of the variables that a command in it is given by `env`."""

    def names(found: re.Match[str]) -> str:
        given = (one.strip("'").partition("=")[0] for one in _GIVEN.findall(found[1]))
        return " ".join(("env", *(f"{name}={MARK}" for name in given)))

    return _ENVIRONMENT.sub(names, text)


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name is kept from commands."""
    return name in KNOWN_NAMES or any(fnmatchcase(name, pattern) for pattern in SECRET_PATTERNS)


def secret_values(environ: Mapping[str, str]) -> frozenset[str]:
    """The values in an environment that no output may show.

    A value that is one plain word or a path may stand in any text for other reasons; it counts
    only under a name that is known to hold a key.
    """
    found: set[str] = set()
    for name, value in environ.items():
        if name in KNOWN_NAMES:
            if len(value) >= KNOWN_CHARACTERS_MIN:
                found.add(value)
        elif is_secret_name(name) and looks_secret(value):
            found.add(value)
    return frozenset(found)


def looks_secret(value: str) -> bool:
    """Whether a value is no word, name or path, but may be a key."""
    return (
        len(value) >= GUESSED_CHARACTERS_MIN
        and not value.startswith(("/", "./", "~"))
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
    )


__all__ = [
    "KEYS",
    "KEY_BEGINS",
    "KEY_ENDS",
    "KNOWN_NAMES",
    "MARK",
    "SECRET_PATTERNS",
    "is_secret_name",
    "looks_secret",
    "secret_values",
    "without_known_forms",
    "without_secrets",
    "without_values",
]
