"""The gates before an agent's acts, with every part a process of its own.

A program may stand between client and agent (`accord proxy`, `accord translate`); nothing that
the user does not allow happens because of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from tests.cli.home import Ended, Home
from tests.cli.terminal import in_terminal
from tests.hang_limit import HANG_SECONDS
from tests.proxy.speakers import VERSIONS, SpeakingClient, Version

SPEAKING = Path(__file__).parents[2] / "proxy" / "speaking_agent.py"
ASKING = Path(__file__).parent / "late_command_agent.py"
PAIRS = tuple(pair for pair in product(VERSIONS, VERSIONS) if pair[0] == pair[1] or "draft" in pair)
REJECT = '[[rule]]\neffect = "reject"\nkind = "execute"\n'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A user of one's own."""
    return Home(tmp_path)


def agent(version: Version, how: str, kind: str, target: str) -> tuple[str, ...]:
    return (sys.executable, str(SPEAKING), version, how, kind, target)


def conversation(home: Home, client_speaks: Version, *words: str) -> SpeakingClient:
    """One prompt of a client of this version to what `accord` serves with these words."""
    over: list[bool] = []
    client = SpeakingClient(client_speaks, str(home.project), lambda: over.append(True))
    process = subprocess.Popen(
        [sys.executable, "-m", "accord", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home.project,
        env=home.env,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        messages = [client.begin()]
        while not over:
            for message in messages:
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            assert line, process.communicate(timeout=HANG_SECONDS)[1]
            messages = client.hear(json.loads(line))
        process.communicate(timeout=HANG_SECONDS)
    finally:
        process.kill()
        process.wait()
    return client


# ---- accord proxy guard


@pytest.mark.parametrize(("client", "speaks"), PAIRS)
def test_guard_holds_its_policy_before_every_version(
    home: Home, client: Version, speaks: Version
) -> None:
    """Issue 12: a policy that rejects `execute`, draft peers first and last; nothing ran."""
    (home.project / "policy.toml").write_text(REJECT)
    command = agent(speaks, "ask", "execute", "touch ran")
    guarded = ("proxy", "guard --policy policy.toml", "--", *command)
    heard = conversation(home, client, *guarded)
    assert heard.failed is None
    assert heard.permissions == []
    assert not (home.project / "ran").exists()
    conversation(home, client, "proxy", "guard", "--", *command)
    assert (home.project / "ran").exists(), "without the rule the user is asked, and says yes"


@pytest.mark.parametrize("kind", ["execute", "edit"])
@pytest.mark.parametrize("client", ["v1", "draft"])
def test_guard_holds_its_policy_before_a_draft_agent_that_never_asks(
    home: Home, client: Version, kind: str
) -> None:
    """Issue 12: what the client would do for the agent is judged before the client hears of it."""
    (home.project / "policy.toml").write_text(REJECT.replace("execute", kind))
    target = "touch ran" if kind == "execute" else str(home.project / "ran")
    command = agent("draft", "serve", kind, target)
    heard = conversation(home, client, "proxy", "guard --policy policy.toml", "--", *command)
    assert heard.services == []
    assert heard.permissions == []


def test_accord_run_may_have_a_guarded_draft_agent(home: Home) -> None:
    """Issue 12: v1 and v2 clients before a draft agent; guard's rule beats the client's yes."""
    (home.project / "policy.toml").write_text(REJECT)
    command = agent("draft", "ask", "execute", "touch ran")
    proxy = (sys.executable, "-m", "accord", "proxy", "guard --policy policy.toml", "--")
    ended = home.run("--allow", "all", "go", agent=(*proxy, *command))
    assert ended.code == 0, ended.error
    assert not (home.project / "ran").exists()


# ---- accord translate


def translated(home: Home, kind: str, *flags: str, speaks: Version = "v1") -> Ended:
    target = "touch ran" if kind == "execute" else str(home.project / "ran")
    translate = (sys.executable, "-m", "accord", "translate", "--to", "2", "--")
    command = agent(speaks, "serve", kind, target)
    return home.run(*flags, "go", agent=(*translate, *command))


@pytest.mark.parametrize("speaks", ["v1", "draft"])
@pytest.mark.parametrize("kind", ["execute", "edit"])
@pytest.mark.parametrize("flags", [("--deny", "all"), (), ("--allow", "read")])
def test_a_translated_agent_does_nothing_that_was_not_allowed(
    home: Home, kind: str, flags: tuple[str, ...], speaks: Version
) -> None:
    """Issue 12: today it writes and runs with nobody asked, even under `--deny all`."""
    ended = translated(home, kind, *flags, speaks=speaks)
    assert not (home.project / "ran").exists(), ended.out
    decisions = [one for one in home.audit if one["event"] == "decision"]
    assert [one["outcome"] for one in decisions] == ["denied"]


@pytest.mark.parametrize("kind", ["execute", "edit"])
def test_a_translated_agent_does_what_was_allowed(home: Home, kind: str) -> None:
    """Issue 12: asked once per action, with the diff or the command."""
    ended = translated(home, kind, "--allow", kind)
    assert ended.code == 0, ended.error
    assert (home.project / "ran").exists()
    (decision,) = [one for one in home.audit if one["event"] == "decision"]
    assert (decision["outcome"], decision["kind"]) == ("allowed", kind)
    if kind == "execute":
        assert decision["command"] == "touch ran"
    else:
        assert decision["paths"] == [str(home.project / "ran")]


# ---- one yes for one act


LATE = (sys.executable, str(ASKING))
QUESTION = "Allow it? "


def run_words(home: Home, *agent_words: str) -> list[str]:
    return ["run", "go", "--cwd", str(home.project), "--", *LATE, *agent_words]


def test_a_person_is_asked_once_for_one_command(home: Home) -> None:
    """Issue 12: asked about once, not twice, in the order of kimi-code."""
    with in_terminal(*run_words(home), env=home.env) as program:
        program.wait_for(QUESTION)
        program.press("y\n")
        assert program.exit_code() == 0
        assert program.text.count(QUESTION) == 1
        assert "started=True" in program.text
        assert "did not ask before" not in program.text
    assert (home.project / "ran").exists()


@pytest.mark.parametrize("how", ["lie", "twice"])
def test_a_yes_covers_neither_another_command_nor_a_second_start(home: Home, how: str) -> None:
    """Issue 12: an approval is not a blank cheque, and what is said about it is true."""
    (home.project / "kept").touch()
    with in_terminal(*run_words(home, how), env=home.env) as program:
        program.wait_for(QUESTION)
        program.press("y\n")
        program.wait_for(QUESTION, 2)
        assert "did not ask before" not in program.text
        program.press("n\n")
        program.exit_code()
    assert (home.project / "kept").exists()
    assert (home.project / "ran").exists() == (how == "twice")


def test_nobody_is_asked_twice_through_a_guard_or_a_chat(home: Home) -> None:
    """Issue 12: one matcher for client and guard, and the same in the chat."""
    proxy = (sys.executable, "-m", "accord", "proxy", "guard", "--", *LATE)
    words = ["--plain", "--cwd", str(home.project), "--", *proxy]
    with in_terminal(*words, env=home.env) as program:
        program.wait_for("\n> ")
        program.press("go\n")
        program.wait_for("(n)o ")
        program.press("y")
        program.wait_for("started=True")
        assert program.text.count("(n)o ") == 1
        assert "did not ask before" not in program.text
        program.press("/quit\n")
        program.exit_code()
    assert (home.project / "ran").exists()
