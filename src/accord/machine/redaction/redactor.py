"""The redactor: takes secrets out of whatever leaves this program.

It works on texts, on lines of logs, on commands, on JSON, on frames, and, with `SecretStream`, on
texts that come in pieces.  `secret_patterns.py` says what a secret looks like.  No I/O.

What always holds
    * What is taken out is replaced by the same mark, whatever its length was.
    * A frame without secrets comes back as the very same bytes; one with a secret comes back as
      JSON of the same shape.
    * A value that was recognised by its place in JSON (a variable of an MCP server, a header, a
      login) is a known value from then on, wherever it stands.
    * The time grows linearly with the text.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final

from accord.machine.redaction.known_values import (
    KnownValues,
    is_known_value,
    secret_values,
)
from accord.machine.redaction.secret_finder import SecretFinder, all_named, named_value
from accord.machine.redaction.secret_patterns import (
    COMMAND_KEYS,
    IGNORED,
    LOGINS,
    MARK,
    PAIR_KEYS,
    WORDS,
    is_secret_in_command,
    is_secret_under,
    looks_secret,
    names_secret,
)
from accord.machine.redaction.secret_stream import SecretByteStream, SecretStream

KEY_CHARACTERS_MIN: Final = 12
"""A shorter key of a JSON object is a name, not a secret."""

_WORDS_IN_BYTES: Final = tuple(word.encode() for word in (*WORDS, "env", "headers", "\\u"))
_OPTION: Final = re.compile(r"--?([A-Za-z][\w-]*)")


class Redactor:
    """Knows the values to look for, besides what is a secret by its form or by its name."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._finder = SecretFinder(KnownValues(values))

    @classmethod
    def of_environment(cls, *more: str) -> Redactor:
        """A redactor that knows the secrets in the environment of this process."""
        return cls({*secret_values(os.environ), *more})

    @property
    def by_form(self) -> Redactor:
        """The same without names, for text that must stay what it is, such as source code."""
        made = Redactor()
        made._finder = SecretFinder(self._known, by_form=self._finder.by_form, by_name=False)
        return made

    @property
    def by_value(self) -> Redactor:
        """The same with nothing but the known values."""
        made = Redactor()
        made._finder = SecretFinder(self._known, by_form=False, by_name=False)
        return made

    @property
    def _known(self) -> KnownValues:
        return self._finder.known

    # ---- texts

    def text(self, text: str) -> str:
        """The text without secrets.  Source code stays readable."""
        return self.stream().finish(text) if self._is_suspicious(text) else text

    def line(self, text: str) -> str:
        """A command or a line of a log without secrets: what a secret name precedes is one."""
        if not self._is_suspicious(text):
            return text
        made = self.text(text)
        return _without_values(made) if self._finder.by_name else made

    def words(self, words: Sequence[str]) -> list[str]:
        """A command without secrets; one may be a word behind the option that names it."""
        return self._without_options(words, [self.line(word) for word in words])

    def _without_options(self, words: Sequence[Any], made: list[Any]) -> list[Any]:
        """Take out of `made` the words that stand behind an option that names a secret."""
        for at, (before, word) in enumerate(pairwise(words), 1):
            if not isinstance(before, str) or not isinstance(word, str) or word.startswith("-"):
                continue
            option = _OPTION.fullmatch(before)
            if option is not None and names_secret(option[1]):
                self._learn(option[1], word)
                made[at] = MARK
        return made

    def so_far(self, text: str) -> str:
        """The text without secrets, for a text that will be sent again when it has grown.

        An end that may be the beginning of a secret is left out.
        """
        return self.stream().so_far(text)

    def stream(self) -> SecretStream:
        """Start a stream for a text that comes in pieces."""
        return SecretStream(self._finder)

    def byte_stream(self) -> SecretByteStream:
        """Start a stream for bytes that come in pieces."""
        return SecretByteStream(self._finder)

    # ---- JSON

    def value(self, value: Any, *, keep_ids: bool = False) -> Any:
        """A JSON value without secrets.

        With `keep_ids` identifiers stay: the other side has to send them back.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            made = [self.value(one, keep_ids=keep_ids) for one in self.blocks(value)]
            return self._without_options(value, made) if self._finder.by_name else made
        if isinstance(value, dict):
            named, given = value.get("name"), value.get("value")
            # {"name": "API_KEY", "value": "..."}, wherever it stands.
            if isinstance(named, str) and isinstance(given, str) and self._names(named):
                value = {**value, "value": self._hidden(named, given)}
            members = {key: self._member(key, one, keep_ids) for key, one in value.items()}
            title = members.get("title")
            if self._finder.by_name and value.get("kind") == "execute" and isinstance(title, str):
                # Agents use the command as the title of the call that runs it.
                members["title"] = self.line(title)
            return {self._key(key): one for key, one in members.items()}
        return value

    def blocks(self, blocks: list[Any]) -> list[Any]:
        """Content without secrets that are cut into several blocks of text, which are shown as one.

        Where there is one, the first of the blocks has all of the text that is left.
        """
        texts = [one["text"] for one in blocks if _is_text_block(one)]
        if len(texts) < 2 or len(texts) != len(blocks):
            return blocks
        whole = self.text("".join(texts))
        if whole == "".join(map(self.text, texts)):
            return blocks
        return [{**one, "text": "" if at else whole} for at, one in enumerate(blocks)]

    def _names(self, name: str) -> bool:
        return self._finder.by_name and names_secret(name)

    def _key(self, key: str) -> str:
        return key if len(key) < KEY_CHARACTERS_MIN else self.text(key)

    def learn(self, value: Any) -> None:
        """Remember the secrets that a JSON value has in known places."""
        self.value(value)

    def frame(self, frame: bytes, *, keep_ids: bool = False) -> bytes:
        """A message without secrets; a frame that is not JSON is treated as a line."""
        if not self.is_suspicious(frame):
            return frame
        try:
            value, is_whole = decoded(frame)
        except (ValueError, RecursionError):
            text = frame.decode("utf-8", "surrogateescape")
            return self.line(text).encode("utf-8", "surrogateescape")
        try:
            made = self.value(value, keep_ids=keep_ids)
        except RecursionError:
            return json.dumps(MARK).encode()
        return frame if is_whole and made == value else encoded(made)

    def is_suspicious(self, frame: bytes) -> bool:
        """Whether a frame must be parsed; most are passed after a search for a few words."""
        if not frame.isascii():
            return self._is_suspicious(frame.decode("utf-8", "replace"), *PAIR_KEYS, "\\u")
        # One by one, which takes a tenth of the time that one expression for all of them takes.
        small = frame.lower()
        return any(word in small for word in _WORDS_IN_BYTES) or self._known.is_in(frame)

    def _is_suspicious(self, text: str, *words: str) -> bool:
        if not text.isascii() or "\x1b" in text:
            # Invisible characters may stand inside a word or between two.
            text = f"{IGNORED.sub('', text)}\0{IGNORED.sub(' ', text)}"
        small = text.casefold()
        return any(word in small for word in (*WORDS, *words)) or any(
            value in text for value in self._known
        )

    def _member(self, key: str, member: Any, keep_ids: bool) -> Any:
        if keep_ids and is_identifier(key):
            return member if isinstance(member, str) else self.value(member, keep_ids=True)
        if self._finder.by_name:
            if key.lower() in PAIR_KEYS:
                return self._hidden_pairs(member)
            if names_secret(key):
                return self._hidden(key, member)
            if key.lower() in COMMAND_KEYS:
                if isinstance(member, str):
                    return self.line(member)
                if _is_texts(member):
                    return self.words(member)
        return self.value(member, keep_ids=keep_ids)

    def _hidden(self, name: str, value: Any) -> Any:
        """A value with every string in it replaced, and remembered."""
        if isinstance(value, str):
            self._learn(name, value)
            return MARK if value else value
        if isinstance(value, list):
            return [self._hidden(name, one) for one in value]
        if isinstance(value, dict):
            return {key: self._hidden(name, one) for key, one in value.items()}
        return value

    def _hidden_pairs(self, value: Any) -> Any:
        """The values of `{"NAME": "value"}` or `[{"name": "NAME", "value": "value"}]`."""
        if isinstance(value, dict):
            return {key: self._hidden(key, one) for key, one in value.items()}
        if not isinstance(value, list):
            return self._hidden("", value)
        return [
            {
                key: self.value(one) if key == "name" else self._hidden(str(pair["name"]), one)
                for key, one in pair.items()
            }
            if isinstance(pair, dict) and "name" in pair
            else self._hidden("", pair)
            for pair in value
        ]

    def _learn(self, name: str, value: str) -> None:
        # `Authorization: Bearer x` gives the token, without the word in front of it.
        value = IGNORED.sub("", value.rpartition(" ")[2])
        is_known = is_known_value(name, value) or looks_secret(value)
        if is_known or is_secret_under(name, value):
            self._known.learn(value)


def _without_values(text: str) -> str:
    """The text without what stands behind the name of a secret."""
    text = LOGINS.sub(_without_login, text)
    made: list[str] = []
    done = 0
    for match in all_named(text):
        name, (start, stop) = named_value(match)
        if start >= done and is_secret_in_command(name, text[start:stop]):
            made += (text[done:start], MARK)
            done = stop
    return "".join((*made, text[done:]))


def _without_login(match: re.Match[str]) -> str:
    """A login in a command without its password; a reference to a variable stays."""
    start, stop = match.span(match.lastindex or 0)
    password = match.string[start:stop]
    return match[0] if password.startswith("$") else match.string[match.start() : start] + MARK


def is_identifier(key: str) -> bool:
    """Whether a key of JSON holds an identifier, such as `sessionId`."""
    return key == "id" or key.endswith(("Id", "_id"))


def _is_text_block(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("text"), str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def decoded(frame: bytes) -> tuple[Any, bool]:
    """A frame as a JSON value, and whether all of the frame is in it: a key may be there twice.

    Raises:
        ValueError: it is not JSON.
    """
    is_whole = True

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal is_whole
        made = dict(pairs)
        is_whole = is_whole and len(made) == len(pairs)
        return made

    return json.loads(frame, object_pairs_hook=members), is_whole


def encoded(value: Any) -> bytes:
    """Encode a JSON value as a frame."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        # Lone halves of characters, which JSON may name, cannot be written as UTF-8.
        return json.dumps(value, separators=(",", ":")).encode()


__all__ = ["Redactor", "decoded", "encoded", "is_identifier"]
