"""`accord run` with a model at the first try, and with one that cannot be had."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from accord.cli.agent_setup.agent_argument import with_model
from accord.machine.own_command_line import own_command
from tests.cli.home import Home
from tests.fake_llm import FakeLLM, serve


@pytest.fixture
def model() -> Iterator[FakeLLM]:
    """A server on this machine."""
    with serve() as server:
        yield server


@pytest.fixture
def newcomer(home: Home) -> Home:
    """Nothing is set but what a test sets."""
    for name in list(home.env):
        if name.endswith(("_API_KEY", "_BASE_URL", "_HOST")) or name == "ACCORD_MODEL":
            del home.env[name]
    home.env["ACCORD_PROBE"] = "off"
    return home


def test_any_model_of_a_server_can_be_named(newcomer: Home, model: FakeLLM) -> None:
    """Issue 14: also one that the server does not list."""
    newcomer.env["OPENAI_BASE_URL"] = f"{model.url}/v1"
    for name in ("fake-model", "openai:gpt-5", "not-on-the-list"):
        done = newcomer.accord("run", "hello [[say I am the model]]", "--model", name)
        assert (done.code, done.out.strip()) == (0, "I am the model")
        assert model.asked[-1]["model"] == name.removeprefix("openai:")


def test_a_model_without_a_key_says_what_is_missing(newcomer: Home) -> None:
    """Issue 14: it said that the agent has no such model."""
    done = newcomer.accord("run", "hello", "--model", "claude-sonnet-5-5")
    assert done.code == 1
    assert "Set ANTHROPIC_API_KEY" in done.error
    assert "accord agent --login anthropic" in done.error


def test_a_server_that_is_down_is_told(newcomer: Home) -> None:
    """Issue 14: offline in silence."""
    newcomer.env["OPENAI_BASE_URL"] = "http://127.0.0.1:1/v1"
    done = newcomer.accord("run", "thanks")
    assert done.code == 0
    assert "http://127.0.0.1:1/v1 cannot be" in done.error


def test_only_the_built_in_agent_is_told_by_its_command() -> None:
    """Ours: other agents have other command lines."""
    own = own_command("agent")
    assert with_model(own, "x") == (*own, "--model", "x")
    assert with_model(own, None) == own
    assert with_model(("codex-acp",), "x") == ("codex-acp",)
