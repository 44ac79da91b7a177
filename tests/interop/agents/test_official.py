"""`accord run` with agents on the official SDKs, in both versions of the protocol."""

import json
from pathlib import Path

import pytest

from tests.cli.home import Ended, Home
from tests.interop.harness import PEERS, Peer

pytestmark = [pytest.mark.slow]


class Bench:
    """One SDK's agent under `accord run`."""

    def __init__(self, peer: Peer, folder: Path) -> None:
        self.home = Home(folder)
        self.home.env["PYTHONPATH"] = str(Path(__file__).resolve().parents[3])
        self._command = peer.agent

    def run(self, *words: str) -> Ended:
        """`accord run`."""
        return self.home.run(*words, agent=self._command)


@pytest.fixture(params=PEERS.values(), ids=lambda peer: peer.name)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    """One SDK's agent."""
    peer: Peer = request.param
    return Bench(peer, tmp_path)


def test_messages_stream_through(bench: Bench) -> None:
    """Issue 3: works with every agent."""
    assert bench.run("say hello").out == "hello\n"
    assert bench.run("stream 5").out.split() == list("01234")


def test_permissions_terminals_and_files_work(bench: Bench) -> None:
    """Issue 3: the same flags for every agent."""
    (bench.home.project / "a.txt").write_text("old")
    denied = bench.run("edit a.txt hello")
    assert (denied.code, denied.out) == (4, "not edited\n")
    assert bench.run("edit a.txt hello", "--allow", "edit").out == "edited\n"
    assert (bench.home.project / "a.txt").read_text() == "hello"
    done = bench.run("terminal echo hi", "--allow", "execute")
    assert (done.code, done.out) == (0, "exit=0 output=hi\n")


@pytest.mark.parametrize(
    ("prompt", "flags", "code"),
    [("refuse", [], 3), ("fail badly", [], 1), ("long", ["--timeout", "0.5"], 124)],
)
def test_the_exit_code_is_the_same_for_every_agent(
    bench: Bench, prompt: str, flags: list[str], code: int
) -> None:
    """docs/reference/run.md."""
    assert bench.run(prompt, *flags).code == code


def test_mode_and_model_are_set(bench: Bench) -> None:
    """Issue 3: --mode, --model; also where a mode is an option."""
    done = bench.run("say hi", "--mode", "code", "--model", "large", "--format", "json")
    assert done.code == 0, done.error
    assert json.loads(done.out.splitlines()[-1])["text"] == "hi"
