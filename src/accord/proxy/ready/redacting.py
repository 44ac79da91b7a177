"""Secrets taken out of texts: known forms of keys, and the values of secret variables.

A text may come in pieces: the end of a piece that may be the beginning of a secret waits for the
next one, and no more than that.

What always holds
    * However a text is cut, what comes out is what comes out of the whole, as long as no single
      secret is longer than `WAITING_CHARACTERS_MAX`; of a longer one nothing is let through that
      was recognised as its part.
    * What waits is bounded by that, and by the longest of the values.

It is a net with holes: a secret in another writing passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from accord.machine.secrets import KEY_BEGINS, KEY_ENDS, KEYS, MARK

WAITING_CHARACTERS_MAX: Final = 8192
"""What may be a secret's beginning and goes on for longer than this is none."""
LOOKED_AT_CHARACTERS: Final = 256
"""What is longer and waits is looked at again when it has grown, or may have come to an end."""
BEFORE_CHARACTERS: Final = 64
"""What was said last, so that it is known what a piece follows; longer than any head."""

Span = tuple[int, int]

_KEY_BEGINS = re.compile(KEY_BEGINS)
_KEY_ENDS = re.compile(KEY_ENDS)
# Only the login is secret, and only the token.  What stands before it may have been said.
_ADDRESS = re.compile(r"[a-z0-9+.-]://([^\s/@'\"]++)@", re.IGNORECASE)
_BEARER = re.compile(r"\b(?:bearer|basic)(?=\s++([\w+/=.~-]{6,}+))", re.IGNORECASE)

