"""The kit judges itself: every broken peer fails its rule, what that implies, and nothing else.

Issue 4 demands it: a rule without a peer that proves that its check can fail is not covered.  Here
each peer meets the checks of its own rule; with ACCORD_SOAK=1 it meets all of them.
"""

import os

import anyio
import pytest

from accord.conformance.check_definition import Role
from accord.conformance.checks import gather
from accord.conformance.rule_definition import Version
from accord.conformance.rules import implied, load
from accord.conformance.run.check_runner import CheckRun
from accord.conformance.run.verdicts import covered
from tests.defects.catalogue import MODULES, rules, rules_in
from tests.defects.judge import judge, judge_broken, verdicts

SOAK = os.environ.get("ACCORD_SOAK") == "1"
# Peers that cannot meet every check, with the reason.
ALONE = {
    "V1-AUTH-08": "it wants a login, and other checks do not log in",
    "V1-AUTH-11": "it wants a login, and other checks do not log in",
    "V2-PROMPT-10": "other checks wait for it to be idle",
}
# Broken by silence: the kit has to wait before it can say so.
SILENT: dict[Role, set[str]] = {
    "agent": {
        "LIM-04", "TR-STDIO-07", "V1-MCP-01", "V1-MCP-04", "V1-MCP-06", "V1-CANCEL-04",
        "V2-SESS-26", "V2-CANCEL-02", "V2-CANCEL-06", "V2-CANCEL-17", "V2-PROMPT-10", "FAULT-02",
        "FAULT-03", "FAULT-04", "FAULT-06",
    },
    "client": {
        "TR-STDIO-07", "V1-CREQ-02", "V1-CANCEL-03", "V1-ELIC-21", "V1-TERM-02", "V2-CANCEL-14",
        "FAULT-04",
    },
}  # fmt: skip
# What takes the kit ten seconds or more to see.
SLOW = {"FAULT-04", "FAULT-06"}
GROUPS = [(side, version, name) for (side, version), names in MODULES.items() for name in names]
PAIRS: list[tuple[Role, Version]] = list(MODULES)


@pytest.fixture
def anyio_backend() -> str:
    """Processes take long enough on one backend; the kit has its own tests on both."""
    return "asyncio"


@pytest.mark.parametrize(("side", "version", "name"), GROUPS, ids=[one[2] for one in GROUPS])
async def test_each_broken_peer_fails_exactly_its_rule_and_what_that_implies(
    side: Role, version: Version, name: str
) -> None:
    """Demanded by issue 4."""
    broken = [rule for rule in rules_in(name) if rule not in SILENT[side]]
    found = await judge_broken(side, version, broken)
    wrong = surprises(side, version, found)
    assert not wrong, "\n".join(f"{rule}: {one}" for rule, one in wrong.items())


async def test_each_silent_peer_fails_exactly_its_rule_and_what_that_implies() -> None:
    """Demanded by issue 4.  In one test, since the kit does nothing but wait."""
    wrong: dict[str, str] = {}

    async def judged(side: Role, version: Version) -> None:
        silent = [one for one in rules(side, version) if one in SILENT[side]]
        silent = [one for one in silent if SOAK or one not in SLOW]
        found = await judge_broken(side, version, silent, silent=True)
        for rule, one in surprises(side, version, found).items():
            wrong[f"{side} {version} {rule}"] = one

    async with anyio.create_task_group() as tasks:
        for pair in PAIRS:
            tasks.start_soon(judged, *pair)
    assert not wrong, "\n".join(f"{rule}: {one}" for rule, one in wrong.items())


@pytest.mark.skipif(not SOAK, reason="the whole matrix is for `make soak`: ACCORD_SOAK=1")
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("side", "version", "name"), GROUPS, ids=[one[2] for one in GROUPS])
async def test_each_broken_peer_passes_every_other_check(
    side: Role, version: Version, name: str
) -> None:
    """Demanded by issue 4, for `make soak`."""
    others = [rule for rule in rules_in(name) if rule not in ALONE]
    found = await judge_broken(side, version, others, whole=True)
    wrong = surprises(side, version, found)
    assert not wrong, "\n".join(f"{rule}: {one}" for rule, one in wrong.items())


def surprises(side: Role, version: Version, found: dict[str, list[CheckRun]]) -> dict[str, str]:
    """What was found beside what was to be found, by rule."""
    checks, monitors = gather(side, version)
    watched = covered([], monitors) - covered(checks, [])
    wrong: dict[str, str] = {}
    for rule, runs in found.items():
        failed = verdicts(runs, "fail")
        judged = watched | covered([run.check for run in runs], [])
        allowed = {rule} | implied(rule, side)
        missing = sorted(({rule} | (allowed & judged)) - failed.keys())
        extra = {one: said[:2] for one, said in failed.items() if one not in allowed}
        if missing or extra:
            wrong[rule] = f"does not fail {missing}, fails too {extra}"
    return wrong


@pytest.mark.parametrize(
    ("side", "version", "words"),
    [*((side, version, ()) for side, version in PAIRS), ("agent", "1", ("extras",))],
)
async def test_the_correct_peers_fail_nothing(
    side: Role, version: Version, words: tuple[str, ...]
) -> None:
    """A peer that keeps the rules shows that the checks can be passed."""
    runs = await judge(side, version, *words, faults=SOAK)
    assert verdicts(runs, "fail") == {}


@pytest.mark.parametrize(("side", "version"), PAIRS)
def test_each_rule_with_a_check_has_a_peer_that_fails_it(side: Role, version: Version) -> None:
    """A rule that is only implied by another is proven by that one's peer."""
    checks, monitors = gather(side, version)
    broken = rules(side, version)
    proven = set(broken).union(*(implied(rule, side) for rule in broken))
    assert covered(checks, monitors) - proven == set()


@pytest.mark.parametrize(("side", "version"), PAIRS)
def test_each_broken_peer_is_for_a_rule_that_exists(side: Role, version: Version) -> None:
    """A misspelt rule would be judged by nobody."""
    assert set(rules(side, version)) <= load().keys()
