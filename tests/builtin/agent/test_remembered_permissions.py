"""The built-in agent remembers the act that was asked for, in every version and as a process."""

import sys
from pathlib import Path

import anyio
import pytest

from accord import Client, Decision, PermissionRequest, Permissions
from tests.agent.draft.draft_client import draft_client
from tests.agent.raw_client import Message, raw_client
from tests.builtin.agent.turns import begin, made, say
from tests.hang_limit import HANG_SECONDS

ASK = "session/request_permission"


def selected(option_id: str) -> Message:
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


@pytest.mark.parametrize("version", [1, 2])
async def test_always_for_one_command_is_not_for_another(tmp_path: Path, version: int) -> None:
    """Issue 12: "Always allow" for `echo hi` let `rm config.json` run unasked."""
    (tmp_path / "config.json").write_text("{}")
    asked: list[Message] = []

    def answer(params: Message) -> Message:
        asked.append(params)
        return selected("allow_always" if len(asked) == 1 else "reject_once")

    async with raw_client(made(), version=version) as client:
        client.serve[ASK] = answer
        session = (await begin(client, tmp_path))["sessionId"]
        for line in ("echo hi", "echo hi", "rm config.json"):
            await say(client, session, f"$ {line}")
    assert len(asked) == 2
    names = [one["name"] for one in asked[0]["options"]]
    assert "Always allow `echo hi` in this folder for this session" in names
    assert "Allow every command for this session" in names
    assert (tmp_path / "config.json").exists()


@pytest.mark.parametrize("scope", ["session", "workspace", "always"])
async def test_a_scope_of_the_draft_is_for_the_same_command(tmp_path: Path, scope: str) -> None:
    """Issue 12: draft scopes likewise."""
    (tmp_path / "config.json").write_text("{}")
    asked: list[Message] = []

    def answer(params: Message) -> Message:
        asked.append(params)
        return {"granted": len(asked) == 1, "scope": scope, "remember": True}

    async with draft_client(made(), {"ui": {"permissionDialogs": True}}) as client:
        client.serve[ASK] = answer
        session = await client.new_session(str(tmp_path))
        for line in ("echo hi", "echo hi", "rm config.json"):
            await client.prompt(session, f"$ {line}")
    assert [one["resource"] for one in asked] == ["echo hi", "rm config.json"]
    assert "covers only `echo hi` in this folder" in asked[0]["reason"]
    assert (tmp_path / "config.json").exists()


@pytest.mark.parametrize("name", [".envrc", ".vscode/tasks.json", ".github/workflows/ci.yml"])
async def test_accepting_edits_still_asks_for_what_is_executed(tmp_path: Path, name: str) -> None:
    """Issue 12: the built-in agent uses the same list of executed files."""
    for path in (name, "notes.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("old\n")
    async with raw_client(made(), version=2) as client:
        client.serve[ASK] = lambda _params: selected("reject_once")
        session = (await begin(client, tmp_path))["sessionId"]
        mode = {"sessionId": session, "configId": "mode", "type": "id", "value": "auto-edit"}
        await client.result("session/set_config_option", mode)
        await say(client, session, "change 'old' to 'new' in notes.txt")
        assert ASK not in client.methods()
        await say(client, session, f"change 'old' to 'new' in {name}")
        assert client.methods().count(ASK) == 1
    assert (tmp_path / "notes.txt").read_text() == "new\n"
    assert (tmp_path / name).read_text() == "old\n"


async def test_as_a_process_behind_our_client(tmp_path: Path) -> None:
    """Issue 12: the whole road, with the agent's own "always"."""
    (tmp_path / "config.json").write_text("{}")
    asked: list[str | None] = []

    def decide(request: PermissionRequest) -> Decision:
        asked.append(request.command)
        return Decision("allow_always" if len(asked) == 1 else "reject_once")

    command = (sys.executable, "-m", "accord", "agent")
    with anyio.fail_after(HANG_SECONDS):
        async with Client.spawn(*command, permissions=Permissions.ask(decide)) as client:
            session = await client.new_session(cwd=tmp_path)
            for line in ("echo hi", "echo hi", "rm config.json"):
                await session.ask(f"$ {line}")
    assert asked == ["echo hi", "rm config.json"]
    assert (tmp_path / "config.json").exists()
