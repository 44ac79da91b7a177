"""Strict mode: what is otherwise tolerated ends the conversation at once, and says why."""

from __future__ import annotations

import contextlib

import anyio
import pytest

from accord.connection.peer_mistakes import strict_by_default
from accord.errors import ConnectionLost, RemoteProtocolError
from tests.connection.raw_peer import SECONDS, Role, connected

HEAD = b'{"jsonrpc":"2.0",'


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (b"Downloading 1%", "'Downloading 1%'"),
        (b"42", "a bare value"),
        (HEAD + b'"id":99,"result":{}}', "an answer to request 99"),
        (HEAD + b'"id":1,"result":{}}\n' + HEAD + b'"id":1,"result":{}}', "a second"),
        (HEAD + b'"id":"1","result":{}}', "as a string"),
        (HEAD + b'"method":"x","extra":1}', "unknown member 'extra'"),
        (HEAD + b'"method":5}', "the method is not a string"),
        (b'{"method":"x"}', 'jsonrpc is not "2.0"'),
        (HEAD + b'"method":"$/cancel_request","params":{"a":1e400}}', "ignored the notification"),
        (HEAD + b'"id":null,"error":{"code":-32700,"message":"?"}}', "could not read"),
    ],
)
async def test_a_broken_rule_ends_the_conversation(line: bytes, named: str) -> None:
    """Issue 2: unknown root fields and broken rules fail at once, for development."""
    role = Role()
    async with connected(role, strict=True) as (connection, peer):
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                with contextlib.suppress(ConnectionLost):
                    await connection.call("ask", b"{}")

            tasks.start_soon(call)
            assert (await peer.asked("ask"))["id"] == 1
            peer.transport.write(line + b"\n" + HEAD + b'"method":"behind"}\n')
            with anyio.fail_after(SECONDS):
                await connection.closed.wait()
                await peer.until(lambda: peer.end is not None)
        assert connection.error is not None
        assert connection.error.message.startswith("strict: ")
        assert named in connection.error.message
        assert isinstance(connection.error.__cause__, RemoteProtocolError)
        with pytest.raises(ConnectionLost, match="strict: "):
            await connection.call("ask", b"{}")
    assert role.notifications == []


async def test_a_bad_request_is_refused_and_a_late_answer_is_fine() -> None:
    """Ours: its sender sees the refusal; and who was told that we gave up may still answer."""
    role = Role()
    role.methods["ping"] = lambda request: b"{}"
    async with connected(role, strict=True) as (connection, peer):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.call, "slow", b"{}")
            await peer.asked("slow")
            tasks.cancel_scope.cancel()
        peer.send({"id": 1, "result": {}}, {"id": "a", "method": "ping", "extra": 1})
        assert (await peer.answer("a"))["error"]["code"] == -32600
        peer.request("b", "ping")
        assert (await peer.answer("b"))["result"] == {}


@pytest.mark.parametrize(
    ("value", "strict"),
    [
        *((value, False) for value in ("", "0", "false", "No")),
        *((value, True) for value in ("1", "true", "TRUE", " on ")),
    ],
)
def test_the_environment_is_read_in_one_way(
    monkeypatch: pytest.MonkeyPatch, value: str, strict: bool
) -> None:
    """Issue 2: ACCORD_STRICT=1, on both sides."""
    monkeypatch.setenv("ACCORD_STRICT", value)
    assert strict_by_default() is strict
