"""Our calls: their outcomes, their places, and giving them up."""

from __future__ import annotations

import json
import math
from typing import Any

import anyio
import pytest

from accord.connection import Limits
from accord.connection.outgoing_calls import MALFORMED_BYTES_KEPT, Call, PendingCalls
from accord.errors import (
    AuthenticationRequired,
    ConnectionLost,
    MethodMissing,
    RateLimited,
    RemoteProtocolError,
    RequestFailed,
)
from accord.jsonrpc.events import CallFailed
from accord.jsonrpc.framing import Lines
from accord.jsonrpc.peer import Peer
from accord.schema.codec import to_python
from accord.schema.struct import Raw
from tests.connection.raw_peer import SECONDS, RawPeer, connected


async def outcome_of(answer: dict[str, Any]) -> Any:
    """What a caller gets for an answer, result or exception."""
    found: list[Any] = []
    async with connected() as (connection, peer), anyio.create_task_group() as tasks:

        async def call() -> None:
            try:
                found.append(to_python(await connection.call("ask", b"{}")))
            except Exception as error:
                found.append(error)

        tasks.start_soon(call)
        question = await peer.asked("ask")
        peer.send({"id": question["id"], **answer})
        with anyio.fail_after(SECONDS):
            while not found:
                await anyio.lowlevel.checkpoint()
    return found[0]


@pytest.mark.parametrize("result", [{}, {"a": [1]}, None, 5, "text", [], False])
async def test_a_result_of_any_kind_is_handed_on(result: Any) -> None:
    """Ours: what it must be is the caller's business."""
    assert await outcome_of({"result": result}) == result


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": -32000, "message": "login"}, AuthenticationRequired),
        ({"code": -32601, "message": "no", "data": {"method": "ask"}}, MethodMissing),
        ({"code": 1, "message": "x", "data": {"reason": "rate_limited"}}, RateLimited),
        ({"code": 7, "message": "own"}, RequestFailed),
    ],
)
async def test_an_error_is_raised_by_its_kind(
    error: dict[str, Any], kind: type[RequestFailed]
) -> None:
    """Issue: errors are typed."""
    raised = await outcome_of({"error": error})
    assert type(raised) is kind
    assert (raised.method, raised.code, raised.data) == ("ask", error["code"], error.get("data"))


@pytest.mark.parametrize(
    "answer",
    [
        {"error": "boom"},
        {"error": None},
        {"error": {}},
        {"error": {"code": "x", "message": 5}},
        {"result": {}, "error": {"code": 1, "message": "both"}},
        {},
        # Python writes these as NaN and Infinity, which are not JSON.
        {"result": {"x": math.nan}},
        {"result": math.inf},
    ],
)
async def test_a_malformed_answer_fails_its_call_and_no_other(answer: dict[str, Any]) -> None:
    """A fault of others: the caller waits for ever, or the whole connection dies.

    It is never told as an internal error that the peer did not report, and what came is shown.
    """
    error = await outcome_of(answer)
    assert isinstance(error, RemoteProtocolError)
    assert str(error).startswith("ask: the ")
    assert error.received is not None
    assert json.loads(error.received)["id"] == 1
    assert error.received in str(error)


async def test_a_long_malformed_answer_is_not_kept_whole() -> None:
    """Ours: an error is for people."""
    error = await outcome_of({"error": "x" * 100_000})
    assert isinstance(error, RemoteProtocolError)
    assert error.received is not None
    assert len(error.received) == MALFORMED_BYTES_KEPT


@pytest.mark.parametrize("how", ["cut", "fraction"])
async def test_an_answer_that_breaks_off_or_writes_a_fraction_leaves_nobody_waiting(
    how: str,
) -> None:
    """A fault of others: half a line, or an id such as 1.0, and the caller waits for ever."""
    async with connected() as (connection, peer), anyio.create_task_group() as tasks:

        async def answer() -> None:
            await peer.asked("ask")
            line = '{"jsonrpc":"2.0","id":1.0,"result":{"x":1}}'
            cut = '{"jsonrpc":"2.0","id":1,"result":{"x":"hal'
            peer.transport.write((line if how == "fraction" else cut).encode() + b"\n")

        tasks.start_soon(answer)
        with anyio.fail_after(SECONDS):
            if how == "fraction":
                assert to_python(await connection.call("ask", b"{}")) == {"x": 1}
            else:
                with pytest.raises(RemoteProtocolError, match="ask: the answer is malformed"):
                    await connection.call("ask", b"{}")


