"""Agents and clients that nobody prepared for the kit: what it tries, and what it then says."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from accord.cli.main import main
from accord.conformance import optional_behaviour, rules
from accord.conformance.agent.check_environment import agent_stages
from accord.conformance.agent.scenario import PURPOSES, load_scenario
from accord.conformance.check_definition import Check, Findings
from accord.conformance.frames.raw_peer import Frame, NotAsked, NotReady, Unanswered
from accord.conformance.run.check_runner import Reached

HERE = Path(__file__).parent
HELLO = [sys.executable, str(HERE.parents[2] / "examples" / "hello_agent.py")]
PEER = [sys.executable, str(HERE.parents[1] / "defects" / "peer.py"), "agent"]
# A client that ends when it is interrupted.
PLAIN_CLIENT = """
import json, sys
def ask(number, method, **params):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    print(json.dumps(message), flush=True)
    return json.loads(sys.stdin.readline())
ask(1, "initialize", protocolVersion=1, clientCapabilities={})
made = ask(2, "session/new", cwd="/", mcpServers=[])["result"]["sessionId"]
ask(3, "session/prompt", sessionId=made, prompt=[{"type": "text", "text": "hello"}])
sys.stdin.read()
"""
CANCEL = ("V1-CANCEL-05", "V1-CANCEL-06", "V1-CANCEL-09")


def quirky(habit: str) -> list[str]:
    return [sys.executable, str(HERE / "quirky_agent.py"), habit]


def judged(tmp_path: Path, *words: str, only: tuple[str, ...] = ()) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON report of a run."""
    found = tmp_path / "report.json"
    chosen = [word for rule in only for word in ("--only", rule)]
    code = main(["check", "--quiet", "--report-json", str(found), *chosen, *words])
    return code, json.loads(found.read_text())


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {one["id"]: one["verdict"] for one in report["results"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("habit", "only", "code", "expected"),
    [
        ("none", (*CANCEL, "V1-PERM-06"), 0, {"pass"}),
        ("yes-man", ("V1-PERM-06",), 1, {"fail"}),
        ("never-asks", ("V1-PERM-06",), 4, {"not_exercised"}),
        ("never-asks", CANCEL, 0, {"pass"}),
        ("cancel-is-an-error", ("V1-CANCEL-06", "V1-CANCEL-09"), 1, {"fail"}),
        ("cancel-is-an-end", ("V1-CANCEL-05",), 1, {"fail"}),
        ("talker", (*CANCEL, "V1-PERM-06", "V1-TOOL-13", "V1-SESS-05"), 4, {"not_exercised"}),
    ],
)
def test_cancels_and_permissions_are_tried_without_a_scenario(
    habit: str, only: tuple[str, ...], code: int, expected: set[str], tmp_path: Path
) -> None:
    """Issue 13: an agent that turned every no into yes and every cancel into an error passed."""
    found, report = judged(tmp_path, "--", *quirky(habit), only=only)
    assert set(verdicts(report).values()) == expected, report["results"]
    assert found == code


@pytest.mark.slow
def test_an_agent_that_only_talks_is_incomplete_and_fails_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 13: exit code 4, with the number and the way to exercise the rest."""
    found = tmp_path / "report.json"
    assert main(["check", "--report-json", str(found), "--", *HELLO]) == 4
    shown, told = capsys.readouterr()
    assert shown.startswith("agent, version 1: INCOMPLETE. ")
    assert "binding rules that apply could not be judged" in shown.splitlines()[0]
    assert "Write a scenario with prompts for" in shown
    report = json.loads(found.read_text())
    assert report["verdict"] == "incomplete"
    assert {"V1-CANCEL-05", "V1-PERM-06", "V1-TOOL-13"} <= set(report["runs"][0]["unjudged"])
    broken = [one for one in report["results"] if one["verdict"] == "fail"]
    assert [one for one in broken if one["tier"] in ("mandatory", "capability")] == []
    # And progress was told from the start, without a terminal too.
    assert told.startswith("agent, version 1: 0 of ")


def test_a_scenario_can_say_what_an_agent_never_does(tmp_path: Path) -> None:
    """Ours: an agent without tools can be conformant, if its author says that it has none."""
    scenario = tmp_path / "mine.toml"
    scenario.write_text('never = ["tools", "permission"]\n[prompts]\nsay = "hello"\n')
    only = ("V1-PERM-*", "V1-TOOL-*", "V1-INIT-0*")
    code, report = judged(tmp_path, "--scenario", str(scenario), "--", *HELLO, only=only)
    assert report["runs"][0]["unjudged"] == []
    assert code == 0


@pytest.mark.slow
def test_an_agent_that_lists_all_its_sessions_at_once_can_be_conformant(tmp_path: Path) -> None:
    """Issue 13: every binding rule that the program calls for; no rule demands a cursor."""
    words = ("--scenario", "none", "--", *PEER, "1", "odd-ListsAllAtOnce")
    code, report = judged(tmp_path, *words, only=("V1-CLOSE-0*", "V1-CLOSE-1[01]"))
    assert report["runs"][0]["unjudged"] == ["V1-CLOSE-02"]
    assert verdicts(report)["V1-CLOSE-10"] == "not_exercised"
    assert code == 4


@pytest.mark.slow
def test_a_rule_of_a_capability_waits_for_it_before_it_wants_a_prompt(tmp_path: Path) -> None:
    """Issue 13: closing and listing were needed of an agent that offers neither."""
    # Patterns: a rule that is named applies.
    only = ("V1-CLOSE-0[2]", "V1-CLOSE-1[3]", "V1-SESS-0[45]", "V1-SESS-1[2]")
    words = ("--scenario", "none", "--", *PEER, "1", "odd-OffersNothing")
    _, report = judged(tmp_path, *words, only=only)
    assert report["runs"][0]["unjudged"] == ["V1-SESS-05"]


def test_an_agent_whose_turns_are_short_can_say_so(tmp_path: Path) -> None:
    """Issue 13: nobody can cancel a turn that is over at once."""
    scenario = tmp_path / "mine.toml"
    scenario.write_text('never = ["long turns"]\n[prompts]\nsay = "hello"\n')
    only = ("V1-CANCEL-*", "V1-CREQ-0[2]", "V1-INIT-0*")
    code, report = judged(tmp_path, "--scenario", str(scenario), "--", *HELLO, only=only)
    assert (code, report["runs"][0]["unjudged"]) == (0, [])


def test_an_advisory_rule_alone_makes_nothing_conformant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 13: broken or kept, no binding rule was judged."""
    for rule, counts in (
        ("V1-MCP-02", "0 passed, 0 failed, 1 with advice"),
        ("V1-INIT-05", "1 passed, 0 failed, 0 with advice"),
    ):
        code, report = judged(tmp_path, "--", *HELLO, only=(rule,))
        assert (code, report["verdict"]) == (4, "incomplete")
        shown = capsys.readouterr().out
        assert shown.startswith(
            f"agent, version 1: INCOMPLETE. No binding rule was judged. {counts}"
        )


def test_a_verdict_about_selected_rules_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 13: the rest was not looked at."""
    code, _ = judged(tmp_path, "--", *HELLO, only=("V1-INIT-04",))
    told = "agent, version 1: conformant with the rules that you selected. 1 passed"
    assert (code, capsys.readouterr().out[: len(told)]) == (0, told)


def test_a_wrong_typed_id_is_found_at_once_and_nothing_else_is_tried(tmp_path: Path) -> None:
    """Issue 13: it cost 362 s; progress is bounded, and what depends on it is not tried again."""
    starts = tmp_path / "starts"
    counted = ["/bin/sh", "-c", f'echo once >> "{starts}"; exec "$@"', "sh"]
    code, report = judged(tmp_path, "--", *counted, *quirky("string-ids"))
    assert len(starts.read_text().splitlines()) == 1
    assert code == 1
    failed = {rule for rule, verdict in verdicts(report).items() if verdict == "fail"}
    assert failed == {"V1-GEN-02", "V1-INIT-04"}


def test_a_client_that_never_starts_its_agent_fails_once(tmp_path: Path) -> None:
    """Issue 13: the same for clients."""
    code, report = judged(tmp_path, "--client", "--", sys.executable, "-c", "pass")
    failed = {rule for rule, verdict in verdicts(report).items() if verdict == "fail"}
    assert (code, failed) == (1, {"V1-INIT-02"})


@pytest.mark.slow
def test_a_client_is_interrupted_to_see_it_cancel(tmp_path: Path) -> None:
    """Issue 13: the same for clients, where it applies: Ctrl-C is the cancel of a command."""
    run = [sys.executable, "-m", "accord", "run", "hello", "--", "{agent}"]
    rule = ("V1-CANCEL-03",)
    code, report = judged(tmp_path, "--client", "--", *run, only=rule)
    # It cancels; it decides at once, so that no question is open then.
    assert (code, verdicts(report)) == (4, {"V1-CANCEL-03": "skipped"})
    code, report = judged(
        tmp_path, "--client-stdio", "--", sys.executable, "-c", PLAIN_CLIENT, only=rule
    )
    assert (code, verdicts(report)) == (4, {"V1-CANCEL-03": "not_exercised"})


def test_what_failed_once_is_not_waited_for_again() -> None:
    """Issue 13: what depends on a failed rule is not tried again."""
    reached = Reached()
    with pytest.raises(NotReady), reached.step("session/new", usual=False):
        raise Unanswered("a strange one")
    reached.need("session/new")
    with pytest.raises(NotReady), reached.step("session/new"):
        raise Unanswered("no answer")
    with pytest.raises(NotAsked, match="session/new does not work: no answer"):
        reached.need("session/new")


async def test_an_agent_that_does_not_get_through_initialize_is_not_started_again() -> None:
    """Issue 13: the same; what is asked of it raises before it is sent."""
    stages = agent_stages(HELLO, load_scenario("generic"))
    check: Check[Any] = Check("one", (), "agent", "1", lambda stage: None)  # type: ignore[arg-type, return-value]
    async with stages(check, Findings(())) as stage:
        stage.reached.failed["session/new"] = "no answer"  # type: ignore[attr-defined]
        with pytest.raises(NotAsked):
            await stage.talk.peer.ask("session/new", {})  # type: ignore[attr-defined]
        stage.reached.failed["initialize"] = "no answer"  # type: ignore[attr-defined]
    with pytest.raises(NotAsked):
        async with stages(check, Findings(())):
            pass


def test_the_scenario_for_any_agent_has_a_text_for_what_any_agent_can_do() -> None:
    """Issue 13: a long prompt, an edit, a command, and no promise that the agent does it."""
    generic = load_scenario("generic")
    assert generic.tries
    for purpose in ("say", "long", "long_command", "edit", "terminal", "copy", "read", "tool"):
        assert generic.prompt(purpose)
    assert set(generic.prompts) <= set(PURPOSES)
    assert load_scenario("builtin").prompt("long_command") == "run sleep 60"


def frame(message: dict[str, Any]) -> Frame:
    return Frame(0, False, json.dumps(message).encode(), message)


def test_a_rule_about_what_an_agent_may_do_waits_until_it_does() -> None:
    """Issue 13: every binding rule that applies; forms and plans apply once they are seen."""
    forms, tools = rules.load()["V1-ELIC-20"], rules.load()["V1-TOOL-13"]
    asking = frame({"method": "elicitation/create", "id": 1, "params": {"mode": "form"}})
    nothing = optional_behaviour.shown_in([[]])
    assert "with forms" in optional_behaviour.excuse(forms, nothing)
    assert optional_behaviour.excuse(forms, nothing, purposes=["elicitation"]) == ""
    assert optional_behaviour.excuse(forms, optional_behaviour.shown_in([[asking]])) == ""
    assert optional_behaviour.excuse(tools, nothing) == ""
    assert optional_behaviour.excuse(tools, nothing, never=["tools"]) != ""
    plan = {"sessionUpdate": "plan", "entries": []}
    told = frame({"method": "session/update", "params": {"sessionId": "s", "update": plan}})
    assert "plans" in optional_behaviour.shown_in([[told]])
    foreign = {"sessionUpdate": "tool_call", "rawInput": {"background": True, "line": 3}}
    told = frame({"method": "session/update", "params": {"sessionId": "s", "update": foreign}})
    assert optional_behaviour.shown_in([[told]]) == frozenset()


def test_a_terminal_that_no_tool_call_shows_leaves_nothing_to_judge() -> None:
    """Issue 13: such an agent would be incomplete for good; V1-TERM-07 still applies."""
    shows, releases = rules.load()["V1-TOOL-09"], rules.load()["V1-TERM-07"]
    made = frame({"method": "terminal/create", "id": 1, "params": {"sessionId": "s"}})
    read = {"sessionId": "s", "terminalId": "t"}
    asked = frame({"method": "terminal/output", "id": 2, "params": read})
    runs = optional_behaviour.shown_in([[made, asked]])
    assert "in its tool calls" in optional_behaviour.excuse(shows, runs)
    assert optional_behaviour.excuse(releases, runs) == ""
    content = [{"type": "terminal", "terminalId": "t"}]
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": content}
    told = frame({"method": "session/update", "params": {"sessionId": "s", "update": update}})
    assert optional_behaviour.excuse(shows, optional_behaviour.shown_in([[made, told]])) == ""


@pytest.mark.parametrize(
    "table",
    [optional_behaviour.OCCASIONS, optional_behaviour.CLIENT_OCCASIONS],
    ids=["agents", "clients"],
)
def test_each_pattern_of_an_occasion_names_a_rule(table: Any) -> None:
    """Ours: a rule that was renamed would be needed again without anybody noticing."""
    known = rules.load()
    for name, occasion in table.items():
        for like in occasion.rules:
            assert any(
                optional_behaviour.Occasion("", (like,)).about(rule_id) for rule_id in known
            ), (
                name,
                like,
            )
        assert set(occasion.purposes) <= set(PURPOSES)
