"""The pump: order, answers, ends."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.connection import Connection, IncomingRequest, Limits
from accord.errors import ConnectionLost, LimitExceeded, LocalProtocolError, RequestError
from accord.jsonrpc.envelope import notification_frame
from accord.jsonrpc.framing import Framing, splitter_for
from accord.schema.codec import to_python
from accord.schema.struct import Raw
from accord.transport.memory import memory_pair
from accord.transport.transport import Ended
from tests.connection.raw_peer import SECONDS, Role, connected


async def test_notifications_are_handled_in_wire_order_before_the_answer_behind_them() -> None:
    """Issue 2: 10,000 in order; the answer is seen after all that came before it."""
    role = Role()
    seen_at_answer: list[int] = []
    async with connected(role) as (connection, peer), anyio.create_task_group() as tasks:

        async def call() -> None:
            await connection.call(
                "go", b"{}", on_result=lambda raw: seen_at_answer.append(len(role.notifications))
            )
            seen_at_answer.append(len(role.notifications))

        tasks.start_soon(call)
        question = await peer.asked("go")
        before = [peer.update(number) for number in range(10_000)]
        answer = {"id": question["id"], "result": {}}
        peer.send(*before, answer, peer.update(10_000))
    assert [params["n"] for _, params in role.notifications] == list(range(10_001))
    assert seen_at_answer == [10_000, 10_001]


async def test_a_request_runs_beside_the_reading_and_may_call_back() -> None:
    """Ours: a handler that waits for the peer does not stop the peer's answer."""
    role = Role()
    async with connected(role) as (connection, peer):

        def ask_back(request: IncomingRequest) -> Any:
            async def work() -> bytes:
                return bytes(await connection.call("back", b"{}"))

            return work

        role.methods["ask"] = ask_back
        peer.request("a", "ask")
        question = await peer.asked("back")
        peer.send({"id": question["id"], "result": {"x": 1}})
        assert (await peer.answer("a"))["result"] == {"x": 1}


async def test_a_bad_notification_does_not_end_the_reading() -> None:
    """Issue 3: a notification that is malformed."""
    role = Role()
    async with connected(role) as (_, peer):
        role.methods["ping"] = lambda request: b"{}"
        peer.send({"method": "bad"}, {"method": "good", "params": {"x": 1}})
        peer.request(1, "ping")
        await peer.answer(1)
    assert role.notifications == [("good", {"x": 1})]


class Unsayable(RequestError):
    """An error whose data is not JSON."""

    def __init__(self) -> None:
        super().__init__(-32001, "text", {"data": object()})


