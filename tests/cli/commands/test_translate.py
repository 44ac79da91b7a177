"""`accord translate` as a process: who ended it, what it says, and where secrets go."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.home import Home
from tests.hang_limit import HANG_SECONDS

# Speaks v1; ends with a word and a code when it is prompted with "die".
AGENT = """
import json, sys

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    said = json.loads(line)
    method = said.get("method")
    if method == "initialize":
        say(id=said["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif method == "session/new":
        say(id=said["id"], result={"sessionId": "s", "_meta": {"saw": said["params"]}})
    elif method == "session/prompt":
        if said["params"]["prompt"][0]["text"] == "die":
            sys.exit("last words")
    elif "id" in said:
        say(id=said["id"], result={})
"""
INFO = {"name": "t", "version": "1"}
INITIALIZE: dict[str, dict[str, Any]] = {
    "v1": {"protocolVersion": 1, "clientCapabilities": {}},
    "draft": {"protocolVersion": 1, "clientInfo": INFO, "capabilities": {}},
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A user of one's own."""
    return Home(tmp_path)


class Translating:
    """`accord translate` and a client that writes lines to it."""

    def __init__(self, home: Home, *options: str) -> None:
        command = [sys.executable, "-m", "accord", "translate", *options]
        self.process = subprocess.Popen(
            [*command, "--", sys.executable, "-c", AGENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=home.project,
            env=home.env,
            start_new_session=True,
        )

    def send(self, request_id: int, method: str, params: dict[str, Any]) -> None:
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, request_id: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.send(request_id, method, params)
        assert self.process.stdout is not None
        while True:
            answer: dict[str, Any] = json.loads(self.process.stdout.readline())
            if answer.get("id") == request_id and "method" not in answer:
                return answer

    def end(self) -> tuple[int, str]:
        """Go, as a client does: the exit code, and what stood on stderr."""
        error = self.process.communicate(timeout=HANG_SECONDS)[1]
        return self.process.returncode, error


def test_a_client_that_goes_is_no_failure(home: Home) -> None:
    translating = Translating(home)
    assert "result" in translating.ask(1, "initialize", INITIALIZE["v1"])
    assert translating.end() == (0, "")


def test_an_agent_that_ends_first_is_told_and_counts_as_a_failure(home: Home) -> None:
    """As `--help` says; the open request says it too."""
    translating = Translating(home)
    translating.ask(1, "initialize", INITIALIZE["v1"])
    translating.ask(2, "session/new", {"cwd": str(home.project), "mcpServers": []})
    prompt = [{"type": "text", "text": "die"}]
    answer = translating.ask(3, "session/prompt", {"sessionId": "s", "prompt": prompt})
    assert "last words" in answer["error"]["message"]
    code, error = translating.end()
    assert code == 1
    assert "accord translate: the agent" in error
    assert "exit code 1" in error


def test_an_interrupt_takes_the_agent_along_without_a_word(home: Home) -> None:
    """Ctrl-C: 130, nothing left running, nothing on stderr."""
    translating = Translating(home)
    translating.ask(1, "initialize", INITIALIZE["v1"])
    os.kill(translating.process.pid, signal.SIGINT)
    assert translating.end() == (130, "")


def test_what_a_client_of_the_draft_logs_in_with_is_in_the_file_of_keys_alone(home: Home) -> None:
    """Issue 5: credentials go to the credential store and nowhere else, all of them."""
    translating = Translating(home, "--to", "draft")
    said = [translating.ask(1, "initialize", INITIALIZE["draft"])]
    credentials = {"apiKey": "secret-one", "more": {"deep": "secret-two"}}
    login = {"method": "api_key", "credentials": credentials}
    said.append(translating.ask(2, "authenticate", login))
    said.append(translating.ask(3, "session/new", {"workingDirectory": str(home.project)}))
    code, error = translating.end()
    assert code == 0
    assert "secret" not in json.dumps(said) + error
    files = [path for path in home.config.parent.rglob("*") if path.is_file()]
    holders = [path for path in files if "secret" in path.read_text("utf-8", "replace")]
    assert holders == [home.config / "credentials.json"]
    assert stat.S_IMODE(holders[0].stat().st_mode) == 0o600
    kept = json.loads(holders[0].read_text("utf-8"))
    name = f"translate/{Path(sys.executable).name}/api_key"
    assert kept == {f"{name}/apiKey": "secret-one", f"{name}/more": '{"deep":"secret-two"}'}


def test_an_agent_that_is_not_there_has_a_code_of_its_own(home: Home) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE["v1"]}
    ended = home.accord("translate", "--", "no-such-agent", stdin=json.dumps(asked) + "\n")
    assert ended.code == 127
    assert "did not start" in json.loads(ended.out)["error"]["message"]


def test_a_missing_command_is_wrong_usage(home: Home) -> None:
    assert home.accord("translate", "--to", "2").code == 2
