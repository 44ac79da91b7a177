"""`SecretFinder`: finds secrets in a text by known value, by form and by name.  No I/O.

What always holds: the time that a search takes grows linearly with the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from accord.machine.redaction.known_values import KnownValues
from accord.machine.redaction.secret_patterns import (
    ADDRESS,
    ADDRESS_BEGUN,
    BEARER,
    BEARER_BEGUN,
    KEY_HEADS,
    KEYS,
    KEYS_BEGUN,
    NAME_CHARACTERS_MAX,
    NAMED,
    is_secret_under,
    names_secret,
)

NAMES_NESTED_MAX: Final = 8
"""The longest chain of names, such as `author: key: token=`, that is followed."""

Span = tuple[int, int]

_HEAD_CHARACTERS_MAX: Final = max(map(len, KEY_HEADS))
_HEADS_BEGUN: Final = re.compile(
    r"\b(?:"
    + "|".join(sorted({re.escape(one[:n]) for one in KEY_HEADS for n in range(1, len(one))}))
    + r")\Z"
)


class SecretFinder:
    """Finds secrets in a text; `by_name` and `by_form` switch two of the three ways off."""

    def __init__(self, known: KnownValues, *, by_form: bool = True, by_name: bool = True) -> None:
        self.known = known
        self.by_form = by_form
        self.by_name = by_name

    @property
    def lookback_characters(self) -> int:
        """How many earlier characters of a stream a search needs."""
        return max(NAME_CHARACTERS_MAX, self.known.longest)

    def spans(self, text: str, since: int, *, is_cut: bool) -> list[Span]:
        """The spans of secrets from `since` on, except private keys; of known values also earlier.

        The text before `since` is context.  With `is_cut` its beginning is missing, so that a name
        at the start may be the end of a longer one.
        """
        found: list[Span] = []
        if self.by_form:
            found += (match.span() for match in KEYS.finditer(text, since))
            for form in (ADDRESS, BEARER):
                found += (one.span(1) for one in form.finditer(text) if one.start(1) >= since)
        for match in all_named(text) if self.by_name else ():
            name, (start, stop) = named_value(match)
            is_whole = match.start() > 0 or not is_cut
            if start >= since and is_whole and is_secret_under(name, text[start:stop]):
                found.append((start, stop))
        for value in self.known:
            at = -1
            while (at := text.find(value, at + 1)) >= 0:
                found.append((at, at + len(value)))
        return found

    def begun(self, text: str, since: int, *, is_cut: bool) -> int:
        """Where the first thing begins that may become a secret; the text's end if nothing does."""
        end = len(text)
        first = self._form_begun(text, since) if self.by_form else end
        for match in all_named(text) if self.by_name else ():
            _, (start, stop) = named_value(match)
            if stop == end and start >= since and (match.start() > 0 or not is_cut):
                first = min(first, start)
        for value in self.known:
            at = max(0, end - len(value) + 1) - 1
            while 0 <= (at := text.find(value[0], at + 1)) < first:
                if value.startswith(text[at:]):
                    first = at
        return max(first, since)

    def _form_begun(self, text: str, since: int) -> int:
        end = first = len(text)
        for match in KEYS_BEGUN.finditer(text, since):
            if match.end() == end:
                first = match.start()
        head = _HEADS_BEGUN.search(text, max(since, end - _HEAD_CHARACTERS_MAX))
        first = first if head is None else min(first, head.start())
        for pattern in (ADDRESS_BEGUN, BEARER_BEGUN):
            begun = pattern.search(text)
            if begun is not None and begun.start(1) >= since:
                first = min(first, begun.start(1))
        return first


def named_value(match: re.Match[str]) -> tuple[str, Span]:
    """The name in front of a value, and where the value stands."""
    group = next(one for one in ("double", "single", "bare") if match[one] is not None)
    return match["name"] or match["option"].lstrip("-"), match.span(group)


def all_named(text: str) -> Iterator[re.Match[str]]:
    """The names in a text with their values, also of a value that begins with a name itself.

    In `author: API_KEY=x` the harmless name comes first.
    """
    at = depth = outer_stop = 0
    while (match := NAMED.search(text, at)) is not None:
        yield match
        name, (start, stop) = named_value(match)
        # Each step reads the value again, so their number has a bound.
        depth = depth + 1 if match.start() < outer_stop else 0
        outer_stop = max(outer_stop, stop)
        is_looked_into = not names_secret(name) and depth < NAMES_NESTED_MAX
        at = start if is_looked_into else match.end()
