"""A client that says late, or in mixed words, which dialect it speaks."""

from pathlib import Path
from typing import Any

import pytest

from accord.proxy.relay.translators import surroundings
from tests.proxy.relay.scripted import ANSWERS, INFO, INITIALIZE, Json, Stage, staged

VAGUE = {"protocolVersion": 1, "clientInfo": INFO}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both loops."""
    return str(request.param)


def opening(inside: str) -> Any:
    """An agent that opens sessions in its own words."""

    def serve(start: int, message: Json) -> Json | None:
        if message["method"] == "initialize":
            return {"result": ANSWERS[inside]}
        made = {"createdAt": "2026-02-04T10:30:00Z"} if inside == "draft" else {}
        return {"result": {"sessionId": "s", **made}}

    return serve


async def opened_late(stage: Stage, params: Json = VAGUE) -> Json:
    await stage.client.ask(0, "initialize", params)
    return await stage.client.ask(1, "session/new", {"workingDirectory": "/w"})


@pytest.mark.parametrize("inside", ["v1", "v2", "draft"])
async def test_the_first_request_may_show_that_a_client_speaks_the_draft(inside: str) -> None:
    """The draft's table 1.3: one hit on a connection without official traffic switches it."""
    async with staged(opening(inside)) as stage:
        answer = await opened_late(stage)
        assert answer["result"]["createdAt"]
        asked = stage.agent.frames[-1]["params"]
        assert asked["workingDirectory" if inside == "draft" else "cwd"] == "/w"
        # From then on it is that, and nothing else.
        again = await stage.client.ask(2, "session/new", {"cwd": "/w", "mcpServers": []})
        assert again["error"]["code"] == -32602


async def test_it_may_show_before_the_agent_has_answered() -> None:
    """What is sent early waits, and is read in the words that it is in."""
    async with staged(opening("v1")) as stage:
        stage.client.send({"id": 0, "method": "initialize", "params": VAGUE})
        stage.client.send({"id": 1, "method": "session/new", "params": {"workingDirectory": "/w"}})
        assert "agentCapabilities" in (await stage.client.answer(0))["result"]
        assert (await stage.client.answer(1))["result"]["createdAt"]


async def test_what_such_a_client_offered_in_official_words_still_counts() -> None:
    """Files are passed on in the draft's words where v1's said that there are some."""
    files = {"fs": {"readTextFile": True, "writeTextFile": False}}
    async with staged(opening("v1")) as stage:
        await opened_late(stage, {"protocolVersion": 1, "clientCapabilities": files})
        asked = {"sessionId": "s", "path": "/w/a"}
        stage.agent.send({"id": 9, "method": "fs/read_text_file", "params": asked})
        assert (await stage.client.method("fs/read_text_file"))["params"]["path"] == "/w/a"


async def test_a_client_with_official_messages_keeps_to_them() -> None:
    """The draft's table 1.3: later hits are errors."""
    async with staged(opening("v1")) as stage:
        await stage.client.ask(0, "initialize", VAGUE)
        await stage.client.ask(1, "session/new", {"cwd": "/w", "mcpServers": []})
        late = await stage.client.ask(2, "session/new", {"workingDirectory": "/w"})
        assert late["error"]["code"] == -32602


async def test_where_version_1_alone_is_served_nobody_turns_to_the_draft() -> None:
    async with staged(opening("v1"), to="v1") as stage:
        assert (await opened_late(stage))["error"]["code"] == -32602


async def test_where_the_draft_alone_is_served_a_client_that_says_little_speaks_it() -> None:
    async with staged(opening("v1"), to="draft") as stage:
        answer = await stage.client.ask(0, "initialize", VAGUE)
        assert "capabilities" in answer["result"]


async def test_names_of_v1_under_the_key_of_the_draft_are_read_as_v1s() -> None:
    """The draft's table 1.1: the peer mixed the names; that object is its `clientCapabilities`."""
    offered = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
    async with staged(opening("v1")) as stage:
        await stage.client.ask(0, "initialize", {"protocolVersion": 1, "capabilities": offered})
        asked = stage.agent.frames[0]["params"]
        assert asked["clientCapabilities"] == offered


@pytest.mark.parametrize(("again", "code"), [("v1", -32600), ("draft", -32602)])
async def test_initialize_is_not_repeated_least_of_all_in_another_dialect(
    again: str, code: int
) -> None:
    """Issue 5: a dialect that changes in mid-connection is -32602."""
    async with staged(opening("v1")) as stage:
        await stage.client.ask(0, "initialize", INITIALIZE["v1"])
        answer = await stage.client.ask(1, "initialize", INITIALIZE[again])
        assert answer["error"]["code"] == code


async def test_params_that_are_no_json_value_show_nothing() -> None:
    async with staged(opening("v1")) as stage:
        await stage.client.ask(0, "initialize", VAGUE)
        stage.client.send_bytes(
            b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":"\\ud800"}\n'
        )
        assert "error" in await stage.client.answer(1)


def test_a_bare_name_is_looked_for_and_a_path_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths mean what they say where the session is, not here; relative folders lead nowhere."""
    program = tmp_path / "bin" / "tool"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "bin")
    find = surroundings(print, print, lambda _: None, lambda *_: None).find_program
    assert find("tool") is None
    monkeypatch.setenv("PATH", f"bin:{program.parent}")
    assert find("tool") == str(program)
    assert find("./bin/tool") is None
    assert find("no-such-tool") is None
