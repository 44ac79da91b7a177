"""Definitions that words are about: by the stems in their names, their docstrings and their code.

Pure.  `where is the signature checked?` finds `verify_signature`, because “verify” is another word
for “check”; which word stood for which is told with each find.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from accord.builtin.offline.source_code.references import Definition, is_test
from accord.builtin.offline.source_code.symbols import Symbol, language_of, module_of

FOUND_MAX = 6
FILES_MAX = 300
"""Files whose code is looked through, where no name answers."""

STEM_CHARACTERS_MIN = 4
_KINDS = frozenset({"function", "method", "class", "property"})

# Names that are defined, found quickly; the files with the right ones are then read.
_NAMES = re.compile(r"\b(?:def|class|function|fn|func|interface|struct|const|let|var)\s+(\w+)")

# Words that programmers use for each other.
_SAME = (
    "check verify validate assert ensure",
    "create make build construct generate",
    "delete remove drop erase unlink",
    "read load parse decode",
    "write save store dump persist encode",
    "send post emit publish",
    "fetch get download retrieve request",
    "start run launch begin open",
    "stop close shutdown finish end",
    "config configuration settings options preferences",
    "login authenticate auth signin",
    "show render display draw print",
    "convert transform translate",
    "error failure exception",
    "retry backoff",
    "hash digest checksum",
)
# Verbs that fit every definition: they count where they stand, and are not asked for.
_GENERAL = frozenset(
    """calculate compute define determine execute handle happen implement live manage occur perform
    process sit stand""".split()  # noqa: SIM905
)
_SUFFIXES = ("ations", "ation", "ators", "ator", "ising", "izing", "ised", "ized", "ures", "ure",
             "ings", "ing", "ions", "ion", "ers", "ied", "ies", "es", "er", "ed", "at", "s", "e",
             "y", "i")  # fmt: skip


def stem(word: str) -> str:
    """What the forms of a word have in common: `checked` and `check`, `signature` and `sign`."""
    bare = word.lower()
    for suffix in _SUFFIXES:
        if bare.endswith(suffix) and len(bare) - len(suffix) >= STEM_CHARACTERS_MIN:
            bare = bare[: -len(suffix)]
            break
    # `signat` of `signature`, `stopp` of `stopped`.
    if bare.endswith("at") and len(bare) - 2 >= STEM_CHARACTERS_MIN:
        bare = bare[:-2]
    if len(bare) > STEM_CHARACTERS_MIN and bare[-1] == bare[-2] and bare[-1] not in "sl":
        bare = bare[:-1]
    return bare


_FAMILIES: Mapping[str, tuple[str, ...]] = {
    stem(word): tuple(stem(other) for other in row.split()) for row in _SAME for word in row.split()
}


def telling(words: Sequence[str]) -> list[str]:
    """The words without the verbs that fit everything; all of them where nothing else is left."""
    general = {stem(word) for word in _GENERAL}
    return [word for word in words if stem(word) not in general] or list(words)


def words_in(name: str) -> list[str]:
    """The words of a name: `verify_signature`, `VerifySignature`, `verifySignature`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [part.lower() for part in re.split(r"[\W_\s]+", spaced) if part]


@dataclass(frozen=True, slots=True)
class Finding:
    """A definition, and the words of it that stand for those of the question."""

    definition: Definition
    words: tuple[str, ...]
    is_named_so: bool


def about(files: Mapping[str, str], words: Sequence[str]) -> tuple[list[Finding], bool]:
    """The definitions that all of the words are about, the best first; whether all were looked at.

    Where names and docstrings answer, the code is not looked at.
    """
    wanted = [_FAMILIES.get(stem(word), (stem(word),)) for word in words]
    candidates = {
        path: text
        for path, text in files.items()
        if language_of(path) is not None and _may_have(f"{path}\n{text}".lower(), wanted)
    }
    every = [one for family in wanted for one in family]
    named = {
        path: text
        for path, text in candidates.items()
        if any(one in name.lower() for name in _NAMES.findall(text) for one in every)
    }
    found = _found(named, words, wanted, in_code=False)
    if found:
        return found[:FOUND_MAX], True
    first = dict(list(candidates.items())[:FILES_MAX])
    return _found(first, words, wanted, in_code=True)[:FOUND_MAX], len(first) == len(candidates)


def _found(
    files: Mapping[str, str],
    words: Sequence[str],
    wanted: Sequence[tuple[str, ...]],
    *,
    in_code: bool,
) -> list[Finding]:
    exact = [stem(word) for word in words]
    found: list[tuple[tuple[object, ...], Finding]] = []
    for path, text in files.items():
        lines = text.split("\n")
        for symbol in _whole(path, text):
            if symbol.kind not in _KINDS:
                continue
            read = _by_code if in_code else _by_name
            matched = read(path, symbol, lines, wanted)
            if matched is not None:
                literal = sum(any(word.startswith(one) for word in matched) for one in exact)
                length = symbol.end_line - symbol.line
                own = words_in(symbol.name)
                named = sum(_matched(own, [family]) is not None for family in wanted)
                key = (is_test(path), -named, -literal, length, path, symbol.line)
                finding = Finding(Definition(path, symbol), matched, not in_code)
                found.append((key, finding))
    return [finding for _, finding in sorted(found, key=lambda one: one[0])]


def _may_have(lowered: str, wanted: Sequence[tuple[str, ...]]) -> bool:
    """Whether a text has all the stems at all; quick, to choose what is read."""
    return all(any(one in lowered for one in family) for family in wanted)


def _whole(path: str, text: str) -> Iterator[Symbol]:
    """The definitions of a file; one that was read by a pattern ends where the next begins."""
    symbols = module_of(path, text).symbols
    if language_of(path) == "Python" or not symbols:
        yield from symbols
        return
    ends = [*(one.line - 1 for one in symbols[1:]), text.count("\n") + 1]
    for symbol, end in zip(symbols, ends, strict=True):
        yield replace(symbol, end_line=max(end, symbol.line))


def _by_name(
    path: str, symbol: Symbol, lines: Sequence[str], wanted: Sequence[tuple[str, ...]]
) -> tuple[str, ...] | None:
    """The words by which a definition is about all that is wanted, its own name about one."""
    file = path.rpartition("/")[2].partition(".")[0]
    whole = f"{symbol.qualified} {file} {symbol.doc}"
    if not _may_have(whole.lower(), wanted):
        return None
    own = words_in(symbol.name)
    if not any(_matched(own, [family]) for family in wanted):
        return None
    return _matched(words_in(whole), wanted)


def _by_code(
    path: str, symbol: Symbol, lines: Sequence[str], wanted: Sequence[tuple[str, ...]]
) -> tuple[str, ...] | None:
    """The same for the code of a definition."""
    if symbol.kind == "class" and language_of(path) == "Python":
        # Its methods are looked at one by one.
        return None
    code = "\n".join(lines[symbol.line - 1 : symbol.end_line])
    return _matched(words_in(code), wanted) if _may_have(code.lower(), wanted) else None


def _matched(names: Sequence[str], wanted: Sequence[tuple[str, ...]]) -> tuple[str, ...] | None:
    """For each family of words one of the names; None when one has none."""
    found: list[str] = []
    for family in wanted:
        match = next((name for one in family for name in names if name.startswith(one)), None)
        if match is None:
            return None
        found.append(match)
    return tuple(found)
