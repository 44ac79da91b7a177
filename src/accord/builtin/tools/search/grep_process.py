"""Searches files for a regular expression, in a process of its own.

`re` cannot be interrupted and keeps its whole process waiting, so a pattern that never ends must
not run in the agent's.  This file is run as a program (see `glob_grep.py`), imports nothing of
ours, and knows no tools.

In: one line of JSON: pattern, ignore_case, folder, matches_max, bytes_max, characters_max.
Then relative paths, each ended by a zero byte.  Out: one line of JSON for each match, `[path,
line, text]`, at last `["end", files that are too large, whether matches were left out]`.
A pattern that cannot be read ends it with code 4 and the reason as output.
"""

import json
import os
import re
import stat
import sys

SNIFF_BYTES = 8192
LARGE_NAMED_MAX = 20
"""Files that are named because they are too large to be searched."""

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = _FILE | os.O_DIRECTORY


class Reader:
    """Opens files below a folder by their relative paths, and follows no link on the way.

    Git lists what it knows, also where a folder has become a link that leads elsewhere.
    """

    def __init__(self, folder: bytes) -> None:
        self._root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        # The folder of the file before: most files come with their neighbours.
        self._folder: bytes | None = b""
        self._opened = self._root

    def close(self) -> None:
        """Let go of the folders."""
        self._leave()
        os.close(self._root)

    def open(self, path: bytes) -> int:
        """The descriptor of a file.

        Raises:
            OSError: it cannot be opened, or a part of its path is a link.
        """
        folder, name = os.path.split(path)
        if folder != self._folder:
            self._enter(folder)
        return os.open(name, _FILE, dir_fd=self._opened)

    def _enter(self, folder: bytes) -> None:
        self._leave()
        for part in folder.split(b"/") if folder else ():
            before = self._opened
            self._opened = os.open(part, _FOLDER, dir_fd=before)
            if before != self._root:
                os.close(before)
        self._folder = folder

    def _leave(self) -> None:
        if self._opened != self._root:
            os.close(self._opened)
        # A path that breaks off on its way leaves no folder to go on from.
        self._folder, self._opened = None, self._root


def main() -> int:
    """Search, and print what was found."""
    head, _, rest = sys.stdin.buffer.read().partition(b"\n")
    task = json.loads(head)
    try:
        pattern = re.compile(task["pattern"], re.IGNORECASE if task["ignore_case"] else 0)
    except (re.error, RecursionError, OverflowError) as error:
        sys.stdout.write(str(error))
        return 4
    found = 0
    large: list[str] = []
    reader = Reader(os.fsencode(task["folder"]))
    for name in rest.split(b"\0")[:-1]:
        try:
            text = read(reader, name, task["bytes_max"])
        except OverflowError:
            large.append(os.fsdecode(name))
            continue
        if text is None:
            continue
        for number, line in enumerate(text.split("\n"), 1):
            match = pattern.search(line)
            if match is None:
                continue
            if found == task["matches_max"]:
                say(["end", large[:LARGE_NAMED_MAX], True])
                return 0
            found += 1
            start = max(match.start() - task["characters_max"] // 2, 0)
            shown = line[start : start + task["characters_max"]].rstrip("\r")
            say([os.fsdecode(name), number, shown])
    say(["end", large[:LARGE_NAMED_MAX], False])
    return 0


def say(value: object) -> None:
    """One line, at once: a search that is stopped has said what it found."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def read(reader: Reader, path: bytes, bytes_max: int) -> str | None:
    """The text of a regular file, if it is one.

    Raises:
        OverflowError: it is one and too large.
    """
    try:
        return _text(reader.open(path), bytes_max)
    except OSError:
        # Not there, not ours to read, or one of those that the system makes up and takes back.
        return None


def _text(opened: int, bytes_max: int) -> str | None:
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > bytes_max:
            if b"\0" in file.read(SNIFF_BYTES):
                return None
            raise OverflowError
        data = file.read(bytes_max)
    return None if b"\0" in data[:SNIFF_BYTES] else data.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())
