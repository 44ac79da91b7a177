"""Files that a line makes and runs itself, such as `cp /bin/rm y; ./y x`.

Files are compared by the last part of their path, since a line may change its folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from accord.client.shell.programs.program_lists import (
    BUILTINS,
    COPYING,
    HARMLESS,
    INTERPRETERS,
    STATIC,
    STREAM_EDITORS,
)
from accord.client.shell.programs.shells import SHELLS
from accord.client.shell.syntax_tree import (
    HOLE,
    Redirection,
    SimpleCommand,
    Word,
    literal,
    option_values,
    overlap,
)
from accord.machine.filesystem.auto_executed_files import is_git_hook

BY_PATH = ""
"""The runner of a program that is named by its path."""
BY_NAME = "PATH"
"""The runner of a program that is looked for in the folders of PATH."""

OBEYED = ":obeyed"
"""The runner of files that a program runs or obeys without being told to."""

_OBEYED_BY_GIT = re.compile(
    r"(?:.*/)?(?:\.git/.*|\.gitconfig|\.husky/.*|\.config/git/.*|git-[\w-]+)"
)
_OBEYED = re.compile(
    r"(?:.*/)?(?:(?:GNU)?[Mm]akefile|package\.json|conftest\.py|setup\.py|noxfile\.py|tasks\.py"
    r"|build\.rs|Rakefile|Gemfile|[Gg]runtfile\.\w+|[Gg]ulpfile\.\w+|CMakeLists\.txt|meson\.build"
    r"|build\.gradle\w*|[Jj]ustfile|Taskfile\.ya?ml|tox\.ini|\.npmrc|\.yarnrc\.yml|\.pnpmfile\.cjs"
    r"|\.cargo/.*|(?:site|user)customize\.py|.*\.pth|\.gdbinit|\.vimrc|\.exrc|\.lldbinit)"
)
# Settings of tools that may name a program or hold code; only what the line itself writes counts.
_SETTINGS = re.compile(
    r"(?:.*/)?(?:\.[\w-]+rc(?:\.\w+)?|\.manpath|\.tmux\.conf|\.ssh/.*|[\w.-]+\.config\.[cm]?[jt]s)"
)
_SUFFIXES = {
    "python": ".py", "pypy": ".py", "pytest": ".py", "node": ".js", "nodejs": ".js", "bun": ".js",
    "deno": ".ts", "perl": ".pm", "ruby": ".rb", "lua": ".lua", "php": ".php",
}  # fmt: skip
# Source code that builds and tests find without being told, and the language for reading it.
_CODE_SUFFIXES = {
    **dict.fromkeys([".py", ".c", ".cc", ".cpp", ".go", ".h", ".java", ".kt", ".rs"], "python"),
    **dict.fromkeys([".js", ".jsx", ".cjs", ".mjs", ".ts", ".tsx", ".cts", ".mts", ".vue"], "node"),
    **dict.fromkeys([".pl", ".pm", ".t"], "perl"),
    **dict.fromkeys([".rb", ".rake", ".gemspec"], "ruby"),
    ".lua": "lua", ".php": "php",
}  # fmt: skip
_NO_FILES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "1", "2", "-"})


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that the line makes and runs; `text` is what it writes, where that is known.

    `language` is that of the file's code by its name.  Where `text` is not known and `reason` is
    empty, the text may be any that the line prints.
    """

    name: str
    runner: str
    text: str | None
    reason: str

    @property
    def language(self) -> str | None:
        """The language that the name of the file says it is written in."""
        return _CODE_SUFFIXES.get(_suffix(self.name))


