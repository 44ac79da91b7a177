"""`accord replay`: plays one side of a recording to a client or an agent."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

from accord.cli.agent_setup.remote_agent_command import agent_command
from accord.cli.console import complain
from accord.cli.usage_error import UsageError
from accord.errors import SpawnFailed
from accord.jsonrpc import FrameTooLong, splitter_for
from accord.machine.console.control_characters import VisibleMessages, visible_line
from accord.machine.console.stderr_passthrough import STDERR, PassedOutput
from accord.machine.processes.descendants import end_marked, marked, new_mark
from accord.machine.processes.process_groups import track, watch
from accord.machine.processes.program_lookup import with_program
from accord.machine.redaction.redactor import Redactor
from accord.tracing.recording_file import NotARecording, read_recording
from accord.tracing.replay import Outcome, Player, Step, script_of

DESCRIPTION = """\
Plays one side of a recording, to test the other side without a model or a user.

--as agent acts as the agent on standard input and output: start it from a client.
--as client starts the agent after --, or connects to it by its URL, and sends it the client's
messages from the recording.

The messages of the other side are compared with the recording.  Differences are printed as a diff:
on standard output for --as client, and on standard error for --as agent; since many clients hide
that, --diff writes them to a file.  Generated ids and times may differ, and a text may be split
into other pieces.

exit codes: 0 as recorded, 1 there are differences, 2 wrong usage or not a recording
"""
EPILOG = """\
examples:
  accord replay session.jsonl --as client -- accord agent
  accord replay session.jsonl --as client -- wss://agents.example.com/acp --token-env AGENT_TOKEN
  accord run "what is this?" -- accord replay session.jsonl --as agent
"""
EXIT_SECONDS_MAX = 5.0


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord replay`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord replay FILE --as agent|client [options] [-- COMMAND | -- URL]"
    add = parser.add_argument
    add("file", metavar="FILE", type=Path, help="the recording")
    add("--as", dest="role", choices=("agent", "client"), required=True, help="the side to play")
    add(
        "--speed",
        type=_speed,
        default=0.0,
        metavar="N",
        help="1 is the recorded speed, 2 twice as fast (default: no delays)",
    )
    add(
        "--patience",
        type=_speed,
        default=30.0,
        metavar="SECONDS",
        help="how long to wait for each recorded message of the other side (default: 30)",
    )
    add("--diff", metavar="OUT", type=Path, help="write the differences to this file")


def run(arguments: Namespace) -> int:
    if arguments.role == "client" and not arguments.after:
        return _refuse("--as client needs the agent's command or URL after --")
    if arguments.role == "agent" and arguments.after is not None:
        return _refuse("--as agent takes no command after --: a client starts it")
    try:
        command = agent_command(arguments.after or [])
        with arguments.file.open("rb") as file:
            script = script_of(read_recording(file).entries)
    except (NotARecording, UsageError) as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(f"cannot read {arguments.file}: {error.strerror}")
    if arguments.role == "agent":
        return _as_agent(script, arguments)
    return _as_client(script, arguments, command)


def _refuse(sentence: str) -> int:
    complain(f"accord replay: {sentence}")
    return 2


def _speed(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e6:
        raise ValueError(text)
    return value


class _Frames:
    """Frames from a descriptor, read by a thread so that waiting can time out."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.over = False
        threading.Thread(target=self._read, daemon=True).start()

    def receive(self, seconds: float) -> bytes | None:
        """Return the next frame, or None after this time."""
        if self.over:
            return None
        try:
            frame = self._queue.get(timeout=seconds) if seconds > 0 else self._queue.get_nowait()
        except queue.Empty:
            return None
        self.over = frame is None
        return frame

    def _read(self) -> None:
        splitter = splitter_for(None)
        try:
            while chunk := os.read(self._descriptor, 1 << 16):
                for frame in splitter.feed(chunk):
                    self._queue.put(frame)
            for frame in splitter.finish():
                self._queue.put(frame)
        except (OSError, FrameTooLong):
            # Nothing after it can be read, so treat it as the end.
            pass
        self._queue.put(None)


def _pass_on(descriptor: int) -> None:
    """Show the agent's stderr until it ends."""
    passed = PassedOutput()
    while chunk := os.read(descriptor, 1 << 16):
        passed(chunk)
    passed.finish()


def _sender(descriptor: int) -> Callable[[bytes], None]:
    # As an agent it may write to a terminal.
    shown = VisibleMessages().feed if os.isatty(descriptor) else bytes

    def send(raw: bytes) -> None:
        data = memoryview(shown(raw.replace(b"\n", b" ") + b"\n"))
        while data:
            data = data[os.write(descriptor, data) :]

    return send


def _player(script: list[Step], arguments: Namespace, frames: _Frames, outgoing: int) -> Player:
    return Player(
        script,
        arguments.role,
        send=_sender(outgoing),
        receive=frames.receive,
        wait=time.sleep,
        speed=arguments.speed,
        patience=arguments.patience,
    )


def _as_agent(script: list[Step], arguments: Namespace) -> int:
    frames = _Frames(0)
    player = _player(script, arguments, frames, 1)
    outcome = player.play()
    # The client may stay connected; its further requests are refused.
    while not frames.over:
        player.rest(arguments.patience)
    return _report(player.finish(outcome), arguments.diff, sys.stderr.write)


def _as_client(script: list[Step], arguments: Namespace, command: tuple[str, ...]) -> int:
    mark = new_mark()
    watch()
    try:
        agent = subprocess.Popen(
            with_program(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # On a terminal its control characters are escaped; a file or a pipe gets the bytes.
            stderr=subprocess.PIPE if os.isatty(STDERR) else None,
            start_new_session=True,
            env=marked(mark=mark),
        )
    except SpawnFailed as error:
        return _refuse(str(error))
    except (OSError, ValueError) as error:
        return _refuse(f"cannot start {command[0]!r}: {getattr(error, 'strerror', error)}")
    group = track(agent.pid)
    if agent.stderr is not None:
        threading.Thread(target=_pass_on, args=(agent.stderr.fileno(),), daemon=True).start()
    assert agent.stdin is not None
    assert agent.stdout is not None
    try:
        frames = _Frames(agent.stdout.fileno())
        player = _player(script, arguments, frames, agent.stdin.fileno())
        outcome = player.play()
        agent.stdin.close()
        player.rest(EXIT_SECONDS_MAX)
    finally:
        try:
            agent.wait(EXIT_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            group.signal(signal.SIGKILL)
            agent.wait()
        group.leader_reaped()
        group.signal(signal.SIGKILL)
        group.forget()
        end_marked(mark)
    return _report(player.finish(outcome), arguments.diff, sys.stdout.write)


def _report(outcome: Outcome, place: Path | None, write: Callable[[str], object]) -> int:
    if outcome.broken_off is not None:
        write(
            f"accord replay: {visible_line(Redactor.of_environment().line(outcome.broken_off))}\n"
        )
    # New messages of the other side may contain secrets.
    redactor = Redactor.of_environment()
    diff = "".join(f"{visible_line(redactor.line(line))}\n" for line in outcome.diff)
    if place is None:
        write(diff)
    else:
        place.write_text(diff, encoding="utf-8")
    return 0 if outcome.same else 1
