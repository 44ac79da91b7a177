"""Runs checks: a fresh program for each, some at a time, each within a bound.

Must not know: what a check does, and whether it judges an agent or a client; `open_stage` knows.

What always holds: a check that hangs, or that breaks because of what the program sent, is a
finding and never the end of the run; no check waits again for a step that failed in another.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import anyio

from accord.conformance.check_definition import Check, Finding, Findings, Monitor, shown
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import (
    Frame,
    Gone,
    NotAsked,
    NotReady,
    TooLate,
    Unanswered,
    as_json,
)
from accord.conformance.rules import load
from accord.conformance.run.program import NotStarted, ended_early
from accord.conformance.time_limits import (
    AGAIN_SECONDS_MAX,
    CHECK_SECONDS_MAX,
    RUN_SECONDS_MAX,
)

# How many checks run at a time.
AT_ONCE = 4
MUTE = "the program sent nothing"
# The exit codes of a program that was asked to end: its own, or that of our signal.
ENDED_BY_US = frozenset({0, -signal.SIGTERM, -signal.SIGKILL})
# The rule that every request is answered, which fails if no other rule shows it.
ANSWERS = "V1-GEN-03"


class Stage(Protocol):
    """The stage of a check: a program that was just started, and the findings."""

    @property
    def judge(self) -> Findings: ...

    def conversations(self) -> Sequence[Sequence[Frame]]:
        """Return every conversation with a program that the check started, in order."""
        ...

    def stderr(self) -> str:
        """Return the stderr of the programs."""
        ...

    def exit_codes(self) -> Sequence[int]:
        """Return the exit codes of programs that have ended."""
        ...


OpenStage = Callable[[Check[Any], Findings], AbstractAsyncContextManager[Stage]]


@dataclass(frozen=True, slots=True)
class CheckRun:
    """The result of one check."""

    check: Check[Any]
    findings: tuple[Finding, ...]
    seconds: float
    conversations: tuple[tuple[Frame, ...], ...] = ()
    stderr: str = ""
    # The checked behaviour was over too early, perhaps because the machine is busy.
    late: bool = False
    exit_codes: tuple[int, ...] = ()


async def run_checks(
    checks: Sequence[Check[Any]],
    monitors: Sequence[Monitor],
    open_stage: OpenStage,
    *,
    at_once: int = AT_ONCE,
    seconds_max: float = CHECK_SECONDS_MAX,
    run_seconds_max: float = RUN_SECONDS_MAX,
    tries: bool = False,
    began: Callable[[Check[Any]], None] = lambda check: None,
    done: Callable[[CheckRun], None] = lambda run: None,
) -> list[CheckRun]:
    """Run every check; return the results in the order of the checks.

    Those about getting started are over before the rest begins: what fails there is not waited for
    again.  Those that came too late are run once more in the end, one at a time.

    Raises:
        NotStarted: the program cannot be started at all, or fails before it says anything.
    """
    runs: dict[int, CheckRun] = {}
    limiter = anyio.CapacityLimiter(at_once)
    trouble: list[NotStarted] = []
    end = time.monotonic() + run_seconds_max

    async def ran(check: Check[Any]) -> CheckRun:
        return await run_check(check, monitors, open_stage, seconds_max=seconds_max, tries=tries)

    async def one(number: int, check: Check[Any]) -> None:
        async with limiter:
            if trouble:
                return
            if time.monotonic() >= end:
                runs[number] = unasked(check, f"the run was over after {run_seconds_max:g} s")
                return
            began(check)
            try:
                runs[number] = await ran(check)
            except NotStarted as error:
                trouble.append(error)
            else:
                done(runs[number])

    # One check alone first: a program that answers nothing need not be asked seventy times.
    basic = next((number for number, check in enumerate(checks) if check.basic), None)
    if basic is not None:
        await one(basic, checks[basic])
    if basic in runs and is_mute(runs[basic]):
        _raise_if_failed(runs[basic])
        runs |= {n: unasked(check, MUTE) for n, check in enumerate(checks) if n != basic}
    for is_basic in (True, False):
        async with anyio.create_task_group() as tasks:
            for number, check in enumerate(checks):
                if number not in runs and check.basic is is_basic:
                    tasks.start_soon(one, number, check)
    if trouble:
        raise trouble[0]
    await _run_late_again(runs, ran, min(end, time.monotonic() + AGAIN_SECONDS_MAX))
    return with_silence([runs[number] for number in sorted(runs)])


async def _run_late_again(
    runs: dict[int, CheckRun], ran: Callable[[Check[Any]], Awaitable[CheckRun]], end: float
) -> None:
    for number, run in runs.items():
        if run.late and time.monotonic() < end:
            # Now the check runs alone.
            again = await ran(run.check)
            runs[number] = run if again.late else again


def with_silence(runs: Sequence[CheckRun]) -> list[CheckRun]:
    """Add a failure for unanswered requests to the runs, if no other failure counts.

    A check that cannot go on leaves its rules open.  This sees to it that a program which leaves
    something unanswered is never called conformant for that.
    """
    binding = {name for name, rule in load().items() if rule.binding}
    if any(one.verdict == "fail" and one.rule in binding for run in runs for one in run.findings):
        return list(runs)
    return [replace(run, findings=(*run.findings, *_silence(run))) for run in runs]


def _silence(run: CheckRun) -> list[Finding]:
    if run.check.faults:
        return []
    # A client ends when its work is done, even if requests are open.
    may_end = run.check.role == "client"
    return [
        Finding(ANSWERS, "fail", f"{frame.method} got no answer: {frame.unanswered}", shown(frame))
        for frames in run.conversations
        for frame in queries.unanswered_requests(frames, may_end=may_end)
    ]


def is_mute(run: CheckRun) -> bool:
    """Whether an agent answered nothing, or a client sent nothing."""
    said = [frame for frames in run.conversations for frame in frames if not frame.sent]
    return not any(frame.is_response or run.check.role == "client" for frame in said)


def _raise_if_failed(run: CheckRun) -> None:
    """Raise NotStarted for a program that sent nothing and then failed of its own accord."""
    failed = [code for code in run.exit_codes if code not in ENDED_BY_US]
    if not failed:
        return
    first = run.check.role == "agent"
    before = "before it answered anything" if first else "before it started the agent"
    raise ended_early(failed[0], before, run.stderr)


def unasked(check: Check[Any], said: str) -> CheckRun:
    """Return the result of a check that is not run, with this reason."""
    return CheckRun(check, tuple(Finding(one, "not_exercised", said) for one in check.rules), 0.0)


async def run_check(
    check: Check[Any],
    monitors: Sequence[Monitor],
    open_stage: OpenStage,
    *,
    seconds_max: float = CHECK_SECONDS_MAX,
    tries: bool = False,
) -> CheckRun:
    """Run one check, then judge its frames with every monitor of its role and version.

    With `tries`, a prompt need not lead to what the check waits for: missing it breaks no rule
    until the check says that it came.
    """
    judge = Findings(check.rules, due=not tries or check.needs is None)
    began = time.monotonic()
    stages: list[Stage] = []
    late = False
    try:
        with anyio.fail_after(seconds_max):
            await _perform(check, open_stage, judge, stages)
        judge.close("", failing=False)
    except TimeoutError:
        late = not judge.due
        judge.close(f"the check took longer than {seconds_max:g} s", failing=judge.due)
    except Unanswered as error:
        late = isinstance(error, TooLate)
        due = not isinstance(error, NotReady) and (judge.due or isinstance(error, Gone))
        judge.close(str(error), failing=due or (check.basic and not isinstance(error, NotAsked)))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        # The program sent something that the check cannot continue from.
        lacks = f": it lacks {as_json(error.args[0])}" if isinstance(error, KeyError) else ""
        judge.close(
            f"a message does not have the form that the check needs to continue{lacks}",
            failing=True,
        )
    conversations = [list(frames) for stage in stages for frames in stage.conversations()]
    findings = list(judge.found.values())
    for frames in conversations:
        findings += watch(frames, monitors, check)
    return CheckRun(
        check,
        tuple(findings),
        time.monotonic() - began,
        tuple(tuple(frames) for frames in conversations),
        "".join(stage.stderr() for stage in stages),
        late,
        tuple(code for stage in stages for code in stage.exit_codes()),
    )


async def _perform(
    check: Check[Any], open_stage: OpenStage, judge: Findings, stages: list[Stage]
) -> None:
    """Raise exceptions of the check unchanged, not in a group of the program's tasks."""
    caught: Exception | None = None
    async with open_stage(check, judge) as stage:
        stages.append(stage)
        try:
            await check.run(stage)
        except Exception as error:  # noqa: BLE001 - raised again when the program is ended
            caught = error
    if caught is not None:
        raise caught


