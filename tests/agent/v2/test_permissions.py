"""Permission requests in v2: what they say, and that only a clear yes is a yes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.agent.tools.permission_request import PermissionOption
from accord.errors import LocalProtocolError
from tests.agent.v2.play import chosen, idle, insert, made, playing, statuses, text, turn


async def edit(turn: Turn) -> None:
    """Write a file, if one may."""
    await turn.say(str(await turn.edit("a.txt", "changed\n", reason="To greet")))


@pytest.mark.rule("V2-PERM-02")
async def test_a_request_has_a_title_a_reason_a_subject_and_all_four_kinds(
    tmp_path: Path,
) -> None:
    """Spec: title, at least one option with ids of their own; the tool call as its subject."""
    async with playing(made(edit)) as client:
        session_id = await client.new_session(str(tmp_path))
        await insert(client, session_id)
        request = await client.next("session/request_permission")
        params = request["params"]
        assert (params["title"], params["description"]) == ("Create a.txt", "To greet")
        subject = params["subject"]
        announced = client.updates("tool_call_update")[0]
        assert subject["type"] == "tool_call"
        assert subject["toolCall"]["toolCallId"] == announced["toolCallId"]
        assert subject["toolCall"]["content"] == announced["content"]
        kinds = [option["kind"] for option in params["options"]]
        lasting = ["allow_always", "allow_always"]
        assert kinds == ["allow_once", *lasting, "reject_once", "reject_always"]
        assert len({option["optionId"] for option in params["options"]}) == 5
        client.reply(request, chosen("allow_once"))
        await idle(client)
    assert (tmp_path / "a.txt").read_text() == "changed\n"


@pytest.mark.rule("V2-PERM-06")
@pytest.mark.parametrize(("cwd", "folder"), [(None, "/tmp"), ("sub", "/tmp/sub"), ("/usr", "/usr")])
async def test_a_command_is_asked_for_with_its_line_and_its_folder(
    cwd: str | None, folder: str
) -> None:
    """Spec: the subject is self-contained: `command` and an absolute `cwd`."""

    async def work(turn: Turn) -> None:
        await turn.run("echo", "two words", cwd=cwd)

    async with playing(made(work)) as client:
        client.serve["session/request_permission"] = lambda params: chosen("reject_once")
        session_id = await client.new_session("/tmp")
        await turn(client, session_id)
    (request,) = [f for f in client.frames if f.get("method") == "session/request_permission"]
    call_id = client.updates("tool_call_update")[0]["toolCallId"]
    assert request["params"]["subject"] == {
        "type": "command",
        "command": "echo 'two words'",
        "cwd": folder,
        "toolCallId": call_id,
    }
    assert client.updates("terminal_update") == []


@pytest.mark.rule("V2-PERM-08")
@pytest.mark.parametrize(
    "outcome",
    [
        {"outcome": "cancelled"},
        {"outcome": "_later"},
        {"outcome": "allowed", "optionId": "allow_once"},
        {"outcome": "selected", "optionId": "never offered"},
        {"outcome": "selected"},
        {"outcome": "selected", "optionId": None},
        {"outcome": "selected", "optionId": "reject_once"},
        "allow_once",
        None,
    ],
)
async def test_only_an_offered_option_that_allows_is_consent(outcome: Any, tmp_path: Path) -> None:
    """Spec: cancelled, unknown, not offered and malformed are not approval."""

    async def work(turn: Turn) -> None:
        await turn.edit("a.txt", "changed\n")

    async with playing(made(work)) as client:
        client.serve["session/request_permission"] = lambda params: {"outcome": outcome}
        session_id = await client.new_session(str(tmp_path))
        assert (await turn(client, session_id))["stopReason"] == "end_turn"
    assert list(tmp_path.iterdir()) == []
    assert statuses(client) == ["pending", "failed"]


@pytest.mark.rule("V2-PERM-08")
async def test_an_error_for_an_answer_is_not_consent(tmp_path: Path) -> None:
    """Spec: whatever is not a yes is a no; the handler is told."""
    async with playing(made(edit)) as client:
        session_id = await client.new_session(str(tmp_path))
        await insert(client, session_id)
        request = await client.next("session/request_permission")
        client.refuse(request, -32603, "the dialog broke")
        await idle(client)
    assert list(tmp_path.iterdir()) == []
    assert statuses(client)[-1] == "failed"


@pytest.mark.rule("V2-PERM-02", "V2-UPS-11")
async def test_options_that_break_the_rules_are_refused_before_they_are_sent() -> None:
    """Spec: at least one, ids unique, kinds known or with `_`."""
    yes = PermissionOption("y", "Yes", "allow_once")

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit") as call:
            for options in ([], [yes, yes], [PermissionOption("m", "Maybe", "maybe")]):
                with pytest.raises(LocalProtocolError):
                    await call.choose("May I?", options=options)
            odd = PermissionOption("o", "On Tuesdays", "_weekly")
            picked = await call.choose("May I?", options=[yes, odd])
            assert picked == odd
            assert not picked.allows

    async with playing(made(work)) as client:
        client.serve["session/request_permission"] = lambda params: chosen("o")
        session_id = await client.new_session()
        assert (await turn(client, session_id))["stopReason"] == "end_turn"
    assert client.methods().count("session/request_permission") == 1


@pytest.mark.parametrize(
    ("option", "answers"), [("allow_always", "True"), ("reject_always", "False")]
)
async def test_always_is_remembered_for_the_session(
    tmp_path: Path, option: str, answers: str
) -> None:
    """Ours: allow and reject alike; another session is asked again."""

    async def edit_anew(turn: Turn) -> None:
        await turn.say(str(await turn.edit("a.txt", os.urandom(4).hex())))

    async with playing(made(edit_anew)) as client:
        client.serve["session/request_permission"] = lambda params: chosen(option)
        for _ in range(2):
            session_id = await client.new_session(str(tmp_path))
            await turn(client, session_id)
            await turn(client, session_id)
    assert client.methods().count("session/request_permission") == 2
    assert all(one["content"] == text(answers) for one in client.updates("agent_message"))


@pytest.mark.rule("V2-PERM-01")
async def test_a_mode_that_allows_is_not_asked_for(tmp_path: Path) -> None:
    """Spec: asking is the agent's choice; ours: by tool kind and mode."""
    agent: Agent = made(edit)
    agent.add_mode("ask", "Ask")
    agent.add_mode("code", "Code", allow=["edit"])
    async with playing(agent) as client:
        session_id = await client.new_session(str(tmp_path))
        setting = {"sessionId": session_id, "configId": "mode", "type": "id", "value": "code"}
        await client.result("session/set_config_option", setting)
        await turn(client, session_id)
    assert "session/request_permission" not in client.methods()
    assert (tmp_path / "a.txt").exists()
