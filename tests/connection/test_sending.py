"""What is sent: nothing over the limit of a frame, and all of it before anything is written."""

from __future__ import annotations

from typing import Any

import pytest

from accord.connection import IncomingRequest, Limits
from accord.errors import LocalProtocolError
from accord.jsonrpc.large_text import TextResult
from tests.connection.raw_peer import Role, connected

LIMITS = Limits(frame_bytes=500)
LONG = b'{"text":"%b"}' % (b"x" * 500)


@pytest.mark.rule("LIM-03")
async def test_a_message_over_the_limit_is_refused_before_anything_is_written() -> None:
    """LIM-03, seen from the sender: the peer would hang up on us."""
    async with connected(limits=LIMITS) as (connection, peer):
        post = connection.poster("update")
        for send in (post, lambda params: connection.post("update", params)):
            with pytest.raises(LocalProtocolError, match=r"update is too long.*frame_bytes = 500"):
                send(LONG)
        with pytest.raises(LocalProtocolError, match="update is too long"):
            await connection.notify("update", LONG)
        with pytest.raises(LocalProtocolError, match="ask is too long"):
            await connection.call("ask", LONG)
        post(b'{"n":1}')
        await peer.asked("update")
        assert [one["params"] for one in peer.messages] == [{"n": 1}]
        assert connection.peer.pending_count == 0


@pytest.mark.rule("LIM-03")
@pytest.mark.parametrize("is_work", [False, True])
async def test_an_answer_over_the_limit_becomes_an_error_that_names_it(
    is_work: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    """LIM-03: whoever asked is told, instead of being hung up on."""
    role = Role()

    def read(request: IncomingRequest) -> Any:
        async def work() -> bytes:
            return LONG

        return work if is_work else LONG

    role.methods["read"] = read
    async with connected(role, limits=LIMITS) as (_, peer):
        peer.request(1, "read")
        error = (await peer.answer(1))["error"]
        assert error["code"] == -32603
        assert "frame_bytes = 500" in error["message"]
        assert "frame_bytes = 500" in capfd.readouterr().err


@pytest.mark.parametrize("is_work", [False, True])
async def test_a_large_text_arrives_as_one_answer(is_work: bool) -> None:
    """Ours: it is encoded while it is sent, and the peer cannot tell."""
    role, text = Role(), "one\t\x01line\n" * 50_000

    def read(request: IncomingRequest) -> Any:
        async def work() -> TextResult:
            return TextResult("content", text)

        return work if is_work else TextResult("content", text)

    role.methods["read"] = read
    async with connected(role) as (_, peer):
        peer.request(1, "read")
        assert (await peer.answer(1))["result"] == {"content": text}


async def test_a_large_text_over_the_limit_becomes_an_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """LIM-03: nothing of it is written."""
    role = Role()

    def read(request: IncomingRequest) -> Any:
        return TextResult("content", "x" * 1000)

    role.methods["read"] = read
    async with connected(role, limits=LIMITS) as (_, peer):
        peer.request(1, "read")
        assert "frame_bytes = 500" in (await peer.answer(1))["error"]["message"]
    assert "frame_bytes = 500" in capfd.readouterr().err
