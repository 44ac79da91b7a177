"""A template plan for a change, filled with what the project has.  Pure and modest."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accord.builtin.offline.prompt.arguments import words_of
from accord.builtin.offline.source_code.references import Definition, definitions_of, is_test

PLACES_MAX = 5

_COMMAND_LINE = re.compile(r"\b(?:argparse|click|typer|optparse|sys\.argv|process\.argv|clap)\b")


def plan_for(
    text: str, files: Mapping[str, str], test_line: str | None
) -> tuple[tuple[str, ...], tuple[Definition, ...]]:
    """The steps, and the definitions that the words of the change name."""
    found = [
        one
        for word in words_of(text).split()
        for one in definitions_of(dict(files), word)
        if not is_test(one.path)
    ][:PLACES_MAX]
    steps: list[str] = []
    about_flags = re.search(r"--\w|\b(?:flag|option|argument|cli|command)\b", text, re.IGNORECASE)
    entry = sorted(path for path, source in files.items()
                   if not is_test(path) and _COMMAND_LINE.search(source))  # fmt: skip
    if about_flags and entry:
        steps.append(f"Find where the command line is read: {', '.join(entry[:3])}")
    if found:
        places = ", ".join(f"{one.symbol.qualified} ({one.place})" for one in found)
        steps.append(f"Read what it touches: {places}")
    if not steps:
        steps.append("Find the code that it touches")
    steps.append(f"Write down what should hold afterwards: {text}")
    tests = sorted(path for path in files if is_test(path))
    steps.append(f"Add a test that fails{f' (beside {tests[0]})' if tests else ''}")
    steps.append("Change the code")
    steps.append(f"Run the tests: {test_line}" if test_line else "Try it out")
    readme = next((path for path in sorted(files) if path.lower().startswith("readme")), None)
    if readme is not None:
        steps.append(f"Say it in {readme}")
    return tuple(steps), tuple(found)
