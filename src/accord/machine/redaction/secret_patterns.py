"""What a secret looks like: the forms of keys, the names of variables, the look of a value.

This is the only definition of it; `redactor.py` applies it, and `known_values.py` says which values
are secrets wherever they stand.  No I/O.

A secret is known by its form (`sk-...`, a token, a login in an address), by the name in front of
it (`API_KEY=...`, `--token ...`, a key of a JSON object), or because its value is known.  This is
a net with holes: a secret in another form, under a harmless name, is not seen.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache
from typing import Final

MARK: Final = "[secret]"

COMMAND_KEYS: Final = frozenset({"args", "argv", "arguments", "command", "cmd"})
"""Keys of JSON that hold a command."""

PAIR_KEYS: Final = frozenset({"env", "environment", "headers"})
"""Keys of JSON whose members are variables or headers, which are taken out whatever they are."""

SECRET_PATTERNS: Final = (
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

KNOWN_NAMES: Final = frozenset(
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
        "MYSQL_PWD",
    }
)
"""Variables whose values are secrets whatever they look like."""

GUESSED_CHARACTERS_MIN: Final = 12
"""Shorter values are harmless where only their name makes them suspicious."""

PASSWORD_CHARACTERS_MIN: Final = 6
"""The same for a value that the word `password` stands in front of."""

# ---- forms

_OF_LETTERS = r"(?:gsk_|xai-|pplx-|r8_|ntn_|sbp_|shpat_|AGE-SECRET-KEY-)"
_OF_WORDS = r"(?:nvapi-|GOCSPX-|dckr_pat_|hvs\.|ATATT3)"

# An agent chooses the text, so every expression takes linear time: each begins where no other could
# and gives back nothing that it has taken (`*+`, `++`).
KEYS: Final = re.compile(
    r"\b(?:sk|pk|rk)-[\w*-]{12,}+|\bgh[pousr]_\w{20,}+|\bgithub_pat_\w{20,}+"
    r"|\b(?:xox[abprs]|xapp)-[\w-]{10,}+|\bA[KS]IA[0-9A-Z]{16}\b|\bAIza[\w-]{12,}+"
    r"|\bya29\.[\w-]{20,}+|\bSG\.[\w-]{16,}+\.[\w-]{16,}+|\bdop_v1_\w{20,}+"
    r"|(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*+"
    r"|\b[sr]k_(?:live|test)_\w{12,}+|\bglpat-[\w-]{16,}+|\bhf_[A-Za-z0-9]{20,}+"
    r"|\bnpm_[A-Za-z0-9]{30,}+|\bpypi-[\w-]{30,}+"
    rf"|\b{_OF_LETTERS}[A-Za-z0-9]{{20,}}+|\b{_OF_WORDS}[\w-]{{20,}}+"
)
"""Keys that are recognised wherever they stand; some programs show a key with stars in it."""
KEYS_BEGUN: Final = re.compile(
    r"\b[spr]k-[\w*-]*+|\b(?:xox[abprs]-|xapp-|AIza|glpat-|pypi-|ya29\.)[\w-]*+"
    r"|\b(?:gh[pousr]_|github_pat_|[sr]k_(?:live|test)_|dop_v1_)\w*+|\b(?:hf_|npm_)[A-Za-z0-9]*+"
    r"|\bSG\.[\w-]*+(?:\.[\w-]*+)?|\bA[KS]IA[0-9A-Z]{0,16}+|(?<![\w-])eyJ[\w-]*+(?:\.[\w-]*+(?:\.[\w-]*+)?)?"
    rf"|\b{_OF_LETTERS}[A-Za-z0-9]*+|\b{_OF_WORDS}[\w-]*+"
)
"""The same, as far as they have come at the end of a text."""
KEY_HEADS: Final = (
    *("sk-", "pk-", "rk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "AKIA", "AIza"),
    *("xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "eyJ", "sk_live_", "sk_test_", "rk_live_"),
    *("rk_test_", "glpat-", "hf_", "npm_", "pypi-", "ASIA", "xapp-", "ya29.", "SG.", "dop_v1_"),
    *("gsk_", "xai-", "pplx-", "r8_", "ntn_", "sbp_", "shpat_", "AGE-SECRET-KEY-"),
    *("nvapi-", "GOCSPX-", "dckr_pat_", "hvs.", "ATATT3"),
)

PEM_BEGINS: Final = re.compile(r"-----BEGIN (?:[A-Z]{1,20} )?PRIVATE KEY(?: BLOCK)?-----")
PEM_ENDS: Final = re.compile(r"-----END (?:[A-Z]{1,20} )?PRIVATE KEY(?: BLOCK)?-----")

# Of these only the group is secret: the login, the token.
ADDRESS: Final = re.compile(r"[a-z0-9+.-]://([^\s/@'\"]++)@", re.IGNORECASE)
ADDRESS_BEGUN: Final = re.compile(r"[a-z0-9+.-]://([^\s/@'\"]*+)\Z", re.IGNORECASE)
# In a sentence ("basic methods") a plain word follows; behind a colon it is a token all the same.
BEARER: Final = re.compile(
    r"\b(?:(?:(?<=[:=\"'])|(?<=[:=] ))(?:bearer|basic)|(?<=authorization: )(?:token|digest)"
    r"|(?:bearer|basic)(?=\s++"
    r"(?![A-Za-z](?-i:[a-z]){0,14}+[.:]?+(?![\w+/=.~-]))))(?=\s++([\w+/=.~-]{6,}+))",
    re.IGNORECASE,
)
BEARER_BEGUN: Final = re.compile(
    r"\b(?:bearer|basic|(?<=authorization: )(?:token|digest))(\s++[\w+/=.~-]*+:?+)\Z", re.IGNORECASE
)

# Passwords behind options that mean something else in other commands.
LOGINS: Final = re.compile(
    r"\bcurl\b[^\n|;&]{0,200}?\s(?:-u|--user|--proxy-user)[ =]?['\"]?[^\s:'\"]{1,64}:([^\s'\"]++)"
    r"|\b(?:sshpass\s|docker\s{1,4}login\b[^\n|;&]{0,200}?\s)-p\s{0,4}['\"]?([^\s'\"]++)"
    r"|\bmysql\w{0,8}\b[^\n|;&]{0,200}?\s-p['\"]?([^\s'\"]++)"
)
"""In a command; one of the groups is the password."""

# ---- names

_SECRET_NAME = re.compile(
    r"apikey|secret|passw(?:or)?d|passphrase|credential|authorization|accesskey|privatekey|cookie"
    r"|token$|^auth$|^bearer$"
)
# A path or a number may be named after a secret without being one.  MCP's progress token says
# which request a notification belongs to.
_NO_SECRET_NAME = re.compile(r"(?:file|path|dir|type|count|limit)$|^progresstoken$")
_SUSPICIOUS_NAME = re.compile(r"(?:key|sig|signature)$")

# A name in a text, what separates it from its value, and the value.  Quotes may be escaped: JSON
# is often told as a string.  An option may stand apart from its value, as may a password.
_NAME = (
    r"(?=[\w-]{0,63}?(?:key|token|secret|passw|passphrase|credential|auth|cookie|bearer|sig|_pwd))"
    r"[\w-]{1,64}+"
)
_BEFORE_VALUE = (
    rf"(?<![\w-])(?<!/etc/)(?:(?P<name>{_NAME})\\{{0,2}}+['\"]?[^\S\n]{{0,4}}+[=:][^\S\n]{{0,4}}+\\{{0,2}}+"
    rf"|(?P<option>-{_NAME}|password|passwd)[^\S\n]{{1,4}}+(?!-))"
)
_VALUE = r"(?:\"(?P<double>[^\"\n\\]*+)|'(?P<single>[^'\n\\]*+)|(?P<bare>[^\s'\",;&\\]*+))"
NAMED: Final = re.compile(_BEFORE_VALUE + _VALUE, re.IGNORECASE)
"""A name and its value, which may be empty."""
NAME_CHARACTERS_MAX: Final = 96
"""No name, with what separates it from its value, is longer."""

WORDS: Final = (
    *("key", "token", "secret", "passw", "passphrase", "credential", "auth", "cookie", "sig"),
    *("bearer", "basic", "private", "://", "_pwd", "curl", "sshpass", "docker", "mysql"),
    *(head.lower() for head in KEY_HEADS),
)
"""Without one of these in lower case, a text has no secret but a known value."""


_VARIABLE = re.compile("|".join(map(translate, SECRET_PATTERNS)))


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name is kept from commands."""
    return name in KNOWN_NAMES or _VARIABLE.match(name) is not None


