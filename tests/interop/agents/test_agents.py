"""`accord run` with agents that people use: the same jobs for each, with a model that is none."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fake_llm import FakeLLM, serve
from tests.hang_limit import HANG_SECONDS
from tests.interop.agents.peers import PEERS, ROOT, Bench, Peer

SERVER = ROOT / "node_modules" / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"

pytestmark = [pytest.mark.slow]


@pytest.fixture(scope="module")
def model() -> Iterator[FakeLLM]:
    """A model for all of them."""
    with serve() as server:
        yield server


@pytest.fixture(params=PEERS, ids=lambda peer: peer.name)
def bench(request: pytest.FixtureRequest, tmp_path: Path, model: FakeLLM) -> Bench:
    """One agent in a fresh home."""
    peer: Peer = request.param
    if peer.missing is not None:
        pytest.skip(peer.missing)
    return Bench(peer, tmp_path, model.url)


def test_what_the_model_says_is_on_standard_output(bench: Bench) -> None:
    """Issue 3: works with every agent."""
    done = bench.run("[[say Hello from the model.]]")
    assert done.returncode == 0, done.stderr
    assert "Hello from the model." in done.stdout


def test_every_line_of_json_is_an_event_and_the_last_says_how_it_ended(bench: Bench) -> None:
    """docs/reference/run.md: the shapes are the same for every agent."""
    done = bench.run("[[say Hello from the model.]]", "--format", "json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0]["type"] == "session"
    assert events[-1]["type"] == "end"
    assert events[-1]["exitCode"] == done.returncode == 0
    said = "".join(event["text"] for event in events if event["type"] == "message")
    assert "Hello from the model." in said


def test_without_a_flag_nothing_is_done_and_the_exit_code_says_so(bench: Bench) -> None:
    """Issue 3: the safe default, whatever the agent makes of a denial."""
    done = bench.run(f"{bench.peer.makes} [[say done]]")
    assert done.returncode == 4, (done.stdout, done.stderr)
    assert "--allow" in done.stderr
    assert not (bench.project / "made.txt").exists()


def test_with_the_flag_it_is_done(bench: Bench) -> None:
    """Issue 3: --allow."""
    done = bench.run(f"{bench.peer.makes} [[say done]]", "--allow", bench.peer.allow)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert (bench.project / "made.txt").read_text().strip() == "hi"


def test_ctrl_c_cancels_the_turn_and_leaves_no_process(bench: Bench) -> None:
    """Issue 3: cancels properly."""
    program = [str(bench.peer.program), *bench.peer.args]
    prompt = "[[say Begun.]] [[slow 600 0.1 word]]"
    with subprocess.Popen(
        [sys.executable, "-m", "accord", "run", prompt, "--format", "json", "--", *program],
        cwd=bench.project,
        env=bench.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if b"word3" in line:
                break
        os.kill(process.pid, signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(HANG_SECONDS) == 130
    assert json.loads(rest.splitlines()[-1])["stopReason"] == "cancelled"


def test_an_mcp_server_is_handed_on(bench: Bench) -> None:
    """Issue 3: --mcp FILE, with any agent by its capabilities."""
    if not SERVER.is_file():
        pytest.skip("server-everything is not installed; `make test` installs it")
    servers = {"mcpServers": {"everything": {"command": "node", "args": [str(SERVER)]}}}
    file = bench.project.parent / "mcp.json"
    file.write_text(json.dumps(servers))
    call = f'[[tool {bench.peer.mcp_tool} {{"message": "over and out"}}]]'
    done = bench.run(f"{call} [[say got $RESULT]]", "--mcp", str(file), "--allow", "all")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "over and out" in done.stdout