async def test_an_id_that_comes_back_as_a_string_still_finds_its_call() -> None:
    """A fault of others: the caller waits for ever."""
    async with connected() as (connection, peer), anyio.create_task_group() as tasks:

        async def answer() -> None:
            question = await peer.asked("ask")
            peer.send({"id": str(question["id"]), "result": {"x": 1}})

        tasks.start_soon(answer)
        with anyio.fail_after(SECONDS):
            assert to_python(await connection.call("ask", b"{}")) == {"x": 1}


def test_data_of_an_error_that_python_cannot_hold_is_kept_as_text() -> None:
    """Ours: 1e400 is legal JSON, and its caller must not wait for ever because of it."""
    calls, call = PendingCalls(Peer(), Lines()), Call("ask", None)
    started = calls.start(call, b"{}")
    assert started is not None
    call_id, _ = started
    calls.failed(CallFailed(call_id, -1, "text", Raw(b"1e400")), b"")
    assert isinstance(call.error, RequestFailed)
    assert call.error.data == "1e400"


def test_an_outcome_for_a_call_that_nobody_waits_for_is_dropped() -> None:
    """It was given up."""
    calls, call = PendingCalls(Peer(), Lines()), Call("ask", None)
    started = calls.start(call, b"{}")
    assert started is not None
    call_id, _ = started
    assert calls.give_up(call_id)
    assert not calls.give_up(call_id)
    calls.answered(call_id, Raw(b"{}"))
    calls.failed(CallFailed(call_id, -1, "text", None), b"")
    assert not call.answered.is_set()


async def test_what_the_look_at_a_result_raises_is_raised_in_the_caller() -> None:
    """Ours: reading goes on."""
    async with connected() as (connection, peer), anyio.create_task_group() as tasks:

        async def answer() -> None:
            question = await peer.asked("ask")
            peer.send({"id": question["id"], "result": {}})

        def look(result: Raw) -> None:
            raise ValueError("not what was agreed")

        tasks.start_soon(answer)
        with anyio.fail_after(SECONDS), pytest.raises(ValueError, match="agreed"):
            await connection.call("ask", b"{}", on_result=look)
        connection.require_open("go on")


@pytest.mark.rule("V1-CREQ-06")
async def test_a_caller_that_is_cancelled_tells_the_peer_and_drops_the_answer() -> None:
    """A fault of others: nothing is sent at all."""
    async with connected() as (connection, peer):
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:

                async def call() -> None:
                    await connection.call("ask", b"{}")

                tasks.start_soon(call)
                question = await peer.asked("ask")
                tasks.cancel_scope.cancel()
        cancel = await peer.asked("$/cancel_request")
        assert cancel["params"] == {"requestId": question["id"]}
        assert "id" not in cancel
        peer.send({"id": question["id"], "result": {}})
        async with anyio.create_task_group() as tasks:

            async def answer() -> None:
                again = await peer.asked("again")
                peer.send({"id": again["id"], "result": {"x": 2}})

            tasks.start_soon(answer)
            assert to_python(await connection.call("again", b"{}")) == {"x": 2}


async def test_open_calls_of_a_method_can_be_withdrawn_and_still_get_their_answer() -> None:
    """Ours: for questions to a user who is no longer needed."""
    async with connected() as (connection, peer), anyio.create_task_group() as tasks:
        results: list[Any] = []

        async def call(method: str) -> None:
            results.append(to_python(await connection.call(method, b"{}")))

        tasks.start_soon(call, "ask")
        tasks.start_soon(call, "other")
        question, other = await peer.asked("ask"), await peer.asked("other")
        connection.withdraw("ask")
        cancel = await peer.asked("$/cancel_request")
        assert cancel["params"] == {"requestId": question["id"]}
        peer.send({"id": question["id"], "result": 1}, {"id": other["id"], "result": 2})
        with anyio.fail_after(SECONDS):
            while len(results) < 2:
                await anyio.lowlevel.checkpoint()
    assert sorted(results) == [1, 2]


