"""The built-in agent and `accord sessions` with a store that is damaged."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.home import Home
from tests.hang_limit import HANG_SECONDS
from tests.store.damage import NAMED, make_store

UNTOLD = ("Traceback", "Internal error")
UNHARMED = (
    *("empty log", "foreign index"),
    *("kept text", "rows of bad text", "owner of nonsense"),
)
"""Damage that need not be noticed: SQLite drops such files, and nobody asks for such values."""


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "sessions.sqlite3"
    make_store(path)
    return path


@pytest.fixture
def home(tmp_path: Path, whole: Path) -> Home:
    home = Home(tmp_path)
    home.state.mkdir()
    shutil.copy(whole, home.state / "sessions.sqlite3")
    return home


class Talk:
    """A client of the agent's, one request after the other."""

    def __init__(self, home: Home) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "accord", "agent"],
            cwd=home.project,
            env=home.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.heard: list[str] = []
        self._id = 0

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._id += 1
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        asked = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        while True:
            line = process.stdout.readline()
            assert line, f"the agent ended: {process.stderr and process.stderr.read()}"
            self.heard.append(line)
            message = json.loads(line)
            if message.get("id") == self._id and "method" not in message:
                answer: dict[str, Any] = message
                return answer

    def end(self) -> str:
        """Its last words."""
        _, error = self.process.communicate(timeout=HANG_SECONDS)
        assert self.process.returncode == 0
        return error


@pytest.mark.parametrize("name", NAMED)
def test_the_agent_works_beside_a_damaged_store(home: Home, name: str) -> None:
    """Issue 12: it answered without modes and with `Internal error`."""
    path = home.state / "sessions.sqlite3"
    NAMED[name](path)
    before = path.read_bytes() if path.is_file() else b""
    talk = Talk(home)
    talk.ask("initialize", protocolVersion=1, clientCapabilities={})
    opened = talk.ask("session/new", cwd=str(home.project), mcpServers=[])
    assert opened["result"]["modes"]["availableModes"]
    session = opened["result"]["sessionId"]
    prompt = [{"type": "text", "text": "/help"}]
    said = talk.ask("session/prompt", sessionId=session, prompt=prompt)
    assert said["result"]["stopReason"] == "end_turn"
    talk.ask("session/list")
    talk.ask("session/load", sessionId="session-1", cwd="/", mcpServers=[])
    error = talk.end()
    everything = "".join(talk.heard) + error
    assert not any(one in everything for one in UNTOLD), everything
    if name not in UNHARMED:
        assert str(path) in everything
    if "was not changed" in everything and path.is_file():
        assert path.read_bytes() == before


@pytest.mark.parametrize("name", NAMED)
def test_accord_sessions_says_what_is_wrong(home: Home, name: str) -> None:
    """Issue 12: one sentence with the file's path and what can be done."""
    path = home.state / "sessions.sqlite3"
    NAMED[name](path)
    words = (
        ("list",),
        ("show", "session-1"),
        ("export", "session-1", "--format", "json"),
        ("resume", "session-1", "/help"),
        ("delete", "session-2"),
        ("rescue",),
    )
    for given in words:
        ended = home.accord("sessions", *given)
        assert not any(one in ended.error + ended.out for one in UNTOLD), (given, ended)
        if ended.code != 0:
            told = str(path) in ended.error or "no session" in ended.error
            assert told, (given, ended)


def test_rescue_tells_what_was_saved(home: Home) -> None:
    """Issue 12: `accord sessions rescue` saves what is readable into a new store."""
    path = home.state / "sessions.sqlite3"
    NAMED["schema text"](path)
    before = path.read_bytes()
    refused = home.accord("sessions", "list")
    assert (refused.code, str(path) in refused.error) == (1, True)
    assert "accord sessions rescue" in refused.error
    rescued = home.accord("sessions", "rescue")
    new = home.state / "sessions-rescued.sqlite3"
    assert rescued.code == 0, rescued
    assert rescued.out.startswith("Recovered 4 sessions with 88 updates to ")
    assert str(new) in rescued.out
    assert path.read_bytes() == before
    new.replace(path)
    assert home.accord("sessions", "list").out.count("About") == 4


def test_rescue_tells_about_the_log_of_the_damaged_store(home: Home) -> None:
    """A log that stays would be replayed into the new file."""
    path = home.state / "sessions.sqlite3"
    NAMED["schema text"](path)
    log = path.with_name(f"{path.name}-wal")
    log.write_bytes(b"")
    rescued = home.accord("sessions", "rescue")
    assert rescued.code == 0, rescued
    assert f"move it away together with {log}, then put the new file" in rescued.out


def test_a_log_without_its_file_is_told(home: Home) -> None:
    """Issue 12: `list` said that there are no sessions, and the next run deleted the log."""
    path = home.state / "sessions.sqlite3"
    log = path.with_name(f"{path.name}-wal")
    log.write_bytes(b"what is left")
    path.unlink()
    for words in (("sessions", "list"), ("sessions", "show", "session-1")):
        ended = home.accord(*words)
        assert (ended.code, str(path) in ended.error) == (1, True), ended
        assert "accord sessions rescue" in ended.error
    ran = home.accord("run", "/help")
    assert "Sessions are not saved" in ran.out + ran.error
    assert log.read_bytes() == b"what is left"
    assert not path.exists()


def test_a_state_folder_that_cannot_be_used_is_named(home: Home) -> None:
    """Issue 12: the whole message was `Not a directory`."""
    shutil.rmtree(home.state)
    home.state.write_text("a file")
    for words in (("sessions", "list"), ("sessions", "rescue"), ("run", "/help")):
        ended = home.accord(*words)
        assert (ended.code, str(home.state) in ended.error) == (1, True), ended
