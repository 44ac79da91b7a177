"""Agents behind a URL on a command line."""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

import pytest

from accord.cli.agent_setup.agent_argument import named_agent
from accord.cli.agent_setup.remote_agent_command import (
    add_remote_arguments,
    agent_command,
    given_words,
)
from accord.cli.agent_setup.remote_agent_options import read_remote_agent
from accord.cli.usage_error import UsageError
from accord.configuration.config_file import Config, load_config
from accord.errors import ConfigError
from tests.hang_limit import HANG_SECONDS

URL = "wss://agents.example/acp"


@pytest.fixture(autouse=True)
def _variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_TOKEN", "secretsecret")
    monkeypatch.setenv("AGENT_TEAM", "blue")
    monkeypatch.delenv("NOT_SET", raising=False)


def given(*words: str, after: list[str] | None = None) -> Namespace:
    """A parsed command line."""
    parser = ArgumentParser()
    add_remote_arguments(parser, positional=True)
    parsed = parser.parse_args(words)
    parsed.after, parsed.agent = after, None
    return parsed


def test_credentials_come_from_variables_and_never_from_the_command_line() -> None:
    """Ours: other users can read command lines."""
    arguments = given(URL, "--token-env", "AGENT_TOKEN", "--header-env", "X-Team=AGENT_TEAM")
    agent = read_remote_agent(arguments)
    assert (agent.token, agent.headers) == ("secretsecret", {"X-Team": "blue"})
    assert "secretsecret" not in repr(agent)
    words = given_words(arguments, URL)
    assert words == [URL, "--token-env", "AGENT_TOKEN", "--header-env", "X-Team=AGENT_TEAM"]
    command = agent_command(words)
    assert command[-6:] == ("connect", *words)
    assert "secretsecret" not in command


def test_commands_without_a_url_import_nothing_for_it() -> None:
    """Ours: `accord record` must start quickly."""
    code = (
        "import sys, accord.cli.commands.record as record; from argparse import ArgumentParser;"
        "record.add_arguments(ArgumentParser());"
        "print([name for name in ('anyio', 'accord.transport') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=HANG_SECONDS,
    )
    assert done.stdout == "[]\n"


def test_a_command_stays_a_command() -> None:
    """Ours: also where it mentions a URL."""
    assert agent_command(["my-agent", URL]) == ("my-agent", URL)
    assert agent_command([]) == ()
    assert given_words(given(), None) is None
    assert given_words(given(after=["my-agent"]), None) == ["my-agent"]


def test_options_of_ours_and_options_behind_the_url_are_the_same() -> None:
    """Ours: `-- URL --insecure` and `--insecure -- URL`."""
    plain = "ws://agents.example/acp"
    assert given_words(given("--insecure", after=[plain]), None) == [plain, "--insecure"]
    assert agent_command([plain, "--insecure"])[-2:] == (plain, "--insecure")


@pytest.mark.parametrize(
    ("words", "after", "expected"),
    [
        ([URL], ["my-agent"], "not both"),
        (["my-agent"], None, "not a URL"),
        (["--insecure"], ["my-agent"], "--insecure is for agents with a URL"),
        (["--token-env", "AGENT_TOKEN"], None, "--token-env is for agents with a URL"),
        (["ws://agents.example/acp"], None, "--insecure"),
        (["wss://me:secretsecret@agents.example/"], None, "a token instead"),
        ([URL, "--token-env", "NOT_SET"], None, "NOT_SET"),
        ([URL, "--header-env", "X-Team"], None, "HEADER=NAME"),
        ([URL, "--header-env", "Upgrade=AGENT_TEAM"], None, "Upgrade"),
        ([], [URL, "--no-such-option"], "unrecognized"),
    ],
)
def test_mistakes_are_told_before_anything_is_started(
    words: list[str], after: list[str] | None, expected: str
) -> None:
    """Ours: and without the secret."""
    arguments = given(*words, after=after)
    with pytest.raises(UsageError, match=expected) as caught:
        agent_command(given_words(arguments, arguments.url) or [])
    assert "secretsecret" not in str(caught.value)


def test_a_url_may_stand_where_a_name_may() -> None:
    """Issue 16: wherever a command takes an agent."""
    arguments = given()
    arguments.agent = URL
    assert named_agent(arguments, Config()).command[-2:] == ("connect", URL)


def test_a_remote_agent_in_the_configuration(tmp_path: Path) -> None:
    """Ours: by its name, like any other."""
    file = tmp_path / "config.toml"
    file.write_text(
        '[agents.team]\nurl = "wss://agents.example/acp"\ntoken_env = "AGENT_TOKEN"\n'
        '[agents.near]\nurl = "ws://10.0.0.1/acp"\ninsecure = true\n'
    )
    agents = load_config(tmp_path).agents
    assert agents["team"].command[-4:] == ("connect", URL, "--token-env", "AGENT_TOKEN")
    assert agents["near"].command[-3:] == ("connect", "ws://10.0.0.1/acp", "--insecure")
    file.write_text('[agents.team]\nurl = "ws://agents.example/acp"\n')
    with pytest.raises(ConfigError, match="insecure"):
        load_config(tmp_path)
    file.write_text('[agents.team]\nurl = "wss://agents.example/acp"\ncommand = ["a"]\n')
    with pytest.raises(ConfigError, match="together with a url"):
        load_config(tmp_path)
