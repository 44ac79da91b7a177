"""Runs of checks: bounds, what a stopped check says, and the verdict about a program."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from accord.conformance import rules
from accord.conformance.check_definition import Check, Findings, check, monitor
from accord.conformance.frames.raw_peer import Frame, Gone, NotReady, TooLate, Unanswered
from accord.conformance.run.check_runner import CheckRun, run_check, run_checks
from accord.conformance.run.kit_run import NoSuchRule, RunOptions, select, unable
from accord.conformance.run.program import NotStarted
from accord.conformance.run.verdicts import Report, results
from tests.hang_limit import HANG_SECONDS

RULES = ("V1-INIT-04", "V1-INIT-06")


@dataclass
class Empty:
    judge: Findings

    def conversations(self) -> Sequence[Sequence[Frame]]:
        return [[Frame(0, False, b"x", None, "not JSON")]]

    def stderr(self) -> str:
        return "log"

    def exit_codes(self) -> Sequence[int]:
        return []


@asynccontextmanager
async def open_stage(check: Check[Any], judge: Findings) -> AsyncGenerator[Empty]:
    yield Empty(judge)


def failing(error: Exception, *, basic: bool = False) -> Check[Empty]:
    @check(*RULES, basic=basic)
    async def one(stage: Empty) -> None:
        raise error

    return one


def verdicts(run: CheckRun) -> list[str]:
    return [finding.verdict for finding in run.findings]


@pytest.mark.parametrize(
    ("error", "basic", "expected"),
    [
        (Unanswered("no"), False, ["fail", "not_exercised"]),
        (NotReady("no"), False, ["not_exercised", "not_exercised"]),
        (NotReady("no"), True, ["fail", "not_exercised"]),
        (KeyError("sessionId"), False, ["fail", "not_exercised"]),
    ],
)
async def test_a_check_that_stops_early_says_what_it_knows(
    error: Exception, basic: bool, expected: list[str]
) -> None:
    """Ours: what a program did not get to is judged once, where it is about getting there."""
    run = await run_check(failing(error, basic=basic), [], open_stage)
    assert verdicts(run) == expected
    assert run.stderr == "log"


async def test_a_check_that_hangs_is_a_failure_in_time() -> None:
    """Issue: a run never hangs."""

    @check(*RULES)
    async def forever(stage: Empty) -> None:
        await anyio.sleep_forever()

    with anyio.fail_after(HANG_SECONDS):
        run = await run_check(forever, [], open_stage, seconds_max=0.01)
    assert verdicts(run) == ["fail", "not_exercised"]


async def test_monitors_look_at_every_conversation() -> None:
    """Ours: what no check asks for is seen all the same."""

    @check(*RULES)
    async def quiet(stage: Empty) -> None:
        stage.judge.passed(*RULES)

    @monitor("TR-STDIO-03")
    def noise(frames: Sequence[Frame], judge: Findings) -> None:
        judge.judge("TR-STDIO-03", not frames[0].flaw, "noise")

    @monitor("TR-STDIO-03", version="2")
    def another(frames: Sequence[Frame], judge: Findings) -> None:
        raise AssertionError("another version's monitor")

    [run] = await run_checks([quiet], [noise, another], open_stage)
    assert verdicts(run) == ["pass", "pass", "fail"]


async def test_a_program_that_answers_nothing_is_asked_once() -> None:
    """Issue: a run never hangs."""
    others = [failing(AssertionError("asked again"))] * 50
    runs = await run_checks([*others, failing(NotReady("mute"), basic=True)], [], open_stage)
    assert verdicts(runs[-1]) == ["fail", "not_exercised"]
    assert {verdict for run in runs[:-1] for verdict in verdicts(run)} == {"not_exercised"}


async def test_what_is_basic_is_checked_first_and_told_when_it_begins() -> None:
    """Issue 13: progress from the first second, and what depends on a failed rule comes later."""

    @check(*RULES)
    async def usual(stage: Empty) -> None:
        stage.judge.passed(*RULES)

    @check(*RULES, basic=True)
    async def first(stage: Empty) -> None:
        stage.judge.passed(*RULES)

    begun: list[str] = []
    over: list[str] = []
    runs = await run_checks(
        [usual, first, usual],
        [],
        open_stage,
        at_once=1,
        began=lambda one: begun.append(one.name),
        done=lambda run: over.append(run.check.name),
    )
    assert begun[0].endswith("first")
    assert [run.check for run in runs] == [usual, first, usual]
    assert over == begun


@pytest.mark.parametrize(("second", "expected"), [("pass", "pass"), ("late", "not_exercised")])
async def test_a_check_that_came_too_late_is_run_once_more_alone(
    second: str, expected: str
) -> None:
    """Ours: a turn that a busy machine lets end too soon leaves no rule unjudged."""
    begun = 0
    at_once: list[int] = []
    running = 0

    @check(*RULES)
    async def late(stage: Empty) -> None:
        nonlocal begun, running
        begun += 1
        running += 1
        at_once.append(running)
        await anyio.lowlevel.checkpoint()
        running -= 1
        if begun <= 3 or second == "late":
            raise TooLate("over")
        stage.judge.passed(*RULES)

    runs = await run_checks([late] * 3, [], open_stage, at_once=3)
    assert begun == 6
    assert at_once[3:] == [1, 1, 1]
    assert {verdict for run in runs for verdict in verdicts(run)} == {expected}


async def test_a_run_begins_nothing_after_its_time() -> None:
    """Issue 13: bounded in time, as a whole too."""
    checks = [failing(AssertionError("begun"))] * 3
    runs = await run_checks(checks, [], open_stage, run_seconds_max=0)
    assert {one.said for run in runs for one in run.findings} == {"the run was over after 0 s"}


@pytest.mark.parametrize(
    ("error", "expected"),
    [(Unanswered("slow"), "not_exercised"), (Gone("it ended"), "fail"), (KeyError("x"), "fail")],
)
async def test_a_prompt_that_is_only_tried_promises_nothing(
    error: Exception, expected: str
) -> None:
    """Issue 13: an agent whose model did something else is not judged by it."""
    plain = failing(error)
    tried = Check(plain.name, plain.rules, plain.role, plain.version, plain.run, "edit")
    assert verdicts(await run_check(tried, [], open_stage, tries=True))[0] == expected
    assert verdicts(await run_check(tried, [], open_stage))[0] == "fail"
    assert verdicts(await run_check(plain, [], open_stage, tries=True))[0] == "fail"


async def test_a_program_that_cannot_be_started_ends_the_run() -> None:
    """Ours: it would fail every rule for the same reason."""

    @asynccontextmanager
    async def broken(check: Check[Any], judge: Findings) -> AsyncGenerator[Empty]:
        if check.rules == RULES:
            raise NotStarted("no such file")
        yield Empty(judge)

    with pytest.raises(NotStarted):
        await run_checks([failing(Unanswered(""))] * 3, [], broken)


def report(verdict: str, **changes: Any) -> Report:
    """A report about one mandatory and one advisory rule, both with this verdict."""

    @check("V1-INIT-04", "V1-INIT-05")
    async def one(stage: Empty) -> None: ...

    judge = Findings(one.rules)
    note: dict[str, Callable[[str], None]] = {
        "pass": judge.passed,
        "fail": lambda rule: judge.failed(rule, "wrong"),
        "not_exercised": lambda rule: judge.not_exercised(rule, "no prompt"),
        "skipped": lambda rule: judge.skipped(rule, "no capability"),
    }
    for rule in one.rules:
        note[verdict](rule)
    runs = (CheckRun(one, tuple(judge.found.values()), 0.1),)
    given = {key: changes.pop(key) for key in ("baseline", "excuse", "asked") if key in changes}
    found = results(rules.load(), one.rules, runs, **given)
    return Report(("agent",), "agent", "1", found, runs, 0.1, **changes)


def test_only_binding_failures_count() -> None:
    """Issue: conformant, with tiers, a baseline and `--require-all`."""
    assert report("pass").conclusion == "conformant"
    assert report("not_exercised", require_all=True).conclusion == "not conformant"
    assert report("fail").conclusion == "not conformant"
    assert report("fail", baseline=frozenset({"V1-INIT-04"})).conclusion == "conformant"
    advice = report("fail").results[1]
    assert advice.rule.id == "V1-INIT-05"
    assert not report("fail").counts_against(advice)


@pytest.mark.parametrize("verdict", ["not_exercised", "skipped"])
def test_where_nothing_was_judged_there_is_no_verdict(verdict: str) -> None:
    """Issue 13: `--only V1-CANCEL-05` with nothing judged said conformant."""
    assert report(verdict).conclusion == "incomplete"
    assert not report(verdict).conformant


def test_what_applies_and_was_not_judged_is_counted() -> None:
    """Issue 13: incomplete, with the number."""
    assert [one.rule.id for one in report("not_exercised").unjudged] == ["V1-INIT-04"]
    excused = report("not_exercised", excuse=lambda rule: "it does not do this")
    assert excused.unjudged == ()
    asked = report("not_exercised", asked=frozenset({"V1-INIT-05"}), excuse=lambda rule: "no")
    assert [one.rule.id for one in asked.unjudged] == ["V1-INIT-05"]


def test_only_the_checks_of_the_asked_rules_run() -> None:
    """Issue: `--only` shows one failure again."""
    checks, judged = select("agent", "1", RunOptions(only=("V1-INIT-1*",)))
    assert judged == ("V1-INIT-10", "V1-INIT-11")
    assert {one.name for one in checks} == {
        "agent.v1.initialize.odd_versions_are_refused",
        "agent.v1.initialize.what_comes_too_early_is_refused",
    }
    watched, _ = select("agent", "1", RunOptions(only=("V1-GEN-08",)))
    assert len(watched) > 20
    assert not any(one.faults for one in watched)
    with pytest.raises(NoSuchRule):
        select("agent", "1", RunOptions(only=("V9-*",)))


def test_rules_that_do_not_apply_are_left_out() -> None:
    """Ours: a remote agent has no pipes."""
    whole, all_judged = select("agent", "1", RunOptions())
    checks, judged = select("agent", "1", RunOptions(transport="websocket"))
    left_out = set(all_judged) - set(judged)
    assert left_out == {one for one in all_judged if "TR-STDIO" in one} | {"V1-INIT-11"}
    assert "TR-HTTP-15" in set(judged) - set(all_judged)
    dropped = [one for one in whole if one not in checks]
    assert dropped
    assert {rule for one in dropped for rule in one.rules} <= left_out


def test_without_a_prompt_a_rule_is_not_exercised() -> None:
    """Issue: counted, shown, no failure."""
    run = unable(Check("x", RULES, "agent", "1", failing(Unanswered("")).run, "long"))
    assert verdicts(run) == ["not_exercised"] * 2
    assert "'long'" in run.findings[0].said
