"""`accord run` with an agent of the 2026-02 draft."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from accord.cli.agent_setup.agent_credential import credential_of
from accord.client.credential import API_KEY_VARIABLE, Credential
from accord.configuration.dialects_file import dialect_memory
from tests.cli.home import Home
from tests.client.draft.draft_script import PROGRAM


def starts(log: Path) -> int:
    return log.read_text().count('"started"')


def test_a_draft_agent_is_run_as_any_other_and_remembered(home: Home, tmp_path: Path) -> None:
    """Issue 5: without being asked; the second run starts it once."""
    log = tmp_path / "log"
    agent = (*PROGRAM, "--strict", "--log", str(log))
    done = home.run("hello", agent=agent)
    assert (done.code, done.out) == (0, "Hello.\n")
    assert starts(log) == 2
    done = home.run("write a.txt words", "--allow", "edit", agent=agent)
    assert done.code == 0
    assert (home.project / "a.txt").read_text() == "words"
    assert starts(log) == 3
    assert json.loads((home.state / "dialects.json").read_text())
    operations = [one for one in home.audit if one["event"] == "operation"]
    assert [one["operation"] for one in operations] == ["write"]


def test_what_nobody_allowed_is_denied(home: Home) -> None:
    """Issue 3: exit code 4, in every dialect."""
    done = home.run("write a.txt words", agent=PROGRAM)
    assert done.code == 4
    assert not (home.project / "a.txt").exists()


def test_an_error_of_the_turn_is_an_error_of_the_run(home: Home) -> None:
    """Issue 5: `stopReason: error`."""
    done = home.run("fail", agent=PROGRAM)
    assert done.code not in (0, 4)
    assert "error" in done.error


def test_a_mode_of_the_draft_can_be_chosen(home: Home) -> None:
    """Ours: `ask` of the draft is `ask_questions` here."""
    done = home.run("hello", "--mode", "ask", agent=PROGRAM)
    assert done.code == 2
    assert "ask_questions" in done.error


def test_a_login_uses_the_environment_or_the_configuration(home: Home) -> None:
    """Issue 5; and the key is in no file and on no screen."""
    agent = (*PROGRAM, "--key", "sk-0123456789abcdef")
    done = home.run("hello", agent=agent)
    assert done.code != 0
    assert "login" in done.error
    home.env[API_KEY_VARIABLE] = "sk-0123456789abcdef"
    assert home.run("hello", agent=agent).out == "Hello.\n"
    del home.env[API_KEY_VARIABLE]
    command = json.dumps([*agent])
    (home.config / "config.toml").write_text(
        f'[agents.drafty]\ncommand = {command}\napi_key_env = "DRAFTY_KEY"\n'
    )
    home.env["DRAFTY_KEY"] = "sk-0123456789abcdef"
    assert home.accord("run", "hello", "--agent", "drafty").out == "Hello.\n"
    written = "".join(path.read_text() for path in home.state.rglob("*") if path.is_file())
    assert "sk-0123" not in written


def test_without_a_terminal_nobody_is_asked_for_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a script must not hang."""
    monkeypatch.delenv(API_KEY_VARIABLE, raising=False)
    monkeypatch.setattr("accord.cli.agent_setup.agent_credential._is_at_terminal", lambda: False)
    assert anyio.run(credential_of(may_ask=True)) is None


def test_a_key_is_typed_once_and_no_answer_is_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: it serves until we leave, for logins that are renewed."""
    monkeypatch.delenv(API_KEY_VARIABLE, raising=False)
    monkeypatch.setattr("accord.cli.agent_setup.agent_credential._is_at_terminal", lambda: True)
    typed = ["", "sk-typed "]
    monkeypatch.setattr("getpass.getpass", lambda prompt: typed.pop())
    find = credential_of(may_ask=True)
    assert anyio.run(find) == anyio.run(find) == Credential.api_key("sk-typed")
    find = credential_of(may_ask=True)
    assert anyio.run(find) is None
    assert anyio.run(find) is None


def test_without_a_place_nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: it is not needed."""
    monkeypatch.setenv("ACCORD_STATE_DIR", "relative")
    assert dialect_memory() is None
