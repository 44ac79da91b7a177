"""Searches files for a regular expression, in a process of its own.

`re` cannot be interrupted and keeps its whole process waiting, so a pattern that never ends must
not run in the agent's.  This file is run as a program (see `searching.py`), imports nothing of
ours, and knows no tools.

In: one line of JSON: pattern, ignore_case, folder, matches_max, bytes_max, characters_max.
Then relative paths, each ended by a zero byte.  Out: one line of JSON for each match, `[path,
line, text]`, at last `["end", count of files searched, whether matches were left out]`.
A pattern that cannot be read ends it with code 4 and the reason as output.
"""

import json
import os
import re
import stat
import sys

SNIFF_BYTES = 8192


def main() -> int:
    """Search, and print what was found."""
    head, _, rest = sys.stdin.buffer.read().partition(b"\n")
    task = json.loads(head)
    try:
        pattern = re.compile(task["pattern"], re.IGNORECASE if task["ignore_case"] else 0)
    except (re.error, RecursionError, OverflowError) as error:
        sys.stdout.write(str(error))
        return 4
    found = searched = 0
    for name in rest.split(b"\0")[:-1]:
        text = read(os.path.join(os.fsencode(task["folder"]), name), task["bytes_max"])
        if text is None:
            continue
        searched += 1
        for number, line in enumerate(text.split("\n"), 1):
            match = pattern.search(line)
            if match is None:
                continue
            if found == task["matches_max"]:
                say(["end", searched, True])
                return 0
            found += 1
            start = max(match.start() - task["characters_max"] // 2, 0)
            shown = line[start : start + task["characters_max"]].rstrip("\r")
            say([os.fsdecode(name), number, shown])
    say(["end", searched, False])
    return 0


def say(value: object) -> None:
    """One line, at once: a search that is stopped has said what it found."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def read(path: bytes, bytes_max: int) -> str | None:
    """The text of a regular file that is one and not too large."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > bytes_max:
            return None
        data = file.read(bytes_max)
    return None if b"\0" in data[:SNIFF_BYTES] else data.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())