def watch(frames: Sequence[Frame], monitors: Sequence[Monitor], check: Check[Any]) -> list[Finding]:
    """Return the findings of the monitors in one conversation."""
    found: list[Finding] = []
    # A conversation under faults is not judged by monitors.
    for one in () if check.faults else monitors:
        if (one.role, one.version) != (check.role, check.version):
            continue
        judge = Findings(one.rules)
        one.look(frames, judge)
        found += judge.found.values()
    return found


@dataclass(slots=True)
class Reached:
    """The steps, such as `session/new`, that failed in an earlier check, each with the reason.

    A step of an agent has the name of its method.
    """

    failed: dict[str, str] = field(default_factory=dict)

    def need(self, step: str) -> None:
        """Stop here if this step failed before: it was judged where it failed first.

        Raises:
            NotAsked: it did.
        """
        if step in self.failed:
            raise NotAsked(f"{step} does not work: {self.failed[step]}")

    @contextmanager
    def step(self, step: str, *, usual: bool = True) -> Generator[None]:
        """Take a step that prepares the check; a failure of the usual step is remembered.

        Raises:
            NotReady: it fails.
            NotAsked: it has failed before.
        """
        self.need(step)
        try:
            yield
        except NotAsked:
            raise
        except Unanswered as error:
            if usual:
                self.failed.setdefault(step, str(error))
            raise NotReady(f"{step} does not work: {error}") from None
