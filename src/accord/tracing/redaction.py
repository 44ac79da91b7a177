"""Frames without their secrets, for a file that may be handed on.

A secret is known by its place (values of `env` and `headers`), by the name of its key, by its form,
or because the recorder's own environment has it under a name of a secret.

Must not know where frames go.  No I/O.

What always holds
    * A frame without secrets comes back as the very same bytes.
    * A frame with one comes back as JSON of the same shape: strings become other strings.
    * It is a net with holes: a secret that an agent tells in pieces, one frame each, passes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from accord.machine.secrets import MARK, looks_secret, without_known_forms, without_secrets

_SECRET_KEY = re.compile(
    r"apikey|secret|passw(or)?d|passphrase|credential|authorization|accesskey|privatekey|cookie"
    r"|token$|^auth$|^bearer$"
)
# What MCP calls a token says which request a progress belongs to.
_NO_SECRETS = frozenset({"progresstoken"})
_ALL_SECRET = frozenset({"env", "environment", "headers"})

# Without one of these no rule below applies; most frames are passed by looking for them.  Words are
# looked for one by one, which takes a tenth of the time that one pattern for all of them takes.
_SUSPICIOUS = tuple(
    b"key token secret passw passphrase credential auth bearer basic cookie env headers"
    b" sk- pk- rk- ghp_ gho_ ghu_ ghs_ ghr_ github_pat xox akia aiza eyj \\u"
    b" sk_live sk_test rk_live rk_test glpat- hf_ npm_ pypi- sig= signature".split(b" ")
)
# As in `machine/secrets.py`, no expression gives back what it has taken: an agent chooses the text.
# Quotes may be escaped: JSON is often told as a string.
_ENDS = (
    r"(?:key|token|secret|passw(?:or)?d|passphrase|credential|authorization|cookie|sig(?:nature)?)"
)
_NAMED_VALUE = re.compile(
    rf"(?i)(?<![\w-])((?=[\w-]*?{_ENDS}(?![\w-]))[\w-]++\\*+['\"]?\s*+[=:]\s*+\\*+['\"]?)"
    r"([^\s'\",;&\\]++)"
)
# --token x, and `password x` as files of logins have it
_WORD_BEHIND = re.compile(
    rf"(?i)(?<![\w-])((?:-(?=[\w-]*?{_ENDS}(?![\w-]))[\w-]++|password|passwd)\s++)([^\s'\",;&\\-][^\s'\",;&\\]*+)"
)

_SECRET_OPTION = re.compile(r"(?i)--?[\w-]*(?:key|token|secret|passw|credential|auth)[\w-]*")


PASSWORD_CHARACTERS_MIN = 6
"""Of a value that only the word `password` before it makes a secret."""


class FrameRedactor:
    """Takes the secrets out of frames; the values that it is given are secrets everywhere."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({one for one in secrets if one}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None
        self._known_bytes = [one.encode("utf-8", "surrogateescape") for one in known]

    def frame(self, frame: bytes) -> bytes:
        """The frame as it may be written."""
        if not _is_suspicious(frame) and not self._has_known(frame):
            return frame
        try:
            value = json.loads(frame)
        except (ValueError, RecursionError):
            return self.text(frame.decode("utf-8", "surrogateescape")).encode(
                "utf-8", "surrogateescape"
            )
        try:
            cleaned = self._value(value)
        except RecursionError:
            return json.dumps(MARK).encode()
        if cleaned == value:
            return frame
        return json.dumps(cleaned, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "surrogatepass"
        )

    def text(self, text: str) -> str:
        """Text that is no JSON: a line on stderr, a command."""
        return self._string(without_secrets(text))

    def command(self, words: list[str]) -> list[str]:
        """A command; a secret may be a word of its own, behind the option that names it."""
        cleaned = [self.text(word) for word in words]
        for at in range(1, len(words)):
            if _SECRET_OPTION.fullmatch(words[at - 1]) and not words[at].startswith("-"):
                cleaned[at] = MARK
        return cleaned

    def _has_known(self, frame: bytes) -> bool:
        return any(one in frame for one in self._known_bytes)

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, dict):
            return {key: self._member(key, member) for key, member in value.items()}
        return value

    def _member(self, key: str, member: Any) -> Any:
        name = re.sub(r"[\W_]", "", key).lower()
        if name in _ALL_SECRET:
            return _hidden_values(member)
        if _SECRET_KEY.search(name) and name not in _NO_SECRETS:
            return _hidden(member)
        return self._value(member)

    def _string(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(MARK, text)
        text = _NAMED_VALUE.sub(_named_value, without_known_forms(text))
        return _WORD_BEHIND.sub(_named_value, text)


def _is_suspicious(frame: bytes) -> bool:
    small = frame.lower()
    return any(word in small for word in _SUSPICIOUS) or (b"://" in small and b"@" in small)


def _named_value(match: re.Match[str]) -> str:
    """Source code has many names of secrets; only what may be one behind it is taken out."""
    name, value = match[1], match[2]
    if looks_secret(value):
        return name + MARK
    # Passwords are short; a name, a word or a number is none all the same.
    is_password = "passw" in name.lower() and len(value) >= PASSWORD_CHARACTERS_MIN
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and value.isalnum()
    return name + MARK if is_password and mixed else match[0]


def _hidden(value: Any) -> Any:
    """Every string of a value, replaced."""
    if isinstance(value, str):
        return MARK if value else value
    if isinstance(value, list):
        return [_hidden(item) for item in value]
    if isinstance(value, dict):
        return {key: _hidden(member) for key, member in value.items()}
    return value


def _hidden_values(value: Any) -> Any:
    """The values of `{"NAME": "value"}` or `[{"name": "NAME", "value": "value"}]`."""
    if isinstance(value, list):
        return [_hidden_pair(item) for item in value]
    return _hidden(value)


def _hidden_pair(item: Any) -> Any:
    if isinstance(item, dict) and "name" in item:
        return {key: member if key == "name" else _hidden(member) for key, member in item.items()}
    return _hidden(item)


__all__ = ["FrameRedactor"]