async def answer_all(peer: RawPeer, count: int) -> None:
    """Answer the first so many questions, as they come."""
    for at in range(count):
        while len(peer.messages) <= at:
            await anyio.lowlevel.checkpoint()
        peer.send({"id": peer.messages[at]["id"], "result": at})


@pytest.mark.rule("LIM-02")
async def test_callers_over_the_limit_wait_and_all_get_their_turn() -> None:
    """Issue: our own caller waits; a place that is freed wakes everybody."""
    async with connected(limits=Limits(pending_requests=2)) as (connection, peer):
        done: list[int] = []

        async def call(number: int) -> None:
            await connection.call("ask", b"{}")
            done.append(number)

        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(call, number)
                await peer.until(lambda: len(peer.messages) == 2)
                await anyio.wait_all_tasks_blocked()
                assert len(peer.messages) == 2
                await answer_all(peer, 20)
    assert sorted(done) == list(range(20))


async def test_giving_up_a_call_makes_place_for_another() -> None:
    """Ours: a place is not lost with its caller."""
    async with connected(limits=Limits(pending_requests=1)) as (connection, peer):
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                scope = anyio.CancelScope()

                async def first() -> None:
                    with scope:
                        await connection.call("first", b"{}")

                async def second() -> None:
                    await connection.call("second", b"{}")

                tasks.start_soon(first)
                await peer.asked("first")
                tasks.start_soon(second)
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
                question = await peer.asked("second")
                peer.send({"id": question["id"], "result": {}})


async def test_callers_that_wait_for_a_place_learn_of_the_end() -> None:
    """Issue 3: none with a hang."""
    async with connected(limits=Limits(pending_requests=1)) as (connection, peer):
        lost: list[str] = []

        async def call(name: str) -> None:
            try:
                await connection.call(name, b"{}")
            except ConnectionLost:
                lost.append(name)

        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                for name in ("a", "b", "c"):
                    tasks.start_soon(call, name)
                await peer.until(lambda: peer.messages)
                await anyio.wait_all_tasks_blocked()
                await peer.transport.aclose()
    assert sorted(lost) == ["a", "b", "c"]


async def test_a_call_without_a_task_ends_once_with_its_result() -> None:
    """Ours: the result is seen in wire order, then the end without an error."""
    seen: list[object] = []
    async with connected() as (connection, peer):
        call_id = connection.begin_call(
            "ask", b"{}", on_result=lambda raw: seen.append(to_python(raw)), on_end=seen.append
        )
        question = await peer.asked("ask")
        assert question["id"] == call_id
        peer.send({"id": call_id, "result": {"a": 1}})
        with anyio.fail_after(SECONDS):
            while len(seen) < 2:
                await anyio.lowlevel.checkpoint()
        assert seen == [{"a": 1}, None]


async def test_a_call_without_a_task_ends_with_what_went_wrong() -> None:
    """Ours: an error of the peer, of whoever reads the result, and the end of the connection."""
    seen: list[object] = []

    def broken(_: Raw) -> None:
        raise ValueError("unreadable")

    async with connected() as (connection, peer):
        for number in range(3):
            connection.begin_call("ask", b"{}", on_result=broken, on_end=seen.append)
            if number == 0:
                question = await peer.asked("ask")
        peer.send({"id": question["id"], "error": {"code": -32601, "message": "no"}})
        peer.send({"id": question["id"] + 1, "result": {}})
        with anyio.fail_after(SECONDS):
            while len(seen) < 2:
                await anyio.lowlevel.checkpoint()
    assert [type(one) for one in seen] == [MethodMissing, ValueError, ConnectionLost]


async def test_a_call_without_a_task_needs_a_place_and_a_peer() -> None:
    """Ours: where it would have to wait, nothing is sent and the caller is told."""
    ends: list[object] = []
    limits = Limits(pending_requests=1)
    async with connected(limits=limits) as (connection, peer):
        first = connection.begin_call("ask", b"{}", on_result=ends.append, on_end=ends.append)
        assert first is not None
        assert connection.begin_call("b", b"{}", on_result=ends.append, on_end=ends.append) is None
        connection.give_up(first)
        connection.give_up(first)
        cancel = await peer.asked("$/cancel_request")
        assert cancel["params"] == {"requestId": first}
        await peer.transport.aclose()
        await connection.closed.wait()
        assert connection.begin_call("c", b"{}", on_result=ends.append, on_end=ends.append) is None
    assert ends == []
