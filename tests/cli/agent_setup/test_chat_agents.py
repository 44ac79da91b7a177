"""What `accord chat` begins with: which agent, which folders, which servers."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accord.cli.agent_setup.agent_argument import BUILT_IN
from accord.cli.agent_setup.chat_agents import orders_of
from accord.cli.commands.chat import add_arguments, is_full_screen, make_controller, run
from accord.cli.usage_error import UsageError
from accord.configuration.config_file import AgentEntry, ChatSettings, Config, McpEntry
from accord.terminal.model.settings import Settings, settings_of

AGENTS = {"codex": AgentEntry(command=("codex-acp",), env={"A": "b"}, cwd="/srv")}


@pytest.fixture(autouse=True)
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def given(*words: str, after: list[str] | None = None, alone: bool = False) -> Namespace:
    parser = ArgumentParser()
    add_arguments(parser)
    parsed = parser.parse_args(words)
    parsed.after, parsed.built_in = after, alone
    return parsed


def asked(*words: str, config: Config | None = None, **more: Any) -> Any:
    return orders_of(given(*words, **more), config or Config(), Settings())[0]


def test_without_a_word_it_is_the_built_in_agent_in_this_folder(tmp_path: Path) -> None:
    """Issue 6: bare accord is accord chat on the built-in agent."""
    order = asked()
    assert order.command[-1] == "agent"
    assert order.folder == os.path.realpath(tmp_path)


def test_with_several_known_agents_the_person_chooses() -> None:
    """Issue 6: with no arguments and several known agents, a picker."""
    config = Config(agents=AGENTS)
    order, choices = orders_of(given(), config, Settings())
    assert order is None
    assert list(choices) == [BUILT_IN, "codex"]
    assert asked(config=config, alone=True).name == BUILT_IN
    assert asked(config=replace(config, agent="codex")).name == "codex"


def test_an_agent_is_named_or_is_a_command() -> None:
    """Issue 6: accord chat [NAME | -- COMMAND]."""
    config = Config(agents=AGENTS)
    order = asked("codex", config=config)
    assert (order.command, order.env, order.agent_cwd) == (("codex-acp",), {"A": "b"}, "/srv")
    assert asked("built-in", config=config).name == BUILT_IN
    assert asked(after=["goose", "acp"]).command == ("goose", "acp")
    for words, after in ((("codex",), ["x"]), ((), []), (("nobody",), None)):
        with pytest.raises(UsageError):
            asked(*words, config=config, after=after)


def test_folders_and_servers_are_handed_to_any_agent(tmp_path: Path) -> None:
    """Issue 6: --mcp, --add-dir and the config hand servers and roots to any agent."""
    (tmp_path / "library").mkdir()
    server = McpEntry(type="stdio", command="true")
    chat = ChatSettings(add_dirs=("/srv/shared",), mcp_servers=("tools",))
    config = Config(mcp_servers={"tools": server, "other": server}, chat=chat)
    words = ("--add-dir", "library", "--mcp", "other")
    order, _ = orders_of(given(*words, after=["x"]), config, settings_of(config, {}))
    assert order is not None
    assert order.add_dirs == (str(tmp_path / "library"),)
    assert [one.name for one in order.mcp_servers] == ["other"]
    assert order.wished_dirs == ("/srv/shared",)
    assert list(order.wished_servers) == ["tools"]


def test_a_session_goes_on_by_its_id_or_as_the_last_one() -> None:
    """Issue 6: --session ID, --continue, and the mode and model to begin with."""
    assert asked("--session", "s1").session == "s1"
    order = asked("--continue", "--mode", "plan", "--model", "big")
    assert (order.go_on, order.mode, order.model) == (True, "plan", "big")
    with pytest.raises(SystemExit):
        given("--session", "s1", "--continue")


def test_a_folder_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: wrong usage is a sentence and exit code 2."""
    assert run(given("--cwd", "nowhere")) == 2
    assert "nowhere is not a folder" in capsys.readouterr().err


def test_the_desk_has_the_persons_rules(tmp_path: Path) -> None:
    """Issue 6: grants and rules are those of accord run and accord permissions."""
    (tmp_path / "config").mkdir()
    rules = '[[rule]]\neffect = "reject"\nkind = "fetch"\n'
    (tmp_path / "config" / "permissions.toml").write_text(rules)
    controller = make_controller(Config(), Settings(), (str(tmp_path),))
    assert any(
        rule.effect == "reject" and rule.kind == "fetch" for rule in controller.permissions.rules
    )


@pytest.mark.parametrize("term", ["dumb", "unknown", ""])
def test_a_dumb_terminal_has_no_full_screen(monkeypatch: pytest.MonkeyPatch, term: str) -> None:
    """Issue 6: --plain also for dumb terminals."""
    monkeypatch.setenv("TERM", term)
    assert not is_full_screen(wanted=True)
    assert not is_full_screen(wanted=False)