@lru_cache(maxsize=4096)
def names_secret(name: str) -> bool:
    """Whether what has this name is a secret: a variable, an option, a header, a key in JSON."""
    small = re.sub(r"[\W_]", "", name).lower()
    if _NO_SECRET_NAME.search(small):
        return False
    return _SECRET_NAME.search(small) is not None or is_secret_name(name.lstrip("-"))


def looks_secret(value: str) -> bool:
    """Whether a value may be a key: it is not a word, name or path."""
    return (
        len(value) >= GUESSED_CHARACTERS_MIN
        and not value.startswith(("/", "./", "~"))
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
    )


def is_secret_under(name: str, value: str) -> bool:
    """Whether a value in a text is a secret, given the name in front of it.

    Source code has many such names.  So what stands behind one must look like a key, or, behind
    the word `password`, mix letters and digits.
    """
    if " " in value or "\t" in value:
        return False
    if looks_secret(value):
        return names_secret(name) or _SUSPICIOUS_NAME.search(name.lower()) is not None
    is_password = "passw" in name.lower() and len(value) >= PASSWORD_CHARACTERS_MIN
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and value.isalnum()
    return is_password and mixed


def is_secret_in_command(name: str, value: str) -> bool:
    """The same in a command or in a line of a log, where a name is reason enough.

    A reference to a variable and the word in front of a token (`Bearer`) are not secrets.
    """
    is_word = value.lower() in ("bearer", "basic", "token", "digest")
    if value in (MARK, "") or value.startswith("$") or is_word:
        return False
    return names_secret(name) or is_secret_under(name, value)


# ---- characters that nobody sees

IGNORED: Final = re.compile(
    "(?:[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
    r"|\x1b\[[0-?]{0,32}+[ -/]{0,4}+[@-~])++"
)
"""Characters that no terminal or page shows, and changes of colour; they may cut a key in two."""
IGNORED_BEGUN: Final = re.compile(r"\x1b(?:\[[0-?]{0,32}+[ -/]{0,4}+)?\Z")
IGNORED_CHARACTERS_MAX: Final = 40
"""No sequence that is ignored is longer."""