class MadeFiles:
    """Collects what a line makes and what it runs."""

    def __init__(self) -> None:
        # Files with the text that is written to them, None where it is not known.
        self._written: dict[str, list[str | None]] = {}
        # Files that are copied, or that code may write, and how much had run before.
        self._copied: dict[str, int] = {}
        self._mentioned: dict[str, int] = {}
        self._run: list[tuple[Word, str]] = []
        # Places that are written, with their texts, and the programs that may obey them.
        self._places: dict[str, list[str | None]] = {}
        self._workers: set[str] = set()
        self._anywhere: list[Word] = []
        self._touched: set[str] = set()
        self._partly_named: list[str] = []
        self.makes_unseen = False

    def run(self, word: Word, runner: str) -> None:
        """Note a file that is run, and by which shell or interpreter."""
        self._run.append((word, runner))

    def redirect(self, redirection: Redirection, command: SimpleCommand) -> None:
        """Note the file that a redirection writes."""
        target = redirection.target
        if redirection.writes and target.text not in _NO_FILES:
            text = _printed_text(command)
            self.makes_unseen |= target.is_tainted
            self._uncertain(target)
            if target.is_tainted and (not command.words or command.words[0].name in _TEXT_TOOLS):
                self._anywhere.append(target)
            self._written.setdefault(target.name, []).append(text)
            self._places.setdefault(target.text, []).append(text)

    def _uncertain(self, word: Word) -> None:
        """Note a file of whose name a part is known, as in `${x}run.sh`."""
        if not word.is_known and HOLE.fullmatch(word.name) is None:
            self._partly_named.append(word.name)

    def write(self, word: Word) -> None:
        """Note a file that gets some text."""
        self._written.setdefault(word.name, []).append(None)

    def copy(self, words: list[Word]) -> None:
        """Note files that a program may make of others."""
        for word in words:
            self._uncertain(word)
            self._places.setdefault(word.text.rpartition("=")[2], []).append(None)
            self._copied[word.text.rpartition("=")[2].rpartition("/")[2]] = len(self._run)
            self.makes_unseen |= word.is_tainted

    def touch(self, words: list[Word]) -> None:
        """Note files that a program which we do not know may write, and a shell may run."""
        values = (value for word in words for value in option_values(word.text))
        self._touched.update(value.rpartition("/")[2] for value in values)

    def work(self, name: str) -> None:
        """Note a program that may obey files without being told to, or run them."""
        self._workers.add(name)

    def mention(self, code: str) -> None:
        """Note names of files that code may write."""
        # The name of a file may be joined to the command `w` of sed.
        names = [*re.findall(r"[\w.-]+", code), *re.findall(r"w([\w.-]+)", code)]
        self._mentioned.update(dict.fromkeys(names, len(self._run)))

    def own_files(self) -> Iterator[OwnFile]:
        """The files that the line may both make and run."""
        yield from self._obeyed_files()
        seen: set[tuple[str, str]] = set()
        for at, (word, runner) in enumerate(list(self._run)):
            name = word.name
            # A program that only may run its words does so where it stands.
            is_run_late = runner in (BY_PATH, BY_NAME) or runner in SHELLS
            made = max(self._copied.get(name, 0), self._mentioned.get(name, 0))
            if not name or (name, runner) in seen:
                continue
            if HOLE.search(name) and HOLE.fullmatch(name) is None:
                # A part of the name is known.
                made_here = (*self._written, *self._copied)
                if any(overlap(name, one) for one in made_here if HOLE.search(one) is None):
                    yield OwnFile(name, runner, None, f"it may make {word.raw}, and runs it")
                    seen.add((name, runner))
                continue
            if is_run_late or at >= made:
                seen.add((name, runner))
                yield from self._own_file(name, runner)
            elif name in self._written:
                yield from _parts(name, runner, self._written[name])

    def _may_make(self, name: str, runner: str) -> bool:
        return (
            name in self._copied
            or (runner != BY_NAME and name in self._mentioned)
            or (runner in SHELLS and name in self._touched)
            or (runner != BY_NAME and any(overlap(one, name) for one in self._partly_named))
            or (runner in INTERPRETERS and any(one.could_be(name) for one in self._anywhere))
        )

    def _own_file(self, name: str, runner: str) -> Iterator[OwnFile]:
        if runner == BY_NAME and name in BUILTINS:
            return
        if self._may_make(name, runner):
            yield OwnFile(name, runner, None, f"it may make {name}, and runs it")
        elif self.makes_unseen and (runner == BY_PATH or runner in SHELLS):
            yield OwnFile(
                name, runner, None, f"it makes files that cannot be seen, and runs {name}"
            )
        else:
            yield from _parts(name, runner, self._written.get(name, []))

    def _obeyed_files(self) -> Iterator[OwnFile]:
        """Files such as a Makefile, where the line also runs a program that may obey them."""
        builders = self._workers - COPYING - STATIC - {"git"}
        suffixes = {_SUFFIXES[one]: one for one in builders if one in _SUFFIXES}
        for place, texts in self._places.items():
            suffix, is_written = _suffix(place), place.rpartition("/")[2] in self._written
            if "git" in self._workers and place.rpartition("/")[2] == "HEAD":
                yield OwnFile(place, OBEYED, None, f"{place} makes its folder a repository of git")
            elif (
                ("git" in self._workers and _is_obeyed_by_git(place))
                or (builders and _OBEYED.fullmatch(place))
                or (is_written and self._workers and _SETTINGS.fullmatch(place))
            ):
                yield from _parts(place, OBEYED, texts)
            elif suffix in suffixes and is_written:
                yield from _parts(place, suffixes[suffix], texts)
            elif suffix in _CODE_SUFFIXES and builders:
                for text in texts:
                    yield OwnFile(place, _CODE_SUFFIXES[suffix], text, "")


def _is_obeyed_by_git(place: str) -> bool:
    return _OBEYED_BY_GIT.fullmatch(place) is not None or is_git_hook(place)


def _suffix(place: str) -> str:
    name = place.rpartition("/")[2]
    return name[name.rfind(".") :] if "." in name else ""


def _parts(name: str, runner: str, texts: list[str | None]) -> Iterator[OwnFile]:
    """A file that is written in one or several parts; they may form one line together."""
    reason = f"it writes {name} and runs it"
    for text in texts:
        yield OwnFile(name, runner, text, reason)
    known = [text for text in texts if text is not None]
    if len(known) == len(texts) > 1:
        yield OwnFile(name, runner, "".join(known), reason)


def _printed_text(command: SimpleCommand) -> str | None:
    """What a command writes to its output, where the line shows it."""
    words = command.words
    if len(words) == 1 and words[0].text == "cat":
        bodies = [one.body for one in command.redirections if one.is_input]
        shown = bodies[-1] if bodies else None
    elif words and words[0].text == "echo" and all(word.is_known for word in words):
        text = " ".join(word.text for word in words[1:])
        shown = None if "\\" in text or text.startswith("-") else literal(f"{text}\n")
    elif len(words) == 2 and words[0].text == "printf" and words[1].is_known:
        text = words[1].text.replace("\\n", "\n").replace("\\t", "\t")
        shown = None if set("%\\") & set(text) or text.startswith("-") else literal(text)
    else:
        shown = None
    return shown.text if shown is not None and shown.is_known else None


_TEXT_TOOLS = HARMLESS | COPYING | STREAM_EDITORS
