"""How long completing a file name takes in a project of 100,000 files.

`python benchmarks/terminal_files.py` prints the CPU time of every key press of some
queries, and of making the index.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from accord.machine.file_search.fuzzy_search import Finder

FILES = 100_000
QUERIES = (
    "main",
    "srcmodelpy",
    "e",
    "test_conn",
    "a/b",
    "zzz",
    "eeee",
    "index.ts",
    "components/Bu",
)
WORDS = [
    *("main", "index", "model", "view", "test", "conn", "button", "table", "user", "order", "file"),
    *(
        "reader",
        "writer",
        "session",
        "prompt",
        "components",
        "src",
        "lib",
        "tests",
        "docs",
        "build",
    ),
    *("config", "parse", "token", "stream", "event", "state"),
]


def names() -> list[str]:
    """Paths like those of a large project, the same in every run."""
    chance = random.Random(6)
    made: set[str] = set()
    while len(made) < FILES:
        folders = [chance.choice(WORDS) for _ in range(chance.randint(1, 6))]
        name = "_".join(chance.choice(WORDS) for _ in range(chance.randint(1, 3)))
        kind = chance.choice(["py", "ts", "md", "tsx", "json"])
        made.add("/".join([*folders, f"{name}{chance.randint(0, 99)}.{kind}"]))
    return sorted(made, key=lambda one: (one.count("/"), len(one), one))


def main() -> None:
    paths = names()
    began = process_time()
    finder = Finder(paths)
    print(f"{FILES:,} files, index {1000 * (process_time() - began):.0f} ms")
    worst = 0.0
    for query in QUERIES:
        times: list[float] = []
        found: list[str] = []
        for length in range(1, len(query) + 1):
            began = process_time()
            found = finder.find(query[:length], 8, {paths[5000]: 0})
            times.append(1000 * (process_time() - began))
        worst = max(worst, *times)
        shown = " ".join(f"{one:.0f}" for one in times)
        print(f"{query:16} {shown:40} ms  {found[0] if found else '-'}")
    print(f"slowest key press {worst:.0f} ms of CPU")


if __name__ == "__main__":
    main()
