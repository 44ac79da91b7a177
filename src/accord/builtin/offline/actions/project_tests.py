"""Running the tests and saying what failed."""

from __future__ import annotations

from accord.agent.terminals.command import Done
from accord.builtin.offline.answer_format import around, bullets, counted, fenced
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.repairs.repair_table import within
from accord.builtin.offline.runs.output_excerpts import telling_part
from accord.builtin.offline.runs.project_test_results import TestRun, is_unloaded, run_of
from accord.builtin.offline.turn_context import Work
from accord.builtin.tools.tool_call import REFUSALS, ToolResult

RUN_SECONDS = 600.0
"""How long the tests may take."""

NO_TESTS = (
    "I found no tests: no pytest or unittest files, no test script in package.json, no Cargo.toml "
    "or go.mod, no `test` target in a Makefile. Run any command with `$ COMMAND`; when it fails "
    "with a Python error, `fix it` works on that too."
)


def why_not(result: ToolResult) -> str:
    """The reason why something was not done, as the end of a sentence."""
    known = None if result.denied is None else REFUSALS.get(result.denied)
    return result.text if known is None else f"{known[1]}."


async def run_line(work: Work, line: str, reason: str) -> TestRun | str:
    """Run the tests and remember the run; return a sentence if they did not run."""
    result = await work.tools.run(line, timeout=RUN_SECONDS, reason=reason)
    if result.denied is not None or not isinstance(result.data, Done):
        return f"The tests did not run: {why_not(result)}"
    if result.data.timed_out:
        return f"The tests did not finish within {RUN_SECONDS:.0f} seconds and were stopped."
    run = run_of(line, result.data.exit_code, result.data.output or result.text)
    await work.remember_run(run)
    return run


async def test(work: Work, intent: Intent) -> None:
    """Detect how to run the tests, and run them."""
    command = await work.test_command(intent.get("target"))
    if command is None:
        await work.say(NO_TESTS)
        return
    await work.turn.think(f"I run them with {command.runner} because {command.because}.")
    result = await work.tools.run(
        command.line, timeout=RUN_SECONDS, reason=f"Run the tests with {command.runner}"
    )
    if result.denied is not None or not isinstance(result.data, Done):
        await work.refused(result.text, "the tests did not run", result.denied)
        return
    if result.data.timed_out:
        await work.say(
            "The tests did not finish in time and were stopped.", fenced(result.text[-2000:])
        )
        return
    run = run_of(command.line, result.data.exit_code, result.data.output or result.text)
    await work.remember_run(run)
    if run.passed:
        await work.say(summary(run))
        return
    await work.say(summary(run), await failures_listed(work, run), next_step(run))


def summary(run: TestRun) -> str:
    """One sentence about a run."""
    if run.problem is not None:
        return f"No tests ran: {run.problem}."
    if run.passed:
        if not run.count_passed:
            return "**Green**: the run succeeded."
        if run.count_passed == 1:
            return "**Green**: the one test passes."
        return f"**Green**: all {run.count_passed:,} tests pass."
    if run.failing and not run.count_passed and all(is_unloaded(one) for one in run.failing):
        return f"**Red**: {counted(len(run.failing), 'test file')} could not be loaded."
    if run.count_failed:
        every = (run.count_passed or 0) + run.count_failed
        return f"**Red**: {run.count_failed:,} of {counted(every, 'test')} failed."
    return f"**Red**: `{run.command}` failed."


def next_step(run: TestRun) -> str:
    """The next step after a failed run."""
    if run.problem == "pytest is not installed":
        return "Install it where the tests run (`$ python3 -m pip install pytest`), then try again."
    if run.problem is not None:
        return ""
    return "Type `fix it` to look for a repair, or `why` for details of the first failure."


async def failures_listed(work: Work, run: TestRun) -> str:
    """A line for each failure."""
    project = await work.project()
    lines: list[str] = []
    for failure in run.failures:
        ours = within(failure, project.roots, project.files)
        place = f" at `{ours.frames[-1].path}:{ours.frames[-1].line}`" if ours.frames else ""
        message = failure.message.split("\n")[0]
        name = f"`{short(failure.test)}`: " if failure.test else ""
        lines.append(f"{name}{failure.error or 'failed'}: {message}{place}".replace(": :", ":"))
    if lines:
        return bullets(lines, 10)
    return fenced(telling_part(run.tail, 20, len(run.tail))) if run.tail.strip() else ""


def short(test_name: str) -> str:
    """The name of a test without the suffix that unittest adds."""
    return test_name.partition(" (")[0]


async def why(work: Work, intent: Intent) -> None:
    """Show details of the last run."""
    run = await work.last_run()
    if run is None:
        await work.say("I have not run anything yet. `run the tests` first.")
    elif run.passed:
        await work.say(f"The last run succeeded: {summary(run)}")
    else:
        await work.say(summary(run), await about_first(work, run))


async def about_first(work: Work, run: TestRun) -> str:
    """The failing line of the first failure in the project, its values and the code around it."""
    project = await work.project(fresh=True)
    if not run.failures:
        return await failures_listed(work, run)
    ours = [within(one, project.roots, project.files) for one in run.failures]
    failure = next((one for one in ours if one.frames), ours[0])
    name = short(failure.test) or run.command
    parts = [f"`{name}` fails with **{failure.error}**: {failure.message}"]
    # A test that compares fails in the test; what it called before is the code that is wrong.
    for frame in dict.fromkeys(
        (failure.frames[:1] + failure.frames[-1:]) if failure.frames else ()
    ):
        await work.tools.read(frame.path, max(frame.line - 3, 1), 7)
        code = fenced(around(project.files[frame.path], frame.line))
        name = f", in `{frame.function}`" if frame.function else ""
        parts.append(f"`{frame.path}:{frame.line}`{name}:\n\n{code}")
    if failure.values:
        parts.append(f"The values at that point:\n\n{fenced(chr(10).join(failure.values))}")
    return "\n\n".join(parts)
