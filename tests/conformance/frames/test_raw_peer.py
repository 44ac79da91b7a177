"""The kit's own peer, against programs that answer, babble, hang and die."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from accord.conformance.frames import raw_peer as wire
from accord.conformance.frames.raw_peer import Frame, Gone, Reply, Unanswered, same
from accord.conformance.run.program import NotStarted, Program, started
from tests.hang_limit import HANG_SECONDS

ECHO = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "ask":
        print(json.dumps({"jsonrpc": "2.0", "id": "mine", "method": "who", "params": m["params"]}))
    elif "id" in m:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": {"got": m.get("result", 1)}}))
    sys.stdout.flush()
"""


@asynccontextmanager
async def program(source: str, folder: Path, patience: float = 5) -> AsyncGenerator[Program]:
    command = [sys.executable, "-c", source]
    async with started(command, folder=str(folder), env={}, patience=patience) as running:
        yield running


async def test_requests_are_answered_and_everything_is_kept(tmp_path: Path) -> None:
    """Ours: the transcript is the evidence."""
    with anyio.fail_after(HANG_SECONDS):
        async with program(ECHO, tmp_path) as running:
            answer = await running.peer.call("hello", {"a": 1})
            assert answer == {"jsonrpc": "2.0", "id": 1, "result": {"got": 1}}
    assert [frame.sent for frame in running.peer.frames] == [True, False]
    assert running.process.returncode is not None


async def test_requests_of_the_program_reach_a_responder_or_are_refused(tmp_path: Path) -> None:
    """Ours: the kit plays a whole client."""
    with anyio.fail_after(HANG_SECONDS):
        async with program(ECHO, tmp_path) as running:

            async def who(params: dict[str, object]) -> Reply:
                return Reply({"name": params["name"]})

            running.peer.responders["who"] = who
            await running.peer.notify("ask", {"name": "Ada"})
            frame = await running.peer.expect(lambda one: one.is_response, "the echo")
            assert frame.object["result"] == {"got": {"name": "Ada"}}
            # Params of another shape than a responder goes on from are its caller's fault.
            await running.peer.notify("ask", {})
            await running.peer.expect(
                lambda one: one.is_response, "the echo", since=len(running.peer.frames)
            )
            assert '"code":-32602' in str([one.raw for one in running.peer.frames])


async def test_bytes_that_are_no_messages_are_kept_with_their_flaw(tmp_path: Path) -> None:
    """Ours: a hostile program raises nothing."""
    source = r"import sys; sys.stdout.buffer.write(b'hi\n\xff\n[[[[\n{}\n5\nlast')"
    with anyio.fail_after(HANG_SECONDS):
        async with program(source, tmp_path) as running:
            await running.peer.closed.wait()
    flaws = [(frame.raw, frame.flaw) for frame in running.peer.frames]
    assert flaws == [
        (b"hi", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[[[[", "not JSON"),
        (b"{}", ""),
        (b"5", ""),
        (b"last", "the last line has no newline"),
    ]
    assert running.peer.frames[4].object == {}


async def test_waiting_has_a_bound_and_death_is_told(tmp_path: Path) -> None:
    """Issue: a run never hangs."""
    with anyio.fail_after(HANG_SECONDS):
        async with program("import time; time.sleep(60)", tmp_path, patience=0.05) as running:
            with pytest.raises(Unanswered, match="did not come within"):
                await running.peer.call("hello")
        async with program("pass", tmp_path) as running:
            with pytest.raises(Gone):
                await running.peer.call("hello")


async def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    """Issue: nothing is left running."""
    source = (
        "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', "
        "'import time; time.sleep(60)']); print('{\"pid\": %d}' % p.pid, flush=True); "
        "sys.stdin.read()"
    )
    with anyio.fail_after(HANG_SECONDS):
        async with program(source, tmp_path) as running:
            frame = await running.peer.expect(lambda one: True, "the pid")
        stat = Path(f"/proc/{frame.object['pid']}/stat")
        while stat.exists() and " Z " not in stat.read_text():
            await anyio.lowlevel.checkpoint()


async def test_a_command_that_does_not_exist_is_said_so(tmp_path: Path) -> None:
    """Ours: that does not fail a rule."""
    with pytest.raises(NotStarted, match="no-such-program"):
        async with started([str(tmp_path / "no-such-program")], folder=str(tmp_path), env={}):
            pass


async def test_reading_can_be_held(tmp_path: Path) -> None:
    """Issue: a peer that reads slowly."""
    with anyio.fail_after(HANG_SECONDS):
        async with program(ECHO, tmp_path) as running:
            await running.peer.call("one")
            running.peer.hold_reading()
            await running.peer.ask("two")
            await running.peer.ask("three")
            running.peer.go_on_reading()
            await running.peer.answer_to(3)


def test_ids_are_compared_with_their_type() -> None:
    """Spec: the same JSON type."""
    assert same(7, 7)
    assert not same(7, "7")
    assert not same(1, True)
    assert not same(1, 1.0)


def test_a_frame_knows_what_it_is() -> None:
    """Ours: one place that tells requests, notifications and responses apart."""
    request = Frame(0, False, b"", {"id": None, "method": "x", "params": [1]})
    assert request.is_request
    assert request.params == {}
    assert not request.is_response
    assert Frame(0, False, b"", {"method": "x"}).is_notification
    assert Frame(0, False, b"", {"id": 1, "error": {}}).is_response
    assert not Frame(0, False, b"", {"id": 1, "method": 5}).is_request


async def test_a_flood_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: never trusts the judged."""
    monkeypatch.setattr(wire, "FRAMES_MAX", 100)
    with anyio.fail_after(HANG_SECONDS):
        async with program("while True: print('{}', flush=True)", tmp_path) as running:
            await running.peer.closed.wait()
    monkeypatch.setattr(wire, "FRAME_BYTES_MAX", 1000)
    source = "import sys\nwhile True: sys.stdout.write('x' * 100)"
    with anyio.fail_after(HANG_SECONDS):
        async with program(source, tmp_path) as running:
            await running.peer.closed.wait()
