"""What the log says about malformed lines and about other mistakes of the peer."""

from __future__ import annotations

import itertools
import json
import logging
from typing import Any

import anyio
import pytest

from accord.connection.notification_shortcut import Shortcut
from accord.connection.peer_mistakes import BAD_RUNS_MAX, KINDS_MAX, PeerMistakes
from tests.connection.raw_peer import Role, connected


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """All that is logged."""
    caplog.set_level("DEBUG", "accord.connection")
    return caplog


def warnings(log: pytest.LogCaptureFixture) -> list[str]:
    """What a person sees who has set up nothing."""
    return [one.getMessage() for one in log.records if one.levelno >= logging.WARNING]


def serving_pings() -> Role:
    """Answers `ping`."""
    role = Role()
    role.methods["ping"] = lambda request: b"{}"
    return role


@pytest.mark.rule("TR-STDIO-08")
async def test_the_first_bad_line_is_quoted_and_the_others_are_counted(
    log: pytest.LogCaptureFixture,
) -> None:
    """TR-STDIO-08: counted and reported locally, once, when the next good frame comes."""
    async with connected(serving_pings()) as (connection, peer):
        connection.mistakes.bad_line_hint = "; it printed this"
        peer.transport.write(b"Downloading 1%\n" + b"Downloading\n" * 8)
        peer.send({"method": "good"})
        peer.request(1, "ping")
        await peer.answer(1)
        assert [one["error"]["code"] for one in peer.messages if "error" in one] == [-32700]
        first, second = warnings(log)
        assert "'Downloading 1%'" in first
        assert first.endswith("; it printed this")
        assert "8 more lines that are not messages" in second


async def test_rows_of_noise_in_one_chunk_are_told_apart(log: pytest.LogCaptureFixture) -> None:
    """Ours: each row has its first line and its count, and a long line is cut."""
    async with connected(serving_pings()) as (_, peer):
        good = b'{"jsonrpc":"2.0","method":"good","params":{}}\n'
        peer.transport.write(b"a\nb\n" + good + b"x" * 1000 + b"\n\n\ny\ny\n" + good)
        peer.request(1, "ping")
        await peer.answer(1)
        said = warnings(log)
        assert [one.split(":")[0] for one in said] == ["bad frame", "bad frames"] * 2
        assert "1 more line that is not a message" in said[1]
        assert "x…" not in said[2]
        assert len(said[2]) < 400
        assert "2 more lines" in said[3]


async def test_a_message_with_a_mistake_in_it_is_not_called_a_stray_print(
    log: pytest.LogCaptureFixture,
) -> None:
    """Ours: a hint that leads astray is worse than none."""
    async with connected(serving_pings()) as (connection, peer):
        connection.mistakes.bad_line_hint = "; it printed this"
        peer.transport.write(b' {"jsonrpc":"2.0","method":"good","params":{"a":NaN}}\n')
        peer.request(1, "ping")
        await peer.answer(1)
        (said,) = warnings(log)
        assert "NaN" in said
        assert "it printed this" not in said


async def test_noise_between_all_messages_makes_no_storm(log: pytest.LogCaptureFixture) -> None:
    """Ours: an agent that prints a line with each update is told on about, but not for ever."""
    async with connected(serving_pings()) as (_, peer):
        good = b'{"jsonrpc":"2.0","method":"good","params":{}}\n'
        peer.transport.write((b"a\nb\n" + good) * 500)
        peer.request(1, "ping")
        await peer.answer(1)
        said = warnings(log)
        assert [one.split(":")[0] for one in said].count("bad frame") == BAD_RUNS_MAX
        assert said[-1].endswith("further bad frames are not logged")


async def test_noise_up_to_the_end_is_counted_at_the_end(log: pytest.LogCaptureFixture) -> None:
    """Ours: no good frame comes any more."""
    async with connected() as (connection, peer):
        peer.transport.write(b"x\n" * 2000)
        await peer.transport.aclose()
        await connection.closed.wait()
    assert "1999 more lines" in warnings(log)[-1]
    assert len(warnings(log)) == 2


async def test_what_is_tolerated_is_logged_once_per_kind(log: pytest.LogCaptureFixture) -> None:
    """Issue 2: tolerated and logged; numbers and repetitions make no storm."""
    role = serving_pings()
    async with connected(role) as (_, peer):
        peer.transport.write(b'{"method":"unversioned","params":{}}\n' * 5)
        peer.send(*({"id": 1000 + n, "result": {}} for n in range(5)))
        peer.send({"id": None, "error": {"code": -32700, "message": "what?"}})
        peer.send(*({"method": 5} for _ in range(5)))
        peer.transport.write(
            b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"a":1e400}}\n' * 5
        )
        peer.request(1, "ping")
        await peer.answer(1)
    assert len(role.notifications) == 5
    said = [one.getMessage() for one in log.records]
    assert len(said) == 5
    assert [one.startswith("tolerated: ") for one in said] == [True, True, True, False, True]
    assert 'jsonrpc is not "2.0"' in said[0]
    assert "an answer to request 1000, which was never made" in said[1]
    assert "could not read one of our messages: what? (code -32700)" in said[2]
    assert "refused a frame: the method is not a string" in said[3]
    assert "ignored the notification $/cancel_request" in said[4]
    assert "Traceback" not in log.text


