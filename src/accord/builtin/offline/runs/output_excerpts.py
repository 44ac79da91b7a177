"""Which lines of an output say what went wrong.  Pure.

The end of an output is not always that: npm ends with warnings, hints and the path of a log.

What always holds
    * Only whole lines of the output are given, in their order; how many warnings are missing is
      known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Of a command's output in an answer.
OUTPUT_LINES_SHOWN = 30

_WARNING = re.compile(
    r"\s*(?:npm|pnpm|yarn) (?:WARN|warn|warning|notice)\b|"
    r"\s*(?:WARN|WARNING|warning|Warning)\b[ :!]|"
    r"\s*\d+:\d+\s+warning\b|\(node:\d+\) .*Warning|\(Use `node --trace-|"
    r"npm (?:ERR!|error) A complete log of this run|npm (?:ERR!|error) +\S+[/\\]_logs[/\\]"
)
_EMPTY = re.compile(r"npm (?:ERR!|error)\s*")
_ERROR = re.compile(
    r"npm (?:ERR!|error) (?!A complete log)|\S*(?:Error|Exception)\b.*:|error(?:\[\w+\])?:|"
    r".*\berror TS\d+|\s*\d+:\d+\s+error\b|\s*(?:ERROR|FATAL|Failed)\b|\s*[✖×] |fatal:",
)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of an output, and how many lines are missing before them, after them and among them."""

    text: str
    lines_before: int = 0
    lines_after: int = 0
    warnings: int = 0


def excerpt(output: str, lines_max: int) -> Excerpt:
    """The part of a failed command's output that tells most: its errors, else its end."""
    every = output.rstrip().split("\n")
    kept = [line for line in every if not _WARNING.match(line) and not _EMPTY.fullmatch(line)]
    if not any(line.strip() for line in kept):
        kept = every
    warnings = len(every) - len(kept)
    first = max(len(kept) - lines_max, 0)
    errors = [number for number, line in enumerate(kept) if _ERROR.match(line)]
    if errors and errors[-1] < first:
        first = max(errors[0] - 1, 0)
    while first < len(kept) - 1 and not kept[first].strip():
        first += 1
    shown = kept[first : first + lines_max]
    before = sum(bool(line.strip()) for line in kept[:first])
    return Excerpt("\n".join(shown), before, len(kept) - first - len(shown), warnings)


def telling_part(output: str, lines_max: int, characters_max: int) -> str:
    """The same as a text within a bound: from the first error on where that is not at the end."""
    part = excerpt(output, lines_max)
    return part.text[:characters_max] if part.lines_after else part.text[-characters_max:]
