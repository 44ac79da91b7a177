"""Secrets taken out of a text that comes in pieces.

The end of a piece that may be the beginning of a secret waits for the next piece, and no more than
that.  No I/O.

What always holds
    * However a text is cut, what comes out is what comes out of the whole, as long as no single
      secret is longer than `WAITING_CHARACTERS_MAX`; of a longer one nothing is let through that
      was recognised as its part.
    * What waits is bounded by that, and by the longest of the known values.
    * The segments add up to the characters that were fed, so that a caller can tell which piece
      each part of the output belongs to.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from codecs import getincrementaldecoder
from collections.abc import Sequence
from typing import Final, NamedTuple

from accord.machine.redaction.known_values import KNOWN_CHARACTERS_MIN
from accord.machine.redaction.secret_finder import SecretFinder, Span
from accord.machine.redaction.secret_patterns import (
    IGNORED,
    IGNORED_BEGUN,
    IGNORED_CHARACTERS_MAX,
    MARK,
    PEM_BEGINS,
    PEM_ENDS,
)

WAITING_CHARACTERS_MAX: Final = 8192
"""A candidate that grows longer than this is not a secret."""
LOOKED_AT_CHARACTERS: Final = 256
"""A longer candidate is examined again only when it has grown or may have ended."""

PARTED: Final = "\u200b"
"""Stands for any number of invisible characters."""

# The continuation of a key or token that was too long to wait for.
_GOES_ON = re.compile(r"[\w+/=.~*-]*+")
_SEEMS_TO_GO_ON = re.compile(r"[\w+=.~:%*-]*+")


class Segment(NamedTuple):
    """A number of characters of the input, and the text that replaces them."""

    characters: int
    text: str
    is_secret: bool = True


class _View(NamedTuple):
    """A text without its invisible characters, and the original position of each character."""

    text: str
    places: list[int]

    def back(self, span: Span) -> Span:
        """The span in the original text."""
        start, stop = span
        return self.places[start], self.places[stop - 1] + 1


def _views(text: str) -> list[_View]:
    """The text as it must be searched: invisible characters may split a key, or two words."""
    hidden = () if text.isascii() and "\x1b" not in text else [*IGNORED.finditer(text)]
    if not hidden:
        return []
    return [_view(text, hidden, ""), _view(text, hidden, PARTED)]


def _view(text: str, hidden: Sequence[re.Match[str]], instead: str) -> _View:
    parts: list[str] = []
    places: list[int] = []
    at = 0
    for match in hidden:
        parts += text[at : match.start()], instead
        places += range(at, match.start())
        places += [match.start()] * len(instead)
        at = match.end()
    parts.append(text[at:])
    places += range(at, len(text) + 1)
    return _View("".join(parts), places)


class SecretStream:
    """One text that arrives in pieces.  Guards: only text known to be harmless is passed on."""

    __slots__ = ("_finder", "_in_key", "_is_cut", "_is_long", "_look_at", "_raw", "_said")

    def __init__(self, finder: SecretFinder) -> None:
        self._finder = finder
        # The last of what came, and how much of that has been said or taken out.
        self._raw = ""
        self._said = 0
        # Whether something came before what is in `_raw`.
        self._is_cut = False
        # Inside of a private key, all of `_raw` is; in one that was too long to wait for.
        self._in_key = False
        self._is_long = False
        # How much has to wait before it is worth to look again, while nothing seems to end.
        self._look_at = 0

    @property
    def waiting(self) -> int:
        """The number of characters held back."""
        return len(self._raw) - self._said

    def feed(self, piece: str) -> str:
        """Take the next piece; return what can be passed on now."""
        return "".join(one.text for one in self.segments(piece))

    def finish(self, piece: str = "") -> str:
        """Take the last piece; return all the rest."""
        return "".join(one.text for one in self.last_segments(piece))

    def segments(self, piece: str) -> list[Segment]:
        """The same as `feed`, as segments."""
        self._raw += piece
        if self.waiting < self._look_at and _SEEMS_TO_GO_ON.fullmatch(piece):
            return []
        said = self._take(is_whole=False)
        # Else each letter of a long word would have all of it looked at.
        waiting = self.waiting
        self._look_at = waiting + waiting // 8 if waiting > LOOKED_AT_CHARACTERS else 0
        return said

    def last_segments(self, piece: str = "") -> list[Segment]:
        """The same as `finish`, as segments."""
        self._raw += piece
        return self._take(is_whole=True)

    def give_up(self) -> list[Segment]:
        """Take what waits for a secret, and what goes on from it, since it can wait no longer.

        What is too short to be worth anything to anybody is said.
        """
        waiting = self.waiting
        if waiting < KNOWN_CHARACTERS_MIN:
            return self.last_segments()
        self._is_long = True
        self._drop(0, len(self._raw))
        return [Segment(waiting, MARK)]

    def so_far(self, text: str) -> str:
        """Return what can be shown of a text that will be sent again; see `Redactor.so_far`."""
        spans, _ = self._spans(text)
        until = self._begun(text, 0)
        for start, stop in spans:
            if start <= until < stop:
                # A secret is shown as one already, though more of it may come.
                until = stop if stop == len(text) else start
        return "".join(one.text for one in self._without(text, spans, until))

    def _take(self, *, is_whole: bool) -> list[Segment]:
        text, end = self._raw, len(self._raw)
        skipped: list[Segment] = []
        if self._is_long:
            goes_on = _GOES_ON.match(text, self._said)
            assert goes_on is not None
            if goes_on.end() > self._said:
                skipped.append(Segment(goes_on.end() - self._said, ""))
            self._said = goes_on.end()
            self._is_long = self._said == end
        spans, open_at = self._spans(text)
        until = end if is_whole else self._until(text, spans, open_at)
        said = skipped + self._without(text, spans, until)
        if open_at is not None and until == end:
            self._in_key = True
            self._drop(max(open_at, 0), end)
        else:
            if self._in_key and spans[0][1] <= until:
                self._in_key = False
            self._drop(0, until)
        return said

    def _drop(self, since: int, until: int) -> None:
        """Keep what waits, and as much of what was said as has to be looked back at."""
        before = IGNORED.sub(PARTED, self._raw[since:until])
        kept = before[-2 * self._finder.lookback_characters :]
        self._is_cut = self._is_cut or since > 0 or len(kept) < len(before)
        self._raw, self._said = kept + self._raw[until:], len(kept)

    def _spans(self, text: str) -> tuple[list[Span], int | None]:
        """Where secrets stand, none upon another; and where a private key begins without an end."""
        views = _views(text)
        found = [] if views else self._finder.spans(text, self._said, is_cut=self._is_cut)
        for view in views:
            since = bisect_left(view.places, self._said)
            spans = self._finder.spans(view.text, since, is_cut=self._is_cut)
            found += map(view.back, spans)
        is_open = False
        at = -1
        if not self._finder.by_form:
            at = len(text) + 1
        elif not self._in_key:
            begins = PEM_BEGINS.search(text)
            at = len(text) + 1 if begins is None else begins.end()
        while at <= len(text) and not is_open:
            ends = PEM_ENDS.search(text, max(at, 0))
            is_open = ends is None
            found.append((at, len(text) if ends is None else ends.end()))
            begins = None if ends is None else PEM_BEGINS.search(text, ends.end())
            at = len(text) + 1 if begins is None else begins.end()
        merged: list[Span] = []
        for start, stop in sorted(found):
            if merged and start < merged[-1][1]:
                merged[-1] = merged[-1][0], max(stop, merged[-1][1])
            else:
                merged.append((start, stop))
        return merged, merged[-1][0] if is_open else None

    def _begun(self, text: str, since: int) -> int:
        """Where the first thing begins that may become a secret; the text's end if nothing does."""
        cut = IGNORED_BEGUN.search(text, max(since, len(text) - IGNORED_CHARACTERS_MAX))
        if cut is not None:
            text = text[: cut.start()]
        views = _views(text)
        if not views:
            return max(self._finder.begun(text, since, is_cut=self._is_cut), since)
        first = len(text)
        for view in views:
            at = bisect_left(view.places, since)
            begun = self._finder.begun(view.text, at, is_cut=self._is_cut)
            first = min(first, view.places[begun])
        return max(first, since)

    def _until(self, text: str, spans: list[Span], open_at: int | None) -> int:
        """Return how much can be passed on now; never a part of a secret."""
        end = len(text)
        until = self._begun(text, self._said)
        if open_at is not None and open_at <= until:
            return end
        for start, stop in spans:
            if start < until < stop:
                until = max(start, self._said)
        if end - until > max(WAITING_CHARACTERS_MAX, self._finder.known.longest):
            self._is_long = bool(spans) and spans[-1][1] == end
            return end
        return until

    def _without(self, text: str, spans: list[Span], until: int) -> list[Segment]:
        made: list[Segment] = []
        at = self._said
        for start, stop in spans:
            if stop > until:
                break
            if start > at:
                made.append(Segment(start - at, text[at:start], is_secret=False))
            if start >= self._said:
                made.append(Segment(stop - max(at, start), MARK))
            elif stop > at:
                made.append(Segment(stop - at, ""))
            at = max(at, stop)
        if until > at:
            made.append(Segment(until - at, text[at:until], is_secret=False))
        return made


class SecretByteStream:
    """The same for bytes, which are UTF-8 for the most part; others stay as they are."""

    def __init__(self, finder: SecretFinder) -> None:
        self._stream = SecretStream(finder)
        self._decoder = getincrementaldecoder("utf-8")("surrogateescape")

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; return what can be shown now."""
        return self._stream.feed(self._decoder.decode(data)).encode("utf-8", "surrogateescape")

    def finish(self) -> bytes:
        """Return what was waiting, when nothing more comes."""
        last = self._decoder.decode(b"", True)
        return self._stream.finish(last).encode("utf-8", "surrogateescape")
