"""A template plan for a change, filled in with what the project has."""

from __future__ import annotations

import re
from collections.abc import Mapping

from accord.builtin.modes import PLAN
from accord.builtin.offline.prompt.arguments import words_of
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.source_code.references import Definition, definitions_of, is_test
from accord.builtin.offline.turn_context import Work
from accord.builtin.tools.plan_and_task import leave_plan

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
        steps.append(f"Read the code that it touches: {places}")
    if not steps:
        steps.append("Find the code that it touches")
    steps.append(f"Write down the expected result: {text}")
    tests = sorted(path for path in files if is_test(path))
    steps.append(f"Add a failing test{f' (next to {tests[0]})' if tests else ''}")
    steps.append("Change the code")
    steps.append(f"Run the tests: {test_line}" if test_line else "Try it out")
    readme = next((path for path in sorted(files) if path.lower().startswith("readme")), None)
    if readme is not None:
        steps.append(f"Update {readme}")
    return tuple(steps), tuple(found)


async def show_plan(work: Work, intent: Intent) -> None:
    """Show a plan for a change, from a template and from what the project has.

    It is a message and not the plan of the turn: nobody works on it here, so it would repeat the
    message and never be completed.
    """
    text = intent["text"]
    project = await work.project()
    command = await work.test_command()
    line = None if command is None else command.line
    steps, found = await work.compute(plan_for, text, project.files, line)
    places = [(one.path, one.symbol.line) for one in found]
    if places:
        shown = "\n".join(f"{one.place}: {one.symbol.signature}" for one in found)
        await work.looked("Find the code that it touches", "symbols", {"text": text}, places, shown)
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
    await work.say(
        f"A plan for “{text}”:",
        numbered,
        "This is a template filled in with what I found here, for you to tick off. Thinking it "
        "through is up to you, or to a model (`/model`).",
    )
    if work.tools.context.mode == PLAN:
        # The plan is ready; the user decides whether work begins.
        await leave_plan(work.tools.context, numbered, is_said=True)
