"""Repairing what failed: `fix it`.

What always holds
    * A repair is shown as a diff and allowed before it is made, and the run after it decides.
    * A repair that improves no failing test, or breaks another one, is reverted.
    * The loop ends: after a number of repairs, or when nothing is left to try.
    * An answer about a failure names only what was examined.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from accord.agent.session.plan import PlanHandle
from accord.builtin.offline.actions.project_tests import (
    NO_TESTS,
    about_first,
    next_step,
    run_line,
    short,
    summary,
    why_not,
)
from accord.builtin.offline.answer_format import bullets, counted, listed
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.repairs.javascript.node_check import find_node, script_repairs
from accord.builtin.offline.repairs.javascript.source_text import is_script
from accord.builtin.offline.repairs.name_replacements import Repair, changed_line
from accord.builtin.offline.repairs.repair_table import FINDERS, find_repairs, within
from accord.builtin.offline.repairs.repair_verdict import HELPFUL, Verdict, verdict_of
from accord.builtin.offline.runs.project_test_results import TestRun
from accord.builtin.offline.runs.tracebacks import Failure
from accord.builtin.offline.turn_context import Work
from accord.builtin.tools.tool_call import BY_USER, ended

ROUNDS_MAX = 8
"""Repairs that one `fix it` tries."""

AS_LIKELY = 0.05
"""How much lower the score of an alternative repair may be."""

SURE = 0.85
"""The lowest score of a repair that is kept although no test passes yet."""

STILL_THERE = "My last change to"

KINDS_MAX = 20
"""Different errors of one run for which repairs are searched."""

STEPS = ("Find out what is wrong", "Repair it", "Run the tests again")


@dataclass(frozen=True)
class Attempt:
    """One repair that was made, the failure it was for, and what the run after it showed."""

    failure: Failure
    repair: Repair
    verdict: Verdict
    # The file and the run before it.
    text_before: str | None
    run_before: TestRun

    @property
    def place(self) -> str:
        """The file and the line that was changed, which need not be where the error was seen."""
        return f"{self.repair.path}:{changed_line(self.text_before, self.repair.text)}"


@dataclass
class Search:
    """What was found and tried in one turn."""

    kept: list[Attempt] = field(default_factory=list)
    taken_back: list[Attempt] = field(default_factory=list)
    # Changes that were tried; none is tried again.
    spent: set[tuple[str, str]] = field(default_factory=set)
    # Why it stopped, unless nothing was left to try.
    stopped: str = ""

    @property
    def is_over(self) -> bool:
        """Whether no more may be tried."""
        return bool(self.stopped) or len(self.spent) >= ROUNDS_MAX


async def fix(work: Work, intent: Intent) -> None:
    """Repair what failed, as long as there is something to try."""
    run = await work.last_run()
    fresh = False
    if run is None or run.passed or run.problem is not None:
        run, fresh = await _run_first(work), True
        if run is None:
            return
    plan = await work.turn.plan(*STEPS)
    search = Search()
    while not search.is_over:
        await plan.start(0)
        found = await _look(work, run, search)
        if found is None and not fresh:
            # The remembered run may be older than a change by the user.
            newer = await run_line(work, run.command, "See what fails now")
            fresh = True
            if isinstance(newer, TestRun):
                run = newer
                found = None if run.passed else await _look(work, run, search)
        if found is None:
            break
        await plan.complete(0)
        after = await _try(work, plan, run, search, *found)
        if after is None:
            return
        run, fresh = after, True
        if run.passed:
            break
        if len(search.spent) >= ROUNDS_MAX and not search.stopped:
            search.stopped = f"I stopped after {ROUNDS_MAX} changes, which is my limit."
        if not search.is_over:
            await plan.replace(STEPS)
    await _conclude(work, plan, await _without_guesses(work, run, search), search)


async def _run_first(work: Work) -> TestRun | None:
    """Run the tests to have something to repair; None if there is nothing, after saying so."""
    command = await work.test_command()
    if command is None:
        await work.say(NO_TESTS)
        return None
    await work.turn.think(f"I run the tests first, with {command.runner}.")
    run = await run_line(work, command.line, "Run the tests to see what needs repair")
    if isinstance(run, str):
        await work.say(run, "I cannot repair what I have not seen fail.")
        return None
    if run.passed or run.problem is not None:
        await work.say(
            summary(run), "There is nothing to repair." if run.passed else next_step(run)
        )
        return None
    return run


# ---- looking


async def _look(work: Work, run: TestRun, search: Search) -> tuple[Failure, list[Repair]] | None:
    """The best repair of any failure, and others of that failure that are nearly as good."""
    project = await work.project(fresh=True)
    best: tuple[Failure, list[Repair]] | None = None
    for failure in _kinds(run):
        ours = within(failure, project.roots, project.files)
        found = _untried(await _repairs(work, dict(project.files), ours), search)
        if found and (best is None or found[0].score > best[1][0].score):
            best = (ours, found)
    if best is None:
        return None
    failure, found = best
    # The client may have the file open and changed.
    path = found[0].path
    now = await work.tools.text(path)
    if now is not None and now != project.files.get(path):
        found = _untried(await _repairs(work, {**project.files, path: now}, failure), search)
        if not found:
            return None
    first = found[0]
    await _tell(work, failure, first)
    likely = [
        one for one in found if one.path == first.path and one.score > first.score - AS_LIKELY
    ]
    return failure, likely


def _untried(repairs: list[Repair], search: Search) -> list[Repair]:
    return [one for one in repairs if (one.path, one.text) not in search.spent]


def _kinds(run: TestRun) -> list[Failure]:
    """The errors of a run and what caused them, each kind once."""
    found: dict[tuple[object, ...], Failure] = {}
    for failure in run.failures:
        for one in failure.every:
            found.setdefault((one.error, one.message, one.frames[-1:]), one)
    repairable = [one for one in found.values() if one.error in FINDERS]
    return repairable[:KINDS_MAX]


async def _repairs(work: Work, files: dict[str, str], failure: Failure) -> list[Repair]:
    code = {path: text for path, text in files.items() if path.endswith((".py", ".pyi"))}
    code.update((path, text) for path, text in files.items() if is_script(path))
    last = failure.frames[-1].path if failure.frames else ""
    if failure.error == "SyntaxError" and is_script(last):
        return await script_repairs(last, code[last])
    return await work.compute(find_repairs, code, failure)


async def _tell(work: Work, failure: Failure, repair: Repair) -> None:
    test_name = f"{short(failure.test)} fails: " if failure.test else ""
    seen = ended(f"{test_name}{failure.error}: {failure.message}")
    await work.turn.think(f"{seen} {repair.why}")
    await work.tools.read(repair.path, max(repair.line - 5, 1), 11)


# ---- trying


async def _try(
    work: Work,
    plan: PlanHandle,
    run: TestRun,
    search: Search,
    failure: Failure,
    repairs: list[Repair],
) -> TestRun | None:
    """Make the first repair; if tests still fail, try whether a similar one helps more.

    None if the turn is over, after saying so.
    """
    path = repairs[0].path
    text = before = await work.tools.text(path)
    best: tuple[Attempt, TestRun] | None = None
    for repair in repairs:
        if search.is_over or not await _apply(
            work, plan, repair, before, search, quiet=best is not None
        ):
            if best is None:
                return None
            break
        search.spent.add((repair.path, repair.text))
        text = repair.text
        await plan.start(2)
        after = await run_line(work, run.command, "See whether the repair worked")
        if isinstance(after, str):
            await plan.drop(2)
            search.kept.append(Attempt(failure, repair, "further", before, run))
            unknown = f"I do not know whether that helped. {after}"
            await work.say(_changed(search, "Changed"), unknown)
            return None
        await plan.complete(2)
        verdict = await _verdict(work, run, after, failure, repair)
        attempt = Attempt(failure, repair, verdict, before, run)
        if attempt.verdict in HELPFUL and (best is None or _rank(after) > _rank(best[1])):
            search.taken_back.extend([] if best is None else [best[0]])
            best = (attempt, after)
        else:
            search.taken_back.append(attempt)
        if after.passed:
            break
    if best is not None:
        search.kept.append(best[0])
    wanted = before if best is None else best[0].repair.text
    if text != wanted:
        await _restore(work, search, path, wanted)
    run = run if best is None else best[1]
    await work.remember_run(run)
    return run


async def _without_guesses(work: Work, run: TestRun, search: Search) -> TestRun:
    """Revert unlikely repairs that only moved the error; return the run without them."""
    while search.kept and not run.passed and not search.stopped.startswith(STILL_THERE):
        last = search.kept[-1]
        if last.verdict != "further" or last.repair.score >= SURE:
            break
        search.kept.pop()
        search.taken_back.append(replace(last, verdict="no better"))
        if await _restore(work, search, last.repair.path, last.text_before):
            run = last.run_before
            await work.remember_run(run)
    return run


def _rank(run: TestRun) -> tuple[bool, int, int]:
    """A key that orders runs from worse to better."""
    return run.passed, run.count_passed or 0, -(run.count_failed or 0)


async def _verdict(
    work: Work, run: TestRun, after: TestRun, failure: Failure, repair: Repair
) -> Verdict:
    """What a repair changed.  Runs have the paths of the machine, the failure the project's."""
    project = await work.project()

    def inside(one: TestRun) -> TestRun:
        failures = tuple(within(each, project.roots, project.files) for each in one.failures)
        return replace(one, failures=failures)

    return verdict_of(inside(run), inside(after), failure, repair)


