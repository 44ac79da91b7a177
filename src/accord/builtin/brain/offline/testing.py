"""Running the tests, saying what failed, and repairing it.

What always holds
    * A repair is shown as a diff and allowed before it is made, and the run after it decides.
    * The loop of repairs ends: after a number of rounds, or as soon as one brings nothing.
"""

from __future__ import annotations

from accord.agent.own_terminals import Done
from accord.agent.plan import PlanHandle
from accord.builtin.brain.offline.excerpts import telling_part
from accord.builtin.brain.offline.intent import Intent
from accord.builtin.brain.offline.repairs.finding import find_repair, within
from accord.builtin.brain.offline.repairs.repair import Repair
from accord.builtin.brain.offline.runs import TestRun, run_of
from accord.builtin.brain.offline.tracebacks import Failure
from accord.builtin.brain.offline.wording import around, bullets, counted, fenced
from accord.builtin.brain.offline.work import Work
from accord.builtin.tools.result import BY_USER, REFUSALS, ToolResult, ended

ROUNDS_MAX = 8
"""Repairs of one `fix it`."""

RUN_SECONDS = 600.0
"""How long the tests may take."""

NO_TESTS = (
    "I found no tests: no pytest or unittest files, no test script in package.json, no Cargo.toml "
    "or go.mod, no `test` target in a Makefile. Run any command with `$ COMMAND`; when it fails "
    "with a Python error, `fix it` works on that too."
)


def why_not(result: ToolResult) -> str:
    """Why something was not done, as the end of a sentence."""
    known = None if result.denied is None else REFUSALS.get(result.denied)
    return result.text if known is None else f"{known[1]}."


async def run_line(work: Work, line: str, reason: str) -> TestRun | None:
    """Run the tests and remember how it went; None when they did not run."""
    result = await work.tools.run(line, timeout=RUN_SECONDS, reason=reason)
    if result.denied is not None or not isinstance(result.data, Done):
        work.why_not = why_not(result)
        return None
    run = run_of(line, result.data.exit_code, result.data.output or result.text)
    await work.remember_run(run)
    return run


async def test(work: Work, intent: Intent) -> None:
    """Find out how the tests are run, and run them."""
    command = await work.test_command(intent.get("target"))
    if command is None:
        await work.say(NO_TESTS)
        return
    await work.turn.think(f"I run them with {command.runner}, for {command.because}.")
    result = await work.tools.run(
        command.line, timeout=RUN_SECONDS, reason=f"Run the tests with {command.runner}"
    )
    if result.denied is not None or not isinstance(result.data, Done):
        await work.refused(result.text, "the tests did not run", result.denied)
        return
    if result.data.timed_out:
        await work.say(
            "The tests did not end in time and were stopped.", fenced(result.text[-2000:])
        )
        return
    run = run_of(command.line, result.data.exit_code, result.data.output or result.text)
    await work.remember_run(run)
    if run.passed:
        await work.say(summary(run))
        return
    await work.say(summary(run), await failures_listed(work, run), _next_step(run))


def summary(run: TestRun) -> str:
    """One sentence about a run."""
    if run.problem is not None:
        return f"No tests ran: {run.problem}."
    if run.passed:
        if not run.count_passed:
            return "**Green**: the run went well."
        if run.count_passed == 1:
            return "**Green**: the one test passes."
        return f"**Green**: all {run.count_passed:,} tests pass."
    if run.count_failed:
        every = (run.count_passed or 0) + run.count_failed
        return f"**Red**: {run.count_failed:,} of {counted(every, 'test')} failed."
    return f"**Red**: `{run.command}` failed."


def _next_step(run: TestRun) -> str:
    if run.problem == "pytest is not installed":
        return "Install it where the tests run (`$ python3 -m pip install pytest`), then try again."
    if run.problem is not None:
        return ""
    return "Type `fix it` and I look for a repair, or `why` for more about the first failure."


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
    """A test's name without what unittest adds to it."""
    return test_name.partition(" (")[0]


async def why(work: Work, intent: Intent) -> None:
    """More about what the last run said."""
    run = await work.last_run()
    if run is None:
        await work.say("I have not run anything yet. `run the tests` first.")
    elif run.passed:
        await work.say(f"The last run went well: {summary(run)}")
    else:
        await work.say(summary(run), await _about_first(work, run))


async def _about_first(work: Work, run: TestRun) -> str:
    """The failing line, the values and the code around it."""
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
        parts.append(f"The values there:\n\n{fenced(chr(10).join(failure.values))}")
    return "\n\n".join(parts)


