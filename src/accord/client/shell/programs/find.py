"""The words of `find`: what it runs, and which files it writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from accord.client.shell.syntax_tree import Word, filled, without_holes

_RUNNING = ("-exec", "-execdir", "-ok", "-okdir")
_WRITING = ("-fprint", "-fls")


@dataclass(slots=True)
class FindCall:
    """How find is called.  `runs` are the commands that it runs, `data` words of unknown use."""

    runs: list[list[Word]] = field(default_factory=list)
    writes: list[Word] = field(default_factory=list)
    data: list[Word] = field(default_factory=list)
    problem: str | None = None


def read_find_call(words: Sequence[Word]) -> FindCall:
    """Read the words of find, its name first."""
    call, at = FindCall(), 1
    tainted = [word for word in words if word.is_tainted]
    words = [without_holes(word) for word in words]
    runs = any(word.text in (";", "+") or "{}" in word.text for word in words)
    if len(tainted) > 1 or (tainted and runs) or any(word.splits for word in tainted):
        call.problem = "the conditions of `find` are known only at run time"
    if tainted:
        call.data += words[1:]
    while at < len(words):
        if words[at].text in _RUNNING:
            end = at + 1
            while end < len(words) and words[end].text not in (";", "+"):
                end += 1
            inner = [filled(word, "{}", by_files=True) for word in words[at + 1 : end]]
            if inner:
                call.runs.append(inner)
            at = end
        elif words[at].text.startswith(_WRITING) and at + 1 < len(words):
            call.writes.append(words[at + 1])
        at += 1
    return call
