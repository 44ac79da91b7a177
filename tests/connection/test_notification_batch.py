"""What is sent: nothing over the limit of a frame, and all of it before anything is written."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.connection import IncomingRequest, Limits
from accord.errors import ConnectionLost, LocalProtocolError
from accord.jsonrpc.large_text import TextResult
from accord.schema.struct import Raw
from tests.connection.raw_peer import Role, connected

LIMITS = Limits(frame_bytes=500)
LONG = b'{"text":"%b"}' % (b"x" * 500)
PLAIN = [b"1", b'{"text":"a\\nb"}', '"\u00e4\u2028"'.encode()]
PRETTY = [b'{\n  "a": [\r\n{"b":{}}\n]\n}', b'[{"a":{}}\r,\n{"jsonrpc":"2.0"}]']


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


@given(st.lists(st.sampled_from(PRETTY + PLAIN), max_size=8), st.integers(1, 5))
def test_gathered_notifications_go_out_as_each_by_itself(said: list[bytes], at: int) -> None:
    """Ours: what is gathered is the same to the letter; line breaks between tokens come out."""
    anyio.run(_compare, said, at)


async def _compare(said: list[bytes], at: int) -> None:
    async with connected() as (connection, peer):
        past = connection.gather("update", b'{"session":1,"said":', b"}")
        for number, one in enumerate(said):
            past.add(Raw(one))
            if number % at == 0:
                await past.flush()
        await past.flush()
        connection.post("last", b"{}")
        await peer.asked("last")
        told = [one["params"] for one in peer.messages if one["method"] == "update"]
        assert told == [{"session": 1, "said": json.loads(one)} for one in said]


@pytest.mark.rule("LIM-03")
async def test_of_gathered_notifications_those_before_a_long_one_are_sent() -> None:
    """LIM-03: the long one is refused, and those that were told before it are not lost."""
    async with connected(limits=LIMITS) as (connection, peer):
        past = connection.gather("update")
        for params in (b'{"n":1}', b'{"n":2}', LONG, b'{"n":3}'):
            past.add(Raw(params))
        with pytest.raises(LocalProtocolError, match=r"update is too long.*frame_bytes = 500"):
            await past.flush()
        connection.post("last", b"{}")
        await peer.asked("last")
        assert [one["params"] for one in peer.messages] == [{"n": 1}, {"n": 2}, {}]


async def test_what_is_gathered_for_nobody_is_an_error() -> None:
    """Ours: who tells a past to a client that is gone must not go on with it."""
    async with connected() as (connection, _):
        past = connection.gather("update")
        past.add({})
        await connection.aclose()
        with pytest.raises(ConnectionLost):
            await past.flush()


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
