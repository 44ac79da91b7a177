"""The checks of the 2026-02 draft, over a small agent that keeps its rules."""

import json
import sys
from pathlib import Path

import pytest

from accord.cli.main import main
from accord.conformance.checks.agent.draft import STEPS

HERE = Path(__file__).parent
AGENT = [sys.executable, str(HERE / "draft_agent.py")]


def test_an_agent_that_keeps_the_draft_is_conformant(capsys: pytest.CaptureFixture[str]) -> None:
    """Issue: `--protocol draft`, the D26 rules."""
    scenario = str(HERE / "draft.toml")
    options = ["--protocol", "draft", "--faults", "--scenario", scenario]
    code = main(["check", *options, "--", *AGENT])
    shown = capsys.readouterr().out
    assert code == 0, shown
    assert "32 passed, 0 failed" in shown


def test_an_agent_that_does_not_speak_the_draft_is_not_judged_by_it_with_all_versions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Issue: `--protocol all`; an agent need not speak every version."""
    only_v2 = "from accord import Agent; Agent('second', version='1', versions=[2]).run()"
    hello = [sys.executable, "-c", only_v2]
    assert main(["check", "--protocol", "all", "--only", "*-INIT-06", "--quiet", "--", *hello]) == 0
    shown = capsys.readouterr().out
    assert "version draft: not supported" in shown
    assert "version 2: conformant" in shown


def test_every_status_of_the_machine_is_reached_from_the_first() -> None:
    """Rules: pending, awaiting permission, in progress, and four ends."""
    reached, new = set[str](), {""}
    while new:
        reached |= new
        new = {after for one in new for after in STEPS[one]} - reached
    assert reached == set(STEPS)
    assert {one for one, after in STEPS.items() if not after} == {
        "completed",
        "failed",
        "denied",
        "cancelled",
    }


FIXER = [sys.executable, str(HERE.parents[1] / "examples" / "fixer_agent.py")]


def test_an_agent_of_ours_keeps_the_draft_without_being_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Issue 5: an `Agent` serves clients of the draft without being asked."""
    scenario = str(HERE / "fixer.toml")
    code = main(["check", "--protocol", "draft", "--scenario", scenario, "--", *FIXER])
    shown = capsys.readouterr().out
    assert "21 passed, 0 failed" in shown
    # It does the same whatever it is told: neither a long command nor a plain reading.
    assert code == 4, shown
    assert "3 of 22 binding rules that apply could not be judged" in shown