async def fix(work: Work, intent: Intent) -> None:
    """Repair what failed, as long as each round brings something."""
    run, fresh = await work.last_run(), False
    if run is None or run.passed or run.problem is not None:
        run = await _run_first(work)
        if run is None:
            return
        fresh = True
    plan = await work.turn.plan(*STEPS)
    done: list[Repair] = []
    for _ in range(ROUNDS_MAX):
        await plan.start(0)
        repair = await _look(work, run)
        if repair is None and not fresh:
            # What is remembered may be of before a change that the user made.
            newer = await run_line(work, run.command, "See what fails now")
            run, fresh = newer or run, True
            if newer is not None and not newer.passed:
                repair = await _look(work, newer)
        if repair is None:
            break
        await plan.complete(0)
        changed = await _apply(work, plan, repair)
        if not changed:
            return
        done.append(repair)
        await plan.start(2)
        after = await run_line(work, run.command, "See whether the repair worked")
        if after is None:
            await plan.drop(2)
            await work.say(_repaired(done), f"I did not run the tests again: {work.why_not}")
            return
        await plan.complete(2)
        stuck = _same(run, after)
        run, fresh = after, True
        if run.passed or stuck:
            break
        await plan.replace(STEPS)
    await _conclude(work, plan, run, done)


STEPS = ("Find out what is wrong", "Repair it", "Run the tests again")


async def _run_first(work: Work) -> TestRun | None:
    """A run to have something to repair; None when there is nothing, and that was said."""
    command = await work.test_command()
    if command is None:
        await work.say(NO_TESTS)
        return None
    await work.turn.think(f"I run the tests first ({command.because}).")
    run = await run_line(work, command.line, "Run the tests, to see what is to be repaired")
    if run is None:
        await work.say("I cannot repair what I have not seen fail, and the tests did not run.")
        return None
    if run.passed or run.problem is not None:
        await work.say(
            summary(run), "There is nothing to repair." if run.passed else _next_step(run)
        )
        return None
    return run


async def _look(work: Work, run: TestRun) -> Repair | None:
    """The first repair that any of the failures has."""
    project = await work.project(fresh=True)
    for failure in run.failures:
        ours = within(failure, project.roots, project.files)
        repair = await work.compute(find_repair, project.python_files, ours)
        if repair is None:
            continue
        # The client may have the file open and changed.
        now = await work.tools.text(repair.path)
        if now is not None and now != project.files.get(repair.path):
            files = {**project.python_files, repair.path: now}
            repair = await work.compute(find_repair, files, ours)
        if repair is not None:
            await _tell(work, ours, repair)
            return repair
    return None


async def _tell(work: Work, failure: Failure, repair: Repair) -> None:
    test_name = f"{short(failure.test)} fails: " if failure.test else ""
    seen = ended(f"{test_name}{failure.error}: {failure.message}")
    await work.turn.think(f"{seen} {repair.why}")
    await work.tools.read(repair.path, max(repair.line - 5, 1), 11)


async def _apply(work: Work, plan: PlanHandle, repair: Repair) -> bool:
    """Make the change if it is allowed; what was refused is said."""
    await plan.start(1)
    result = await work.tools.edit_many(
        {repair.path: repair.text}, repair.why, f"Fix {repair.path}:{repair.line}"
    )
    if result.ok:
        await plan.complete(1)
        return True
    await plan.drop(1)
    await plan.drop(2)
    if result.denied in BY_USER:
        await work.say(f"All right, `{repair.path}` stays as it is. What I saw: {repair.why}")
    else:
        await work.say(result.text, f"What I would have repaired: {repair.why}")
    return False


def _same(before: TestRun, after: TestRun) -> bool:
    """Whether nothing moved: the same errors at the same places."""
    return not after.passed and _errors(before) == _errors(after)


def _errors(run: TestRun) -> set[tuple[str, str, str, int]]:
    return {
        (one.test, one.error, one.message, one.frames[-1].line if one.frames else 0)
        for one in run.failures
    }


def _repaired(done: list[Repair]) -> str:
    if len(done) == 1:
        return f"Repaired `{done[0].path}:{done[0].line}`: {done[0].why}"
    lines = bullets(f"`{one.path}:{one.line}`: {one.why}" for one in done)
    return f"Repaired {counted(len(done), 'place')}:\n\n{lines}"


async def _conclude(work: Work, plan: PlanHandle, run: TestRun, done: list[Repair]) -> None:
    if run.passed:
        for index, entry in enumerate(plan.entries):
            if entry.status != "completed":
                await plan.drop(index)
        text = _repaired(done) if done else "It is repaired already."
        await work.say(text, summary(run), "`/undo` takes the change back." if done else "")
        return
    for index, entry in enumerate(plan.entries):
        if entry.status != "completed":
            await plan.drop(index)
    about = await _about_first(work, run)
    if done:
        head = f"{_repaired(done)}\n\n{summary(run)} For what is left I found no repair."
        undo = "`/undo` takes back what I changed."
    else:
        head = f"{summary(run)} I found no repair: nothing here is a name that is nearly right, a "
        head += "missing import or a slip in the syntax."
        undo = ""
    ask = "This needs somebody who understands what the code should do: you, or a model (`/model`)."
    await work.say(head, about, ask, undo)
