"""Bad lines on the wire of a real agent process: each is survived, and answered once at most."""

import json
from typing import Any

import anyio
import pytest

from tests.faults.process import AgentProcess, agent_process

ECHO = b'{"jsonrpc":"2.0","id":"%s","method":"_echo","params":{}}\n'


async def alive(agent: AgentProcess) -> None:
    """It still answers."""
    assert await agent.result("_echo", {"still": "here"}) == {"still": "here"}


@pytest.mark.rule("TR-STDIO-08")
async def test_a_storm_of_noise_is_answered_once_per_good_frame() -> None:
    """Issue 3: 2,000 lines, then another: three results and exactly two -32700."""
    async with agent_process() as agent:
        await agent.initialize()
        storm = b"xx\n" * 2_000
        await agent.write(ECHO % b"a" + storm + ECHO % b"b" + b"xx\n" + ECHO % b"c")
        for request_id in ("a", "b", "c"):
            assert (await agent.answer(request_id))["result"] == {}
        assert agent.errors(None) == [-32700, -32700]
        assert len(agent.stderr.splitlines()) < 50


@pytest.mark.rule("TR-STDIO-07", "TR-STDIO-08")
async def test_noise_in_the_middle_of_a_prompt_does_not_touch_it() -> None:
    """Issue 3: 2,000 lines in one prompt; and what is said arrives while the prompt still runs."""
    async with agent_process() as agent:
        await agent.initialize()
        session_id = await agent.new_session()
        prompt = await agent.prompt(session_id, "wait")
        await agent.until(lambda: agent.texts() == ["waiting"])
        await agent.write(b"Traceback (most recent call last):\n" * 2_000)
        await agent.send(
            {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}}
        )
        assert (await agent.answer(prompt))["result"] == {"stopReason": "cancelled"}
        assert agent.errors(None) == [-32700]


@pytest.mark.rule("TR-STDIO-08")
@pytest.mark.parametrize(
    ("line", "codes"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"_echo","params":{"a":"\xff\xfe"}}\n', [-32700]),
        (b"\xff\xfe\x00\n", [-32700]),
        (b'{"jsonrpc":"2.0","id":7\n', [-32700]),
        (b"42\n", [-32600]),
        (b"null\n", [-32600]),
        (b'"text"\n', [-32600]),
        (b"[]\n", [-32600]),
        (b'[{"jsonrpc":"2.0","id":7,"method":"_echo"}]\n', [-32600]),
        (b"{}\n", [-32600]),
        (b"\n", []),
        (b"  \t \r\n\r\n\n", []),
    ],
)
async def test_a_bad_line_is_answered_without_an_id_and_the_agent_lives(
    line: bytes, codes: list[int]
) -> None:
    """Issue 3, and what killed other libraries: scalars, null, arrays, invalid UTF-8."""
    async with agent_process() as agent:
        await agent.initialize()
        await agent.write(line)
        await alive(agent)
        assert agent.errors(None) == codes


@pytest.mark.rule("TR-STDIO-08")
async def test_a_last_line_without_its_end_is_answered() -> None:
    """Issue 3, half a line at the end: whole but for its newline, it counts."""
    async with agent_process() as agent:
        await agent.initialize()
        await agent.write((ECHO % b"last").rstrip(b"\n"))
        await agent.hang_up()
        assert await agent.exit_code() == 0
        assert (await agent.answer("last"))["result"] == {}


async def test_half_a_line_at_the_end_is_dropped_without_an_answer() -> None:
    """Issue 3: what is not whole is nobody's message; the process ends as always."""
    async with agent_process() as agent:
        await agent.initialize()
        before = len(agent.messages)
        await agent.write(b'{"jsonrpc":"2.0","id":9,"method":"_ec')
        await agent.hang_up()
        assert await agent.exit_code() == 0
        assert len(agent.messages) == before


@pytest.mark.rule("LIM-03")
async def test_a_line_of_40_mib_ends_the_connection_and_the_log_names_the_limit() -> None:
    """Issue 3: no answer, nothing kept, open requests are over at once."""
    async with agent_process() as agent:
        await agent.initialize()
        await agent.start("_hold", {}, id_="open")
        before = len(agent.messages)
        piece = b"x" * (1024 * 1024)
        try:
            for _ in range(40):
                await agent.write(piece)
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # it hung up on us in the middle, as it should
        assert await agent.exit_code() == 1
        assert len(agent.messages) == before
        (said,) = agent.stderr.splitlines()
        assert b"frame_bytes = 33554432" in said


@pytest.mark.rule("LIM-01")
@pytest.mark.parametrize(
    ("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")], ids=["arrays", "objects"]
)
async def test_ten_thousand_levels_are_refused_with_the_id_of_the_request(
    opening: bytes, closing: bytes
) -> None:
    """Issue 3: -32600; the next request works."""
    deep = opening * 10_000 + b"1" + closing * 10_000
    async with agent_process() as agent:
        await agent.initialize()
        await agent.write(
            b'{"jsonrpc":"2.0","id":"deep","method":"_echo","params":{"_meta":%b}}\n' % deep
        )
        answer = await agent.answer("deep")
        assert answer["error"]["code"] == -32600
        assert "128" in answer["error"]["message"]
        # A notification has nobody to tell.
        await agent.write(b'{"jsonrpc":"2.0","method":"_echo","params":{"a":%b}}\n' % deep)
        await alive(agent)
        assert agent.errors(None) == []


def framed(message: object) -> bytes:
    """A message behind its header."""
    body = json.dumps(message, ensure_ascii=False).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def unframed(data: bytes) -> list[dict[str, Any]]:
    """The messages of a stream that has nothing but headers and bodies."""
    messages: list[dict[str, Any]] = []
    while data:
        header, found, rest = data.partition(b"\r\n\r\n")
        assert found
        length = int(header.removeprefix(b"Content-Length: "))
        messages.append(json.loads(rest[:length]))
        data = rest[length:]
    return messages


@pytest.mark.rule("TR-STDIO-09")
async def test_content_length_framing_is_found_out_and_answered_in_kind() -> None:
    """Issue: lengths count bytes, so text of other scripts shows it."""
    client = {"name": "日本", "version": "ü"}
    echo = {"text": "線\n日本 😀"}
    async with agent_process() as agent:
        for number, method, params in (
            (1, "initialize", {"protocolVersion": 1, "clientInfo": client}),
            (2, "_echo", echo),
        ):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            await agent.write(framed(message))
        await agent.hang_up()
        assert await agent.exit_code() == 0
        first, second = unframed(bytes(agent.stdout))
        assert first["result"]["protocolVersion"] == 1
        assert second["result"] == echo