async def _restore(work: Work, search: Search, path: str, text: str | None) -> bool:
    """Revert what did not help; report it if that fails."""
    last = search.taken_back[-1]
    result = await work.tools.edit_many(
        {path: text}, f"Revert a change: {_effect(last)}", f"Restore {path}"
    )
    if not result.ok:
        search.taken_back.remove(last)
        search.stopped = (
            f"{STILL_THERE} `{path}` did not help, and it is still there: {why_not(result)}"
        )
    return result.ok


async def _apply(
    work: Work, plan: PlanHandle, repair: Repair, before: str | None, search: Search, *, quiet: bool
) -> bool:
    """Make the change if it is allowed; report a refusal, unless another change was made."""
    await plan.start(1)
    title = f"Fix {repair.path}:{changed_line(before, repair.text)}"
    result = await work.tools.edit_many({repair.path: repair.text}, repair.why, title)
    if result.ok:
        await plan.complete(1)
        return True
    if quiet:
        return False
    await plan.drop(1)
    await plan.drop(2)
    done = _changed(search) if search.kept else ""
    if result.denied in BY_USER:
        stays = f"All right, `{repair.path}` stays as it is. What I saw: {repair.why}"
        await work.say(done, stays)
    else:
        await work.say(done, result.text, f"What I would have repaired: {repair.why}")
    return False


