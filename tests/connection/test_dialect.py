"""A dialect with error numbers of its own, and without a way to take requests back."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.connection.dialect import Dialect
from accord.errors import NotFound, RequestError
from tests.connection.raw_peer import SECONDS, Role, connected


def outwards(method: str, code: int, data: Any) -> tuple[int, Any]:
    """Numbers of ours, ten lower, with the method beside."""
    return code - 10, {"method": method}


def inwards(method: str, code: int, data: Any) -> tuple[int, Any]:
    """And back."""
    return code + 10, data


DIALECT = Dialect(outwards, inwards)


@pytest.mark.anyio
async def test_an_error_leaves_in_the_numbers_of_the_dialect() -> None:
    """The draft's table 9: a code never crosses unmapped."""
    role = Role()

    def refuse(request: Any) -> bytes:
        raise RequestError(-32002, "no such session")

    role.methods["go"] = refuse
    async with connected(role) as (connection, peer):
        connection.agree_on(DIALECT)
        peer.request(3, "go")
        answer = await peer.answer(3)
        assert answer["error"]["code"] == -32012
        assert answer["error"]["data"] == {"method": "go"}


@pytest.mark.anyio
async def test_an_error_of_the_peer_is_read_in_its_own_numbers() -> None:
    """The draft's table 9, inwards: whoever called sees what happened, not the number."""
    async with connected(Role()) as (connection, peer):
        connection.agree_on(DIALECT)
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                with pytest.raises(NotFound):
                    await connection.call("fs/read_text_file", b"{}")

            tasks.start_soon(call)
            request = await peer.asked("fs/read_text_file")
            peer.send({"id": request["id"], "error": {"code": -32012, "message": "no"}})


@pytest.mark.anyio
async def test_a_request_is_not_taken_back_where_nobody_would_understand() -> None:
    """The draft's table 3.8: `$/cancel_request` is neither sent nor heeded."""
    role = Role()
    free = anyio.Event()

    def hold(request: Any) -> Any:
        async def work() -> bytes:
            await free.wait()
            return b'"done"'

        return work

    role.methods["hold"] = hold
    async with connected(role) as (connection, peer):
        connection.agree_on(DIALECT)
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(connection.call, "ask", b"{}")
                await peer.asked("ask")
                tasks.cancel_scope.cancel()
            connection.withdraw("ask")
            peer.request(7, "hold")
            peer.send({"method": "$/cancel_request", "params": {"requestId": 7}})
            free.set()
            assert (await peer.answer(7))["result"] == "done"
        assert all(one.get("method") != "$/cancel_request" for one in peer.messages)
