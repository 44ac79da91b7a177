"""Finds the standard input of a command, as far as the line shows it."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from accord.client.shell.syntax_tree import SimpleCommand, Word


@dataclass(frozen=True, slots=True)
class Input:
    """The standard input of a command; `text` if the line shows it."""

    text: Word | None = None
    is_empty: bool = False
    is_given: bool = False
    # Whether it is a list of paths with a known start, so that none is an option.
    lists_files: bool = False
    # Whether the program is an argument of another one, and may not be a program.
    nested: bool = False


def input_of(command: SimpleCommand) -> Input:
    """The standard input of a command, by its redirections; the last one counts."""
    upstream = command.upstream
    found = Input(
        is_given=command.piped, lists_files=upstream is not None and _lists_files(upstream)
    )
    for one in command.redirections:
        if one.is_input:
            empty = one.operator == "<" and one.target.text == "/dev/null"
            found = Input(one.body, empty, is_given=True)
    return found


def _lists_files(command: SimpleCommand) -> bool:
    """Whether a command prints only paths that `find` found."""
    texts = [word.text for word in command.words]
    if not texts or not all(word.is_known for word in command.words):
        return False
    if command.assignments or any(one.is_input for one in command.redirections):
        return False
    if texts[0] in _FILTERS:
        is_plain = _FILTERS[texts[0]].fullmatch(" ".join(texts[1:])) is not None
        return is_plain and command.upstream is not None and _lists_files(command.upstream)
    places = list(itertools.takewhile(lambda text: text[:1] not in ("-", "(", "!"), texts[1:]))
    conditions = set(texts[1 + len(places) :])
    return texts[0] == "find" and bool(places) and not any(map(_PRINTS.match, conditions))


# Actions of find that print something else, or run something.
_PRINTS = re.compile(r"-(?:f?printf|exec|ok|f?ls|files0-from)")
# Programs that pass on whole lines, with the arguments for which that holds.
_FILTERS = {
    "grep": re.compile(r"(?:-[vivEFwz]+ )?(?:-e )?[^-\s]\S*"),
    "head": re.compile(r"(?:-n ?)?-?[0-9]*"),
    "sort": re.compile(r"(?:-[uzr]+)?"),
}
