"""The peer's requests: withdrawn, too many, and still answered once."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.connection import IncomingRequest, Limits
from accord.connection.limits import LAST_ANSWERS_SECONDS_MAX
from accord.transport.transport import Ended
from tests.connection.raw_peer import SECONDS, RawPeer, Role, connected


class Holding(Role):
    """A role whose requests wait; they can be let go, and tell when they end."""

    def __init__(self) -> None:
        super().__init__()
        self.free = anyio.Event()
        self.ends: list[Any] = []
        self.methods["hold"] = self._hold
        self.methods["turn"] = self._turn
        self.methods["deaf"] = self._deaf
        self.methods["ping"] = lambda request: b'"pong"'

    def _hold(self, request: IncomingRequest) -> Any:
        async def work() -> bytes:
            try:
                await self.free.wait()
            finally:
                self.ends.append(request.id)
            return b'"done"'

        return work

    def _turn(self, request: IncomingRequest) -> Any:
        stopped = anyio.Event()
        request.on_cancel = stopped.set

        async def work() -> bytes:
            await stopped.wait()
            return b'"stopped"'

        return work

    def _deaf(self, request: IncomingRequest) -> Any:
        async def work() -> bytes:
            try:
                await self.free.wait()
            except anyio.get_cancelled_exc_class():
                return b'"late"'
            return b'"done"'

        return work


def cancel(peer: RawPeer, request_id: Any) -> None:
    """`$/cancel_request`."""
    peer.send({"method": "$/cancel_request", "params": {"requestId": request_id}})


def answers(peer: RawPeer, request_id: Any) -> list[Any]:
    """All answers with an id."""
    return [one for one in peer.messages if one.get("id") == request_id and "method" not in one]


@pytest.mark.rule("V1-CREQ-02", "V2-CANCEL-14", "V2-CANCEL-15")
async def test_a_withdrawn_request_is_cancelled_and_answered_once() -> None:
    """-32800, and a second withdrawal changes nothing."""
    role = Holding()
    async with connected(role) as (_, peer):
        peer.request(1, "hold")
        peer.request(2, "ping")
        await peer.answer(2)
        cancel(peer, 1)
        assert (await peer.answer(1))["error"]["code"] == -32800
        cancel(peer, 1)
        peer.request(3, "ping")
        await peer.answer(3)
        assert len(answers(peer, 1)) == 1
    assert role.ends == [1]


async def test_a_request_that_is_withdrawn_in_the_same_breath_never_runs_on() -> None:
    """Ours: the withdrawal may come before the work began."""
    role = Holding()
    async with connected(role) as (_, peer):
        withdrawal = {"method": "$/cancel_request", "params": {"requestId": 1}}
        peer.send({"id": 1, "method": "hold"}, withdrawal)
        assert (await peer.answer(1))["error"]["code"] == -32800


@pytest.mark.rule("V2-CANCEL-13")
async def test_only_the_peers_own_open_request_with_exactly_that_id_is_withdrawn() -> None:
    """Not ours with the same number, not the string that looks like it, not true for 1."""
    role = Holding()
    async with connected(role) as (connection, peer), anyio.create_task_group() as tasks:
        tasks.start_soon(connection.call, "ours", b"{}")
        question = await peer.asked("ours")
        assert question["id"] == 1
        peer.request("1", "hold")
        wrongs: list[Any] = [1, True, 1.0, None, [], {}, "2"]
        for wrong in wrongs:
            cancel(peer, wrong)
        peer.send({"method": "$/cancel_request"}, {"method": "$/cancel_request", "params": [1]})
        peer.request(2, "ping")
        await peer.answer(2)
        assert answers(peer, "1") == []
        cancel(peer, "1")
        assert (await peer.answer("1"))["error"]["code"] == -32800
        peer.send({"id": 1, "result": {}})


async def test_work_that_ends_in_its_own_way_is_asked_to() -> None:
    """Design: a running turn ends `cancelled`, never as an error."""
    async with connected(Holding()) as (_, peer):
        peer.request(1, "turn")
        peer.request(2, "ping")
        await peer.answer(2)
        cancel(peer, 1)
        assert (await peer.answer(1))["result"] == "stopped"


async def test_work_that_swallows_its_cancellation_gives_its_result() -> None:
    """V1-CREQ-02: a normal result is an answer too."""
    async with connected(Holding()) as (_, peer):
        peer.request(1, "deaf")
        peer.request(2, "ping")
        await peer.answer(2)
        cancel(peer, 1)
        assert (await peer.answer(1))["result"] == "late"
        assert len(answers(peer, 1)) == 1


@pytest.mark.rule("LIM-02")
async def test_one_request_too_many_is_refused_until_one_is_done() -> None:
    """The open ones are not touched."""
    role = Holding()
    async with connected(role, Limits(pending_requests=3)) as (_, peer):
        for name in ("a", "b", "c", "d", "e"):
            peer.request(name, "hold")
        for name in ("d", "e"):
            error = (await peer.answer(name))["error"]
            assert error["code"] == -32603
            assert error["data"] == {"reason": "too_many_requests"}
        cancel(peer, "b")
        await peer.answer("b")
        peer.request("f", "hold")
        peer.request("g", "hold")
        assert (await peer.answer("g"))["error"]["code"] == -32603
        role.free.set()
        for name in ("a", "c", "f"):
            assert (await peer.answer(name))["result"] == "done"


async def test_a_peer_that_only_stopped_sending_gets_its_answers() -> None:
    """TR-STDIO-08, and sessions from a file: what it asked is answered, turns are stopped."""
    role = Holding()
    async with connected(role) as (connection, peer):
        peer.request(1, "hold")
        peer.request(2, "turn")
        peer.request(3, "ping")
        await peer.answer(3)
        connection.ended(Ended("the peer closed the connection", clean=True, writable=True))
        assert (await peer.answer(2))["result"] == "stopped"
        assert connection.error is None
        role.free.set()
        assert (await peer.answer(1))["result"] == "done"
        with anyio.fail_after(SECONDS):
            await connection.closed.wait()


async def test_a_peer_that_stopped_sending_is_not_waited_for_for_ever() -> None:
    """Ours: a handler may take a moment more, not longer."""
    assert LAST_ANSWERS_SECONDS_MAX < SECONDS
    role = Holding()
    async with connected(role) as (connection, peer):
        peer.request(1, "hold")
        peer.request(3, "ping")
        await peer.answer(3)
        connection.ended(Ended("the peer closed the connection", clean=True, writable=True))
        with anyio.fail_after(SECONDS):
            await connection.closed.wait()
        assert answers(peer, 1) == []
    assert role.ends == [1]


async def test_work_that_fails_after_its_answer_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: the peer has its answer and gets no second one; the author must see the error."""
    role = Holding()

    def early(request: IncomingRequest) -> Any:
        async def work() -> None:
            request.settle(b'"early"')
            raise ValueError("too late")

        return work

    role.methods["early"] = early
    async with connected(role) as (_, peer):
        peer.request(1, "early")
        assert (await peer.answer(1))["result"] == "early"
        peer.request(2, "ping")
        await peer.answer(2)
    assert [one.get("id") for one in peer.messages] == [1, 2]
    assert "early failed after its answer" in caplog.text
    assert "too late" in caplog.text
