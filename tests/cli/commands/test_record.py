"""`accord record` between a client and an agent that are both played by the test."""

from __future__ import annotations

import json
import os
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hang_limit import HANG_SECONDS, Patience

ECHO = "import sys,os\nwhile d:=os.read(0,65536): os.write(1,d)\nsys.exit(7)"


def recorded(path: Path) -> list[dict[str, Any]]:
    """The lines behind the first."""
    return [json.loads(line) for line in path.read_bytes().splitlines()[1:]]


class Session:
    """A recorder, its agent, and the pipes to it."""

    def __init__(
        self, tmp_path: Path, program: str, *options: str, output: str | None = None
    ) -> None:
        self.file = tmp_path / "session.jsonl"
        env = {
            **os.environ,
            "ACCORD_STATE_DIR": str(tmp_path / "state"),
            "MY_API_KEY": "abc123def456",
        }
        self.process = subprocess.Popen(
            (
                *(sys.executable, "-m", "accord", "record", "-o", output or str(self.file)),
                *(*options, "--", sys.executable, "-c", program),
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=env,
            bufsize=0,
            start_new_session=True,
        )

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send_for_ever(self, data: bytes) -> None:
        while True:
            self.send(data)

    def read(self, size: int) -> bytes:
        """Exactly so many bytes."""
        assert self.process.stdout is not None
        data = b""
        while len(data) < size:
            ready = select.select([self.process.stdout], [], [], HANG_SECONDS)[0]
            assert ready, f"only {data!r} came"
            chunk = self.process.stdout.read(size - len(data))
            assert chunk, f"only {data!r} came"
            data += chunk
        return data

    def end(self, data: bytes = b"") -> tuple[bytes, bytes, int]:
        """Close, and wait for the end: the rest of both outputs, and the exit code."""
        out, error = self.process.communicate(data, timeout=HANG_SECONDS)
        return out, error, self.process.returncode


@pytest.fixture
def sessions() -> Iterator[list[Session]]:
    """Whatever was started is gone after the test."""
    started: list[Session] = []
    yield started
    for session in started:
        if session.process.poll() is None:
            os.killpg(session.process.pid, signal.SIGKILL)
        for pipe in (session.process.stdin, session.process.stdout, session.process.stderr):
            assert pipe is not None
            pipe.close()
        session.process.wait(HANG_SECONDS)


def test_every_byte_goes_through_both_ways_and_the_exit_code_too(tmp_path: Path) -> None:
    """Issue 4: bytes pass untouched, whatever they are."""
    session = Session(tmp_path, ECHO)
    data = bytes(range(256)) * 4000 + b"\n\r\n{}\n" + os.urandom(100_000)
    out, _, code = session.end(data)
    assert out == data
    assert code == 7
    assert recorded(session.file)[-1]["end"] == {"code": 7}


def test_an_answer_is_paired_with_its_question(tmp_path: Path) -> None:
    """Issue 4: time, direction, pairing."""
    answer = b'{"jsonrpc":"2.0","id":"a","result":{}}'
    program = f"import sys\nfor line in sys.stdin: print({answer.decode()!r}, flush=True)"
    session = Session(tmp_path, program)
    request = b'{"jsonrpc":"2.0","id":"a","method":"initialize"}'
    out, _, _ = session.end(request + b"\n")
    assert out == answer + b"\n"
    asked, answered, _ = recorded(session.file)
    assert (asked["from"], asked["kind"], asked["frame"]) == ("client", "request", request.decode())
    assert (answered["from"], answered["method"]) == ("agent", "initialize")
    assert asked["pair"] == answered["pair"] == 1
    assert 0 <= asked["t"] <= answered["t"]


def test_secrets_are_sent_and_not_written(tmp_path: Path) -> None:
    """Issue 4: redacted in what is written by default, nothing on the wire."""
    program = ECHO + "\n"
    frames = [
        b'{"method":"session/new","params":{"env":[{"name":"A","value":"plain-value-1"}]}}',
        b'{"method":"x","params":{"headers":{"X-Custom":"plain-value-2"}}}',
        b'{"method":"x","params":{"apiKey":"plain-value-3","auth":{"token":"plain-value-4"}}}',
        b'{"method":"x","params":{"text":"it is abc123def456, yes"}}',
    ]
    session = Session(tmp_path, program)
    out, _, _ = session.end(b"\n".join(frames) + b"\n")
    assert out == b"\n".join(frames) + b"\n"
    text = session.file.read_text()
    for secret in ("plain-value-1", "plain-value-2", "plain-value-3", "plain-value-4", "abc123def"):
        assert secret not in text, secret
    assert text.count("[secret]") == 2 * 5


def test_keep_secrets_keeps_them(tmp_path: Path) -> None:
    """Issue 4: by default, so there is another way."""
    session = Session(tmp_path, ECHO, "--keep-secrets")
    session.end(b'{"apiKey":"plain"}\n')
    assert '\\"apiKey\\":\\"plain\\"' in session.file.read_text()


def test_stderr_is_passed_on_and_recorded(tmp_path: Path) -> None:
    """Issue 4: stderr of the agent is recorded too."""
    session = Session(
        tmp_path, r"import os; os.write(2, b'one\ntoken=abc123def456\n\xfftwo')", "--quiet"
    )
    _, error, code = session.end()
    assert error == b"one\ntoken=abc123def456\n\xfftwo"
    assert code == 0
    lines = [entry for entry in recorded(session.file) if entry.get("from") == "stderr"]
    assert [line.get("text") for line in lines] == ["one", "token=[secret]", None]
    assert lines[2]["base64"] == "/3R3bw=="


def test_the_file_is_private_and_never_written_over(tmp_path: Path) -> None:
    """Issue 4: 0600; ours: an editor that starts agents with one command loses no recording."""
    (tmp_path / "session.jsonl").write_text("mine")
    session = Session(tmp_path, ECHO)
    _, error, _ = session.end()
    assert session.file.read_text() == "mine"
    second = tmp_path / "session-2.jsonl"
    assert b"session-2.jsonl" in error
    assert stat.S_IMODE(second.stat().st_mode) == 0o600
    assert json.loads(second.read_bytes().splitlines()[0])["format"] == "accord-recording"


@pytest.mark.parametrize("output", ["/dev/full", "no/such/folder/x.jsonl"])
def test_a_file_that_cannot_be_written_does_not_reach_the_session(
    tmp_path: Path, output: str
) -> None:
    """Issue 4: never becomes the reason that a session breaks."""
    session = Session(tmp_path, ECHO, output=output)
    data = b'{"a":1}\n' * 20_000
    out, error, code = session.end(data)
    assert out == data
    assert code == 7
    assert b"accord record: " in error
    notes = (b"the session is not recorded", b"continues without it", b"is incomplete")
    assert any(note in error for note in notes)


@pytest.mark.parametrize("has_reader", [False, True])
def test_a_file_that_hangs_does_not_reach_the_session(tmp_path: Path, has_reader: bool) -> None:
    """Issue 4: a slow disk; the slowest there is takes nothing at all."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK) if has_reader else None
    try:
        session = Session(tmp_path, ECHO, output=str(fifo))
        data = b'{"method":"_x"}\n' * 50_000
        out, _, code = session.end(data)
    finally:
        # A program that writes to it learns that nobody reads, and ends.
        if reading is not None:
            os.close(reading)
    assert out == data
    assert code == 7


def test_closing_one_end_closes_the_other(tmp_path: Path, sessions: list[Session]) -> None:
    """Ours: an agent whose client is gone must learn it, and the other way round."""
    session = Session(
        tmp_path, "import os,time\nos.close(0)\nos.write(1,b'closed')\ntime.sleep(60)"
    )
    sessions.append(session)
    assert session.read(6) == b"closed"
    with pytest.raises(BrokenPipeError):
        session.send_for_ever(b"x" * 1000)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_agent_and_its_exit_is_ours(
    tmp_path: Path, sessions: list[Session], number: signal.Signals
) -> None:
    """Issue 4: signals as for a child, exit code passed on."""
    program = (
        "import signal,sys,os,time\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(42))\n"
        "os.write(1,b'ready')\ntime.sleep(60)"
    )
    session = Session(tmp_path, program)
    sessions.append(session)
    assert session.read(5) == b"ready"
    os.kill(session.process.pid, number)
    assert session.process.wait(HANG_SECONDS) == 42


def test_an_agent_that_a_signal_ends_ends_us_by_the_same(tmp_path: Path) -> None:
    """Issue 4: exit code passed on; who watches us sees what it would have seen of the agent."""
    session = Session(tmp_path, "import os,signal; os.kill(os.getpid(), signal.SIGTERM)")
    assert session.end()[2] == -signal.SIGTERM
    assert recorded(session.file)[-1]["end"] == {"signal": "SIGTERM"}


def test_kill_9_leaves_no_agent_and_a_readable_file(
    tmp_path: Path, sessions: list[Session]
) -> None:
    """Ours: editors kill; nothing may live on."""
    program = "import os,time\nos.write(1,b'%8d\\n' % os.getpid())\ntime.sleep(60)"
    session = Session(tmp_path, program)
    sessions.append(session)
    agent = int(session.read(9))
    session.process.kill()
    # Nothing tells when it dies: it is the child of a process that is gone.
    patience = Patience()
    while _lives(agent):
        assert patience.left, "the agent lives on"
        time.sleep(0.01)
    while "frame" not in session.file.read_text():
        assert patience.left, "what was said is not in the file"
        time.sleep(0.01)
    assert recorded(session.file)[0]["frame"].strip() == str(agent)


def _lives(process_id: int) -> bool:
    try:
        with open(f"/proc/{process_id}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def test_an_agent_that_is_not_there_is_127(tmp_path: Path) -> None:
    """Ours: as a shell says it."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "accord",
            "record",
            "-o",
            str(tmp_path / "x"),
            "--",
            "no-such-agent",
        ],
        capture_output=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert done.returncode == 127
    assert b"no-such-agent" in done.stderr


def test_without_a_command_it_says_so(tmp_path: Path) -> None:
    """Ours: what people type first."""
    done = subprocess.run(
        [sys.executable, "-m", "accord", "record", "-o", str(tmp_path / "x")],
        capture_output=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert done.returncode == 2
    assert b"after --" in done.stderr
