"""What a session of the built-in agent begins with, and what it is told when something is wrong."""

from pathlib import Path
from typing import Any

import pytest

from accord.builtin import session as builtin_session
from tests.agent.raw_client import raw_client
from tests.builtin.agent.turns import begin, made, option, say, spoken


class Parrot:
    """A brain that repeats."""

    async def turn(self, turn: Any, message: Any, tools: Any, workspace: Any) -> str | None:
        await turn.say(f"heard: {turn.text}")
        return None


@pytest.fixture(autouse=True)
def parrot(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the brain does is not what is tested here."""
    monkeypatch.setattr(builtin_session, "OfflineBrain", Parrot)


@pytest.mark.parametrize("version", [1, 2])
async def test_modes_options_and_commands_are_offered(version: int, tmp_path: Path) -> None:
    """Issue 3: modes, config options and slash commands, in both versions."""
    async with raw_client(made(), version=version) as client:
        result = await begin(client, tmp_path)
        assert option(result, "mode")["currentValue"] == "ask"
        modes = [one["value"] for one in option(result, "mode")["options"]]
        assert sorted(modes) == ["ask", "auto-edit", "full-access", "plan", "read-only"]
        assert option(result, "model")["currentValue"] == "offline"
        assert option(result, "thinking")["category"] == "thought_level"
        for name in ("test_command", "token_limit", "request_limit"):
            assert option(result, name)["type"] == "select"
        if version == 1:
            update = await client.update("available_commands_update")
            commands = update["availableCommands"]
        else:
            assert option(result, "auto_approve")["currentValue"] is False
            commands = result["availableCommands"]
        names = [command["name"] for command in commands]
        assert {"map", "test", "fix", "rename", "undo", "help"} <= set(names)
        assert not {"mcp", "call"} & set(names), "there are no servers to call"


@pytest.mark.parametrize("version", [1, 2])
async def test_a_session_is_named_after_its_first_prompt(version: int, tmp_path: Path) -> None:
    """Users: a list of untitled sessions is useless as a history."""
    async with raw_client(made(), version=version) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        await say(client, session, "why does\n the parser fail? " + "x" * 80)
        await say(client, session, "and now?")
        titles = [one["title"] for one in client.updates("session_info_update") if "title" in one]
        assert titles == ["why does the parser fail?…"]
        listed = await client.result("session/list", {"cwd": str(tmp_path)})
        assert [one["title"] for one in listed["sessions"]] == titles


async def test_a_session_is_named_after_what_was_asked(tmp_path: Path) -> None:
    """Issue 14: avante begins a prompt with its instructions; they are not a title."""
    async with raw_client(made(), version=1) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        texts = ("<system_context>Only plan.</system_context>", "run the tests")
        prompt = [{"type": "text", "text": text} for text in texts]
        await client.result("session/prompt", {"sessionId": session, "prompt": prompt})
        titles = [one["title"] for one in client.updates("session_info_update") if "title" in one]
        assert titles == ["run the tests"]


@pytest.mark.parametrize("version", [1, 2])
async def test_a_session_goes_on_in_another_process(version: int, tmp_path: Path) -> None:
    """Issue 3: sessions outlive processes, with their settings."""
    async with raw_client(made(), version=version) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        await say(client, session, "one")
        key = "configId"
        await client.result(
            "session/set_config_option",
            {"sessionId": session, key: "mode", "value": "read-only"}
            | ({} if version == 1 else {"type": "id"}),
        )
    async with raw_client(made(), version=version) as client:
        place = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        if version == 1:
            result = await client.result("session/load", place)
        else:
            result = await client.result(
                "session/resume", place | {"replayFrom": {"type": "start"}}
            )
        assert option(result, "mode")["currentValue"] == "read-only"
        assert "heard: one" in spoken(client)
        await say(client, session, "two")
        assert "heard: two" in spoken(client)


@pytest.mark.parametrize("version", [1, 2])
async def test_a_store_that_cannot_be_opened_is_said_once_and_left_alone(
    version: int, tmp_path: Path, home: Path
) -> None:
    """Issue 3: a broken store gives a clear error and is never overwritten; the agent works."""
    store = home / "state" / "sessions.sqlite3"
    store.parent.mkdir(parents=True)
    store.write_bytes(b"not a database, but somebody's file" * 100)
    before = store.read_bytes()
    async with raw_client(made(), version=version) as client:
        # An empty list would say that there never was a session.
        error = await client.error("session/list", {"cwd": str(tmp_path)})
        assert error["data"]["reason"] == "store_damaged"
        session = (await begin(client, tmp_path))["sessionId"]
        listed = (await client.result("session/list", {}))["sessions"]
        assert [one["sessionId"] for one in listed] == [session]
        await say(client, session, "one")
        await say(client, session, "two")
        told = spoken(client) + str(client.updates("notice"))
        assert told.count("Sessions are not saved") == 1
        assert "heard: two" in told
        old = {"sessionId": "0" * 32, "cwd": str(tmp_path), "mcpServers": []}
        method = "session/load" if version == 1 else "session/resume"
        error = await client.error(method, old)
        assert error["data"]["reason"] == "store_damaged"
    assert store.read_bytes() == before


async def test_a_mistake_in_the_configuration_is_said_and_harms_nothing(
    tmp_path: Path, home: Path
) -> None:
    """Users: an agent that dies of a typo in a file is a silent hang in an editor."""
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text('[model]\nthinking = "very"\n')
    async with raw_client(made({"ACCORD_CONFIG_DIR": str(home / "config")})) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        await say(client, session, "one")
        assert "model.thinking: must be one of" in spoken(client)
        assert "heard: one" in spoken(client)


async def test_nothing_is_stored_in_memory_mode(tmp_path: Path, home: Path) -> None:
    """Ours: `--in-memory` means it."""
    async with raw_client(made(in_memory=True)) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        await say(client, session, "one")
    assert not (home / "state").exists()
