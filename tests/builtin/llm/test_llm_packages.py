"""A model whose packages are not installed yet: they come with the first prompt, and are shown."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from accord.errors import ConfigError
from accord.machine import optional_packages
from tests.builtin.llm.talk import choice_of, made, talk
from tests.fake_llm import FakeLLM

Tell = Callable[[str], Awaitable[None]]


async def test_packages_come_with_the_first_prompt_and_are_shown(
    llm: FakeLLM, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 14: models come when a model is asked for, and it is said."""
    missing = {"models"}

    async def install(name: str, tell: Tell) -> None:
        await tell("openai 3.0")
        missing.discard(name)

    monkeypatch.setattr(optional_packages, "is_missing", missing.__contains__)
    monkeypatch.setattr(optional_packages, "install", install)
    async with talk(made(choice_of("chat", llm)), project) as session:
        assert (await session.say("[[say hello]]"))["stopReason"] == "end_turn"
        (call,) = session.last_of_calls()
        assert call["title"] == "Install the packages for models (only once)"
        assert call["status"] == "completed"
        assert "openai 3.0" in str(session.client.updates("tool_call_content_chunk"))
        await session.say("[[say again]]")
        assert len(session.calls()) == 1


async def test_packages_that_cannot_be_had_end_the_turn_with_the_reason(
    llm: FakeLLM, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 14: errors say what to do."""

    async def install(name: str, tell: Tell) -> None:
        raise ConfigError("no package index can be reached; check the network")

    monkeypatch.setattr(optional_packages, "is_missing", lambda name: True)
    monkeypatch.setattr(optional_packages, "install", install)
    async with talk(made(choice_of("chat", llm)), project) as session:
        assert "check the network" in (await session.say("[[say hello]]"))["error"]["message"]
        (call,) = session.last_of_calls()
        assert call["status"] == "failed"
