"""Runs commands and tasks of the project, and answers what is not a command."""

from __future__ import annotations

import os
from collections.abc import Sequence

import anyio

from accord.agent.terminals.command import Done
from accord.builtin.offline.answer_format import counted, fenced
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.runs.output_excerpts import OUTPUT_LINES_SHOWN, excerpt
from accord.builtin.offline.runs.project_tasks import TaskCommand, find_task, nothing_found
from accord.builtin.offline.runs.project_test_results import plain, run_of
from accord.builtin.offline.source_code.project_texts import Project
from accord.builtin.offline.turn_context import Work
from accord.machine.processes.program_lookup import find_program
from accord.machine.terminals.output_buffer import EARLIER_OUTPUT_OMITTED


async def run(work: Work, intent: Intent) -> None:
    """Run the command that the user gave."""
    await _carry_out(work, await work.runnable(intent["command"]))


async def task(work: Work, intent: Intent) -> None:
    """Lint, format, check the types of, build or start the project, in its own way."""
    project = await work.project()
    found = await work.compute(find_task, intent["task"], project.files, project.paths)
    if found is None:
        await work.say(nothing_found(intent["task"]))
        return
    line = await _with_program(project, found)
    if line is None:
        await work.say(
            f"I would run `{found.line}`, because {found.because}. But `{found.program}` is not "
            "installed, neither in an environment of this project nor in `PATH`."
        )
        return
    await work.turn.think(f"I run `{line}`, because {found.because}.")
    await _carry_out(work, line)


async def _with_program(project: Project, found: TaskCommand) -> str | None:
    """The command with the project's own program, else with one that the shell finds."""
    if found.program is None:
        return found.line
    folders = [os.path.dirname(python) for python in project.pythons]
    for folder in ("node_modules/.bin",) if found.is_node else folders:
        if await anyio.Path(project.root, folder, found.program).exists():
            return f"{folder}/{found.line}"
    return found.line if find_program(found.program) else None


async def _carry_out(work: Work, line: str) -> None:
    """Run a command line and say how it ended."""
    result = await work.tools.run(line, reason="You asked to run it")
    work.went_well = result.ok
    if result.denied is not None or not isinstance(result.data, Done):
        await work.refused(result.text, f"{_named(line)} did not run", result.denied)
        return
    ended = result.data
    output = plain(ended.output)
    if ended.exit_code == 0:
        await work.say(
            _end_of(output, ended.truncated) or f"{_named(line)} succeeded with no output."
        )
        return
    seen = run_of(line, ended.exit_code, ended.output)
    hint = ""
    if seen.failures:
        await work.remember_run(seen)
        hint = "Type `fix it` to look for a repair."
    how = (
        "did not finish in time and was stopped"
        if ended.timed_out
        else (
            f"was killed by {ended.signal}"
            if ended.signal
            else f"failed with exit code {ended.exit_code}"
        )
    )
    await work.say(f"{_named(line)} {how}.", _errors_of(output, ended.truncated), hint)


def _named(line: str) -> str:
    """A command in a sentence: its first line, and how many follow."""
    first, *more = line.split("\n")
    return f"`{first}`" + (
        f" (and {counted(len(more), 'more line', 'more lines')})" if more else ""
    )


def _end_of(output: str, is_cut: bool) -> str:
    lines = output.rstrip().split("\n")
    if not output.strip():
        return ""
    shown = fenced("\n".join(lines[-OUTPUT_LINES_SHOWN:]))
    if len(lines) > OUTPUT_LINES_SHOWN or is_cut:
        number = min(len(lines), OUTPUT_LINES_SHOWN)
        return f"{shown}\n\nThese are the last {counted(number, 'line')} of its output."
    return shown


def _errors_of(output: str, is_cut: bool) -> str:
    """The errors in the output of a failed command, and what is not shown."""
    if not output.strip():
        return ""
    part = excerpt(output, OUTPUT_LINES_SHOWN)
    notes: Sequence[str] = [
        f"{counted(part.lines_before, 'line')} before this" if part.lines_before else "",
        f"{counted(part.lines_after, 'line')} after this" if part.lines_after else "",
        f"{counted(part.warnings, 'line')} of warnings and hints" if part.warnings else "",
    ]
    left_out = ", ".join(note for note in notes if note)
    parts = [fenced(part.text)]
    if left_out:
        parts.append(f"Not shown: {left_out}.")
    if is_cut:
        parts.append(f"Some {EARLIER_OUTPUT_OMITTED}.")
    return "\n\n".join(parts)


async def several_lines(work: Work, intent: Intent) -> None:
    """Explain how to run a command of several lines."""
    lines = intent["command"].split("\n")
    await work.say(
        f"That is {len(lines)} lines, and a command is one line, so I ran nothing. Put the lines "
        "in a code fence to run them as one script:",
        fenced(f"$ ```\n{intent['command']}\n```"),
    )


async def not_a_command(work: Work, intent: Intent) -> None:
    """Answer a request to run an unknown program."""
    text = intent["text"]
    await work.say(
        f"I do not know a command or a task `{text}`, so I ran nothing. `$ {text}` runs it as "
        "typed in the shell; `help` shows what else I understand."
    )
