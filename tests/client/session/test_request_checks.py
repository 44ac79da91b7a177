"""What a program may not ask for, and in what form it is sent when it may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accord.client import Client
from accord.client.session.request_checks import encode
from accord.client.session.session import Session
from accord.errors import (
    LocalProtocolError,
    RequestFailed,
)
from accord.schema import v1, v2
from tests.client.scripted_agent import Json, ScriptedAgent, connected, playing_with

NAME = "a name \udcff"
VERSIONS = pytest.mark.parametrize("version", [1, 2])


@pytest.mark.rule(
    "V1-CAP-09",
    "V1-LOAD-01",
    "V1-LOAD-07",
    "V1-CLOSE-01",
    "V1-CLOSE-04",
    "V1-CLOSE-14",
    "V1-AUTH-07",
    "V1-SESS-09",
    "V1-MCP-03",
    "V2-SESS-21",
    "V2-SESS-23",
    "V2-AUTH-02",
)
@VERSIONS
async def test_what_was_not_offered_is_not_called(version: int, tmp_path: Path) -> None:
    """D1 initialization: omitted capabilities are unsupported."""
    poor: Json = (
        {"protocolVersion": 1, "agentCapabilities": {}}
        if version == 1
        else {
            "protocolVersion": 2,
            "info": {"name": "poor", "version": "0"},
            "capabilities": {"session": {}},
        }
    )

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()

    async with playing_with(poor, script, version) as (client, agent):
        session = await client.new_session()
        attempts: list[Any] = [
            client.delete_session("s"),
            client.logout(),
            client.new_session(additional_directories=[tmp_path]),
            client.new_session(mcp_servers=[v2.McpServerHttp(name="m", url="http://x")]),
            client.fork_session(session),
        ]
        if version == 1:
            attempts += [
                client.load_session("s"),
                client.resume_session("s"),
                client.list_page(),
                client.close_session(session),
            ]
        else:
            attempts += [
                client.new_session(mcp_servers=[v2.McpServerStdio(name="m", command="/x")])
            ]
        for attempt in attempts:
            with pytest.raises(LocalProtocolError):
                await attempt
        assert len(agent.received) == 2


@VERSIONS
@pytest.mark.rule("V1-SESS-16", "V2-SESS-25")
async def test_folders_and_servers_are_sent_as_the_version_says(
    version: int, tmp_path: Path
) -> None:
    """R additional-directories: no duplicates, not the cwd itself."""
    (tmp_path / "more").mkdir()
    more = {"sessionCapabilities": {"additionalDirectories": {}}, "mcpCapabilities": {"http": True}}
    rich: Json = (
        {"protocolVersion": 1, "agentCapabilities": more}
        if version == 1
        else {
            "protocolVersion": 2,
            "info": {"name": "rich", "version": "0"},
            "capabilities": {
                "session": {"additionalDirectories": {}, "mcp": {"stdio": {}, "http": {}}}
            },
        }
    )

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.open_session()
        params = request["params"]
        assert params["additionalDirectories"] == [str(tmp_path / "more")]
        program, page = params["mcpServers"]
        assert (program["name"], program["command"], page["type"]) == ("p", "/bin/p", "http")
        assert program.get("type") == (None if version == 1 else "stdio")

    async with playing_with(rich, script, version) as (client, _):
        session = await client.new_session(
            tmp_path,
            additional_directories=[tmp_path, tmp_path / "more", tmp_path / "more" / "."],
            mcp_servers=[
                v2.McpServerStdio(name="p", command="/bin/p"),
                v1.McpServer(type="http", name="h", url="http://x"),
            ],
        )
        assert session.roots == (str(tmp_path), str(tmp_path / "more"))


async def test_misuse_is_named_before_anything_is_sent(tmp_path: Path) -> None:
    """Issue 2, bad input."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()

    async with connected(script) as (client, agent):
        with pytest.raises(LocalProtocolError, match="no folder"):
            await client.new_session(tmp_path / "missing")
        (tmp_path / "a.py").write_text("")
        with pytest.raises(LocalProtocolError, match="is a file, not a folder"):
            await client.new_session(tmp_path / "a.py")
        session = await client.new_session()
        image = v2.ImageContent(data=b"x", mime_type="image/png")
        audio = v2.AudioContent(data=b"x", mime_type="audio/wav")
        wrong: list[tuple[tuple[Any, ...], str]] = [
            ((), "empty"),
            (("",), "empty"),
            (([],), "empty"),
            ((audio,), "does not accept audio"),
            (("a", [image, audio]), "does not accept audio"),
            ((5,), "neither text nor"),
            # A text of base64 would be taken for the bytes by whoever reads the transcript.
            ((v2.ImageContent(data="eA==", mime_type="image/png"),), "bytes, not base64"),  # type: ignore[arg-type]
        ]
        for content, word in wrong:
            with pytest.raises(LocalProtocolError, match=word):
                session.prompt(*content)
        assert len(agent.received) == 2


