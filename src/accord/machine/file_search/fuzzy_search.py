"""Fuzzy search in a hundred thousand paths at every key press.

This module does not know where the paths come from.

Invariants
    * A path matches if it has the letters of the query in order, with any letters between
      and whatever their case; nothing else does.
    * A longer query searches only the matches of the shorter one.
    * The name counts more than the folders, the beginning of a word more than its middle, a run
      of letters more than single ones, a short path more than a long one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

QUERY_CHARACTERS_MAX = 128
CANDIDATES_MAX = 400
"""How many matches of each sort are ranked closely, from the start of the list."""

_BREAKS = frozenset("/_-. ")
_RECENT_POINTS = 150
_NAME_IS, _NAME_BEGINS, _WORD_BEGINS, _NAME_HAS = 1000, 700, 500, 420
_SEGMENT_BEGINS, _PATH_HAS, _IN_NAME = 400, 300, 30
_LETTERS_MAX = 250


class Finder:
    """Paths to search, the ones to be preferred first; and what the last queries found.

    Guards: what a query finds does not depend on the queries before it.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._lower = [path.lower() for path in paths]
        # Where the name begins.
        self._names = [path.rfind("/") + 1 for path in self._lower]
        self._places = {path: place for place, path in enumerate(paths)}
        # For each beginning of the last query: the places that match it, and where each matched.
        self._steps: list[tuple[str, list[int], list[int]]] = []

    def __len__(self) -> int:
        return len(self._paths)

    def find(self, query: str, most: int, recent: Mapping[str, int] | None = None) -> list[str]:
        """Return the best matches, best first.  `recent` is 0 for the last used, then 1, …"""
        recent = recent or {}
        query = query[:QUERY_CHARACTERS_MAX].lower()
        used = [self._places[path] for path in recent if path in self._places]
        if not query:
            places: Iterable[int] = dict.fromkeys(chain(used, range(len(self._paths))))
            return [self._paths[place] for place in islice(places, most)]
        matching = self._matching(query)
        chosen = dict.fromkeys(self._candidates(query, matching))
        if len(chosen) < len(matching):
            matched = (place for place in used if is_match(query, self._lower[place]))
            chosen.update(dict.fromkeys(matched))
        ranked = sorted(
            chosen, key=lambda place: (-self._points(query, place, recent), self._paths[place])
        )
        return [self._paths[place] for place in ranked[:most]]

    def count(self, query: str) -> int:
        """The number of paths that match."""
        query = query[:QUERY_CHARACTERS_MAX].lower()
        return len(self._matching(query)) if query else len(self._paths)

    def _matching(self, query: str) -> list[int]:
        steps = self._steps
        while steps and not query.startswith(steps[-1][0]):
            steps.pop()
        for length in range(len(steps) + 1, len(query) + 1):
            letter = query[length - 1]
            if steps:
                _, places, ends = steps[-1]
                names: Iterable[str] = map(self._lower.__getitem__, places)
                found = [name.find(letter, end) for name, end in zip(names, ends, strict=True)]
            else:
                places = list(range(len(self._lower)))
                found = [name.find(letter) for name in self._lower]
            kept = [place for place, at in zip(places, found, strict=True) if at >= 0]
            steps.append((query[:length], kept, [at + 1 for at in found if at >= 0]))
        return steps[-1][1]

    def _candidates(self, query: str, matching: list[int]) -> Iterator[int]:
        """The paths worth a close look; the better kinds come first, as far as there is room."""
        if len(matching) <= 4 * CANDIDATES_MAX:
            yield from matching
            return
        lower, names = self._lower, self._names
        segment, most = "/" + query, CANDIDATES_MAX
        # Paths that have it whole: the name begins with it, a folder does, it is in the name, or
        # anywhere.  Then those that have its letters.
        whole = matching if len(query) == 1 else [at for at in matching if query in lower[at]]
        yield from islice((at for at in whole if lower[at].startswith(query, names[at])), 2 * most)
        yield from islice((at for at in whole if segment in lower[at]), most)
        yield from islice((at for at in whole if lower[at].find(query, names[at]) >= 0), most)
        yield from islice(whole, most)
        yield from islice(matching, most)

    def _points(self, query: str, place: int, recent: Mapping[str, int]) -> int:
        path = self._lower[place]
        points = points_of(query, path)
        age = recent.get(self._paths[place])
        if age is not None:
            points += max(_RECENT_POINTS - 5 * age, 20)
        return points


def is_match(query: str, path: str) -> bool:
    """Whether a path has the letters in their order."""
    at = 0
    for letter in query:
        at = path.find(letter, at) + 1
        if not at:
            return False
    return True


def points_of(query: str, path: str) -> int:
    """The score of a path that matches; both texts are in lower case."""
    start = path.rfind("/") + 1
    name = path[start:]
    length = min(len(path), 100) + 2 * path.count("/")
    if name == query or name.rpartition(".")[0] == query:
        return _NAME_IS - length
    if name.startswith(query):
        return _NAME_BEGINS - length
    at = name.find(query)
    if at >= 0:
        while at >= 0:
            if name[at - 1] in _BREAKS:
                return _WORD_BEGINS - length
            at = name.find(query, at + 1)
        return _NAME_HAS - length
    if path.startswith(query) or "/" + query in path:
        return _SEGMENT_BEGINS - length
    if query in path:
        return _PATH_HAS - length
    points = _IN_NAME if is_match(query, name) else 0
    return points + _run_points(positions_of(query, path), path) - length


def _run_points(positions: Sequence[int], path: str) -> int:
    points, before = 0, -2
    for at in positions:
        if at == before + 1:
            points += 20
        elif at == 0 or path[at - 1] in _BREAKS:
            points += 40
        before = at
    return min(points, _LETTERS_MAX)


def positions_of(query: str, path: str) -> list[int]:
    """Where the letters of the query are in a path that matches: as far to the right as can be.

    The end is the name, which is what people mean.
    """
    whole = path.rfind(query)
    if whole >= 0:
        return list(range(whole, whole + len(query)))
    found: list[int] = []
    end = len(path)
    for letter in reversed(query):
        end = path.rfind(letter, 0, end)
        if end < 0:
            return []
        found.append(end)
    return found[::-1]
