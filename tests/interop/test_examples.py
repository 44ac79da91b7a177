"""The programs of examples/ run unchanged: against each other and against the official SDKs."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.interop.harness import HERE, PEERS, RUN_SECONDS, Run, judge, run_pair
from tests.interop.messages.validator import PROJECT
from tests.interop.tap import read_log

SCRIPT = 'print("Hello")\n'
STATEMENT = "changed=True exit=0 output=Goodbye"


def example(name: str) -> list[str]:
    return [sys.executable, str(PROJECT / "examples" / f"{name}.py")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where everything happens; `python` is the one that runs the tests."""
    (tmp_path / "greeting.py").write_text(SCRIPT, "utf-8")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    return tmp_path


def run_client(client: str, argument: str, agent: Sequence[str], folder: Path) -> list[str]:
    """The lines that one of our example clients prints; it is given its agent behind the tap."""
    tap = [sys.executable, str(HERE / "tap.py"), str(folder / "log"), "--", *agent]
    done = subprocess.run(
        [*example(client), argument, *tap],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def run_agent(name: str, agent: str, folder: Path, *steps: str) -> Run:
    """What an official client saw of one of our example agents, whose messages are all right."""
    run = run_pair([*PEERS[name].client, *steps], example(agent), folder / "log")
    assert judge(run.frames, "agent", PEERS[name].version) == []
    assert run.report["exit"] == 0
    return run


@pytest.mark.parametrize("name", PEERS)
def test_ask_client_asks_an_official_agent(name: str, folder: Path) -> None:
    """Users: the smallest client needs no word about versions."""
    lines = run_client("ask_client", "say hello there", PEERS[name].agent, folder)
    assert lines == ["hello there", "end_turn"]
    assert judge(read_log(folder / "log"), "client", PEERS[name].version) == []


@pytest.mark.parametrize("name", PEERS)
def test_watch_client_watches_an_official_agent(name: str, folder: Path) -> None:
    """Users: what happens is seen as it happens, and adds up to the same in both versions."""
    lines = run_client("watch_client", "edit greeting.py changed", PEERS[name].agent, folder)
    assert (folder / "greeting.py").read_text("utf-8") == "changed"
    assert lines[-4:] == [
        "stop: end_turn",
        "tool: Edit greeting.py edit completed",
        "user | edit greeting.py changed",
        "agent | edited",
    ]
    assert lines.count("update: message") == 1
    assert lines.count("update: tool_call") >= 3
    assert judge(read_log(folder / "log"), "client", PEERS[name].version) == []


@pytest.mark.parametrize("name", PEERS)
def test_hello_agent_answers_an_official_client(name: str, folder: Path) -> None:
    """Users: the smallest agent works in every editor."""
    run = run_agent(name, "hello_agent", folder, "prompt:hi there", "load")
    assert run.step("prompt:hi there")["messages"] == ["You said: hi there"]
    assert run.step("load")["user_text"] == "hi there"


@pytest.mark.parametrize("name", PEERS)
def test_fixer_agent_works_for_an_official_client(name: str, folder: Path) -> None:
    """Users: plan, thought, file, diff, permission, terminal, mode and command in one turn."""
    steps = ("prompt:go", "prompt:/run greeting.py", "mode:code", "prompt:go")
    run = run_agent(name, "fixer_agent", folder, *steps)
    assert (folder / "greeting.py").read_text("utf-8") == SCRIPT.replace("Hello", "Goodbye")
    turn = run.step("prompt:go")
    assert (turn["agent_text"], turn["stop"]) == (STATEMENT, "end_turn")
    assert turn["thought_text"] == "First read, then change, then run."
    assert [status for _, status in turn["plan"]] == ["completed"] * 3
    assert [(tool["kind"], tool["status"]) for tool in turn["tools"]] == [
        ("edit", "completed"),
        ("execute", "completed"),
    ]
    assert len(turn["permissions"]) == 2
    assert run.step("prompt:/run greeting.py")["agent_text"] == "exit code 0"
    assert "permissions" not in run.report["steps"][-1], "the mode allows it"


@pytest.mark.parametrize("name", PEERS)
def test_fixer_agent_changes_nothing_when_an_official_client_says_no(
    name: str, folder: Path
) -> None:
    """Users: no is no."""
    run = run_agent(name, "fixer_agent", folder, "permission:reject_once", "prompt:go")
    assert (folder / "greeting.py").read_text("utf-8") == SCRIPT
    assert run.step("prompt:go")["agent_text"] == "changed=False exit=None output="


@pytest.mark.parametrize("name", PEERS)
def test_token_agent_streams_to_an_official_client_until_it_is_cancelled(
    name: str, folder: Path
) -> None:
    """Users: cancelling is the library's job, not the handler's."""
    endless = "cancel:" + "word " * 3000
    run = run_agent(name, "token_agent", folder, "prompt:a b c", endless, "prompt:d")
    assert run.step("prompt:a b c")["messages"] == ["a b c "]
    assert run.step(endless)["stop"] == "cancelled"
    assert run.report["steps"][-1]["messages"] == ["d "]


@pytest.mark.parametrize(
    ("client", "argument", "agent", "end"),
    [
        ("ask_client", "hi there", "hello_agent", ["You said: hi there", "end_turn"]),
        ("ask_client", "a b c", "token_agent", ["a b c ", "end_turn"]),
        ("ask_client", "/run greeting.py", "fixer_agent", ["exit code 0", "end_turn"]),
        ("watch_client", "go", "fixer_agent", ["user | go", f"agent | {STATEMENT}"]),
    ],
)
def test_our_examples_work_with_each_other(
    client: str, argument: str, agent: str, end: list[str], folder: Path
) -> None:
    """Users: the programs that the documentation shows."""
    lines = run_client(client, argument, example(agent), folder)
    assert lines[-2:] == end
    frames = read_log(folder / "log")
    assert judge(frames, "client", 2) == []
    assert judge(frames, "agent", 2) == []


def test_the_examples_of_the_benchmark_count_every_update(folder: Path) -> None:
    """Users: nothing is lost on the way."""
    [line] = run_client("stream_client", "2000", example("stream_agent"), folder)
    assert line.split()[1] == "2000"
