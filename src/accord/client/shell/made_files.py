"""Files that a line makes and runs itself, such as `cp /bin/rm y; ./y x`.

Files are compared by the last part of their path, since a line may change its folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from accord.client.shell.program_tables import BUILTINS, SHELLS
from accord.client.shell.syntax import Redirection, SimpleCommand, Word, literal

BY_PATH = ""
"""The runner of a program that is named by its path."""
BY_NAME = "PATH"
"""The runner of a program that is looked for in the folders of PATH."""

_NO_FILES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "1", "2", "-"})


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that the line makes and runs; `text` is what it writes, where that is known."""

    name: str
    runner: str
    text: str | None
    reason: str


class MadeFiles:
    """Collects what a line makes and what it runs."""

    def __init__(self) -> None:
        # Files with the text that is written to them, None where it is not known.
        self._written: dict[str, list[str | None]] = {}
        # Files that are copied, or that code may write, and how much had run before.
        self._copied: dict[str, int] = {}
        self._mentioned: dict[str, int] = {}
        self._run: list[tuple[Word, str]] = []
        self.makes_unseen = False

    def run(self, word: Word, runner: str) -> None:
        """Note a file that is run, and by which shell or interpreter."""
        self._run.append((word, runner))

    def redirect(self, redirection: Redirection, command: SimpleCommand) -> None:
        """Note the file that a redirection writes."""
        target = redirection.target
        if redirection.writes and target.text not in _NO_FILES:
            self.makes_unseen |= target.is_tainted
            self._written.setdefault(target.name, []).append(_printed_text(command))

    def write(self, word: Word) -> None:
        """Note a file that gets some text."""
        self._written.setdefault(word.name, []).append(None)

    def copy(self, words: list[Word]) -> None:
        """Note files that a program may make of others."""
        for word in words:
            self._copied[word.text.rpartition("=")[2].rpartition("/")[2]] = len(self._run)
            self.makes_unseen |= word.is_tainted

    def mention(self, code: str) -> None:
        """Note names of files that code may write."""
        names = re.findall(r"[\w.-]+", code)
        self._mentioned.update(dict.fromkeys(names, len(self._run)))

    def own_files(self) -> Iterator[OwnFile]:
        """The files that the line may both make and run."""
        seen: set[tuple[str, str]] = set()
        for at, (word, runner) in enumerate(list(self._run)):
            name = word.name
            # A program that only may run its words does so where it stands.
            is_run_late = runner in (BY_PATH, BY_NAME) or runner in SHELLS
            made = max(self._copied.get(name, 0), self._mentioned.get(name, 0))
            if not name or (name, runner) in seen or not (is_run_late or at >= made):
                continue
            seen.add((name, runner))
            yield from self._own_file(name, runner)

    def _own_file(self, name: str, runner: str) -> Iterator[OwnFile]:
        if runner == BY_NAME and name in BUILTINS:
            return
        if name in self._copied or (runner != BY_NAME and name in self._mentioned):
            yield OwnFile(name, runner, None, f"it may make {name}, and runs it")
        elif self.makes_unseen and (runner == BY_PATH or runner in SHELLS):
            yield OwnFile(
                name, runner, None, f"it makes files that cannot be seen, and runs {name}"
            )
        else:
            for text in self._written.get(name, ()):
                yield OwnFile(name, runner, text, f"it writes {name} and runs it")


def _printed_text(command: SimpleCommand) -> str | None:
    """What a command writes to its output, where the line shows it."""
    words = command.words
    if len(words) == 1 and words[0].text == "cat":
        bodies = [one.body for one in command.redirections if one.is_input]
        shown = bodies[-1] if bodies else None
    elif words and words[0].text == "echo" and all(word.is_known for word in words):
        text = " ".join(word.text for word in words[1:])
        shown = None if "\\" in text or text.startswith("-") else literal(text)
    else:
        shown = None
    return shown.text if shown is not None and shown.is_known else None


__all__ = ["BY_NAME", "BY_PATH", "MadeFiles", "OwnFile"]
