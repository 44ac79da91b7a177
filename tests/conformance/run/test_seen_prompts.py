"""What an agent does at an ordinary prompt is an occasion for the rules about it."""

from dataclasses import replace

import pytest

from accord.conformance.agent.check_environment import agent_stages
from accord.conformance.agent.scenario import Scenario, load_scenario
from accord.conformance.agent.seen_prompts import seen_prompts
from accord.conformance.frames.raw_peer import Frame, Message
from accord.conformance.rule_definition import Version
from accord.conformance.run.kit_run import RunOptions, judge
from accord.conformance.run.verdicts import Report
from tests.defects.judge import PATIENCE_SECONDS, command

FORM: Message = {"mode": "form", "requestedSchema": {"type": "object"}, "sessionId": "s"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def frame(method: str, params: Message, *, sent: bool = False, **more: Message | int) -> Frame:
    return Frame(0.0, sent, b"", {"jsonrpc": "2.0", "method": method, "params": params, **more})


def conversation(*, servers: int = 0, then: str = "") -> list[Frame]:
    """A session in which a form is asked at the prompt `plan`, or after what is set then."""
    made = {"cwd": "/", "mcpServers": [{}] * servers}
    answer: Message = {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}
    prompt = {"sessionId": "s", "prompt": [{"type": "text", "text": "Make a plan"}]}
    return [
        frame("session/new", made, sent=True, id=1),
        Frame(0.0, False, b"", answer),
        frame("session/prompt", prompt, sent=True, id=2),
        *([frame(then, {"sessionId": "s"}, sent=True, id=3)] if then else []),
        frame("elicitation/create", FORM, id=1),
    ]


PLAN = Scenario(prompts={"plan": "Make a plan"})


def test_the_prompt_at_which_a_form_was_asked_serves_for_forms() -> None:
    """Ours: no prompt for forms is needed then."""
    assert seen_prompts([conversation()], PLAN) == {"elicitation": "Make a plan"}


def test_a_form_comes_before_an_address_that_was_asked_earlier() -> None:
    """Ours: an address serves for forms only where no form was seen."""
    page = conversation()[:-1]
    page[2] = frame(
        "session/prompt",
        {"sessionId": "s", "prompt": [{"type": "text", "text": "Log me in"}]},
        sent=True,
        id=2,
    )
    asked = {"mode": "url", "url": "https://example.org/", "sessionId": "s"}
    page.append(frame("elicitation/create", asked, id=1))
    scenario = Scenario(prompts={"plan": "Make a plan", "tool": "Log me in"})
    both = seen_prompts([page, conversation()], scenario)
    assert both == {"elicitation": "Make a plan", "url": "Log me in"}
    assert seen_prompts([page], scenario) == {"elicitation": "Log me in", "url": "Log me in"}


@pytest.mark.parametrize(
    ("frames", "scenario"),
    [
        (conversation(servers=1), PLAN),
        (conversation(then="session/set_mode"), PLAN),
        (conversation(), Scenario(prompts={"plan": "Another plan"})),
        (conversation(), Scenario(prompts={"plan": "Make a plan", "elicitation": "Ask"})),
    ],
    ids=["with a server", "after a request", "not of the scenario", "not needed"],
)
def test_a_prompt_that_would_not_do_the_same_again_serves_for_nothing(
    frames: list[Frame], scenario: Scenario
) -> None:
    """Ours: what it took besides the prompt is not there the next time."""
    assert seen_prompts([frames], scenario) == {}


def scenario_without(*purposes: str, **prompts: str) -> Scenario:
    """The prompts of the small agents, without those for these purposes, and with others."""
    known = load_scenario("tests/defects/scenario.toml")
    kept = {name: text for name, text in known.prompts.items() if name not in purposes}
    return replace(known, prompts=kept | prompts, tries=True, login="", seconds=PATIENCE_SECONDS)


async def judged(version: Version, peer: str, scenario: Scenario, *only: str) -> Report:
    started = command("agent", version, *([peer] if peer else []))
    stages = agent_stages(started, scenario, patience=PATIENCE_SECONDS)
    return await judge(started, "agent", version, stages, scenario, RunOptions(only=only))


@pytest.mark.parametrize(
    ("version", "rule", "purpose", "words"),
    [
        ("1", "V1-ELIC-18", "elicitation", "elicit"),
        ("2", "V2-CANCEL-21", "elicitation", "elicit"),
        ("2", "V2-PROMPT-21", "background", "background"),
    ],
)
async def test_rules_about_what_was_seen_are_judged_by_the_prompt_that_led_to_it(
    version: Version, rule: str, purpose: str, words: str
) -> None:
    """Issue: a right agent is conformant, and not incomplete, and a broken one is found."""
    scenario = scenario_without(purpose, plan=words)
    right = await judged(version, "", scenario, rule)
    assert [one.verdict for one in right.results] == ["pass"]
    broken = await judged(version, rule, scenario, rule)
    assert [one.verdict for one in broken.results if one.rule.id == rule] == ["fail"]


@pytest.mark.parametrize(
    ("peer", "verdict"),
    [
        ("odd-StaysLoggedIn", "fail"),
        ("odd-StaysLoggedInWithoutSaying", "not_exercised"),
        ("odd-OffersALoginThatNothingNeeds", "skipped"),
        ("odd-WantsALoginForPrompts", "pass"),
        ("odd-IsLoggedInFromTheStart", "pass"),
    ],
)
async def test_a_logout_is_judged_without_a_login_of_the_scenario(peer: str, verdict: str) -> None:
    """V1-AUTH-08: after it, a session needs a login, or nothing can be said in it."""
    report = await judged("1", peer, scenario_without(), "V1-AUTH-08")
    assert [one.verdict for one in report.results] == [verdict]