# The same at the end of a text, as far as they have come.  Each takes a time that grows with the
# text and not faster, so that of a run of letters only its first beginning is looked at.
_KEYS_BEGUN = re.compile(
    r"\b(?:[spr]k-|xox[abprs]-|AIza|glpat-|pypi-)[\w-]*+"
    r"|\b(?:gh[pousr]_|github_pat_|[sr]k_(?:live|test)_)\w*+|\b(?:hf_|npm_)[A-Za-z0-9]*+"
    r"|\bAKIA[0-9A-Z]{0,16}+|(?<![\w-])eyJ[\w-]*+(?:\.[\w-]*+(?:\.[\w-]*+)?)?"
)
_ADDRESS_BEGUN = re.compile(r"[a-z0-9+.-]://([^\s/@'\"]*+)\Z", re.IGNORECASE)
_BEARER_BEGUN = re.compile(r"\b(?:bearer|basic)(\s++[\w+/=.~-]*+)\Z", re.IGNORECASE)
_HEADS: Final = (
    *("sk-", "pk-", "rk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "AKIA", "AIza"),
    *("xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "eyJ", "sk_live_", "sk_test_", "rk_live_"),
    *("rk_test_", "glpat-", "hf_", "npm_", "pypi-"),
)
_HEAD_CHARACTERS_MAX: Final = max(map(len, _HEADS))
_HEADS_BEGUN = re.compile(
    r"\b(?:"
    + "|".join(sorted({re.escape(one[:n]) for one in _HEADS for n in range(1, len(one))}))
    + r")\Z"
)
# What each of the forms has in it; most texts have nothing of it.
_SUSPICIOUS = re.compile(
    r"://|--BEGIN|[spr]k[-_]|gh[pousr]_|b_pat_|xox|AKIA|AIza|eyJ|lpat-|hf_|npm_|ypi-"
    r"|(?i:bearer|basic)"
)
# How a key or a token goes on that was too long to wait for.
_GOES_ON = re.compile(r"[\w+/=.~-]*+")
_SEEMS_TO_GO_ON = re.compile(r"[\w+=.~:%-]*+")


class Redactor:
    """Knows the values to look for."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = sorted(filter(None, values), key=len, reverse=True)
        longest = len(self._values[0]) if self._values else 0
        self.waiting_max = max(WAITING_CHARACTERS_MAX, longest)
        self.before = max(BEFORE_CHARACTERS, longest)

    def text(self, text: str) -> str:
        """The text without secrets."""
        if not _SUSPICIOUS.search(text) and not any(value in text for value in self._values):
            return text
        return SecretStream(self).finish(text)

    def so_far(self, text: str) -> str:
        """The same of a text that will be told again when it has gone on.

        It is without an end that may be a secret's beginning.
        """
        return SecretStream(self).so_far(text)

    def value(self, value: Any) -> Any:
        """The text without secrets for every string in a JSON value; keys stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(one) for one in value]
        if isinstance(value, dict):
            return {key: self.value(one) for key, one in value.items()}
        return value

    def spans(self, text: str, since: int) -> list[Span]:
        """Where secrets stand from `since` on, private keys aside; of values also those before.

        What stands before is there to be looked back at.  It is cut off somewhere, so that it may
        seem to begin what it does not.
        """
        found = [match.span() for match in KEYS.finditer(text, since)]
        for pattern in (_ADDRESS, _BEARER):
            found += [one.span(1) for one in pattern.finditer(text) if one.start(1) >= since]
        for value in self._values:
            at = -1
            while (at := text.find(value, at + 1)) >= 0:
                found.append((at, at + len(value)))
        return found

    def begun(self, text: str, since: int) -> int:
        """Where the first thing begins that may become a secret; the text's end if nothing does."""
        end = first = len(text)
        for match in _KEYS_BEGUN.finditer(text, since):
            if match.end() == end:
                first = match.start()
        head = _HEADS_BEGUN.search(text, max(since, end - _HEAD_CHARACTERS_MAX))
        first = first if head is None else min(first, head.start())
        for pattern in (_ADDRESS_BEGUN, _BEARER_BEGUN):
            begun = pattern.search(text)
            if begun is not None and begun.start(1) >= since:
                first = min(first, begun.start(1))
        for value in self._values:
            at = max(0, end - len(value) + 1) - 1
            while 0 <= (at := text.find(value[0], at + 1)) < first:
                if value.startswith(text[at:]):
                    first = at
        return max(first, since)


class SecretStream:
    """One text that comes in pieces."""

    __slots__ = ("_in_key", "_is_long", "_look_at", "_raw", "_redactor", "_said")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        # The last of what came, and how much of that has been said or taken out.
        self._raw = ""
        self._said = 0
        # Inside of a private key, all of `_raw` is; in one that was too long to wait for.
        self._in_key = False
        self._is_long = False
        # How much has to wait before it is worth to look again, while nothing seems to end.
        self._look_at = 0

    def feed(self, piece: str) -> str:
        """The next piece; what can be said now."""
        self._raw += piece
        if len(self._raw) - self._said < self._look_at and _SEEMS_TO_GO_ON.fullmatch(piece):
            return ""
        said = self._take(is_whole=False)
        waiting = len(self._raw) - self._said
        # Else each letter of a long word would have all of it looked at.
        self._look_at = waiting + waiting // 8 if waiting > LOOKED_AT_CHARACTERS else 0
        return said

    def finish(self, piece: str = "") -> str:
        """The last piece; all the rest."""
        self._raw += piece
        return self._take(is_whole=True)

    def so_far(self, text: str) -> str:
        """What can be said of a text that comes as a whole again; see `Redactor.so_far`."""
        spans, _ = self._spans(text)
        until = self._redactor.begun(text, 0)
        for start, stop in spans:
            if start <= until < stop:
                # A secret is shown as one already, though more of it may come.
                until = stop if stop == len(text) else start
        return self._without(text, spans, until)

    def _take(self, *, is_whole: bool) -> str:
        text, end = self._raw, len(self._raw)
        if self._is_long:
            goes_on = _GOES_ON.match(text, self._said)
            assert goes_on is not None
            self._said = goes_on.end()
            self._is_long = self._said == end
        spans, open_at = self._spans(text)
        until = end if is_whole else self._until(text, spans, open_at)
        said = self._without(text, spans, until)
        if open_at is not None and until == end:
            self._in_key, self._raw, until = True, text[max(open_at, 0) :], end - max(open_at, 0)
        elif self._in_key and spans[0][1] <= until:
            self._in_key = False
        over = max(0, until - self._redactor.before)
        self._raw, self._said = self._raw[over:], until - over
        return said

    def _spans(self, text: str) -> tuple[list[Span], int | None]:
        """Where secrets stand, none upon another; and where a private key begins without an end."""
        found = self._redactor.spans(text, self._said)
        is_open = False
        at = -1
        if not self._in_key:
            begins = _KEY_BEGINS.search(text)
            at = len(text) + 1 if begins is None else begins.end()
        while at <= len(text) and not is_open:
            ends = _KEY_ENDS.search(text, max(at, 0))
            is_open = ends is None
            found.append((at, len(text) if ends is None else ends.end()))
            begins = None if ends is None else _KEY_BEGINS.search(text, ends.end())
            at = len(text) + 1 if begins is None else begins.end()
        spans: list[Span] = []
        for start, stop in sorted(found):
            if spans and start < spans[-1][1]:
                spans[-1] = spans[-1][0], max(stop, spans[-1][1])
            else:
                spans.append((start, stop))
        return spans, spans[-1][0] if is_open else None

    def _until(self, text: str, spans: list[Span], open_at: int | None) -> int:
        """How far it can be said now; never into the middle of a secret."""
        end = len(text)
        until = self._redactor.begun(text, self._said)
        if open_at is not None and open_at <= until:
            return end
        for start, stop in spans:
            if start < until < stop:
                until = max(start, self._said)
        if end - until > self._redactor.waiting_max:
            self._is_long = bool(spans) and spans[-1][1] == end
            return end
        return until

    def _without(self, text: str, spans: list[Span], until: int) -> str:
        parts: list[str] = []
        at = self._said
        for start, stop in spans:
            if stop > until:
                break
            if start >= self._said:
                parts += text[at:start], MARK
            at = max(at, stop)
        parts.append(text[at:until])
        return "".join(parts)


__all__ = ["Redactor", "SecretStream"]