def test_kinds_are_bounded(log: pytest.LogCaptureFixture) -> None:
    """Ours: a peer cannot fill the log with ever new mistakes."""
    mistakes = PeerMistakes(strict=False, break_off=pytest.fail)
    for number in range(3 * KINDS_MAX):
        mistakes.tolerate("x" * (number + 1))
    assert len(log.records) == KINDS_MAX + 1
    assert "not logged" in log.records[-1].getMessage()


async def test_second_and_late_answers_are_told_apart(log: pytest.LogCaptureFixture) -> None:
    """Ours: a late answer to what we gave up is nobody's mistake, and a second one is named."""
    async with connected(serving_pings()) as (connection, peer):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.call, "slow", b"{}")
            question = await peer.asked("slow")
            tasks.cancel_scope.cancel()
        answer = {"id": question["id"], "result": {}}
        peer.send(answer, answer)
        peer.request(1, "ping")
        await peer.answer(1)
    late, second = (one for one in log.records if "answer to request" in one.getMessage())
    assert (late.levelname, second.levelname) == ("DEBUG", "WARNING")
    assert "a late answer to request 1" in late.getMessage()
    assert "a second or late answer to request 1" in second.getMessage()


async def test_a_frame_that_a_shortcut_takes_is_a_good_one(log: pytest.LogCaptureFixture) -> None:
    """Ours: noise ends there, what it leaves comes the long way, what it raises harms nobody."""
    role = serving_pings()
    taken: list[bytes] = []

    def read(frame: bytes) -> bytes | None:
        if b"unreadable" in frame:
            raise RuntimeError("no use")
        return frame if b"quick" in frame or b"broken" in frame else None

    def handle(frame: bytes) -> None:
        if b"broken" in frame:
            raise RuntimeError("no use")
        taken.append(frame)

    async with connected(role) as (connection, peer):
        connection.shortcut = Shortcut("broken", read, lambda frames: [], handle)
        quick = b'{"jsonrpc":"2.0","method":"quick"}\n'
        slow = b'{"jsonrpc":"2.0","method":"slow"}\n'
        broken = b'{"jsonrpc":"2.0","method":"broken"}\n'
        unreadable = b'{"jsonrpc":"2.0","method":"unreadable"}\n'
        sent = b"a\nb\n" + quick + b"c\n" + slow + broken + unreadable + quick
        peer.transport.write(sent)
        peer.request(1, "ping")
        await peer.answer(1)
    assert len(taken) == 2
    assert role.notifications == [("slow", {})]
    codes = [one["error"]["code"] for one in peer.messages if "error" in one]
    # Each row of noise has its answer, and there were two.
    assert codes == [-32700, -32700]
    assert log.text.count("handling the notification") == 2


@pytest.mark.parametrize("ends_at", [None, 3])
async def test_many_frames_of_a_shortcut_are_taken_together(
    ends_at: int | None, log: pytest.LogCaptureFixture
) -> None:
    """Ours: in order, until the end; what one of them raises harms no other, and noise is over."""
    role = serving_pings()
    handled: list[int] = []

    def read_all(frames: list[bytes]) -> list[Any]:
        good = itertools.takewhile(lambda frame: frame.startswith(b'{"jsonrpc"'), frames)
        return [json.loads(frame)["params"] for frame in good]

    async with connected(role) as (connection, peer):

        def handle(number: int) -> None:
            handled.append(number)
            if number == 2:
                raise RuntimeError("no use")
            if number == ends_at:
                connection.break_off("enough")

        connection.shortcut = Shortcut("many", lambda frame: None, read_all, handle)
        frames = [b'{"jsonrpc":"2.0","method":"many","params":%d}\n' % at for at in range(100)]
        for chunk in (b"noise\n", b"".join(frames), b"noise\n"):
            connection.data_received(chunk)
        if ends_at is None:
            peer.request(1, "ping")
            await peer.answer(1)
        else:
            await connection.closed.wait()
    assert handled == list(range(100 if ends_at is None else ends_at + 1))
    assert "handling the notification many failed" in log.text
    if ends_at is None:
        codes = [one["error"]["code"] for one in peer.messages if "error" in one]
        assert codes == [-32700, -32700]


@pytest.mark.parametrize("before", [0, 10, 100])
async def test_many_frames_of_which_some_are_others_are_taken_in_order(before: int) -> None:
    """Ours: in wire order, whatever is between them."""
    role = serving_pings()
    quick = b'{"jsonrpc":"2.0","method":"quick"}'
    slow = b'{"jsonrpc":"2.0","method":"slow"}'
    async with connected(role) as (connection, peer):
        seen: list[int] = []

        def handle(frame: bytes) -> None:
            seen.append(len(role.notifications))

        def read(frame: bytes) -> bytes | None:
            return frame if frame == quick else None

        def read_all(frames: list[bytes]) -> list[Any]:
            return list(itertools.takewhile(quick.__eq__, frames))

        connection.shortcut = Shortcut("quick", read, read_all, handle)
        frames = [*[quick] * before, slow, *[quick] * 70, slow, slow, *[quick] * 5]
        connection.data_received(b"\n".join(frames) + b"\n")
        peer.request(1, "ping")
        await peer.answer(1)
    assert seen == [0] * before + [1] * 70 + [3] * 5
    assert role.notifications == [("slow", {})] * 3
