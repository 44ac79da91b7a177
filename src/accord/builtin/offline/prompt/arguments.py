"""Reads the arguments of a typed line: names, files, quoted texts, values.

Pure; each reader takes text and gives the argument, or nothing when the text is not one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from accord.machine.redacted_logs import log_redactor
from accord.machine.redaction.secret_patterns import MARK

# Words of a question that say nothing about what to look for.
_FILLERS = frozenset(
    """a about add all also am an and any are as at be but by can could did do does doing done
    every explain describe find for
    from function functions get give had has have how i if in into is it its just let
    like make me my need new no not of on one or our out over please put should show so some
    something tell than that the their them then there these they this those to up us use want
    was we were work works what when where which who why will with would write you your""".split()  # noqa: SIM905
)
SEARCH_WORDS_MAX = 5

_NAME = re.compile(r"[^\W\d]\w*(?:(?:\.|::|#)[^\W\d]\w*)*")
# Stands for a space in the name of a file, so that the name is one word; see `marked`.
SPACE = "\ue000"

_PATH = re.compile(rf"(?:~?/)?(?:[\w.@+{SPACE}-]+/)*[\w@+-][\w.@+{SPACE}-]*\.[A-Za-z]\w{{0,9}}|"
                   rf"(?:~?/)?(?:[\w.@+{SPACE}-]+/)+[\w.@+{SPACE}-]+|~?/[\w.@+-]+|"
                   rf"[\w.@+-]+{SPACE}[\w.@+{SPACE}-]*|"
                   r"Makefile|Dockerfile|README|LICENSE|\.[\w-]+")  # fmt: skip
_QUOTES = {"'": "'", '"': '"', "`": "`", "“": "”", "‘": "’"}
# Endings that make a word with a dot in it a file rather than an attribute.
_ENDINGS = frozenset(
    """c cc cfg cpp cs css csv go h hpp htm html ini java js json jsx kt lock lua md mjs php pl py
    pyi rb rs rst scss sh sql svelte swift toml ts tsx txt vue xml yaml yml zig""".split()  # noqa: SIM905
)


def unquoted(text: str) -> str:
    """The text without one pair of quotes around it."""
    stripped = text.strip()
    if len(stripped) >= 2 and _QUOTES.get(stripped[0]) == stripped[-1]:
        return stripped[1:-1]
    return stripped


def target_of(text: str) -> str:
    """A file or a name: no quotes, no @ before it, no call brackets or punctuation after it."""
    bare = unquoted(text).strip().rstrip("?!,;:").strip()
    bare = bare.removeprefix("@").removesuffix("()")
    return bare[:-1] if bare.endswith(".") and len(bare) > 1 and bare[-2] != "." else bare


def name_of(text: str) -> str | None:
    """A dotted name as programs have them; None for anything else."""
    bare = target_of(text)
    return bare if _NAME.fullmatch(bare) else None


def path_of(text: str) -> str | None:
    """Something that looks like a file; None for anything else."""
    bare = target_of(text)
    if not _PATH.fullmatch(bare):
        return None
    ending = bare.rpartition(".")[2].lower() if "." in bare else ""
    if "/" in bare or ending in _ENDINGS or bare.startswith(".") or "." not in bare:
        return bare
    return None


def marked(text: str, paths: Iterable[str]) -> str:
    """The text with the names of files that have spaces made one word each, the longest first."""
    spaced = {name for path in paths if " " in path for name in (path, path.rpartition("/")[2])}
    for name in sorted(spaced, key=len, reverse=True):
        if " " in name and name in text:
            text = text.replace(name, name.replace(" ", SPACE))
    return text


def looks_like_path(text: str) -> bool:
    """Whether a target means a file rather than a name."""
    return path_of(text.replace(" ", SPACE)) is not None


def words_of(text: str) -> str:
    """What is worth searching for: the first telling words, in order, each once.

    No part of a secret is: cut into words it would not be known for one any more.
    """
    words: list[str] = []
    for word in re.findall(r"[\w.]*\w", log_redactor().text(text).replace(MARK, " ")):
        bare = word.strip("._") if not word.startswith("_") else word
        if len(bare) < 3 or bare.lower() in _FILLERS or bare in words:
            continue
        words.append(bare)
        if len(words) == SEARCH_WORDS_MAX:
            break
    return " ".join(words)


def values_of(text: str) -> dict[str, object] | None:
    """Arguments of a tool: a JSON object, or `a=1 b="two words"`; None when it is neither."""
    stripped = text.strip()
    if not stripped:
        return {}
    if stripped.startswith("{"):
        try:
            found = json.loads(stripped)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None
    pairs = re.compile(r"""([A-Za-z_][\w-]*)=("[^"]*"|'[^']*'|\{.*?\}|\[.*?\]|\S*)(?:\s+|$)""")
    values: dict[str, object] = {}
    place = 0
    while place < len(stripped):
        match = pairs.match(stripped, place)
        if match is None:
            return None
        values[match[1]] = _value(match[2])
        place = match.end()
    return values


def _value(text: str) -> object:
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