# ---- saying


def _changed(search: Search, word: str = "Repaired") -> str:
    done = [f"`{one.place}`: {one.repair.why}" for one in search.kept]
    if len(done) == 1:
        return f"{word} {done[0]}"
    return f"{word} {counted(len(done), 'place')}:\n\n{bullets(done)}"


async def _conclude(work: Work, plan: PlanHandle, run: TestRun, search: Search) -> None:
    for index, entry in enumerate(plan.entries):
        if entry.status != "completed":
            await plan.drop(index)
    back = _taken_back(search)
    is_changed = search.kept or search.stopped.startswith(STILL_THERE)
    undo = "`/undo` reverts the change." if is_changed else ""
    if run.passed:
        text = _changed(search) if search.kept else "It is already fixed."
        await work.say(text, back, summary(run), undo)
        return
    about = await about_first(work, run)
    head = f"{_changed(search)}\n\n{summary(run)}" if search.kept else summary(run)
    ask = "This needs someone who knows what the code should do: you, or a model (`/model`)."
    looked = search.stopped or await _looked(work, run, search)
    await work.say(head, back, looked, about, ask, undo)


def _taken_back(search: Search) -> str:
    if not search.taken_back:
        return ""
    lines = [f"`{one.place}`: {one.repair.why} But {_effect(one)}." for one in search.taken_back]
    return f"Tried and reverted:\n\n{bullets(lines)}"


def _effect(attempt: Attempt) -> str:
    if attempt.verdict in HELPFUL:
        return "another change helps more"
    if attempt.verdict == "worse":
        return "it breaks what worked"
    return "no failing test gets better"


async def _looked(work: Work, run: TestRun, search: Search) -> str:
    """What was examined for the remaining failures, and nothing else."""
    project = await work.project()
    known: list[str] = []
    unknown: list[str] = []
    outside: list[str] = []
    for failure in run.failures:
        for one in failure.every:
            ours = within(one, project.roots, project.files)
            if one.error not in FINDERS:
                unknown.append(one.error)
            elif not ours.frames:
                outside.append(f"{one.error}: {one.message}".split("\n")[0])
            else:
                known.append(f"{one.error}: {one.message}".split("\n")[0])
    parts = ["I found no repair for the rest." if search.kept else "I found no repair."]
    if not run.failures or "" in unknown:
        some = "some of the errors" if any(unknown) or known or outside else "an error"
        parts.append(f"I could not read {some} in the output.")
    if known:
        more = "nothing else to try" if search.taken_back else "nothing to try"
        parts.append(f"I looked at {listed(list(dict.fromkeys(known)), 3)} and found {more}.")
    if outside:
        names = listed(list(dict.fromkeys(outside)), 3)
        parts.append(f"{names} does not point at a file of this project that I can read.")
    if any(unknown):
        names = listed([one for one in dict.fromkeys(unknown) if one], 3)
        parts.append(f"I cannot repair {names}: I handle names, imports, attributes, call ")
        parts[-1] += "arguments and syntax."
    broken = [one for one in run.failures if one.error == "SyntaxError"]
    scripts = [frame for one in broken for frame in one.frames if is_script(frame.path)]
    if scripts and find_node() is None:
        parts.append("I check JavaScript with `node`, which is not installed here.")
    told, kept = run.count_failed or 0, len(run.failures)
    if told > kept:
        parts.append(f"I read {kept:,} of {told:,} failures.")
    return " ".join(part for part in parts if part)
