"""Fails when a file has more than 600 lines or a function more than 60.  `make check` runs it.

A file that is longer has a second reason to be opened.  Test functions are not counted: a table
of cases may be long.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 60
FOLDERS = ("src", "tests", "scripts", "benchmarks", "examples")
FOLDERS_OF_LONG_FUNCTIONS = ("tests",)


def too_long(path: Path, *, functions: bool) -> Iterator[str]:
    """What is too long in one file, a line each."""
    text, name = path.read_text(), path.relative_to(ROOT)
    lines = len(text.splitlines())
    if lines > FILE_LINES_MAX:
        yield f"{name}: {lines} lines, at most {FILE_LINES_MAX}"
    if not functions:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                yield f"{name}:{node.lineno}: {lines} lines, at most {FUNCTION_LINES_MAX}"


def main() -> int:
    found = [
        complaint
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for complaint in too_long(path, functions=folder not in FOLDERS_OF_LONG_FUNCTIONS)
    ]
    for complaint in found:
        print(complaint)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