@pytest.mark.parametrize("is_work", [False, True])
@pytest.mark.parametrize(
    ("error", "code", "data"),
    [
        (RequestError(-32001, "mine", {"a": 1}), -32001, {"a": 1}),
        (RequestError.invalid_params("no", "$.x"), -32602, {"path": "$.x", "reason": "no"}),
        (LocalProtocolError("our own text"), -32603, None),
        (RuntimeError("secret"), -32603, "correlationId"),
        (Unsayable(), -32603, "correlationId"),
    ],
)
async def test_whatever_a_handler_raises_the_request_is_answered(
    is_work: bool, error: Exception, code: int, data: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """Issue: what nobody foresaw gets an id and no text; ours carry their text."""
    role = Role()

    def fail(request: IncomingRequest) -> Any:
        async def work() -> bytes:
            raise error

        if is_work:
            return work
        raise error

    role.methods["fail"] = fail
    async with connected(role) as (_, peer):
        peer.request(1, "fail")
        answer = (await peer.answer(1))["error"]
        assert answer["code"] == code
        if data == "correlationId":
            assert answer["message"] == "Internal error"
            assert answer["data"]["correlationId"] in capfd.readouterr().err
        else:
            assert answer.get("data") == data


async def test_what_follows_an_answer_follows_at_once() -> None:
    """Ours: `on_answered` speaks before anything else does."""
    role = Role()
    async with connected(role) as (connection, peer):

        def new(request: IncomingRequest) -> bytes:
            request.on_answered = lambda: connection.post("commands", b"{}")
            return b"{}"

        role.methods["new"] = new
        peer.request(1, "new")
        peer.request(2, "new")
        await peer.answer(2)
        await peer.until(lambda: len(peer.messages) == 4)
        said = [one.get("method") or one["id"] for one in peer.messages]
        assert said == [1, "commands", 2, "commands"]


async def test_what_fails_behind_an_answer_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: the peer has its answer, and its next question is answered too."""
    role = Role()

    def fail() -> None:
        raise ValueError("too late")

    def new(request: IncomingRequest) -> bytes:
        request.on_answered = fail
        return b"{}"

    role.methods["new"] = new
    async with connected(role) as (_, peer):
        for request_id in (1, 2):
            peer.request(request_id, "new")
            await peer.answer(request_id)
    assert "the callback after the answer to new failed" in caplog.text
    assert "too late" in caplog.text


# ---- ends


async def test_when_the_peer_goes_calls_fail_and_handlers_are_cancelled() -> None:
    """Issue 3: at once, and the handler is told once."""
    role = Role()
    cancelled = anyio.Event()

    def hold(request: IncomingRequest) -> Any:
        async def work() -> bytes:
            try:
                await anyio.sleep_forever()
            finally:
                cancelled.set()
            return b"{}"

        return work

    role.methods["hold"] = hold
    async with connected(role) as (connection, peer):
        peer.request(1, "hold")
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:

                async def leave() -> None:
                    await peer.asked("go")
                    await peer.transport.aclose()

                tasks.start_soon(leave)
                with pytest.raises(ConnectionLost, match="closed the connection"):
                    await connection.call("go", b"{}")
            await cancelled.wait()
            await connection.closed.wait()
        for late in (connection.call("late", b"{}"), connection.notify("late", b"{}")):
            with pytest.raises(ConnectionLost):
                await late
        with pytest.raises(ConnectionLost):
            connection.post("late", b"{}")
        with pytest.raises(LocalProtocolError, match="cannot prompt: the peer closed"):
            connection.require_open("prompt")
    assert len(role.losses) == 1


async def test_nothing_reaches_the_handler_after_the_end() -> None:
    """Ours: `lost` is the last word."""
    role = Role()
    async with connected(role) as (connection, _):
        connection.require_open("work")
        await connection.aclose()
        connection.data_received(b'{"jsonrpc":"2.0","method":"late"}\n')
    assert role.notifications == []
    assert len(role.losses) == 1


async def test_an_error_in_the_block_comes_out_as_it_is() -> None:
    """Ours: not wrapped in a group, so that it can be caught by its class."""
    ours, _ = memory_pair()
    with pytest.raises(KeyError, match="mine"):
        async with Connection(ours, Role()):
            raise KeyError("mine")


@pytest.mark.rule("LIM-03")
async def test_a_frame_over_the_limit_ends_the_connection_with_the_limits_name() -> None:
    """Good frames before it still count."""
    role = Role()
    async with connected(role, Limits(frame_bytes=1000)) as (connection, peer):
        peer.transport.write(b'{"jsonrpc":"2.0","method":"good"}\n' + b"x" * 2000)
        with anyio.fail_after(SECONDS):
            await connection.closed.wait()
            await peer.until(lambda: peer.end is not None)
        assert isinstance(connection.error, LimitExceeded)
        assert (connection.error.limit, connection.error.value) == ("frame_bytes", 1000)
        assert "frame_bytes = 1000" in str(connection.error)
        assert peer.messages == []
    assert [method for method, _ in role.notifications] == ["good"]


@pytest.mark.rule("LIM-01")
async def test_the_depth_is_a_limit_of_the_connection() -> None:
    """A smaller one is kept as well."""
    role = Role()
    role.methods["echo"] = lambda request: bytes(request.params)
    async with connected(role, Limits(depth=10)) as (_, peer):
        for depth, name in ((7, "shallow"), (12, "deep")):
            nested: Any = 1
            for _ in range(depth):
                nested = [nested]
            peer.request(name, "echo", {"x": nested})
        assert "result" in await peer.answer("shallow")
        assert (await peer.answer("deep"))["error"]["code"] == -32600


@pytest.mark.parametrize("options", [{"accept_batches": True}, {}])
async def test_batches_are_v2s_or_an_option_and_answered_in_one_frame(
    options: dict[str, Any],
) -> None:
    """Spec: in v1 refused whole, unless a program wants them."""
    role = Role()
    role.methods["echo"] = lambda request: bytes(request.params)
    batch = b'[{"jsonrpc":"2.0","id":1,"method":"echo","params":{}},1]\n'
    async with connected(role) as (_, peer):
        peer.transport.write(batch)
        assert (await peer.answer(None))["error"]["code"] == -32600
    async with connected(role, **options) as (connection, peer):
        if not options:
            connection.peer.set_version(2)
        lines = await lines_until(peer, b'"id":2', batch, echo(2))
    array = to_python(lines[0])
    assert sorted(str(one["id"]) for one in array) == ["1", "None"]


async def test_what_follows_an_answer_follows_the_array_that_it_goes_with() -> None:
    """Ours: nothing is told of what the peer cannot know yet, and a failure harms nobody."""
    role = Role()
    go_on = anyio.Event()
    role.methods["echo"] = lambda request: bytes(request.params)

    async def last() -> bytes:
        await go_on.wait()
        return b"{}"

    def first(request: IncomingRequest) -> bytes:
        request.on_answered = lambda: connection.post("behind", b"{}")
        return b"{}"

    role.methods["first"], role.methods["last"] = first, lambda request: last
    entries = b'{"jsonrpc":"2.0","id":1,"method":"first"},{"jsonrpc":"2.0","id":2,"method":"last"}'
    async with connected(role, accept_batches=True) as (connection, peer):
        await lines_until(peer, b'"id":3', b"[" + entries + b"]\n", echo(3))
        go_on.set()
        lines = await lines_until(peer, b'"behind"')
    assert [b"behind" in line for line in lines] == [False, True]
    assert len(to_python(lines[0])) == 2


def echo(request_id: int) -> bytes:
    """A request that is answered at once."""
    return b'{"jsonrpc":"2.0","id":%d,"method":"echo","params":{}}\n' % request_id


async def lines_until(peer: Any, wanted: bytes, *sent: bytes) -> list[bytes]:
    """Send this and read lines until one has what is wanted."""
    read: list[bytes] = []
    peer.data_received = read.append
    for one in sent:
        peer.transport.write(one)
    with anyio.fail_after(SECONDS):
        while wanted not in b"".join(read):
            await anyio.lowlevel.checkpoint()
    return b"".join(read).splitlines()


async def test_null_params_of_a_request_are_none() -> None:
    """Ours: some peers send null where they mean nothing."""
    role = Role()
    role.methods["echo"] = lambda request: bytes(request.params)
    async with connected(role) as (_, peer):
        peer.send({"id": 1, "method": "echo", "params": None}, {"id": 2, "method": "echo"})
        assert (await peer.answer(1))["result"] == {}
        assert (await peer.answer(2))["result"] == {}


async def test_a_job_runs_in_the_connection_and_ends_with_it() -> None:
    """Workers are kept and used again; none outlives the connection."""
    ran: list[int] = []
    async with connected() as (connection, _):
        for number in range(40):

            async def job(number: int = number) -> None:
                await anyio.lowlevel.checkpoint()
                ran.append(number)

            connection.run(job)
        with anyio.fail_after(SECONDS):
            while len(ran) < 40:
                await anyio.lowlevel.checkpoint()
            connection.run(job)
            while len(ran) < 41:
                await anyio.lowlevel.checkpoint()
    assert sorted(set(ran)) == list(range(40))


class Broken:
    """A transport that does not start."""

    backlog = 0

    async def start(self, receiver: Any, tasks: Any) -> None:
        raise OSError("no such pipe")

    async def aclose(self) -> None: ...


async def test_a_transport_that_does_not_start_says_so() -> None:
    """Ours: its own error, unwrapped, and no task is left."""
    transport: Any = Broken()
    with anyio.fail_after(SECONDS), pytest.raises(OSError, match="no such pipe"):
        async with Connection(transport, Role()):
            pytest.fail("it did not start")


async def test_an_end_that_is_not_clean_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: an agent's log says why its client is gone."""
    async with connected() as (connection, _):
        connection.ended(Ended("the peer read nothing for 60 s"))
        connection.ended(Ended("twice"))
        assert connection.error is not None
        assert connection.error.message == "the peer read nothing for 60 s"
    assert "read nothing" in caplog.text


class Receiver:
    """Keeps the bytes that arrive."""

    def __init__(self) -> None:
        self.data = b""

    def data_received(self, data: bytes) -> None:
        """Keep them."""
        self.data += data

    def ended(self, why: Ended) -> None:
        """Nothing more comes."""


@pytest.mark.parametrize("framing", ["lines", "content-length", None])
async def test_what_is_sent_very_often_has_a_short_way(framing: Framing | None) -> None:
    """Ours: the same frames, the same limit, and the same end."""
    ours, theirs = memory_pair()
    received = Receiver()
    limits = Limits(frame_bytes=100)
    async with anyio.create_task_group() as tasks:
        await theirs.start(received, tasks)
        async with Connection(ours, Role(), limits=limits, framing=framing) as connection:
            post = connection.poster("update", b'{"n":', b"}")
            room = b'"%b"' % (b"x" * (100 - len(notification_frame("update", b'{"n":""}'))))
            values = (b"1", b'{"a":\n1}', b"[\r]", room)
            for value in values:
                assert post(value) is False
            with pytest.raises(LocalProtocolError, match="update is too long"):
                post(room + b" ")
            await connection.aclose()
            with pytest.raises(ConnectionLost):
                post(b"1")
        await theirs.aclose()
    splitter = splitter_for(framing)
    frames = [notification_frame("update", b'{"n":%b}' % value) for value in values]
    assert received.data == splitter.encode_all(frames)


async def test_a_large_answer_waits_for_a_slow_peer_in_its_own_task() -> None:
    """Ours: the next request is served meanwhile."""
    role = Role()

    def large(request: IncomingRequest) -> Any:
        async def work() -> bytes:
            return b'"%b"' % (b"x" * 3_000_000)

        return work

    role.methods["large"] = large
    async with connected(role) as (_, peer):
        peer.transport.pause()
        peer.request(1, "large")
        await anyio.wait_all_tasks_blocked()
        peer.request(2, "large")
        await anyio.wait_all_tasks_blocked()
        peer.transport.resume()
        for request_id in (1, 2):
            assert len((await peer.answer(request_id))["result"]) == 3_000_000


@pytest.mark.parametrize("leaving", [SystemExit(7), KeyboardInterrupt()])
async def test_an_exit_over_the_last_frames_of_a_peer_goes_through_the_group(
    leaving: BaseException,
) -> None:
    """Ours: bare, it would stop the event loop with everything still open."""

    class Leaving(Role):
        def notification(self, method: str, params: Raw) -> None:
            raise leaving

    role = Leaving()

    async def conversation() -> None:
        async with connected(role) as (_, peer):
            # No line end: it is read when the peer has gone.
            peer.transport.write(b'{"jsonrpc":"2.0","method":"update"}')
            await peer.transport.aclose()
            await anyio.sleep_forever()

    with anyio.fail_after(SECONDS), pytest.raises(BaseExceptionGroup) as caught:
        await conversation()
    assert caught.value.subgroup(lambda one: one is leaving) is not None
    assert len(role.losses) == 1