@VERSIONS
async def test_values_of_wrong_types_are_named_before_anything_is_sent(version: int) -> None:
    """Issue 2, bad input: the agent would refuse them, and say it in its own words."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()

    async with connected(script, version) as (client, agent):
        session = await client.new_session()
        no: Any = 5
        wrong: list[tuple[Any, str]] = [
            (lambda: client.new_session(no), "a path is text or a Path, not 5"),
            (lambda: client.new_session(b"/tmp"), "a path is text"),  # type: ignore[arg-type]
            (lambda: client.new_session(additional_directories="/tmp"), "list of folders"),
            (lambda: client.new_session(mcp_servers=no), "list of servers"),
            (lambda: client.load_session(no), "named by its id"),
            (lambda: client.resume_session(""), "named by its id"),
            (lambda: client.delete_session(no), "named by its id"),
            (lambda: session.ask(v1.TextContent(text=no)), r"got `int` \(at \$.text\)"),
            (lambda: session.ask(v2.ResourceLink(name="x", uri=no)), r"at \$.uri"),
        ]
        for attempt, words in wrong:
            with pytest.raises(LocalProtocolError, match=words):
                await attempt()
        assert len(agent.received) == 2


@VERSIONS
@pytest.mark.rule("V1-GEN-06")
async def test_the_program_of_an_mcp_server_is_sent_by_its_whole_path(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N1 McpServerStdio: absolute; people write `npx`, which is looked up here."""
    program = tmp_path / "serve"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.open_session()
        commands = [server["command"] for server in request["params"]["mcpServers"]]
        assert commands == [str(program), str(program), r"C:\serve.exe"]
        assert request["params"]["mcpServers"][0]["args"] == ["-v"]

    able: Json = (
        {"protocolVersion": 1, "agentCapabilities": {}}
        if version == 1
        else {
            "protocolVersion": 2,
            "info": {"name": "able", "version": "0"},
            "capabilities": {"session": {"mcp": {"stdio": {}}}},
        }
    )
    async with playing_with(able, script, version) as (client, agent):
        for command in ("no-such-program", "./serve", ""):
            with pytest.raises(LocalProtocolError, match="'mine' is neither an absolute path nor"):
                await client.new_session(
                    mcp_servers=[v2.McpServerStdio(name="mine", command=command)]
                )
        no: Any = 5
        with pytest.raises(LocalProtocolError, match=r"got `int` \(at \$.command\)"):
            await client.new_session(mcp_servers=[v2.McpServerStdio(name="mine", command=no)])
        assert len(agent.received) == 1
        await client.new_session(
            mcp_servers=[
                v2.McpServerStdio(name="a", command="serve", args=["-v"]),
                v1.McpServer(name="b", command="serve"),
                v2.McpServerStdio(name="c", command=r"C:\serve.exe"),
            ]
        )