def test_output_of_a_terminal_of_the_kits_reaches_an_agent_of_the_draft(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Dialect: output is pushed; an agent that gets none would say so in its message."""
    page = tmp_path / "page.html"
    options = ["--only", "D26-34", "--scenario", str(HERE / "fixer.toml"), "--quiet"]
    command = ["check", "--protocol", "draft", *options, "--report-html", str(page)]
    assert main([*command, "--", *FIXER]) == 0, capsys.readouterr().out
    assert "exit=0 output=Goodbye" in page.read_text()


# The agent of draft_agent.py with a method of its own.
CHANGED = """
import sys
sys.path.insert(0, {root!r})
from tests.conformance.draft_agent import Agent, Failure

class Changed(Agent):
    def {method}(self, *words, **more):
{body}

Changed().run()
"""


def changed(method: str, *lines: str) -> list[str]:
    body = "\n".join(f"        {line}" for line in lines)
    source = CHANGED.format(root=str(HERE.parents[1]), method=method, body=body)
    return [sys.executable, "-c", source]


@pytest.mark.rule("D26-04")
@pytest.mark.parametrize(("key", "code"), [("agentCapabilities", 0), ("capabilities", 1)])
def test_a_client_that_offers_nothing_may_be_taken_for_an_official_one(
    key: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Dialect: version 1 with neither key is the official version 1, and never the draft."""
    agent = changed(
        "initialize",
        "if 'capabilities' not in words[0] and 'clientInfo' in words[0]:",
        f"    return {{'protocolVersion': 1, {key!r}: {{}}}}",
        "return super().initialize(*words)",
    )
    command = ["check", "--protocol", "draft", "--only", "D26-04", "--", *agent]
    assert main(command) == code, capsys.readouterr().out


def test_a_client_that_keeps_the_draft_is_found_among_all_versions_and_is_conformant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue: v1, v2, the draft and all of them; clients too."""
    peer = [sys.executable, "-I", "-S", str(HERE.parent / "defects" / "peer.py"), "client", "draft"]
    found = tmp_path / "report.json"
    options = ["--protocol", "all", "--quiet", "--report-json", str(found)]
    assert main(["check", "--client-stdio", *options, "--", *peer, "prompt"]) == 0
    shown = capsys.readouterr().out
    assert "version 1: not supported" in shown
    assert "version 2: not supported" in shown
    verdicts = {one["id"]: one["verdict"] for one in json.loads(found.read_text())["results"]}
    for rule in ("04", "10", "11", "12", "18", "19", "20", "23", "25", "33"):
        assert verdicts[f"D26-{rule}"] == "pass", rule
    assert verdicts["D26-17"] == "not_exercised"


SILENT = ("if words[1] != 'config_option_update':", "    super().tell(*words, **more)")
TWICE = ("for _ in '12' if words[1] == 'config_option_update' else '1':", *SILENT[1:])
NAMELESS = ("done = super().session_set_config_option(*words)", "return done | {'key': 'other'}")


@pytest.mark.rule("D26-09", "D26-35")
@pytest.mark.parametrize(
    ("rule", "method", "lines"),
    [
        ("D26-35", "tell", SILENT),
        ("D26-35", "tell", TWICE),
        ("D26-09", "session_set_config_option", NAMELESS),
    ],
)
def test_options_are_judged_like_modes(
    rule: str, method: str, lines: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Rules: setting an option tells its key and value, and is announced once per change."""
    command = ["check", "--protocol", "draft", "--only", rule, "--", *changed(method, *lines)]
    assert main(command) == 1
    assert "options_are_answered_and_announced" in capsys.readouterr().out


def test_a_login_that_an_agent_has_not_is_no_breach_but_one_that_it_has_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rules: D26-05 binds who has logins; the scenario can name one."""
    agent = changed("authenticate", "raise Failure(-32602, 'no such login')")
    command = ["check", "--protocol", "draft", "--only", "D26-05", "--quiet"]
    # Issue 13: where nothing was judged there is no verdict.
    assert main([*command, "--", *agent]) == 4
    assert "No binding rule was judged. 0 passed, 0 failed, 0 with advice, 1 skipped" in (
        capsys.readouterr().out
    )
    scenario = tmp_path / "mine.toml"
    scenario.write_text('name = "mine"\nlogin = "api_key"\n[prompts]\nsay = "hello"\n')
    assert main([*command, "--scenario", str(scenario), "--", *agent]) == 1


def verdicts_of_client(tmp_path: Path, *command: str) -> dict[str, str]:
    found = tmp_path / "report.json"
    rules = ["--only", "D26-04", "--only", "D26-10", "--only", "D26-20"]
    options = ["--client", "--protocol", "draft", *rules, "--quiet", "--report-json", str(found)]
    assert main(["check", *options, "--", sys.executable, *command]) == 0
    return {one["id"]: one["verdict"] for one in json.loads(found.read_text())["results"]}


@pytest.mark.rule("D26-04", "D26-10", "D26-20")
def test_a_client_that_turns_to_the_draft_is_judged_by_it(tmp_path: Path) -> None:
    """Issue: clients too; ours begin in the official words, and start the agent once more."""
    client = str(HERE.parents[1] / "examples" / "ask_client.py")
    found = verdicts_of_client(tmp_path, client, "hello")
    assert found == {"D26-04": "pass", "D26-10": "pass", "D26-20": "pass"}


# Speaks the official version 1, and goes on whatever it is answered.
OFFICIAL = """
import json, subprocess, sys
agent = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
hello = {"protocolVersion": 1, "clientCapabilities": {}}
for number, method, params in ((1, "initialize", hello), (2, "session/new", {"cwd": "/"})):
    said = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    agent.stdin.write(json.dumps(said) + "\\n")
    agent.stdin.flush()
    agent.stdout.readline()
"""


def test_a_client_that_stays_with_the_official_words_is_not_judged_by_the_draft(
    tmp_path: Path,
) -> None:
    """Ours: nobody has to speak every version."""
    found = verdicts_of_client(tmp_path, "-c", OFFICIAL)
    assert found["D26-04"] == found["D26-10"] == "skipped"