async def test_nobody_watches_a_session_that_is_closed() -> None:
    """Issue 2: it would wait for ever."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        request = await agent.expect("session/close")
        agent.result(request, {})

    async with connected(script) as (client, _):
        session = await client.new_session()
        seen = session.updates()
        await session.close()
        assert [update async for update in seen] == []
        with pytest.raises(LocalProtocolError, match="cannot watch: the session 's1' is closed"):
            session.updates()


@VERSIONS
@pytest.mark.rule("V1-PROMPT-02", "V2-PROMPT-01")
async def test_blocks_go_out_in_the_form_of_the_version(version: int) -> None:
    """D1 prompt-turn: what the agent takes is sent, in order."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        assert prompt["params"]["prompt"] == [
            {"type": "text", "text": "look"},
            {"type": "image", "data": "eA==", "mimeType": "image/png"},
            {"type": "resource_link", "name": "n", "uri": "file:///n"},
        ]
        agent.end_turn(prompt)

    async with connected(script, version) as (client, _):
        session = await client.new_session()
        image = v2.ImageContent(data=b"x", mime_type="image/png")
        await session.ask("look", [image], v1.ResourceLink(name="n", uri="file:///n"))


@pytest.mark.rule("V1-SESS-26")
@pytest.mark.parametrize(
    ("markers", "modes"),
    [(None, []), ({}, ["append"]), ({"mode": {"override": {}}}, ["append", "override"])],
)
async def test_system_prompts_need_their_markers(markers: Json | None, modes: list[str]) -> None:
    """N1 SystemPrompt: only when advertised, override only with its marker, never empty."""
    session_capabilities = {} if markers is None else {"systemPrompt": markers}
    answer = {
        "protocolVersion": 1,
        "agentCapabilities": {"sessionCapabilities": session_capabilities},
    }

    async def script(agent: ScriptedAgent) -> None:
        for mode in modes:
            request = await agent.expect("session/new")
            content = [{"type": "text", "text": "be kind"}]
            assert request["params"]["systemPrompt"] == {"mode": mode, "content": content}
            agent.error(request, -32603)

    async with playing_with(answer, script, 1, unstable=True) as (client, _):
        for mode in ("append", "override", "sing"):
            wanted = RequestFailed if mode in modes else LocalProtocolError
            with pytest.raises(wanted):
                await client.new_session(system_prompt="be kind", system_prompt_mode=mode)  # type: ignore[arg-type]
        with pytest.raises(LocalProtocolError):
            await client.new_session(system_prompt="")


@pytest.mark.parametrize("value", [object(), {1j: 2}, [NAME]])
def test_what_has_no_json_form_is_the_caller_s_mistake(value: Any) -> None:
    """Ours: one error for all that the encoder may complain of."""
    with pytest.raises(LocalProtocolError, match="cannot be sent"):
        encode(value)


def test_a_value_that_holds_itself_is_named_too() -> None:
    """Ours: no recursion comes out."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(LocalProtocolError, match="cannot be sent"):
        encode(value)


async def _ask(client: Client, session: Session) -> Any:
    return await session.ask(NAME)


async def _ask_by_block(client: Client, session: Session) -> Any:
    return await session.ask("look at", v2.ResourceLink(uri="file:///" + NAME, name="x"))


async def _call(client: Client, session: Session) -> Any:
    return await client.call_extension("_x/find", {"name": NAME})


async def _notify(client: Client, session: Session) -> Any:
    return await client.notify_extension("_x/find", {"name": object()})


async def _resume(client: Client, session: Session) -> Any:
    return await client.resume_session(NAME)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("send", [_ask, _ask_by_block, _call, _notify, _resume])
async def test_nothing_of_it_is_sent_and_the_conversation_goes_on(version: int, send: Any) -> None:
    """Issue 2, bad input: file names that are not UTF-8 have half characters in Python."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.end_turn(await agent.begin_turn())

    async with connected(script, version) as (client, agent):
        session = await client.new_session()
        before = len(agent.received)
        with pytest.raises(LocalProtocolError, match="cannot be sent"):
            await send(client, session)
        assert len(agent.received) == before
        assert session.transcript.messages == []
        assert (await session.ask("b")).stop_reason == "end_turn"
