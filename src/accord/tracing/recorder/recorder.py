"""Stands in an agent's place: passes every byte on, and tells the scribe what passed.

Three threads pass bytes (to the agent, from it, its stderr) and hand copies to the scribe, which
is a process of its own; a fourth is there for when the scribe is slow.  It must not know what is in
the bytes, and loads nothing that does: an editor waits for the agent behind us.

What always holds
    * Bytes go on as they came and in order; nobody looks into them before.  Only an agent's stderr
      is made visible where ours is a terminal: a person reads it there, and no program.
    * No trouble of the recording (no file, a full or hanging disk, a dead scribe) reaches the
      session.  What cannot be kept is counted and written down as a gap.
    * Ends go on too: who closes a pipe on one side closes it on the other, signals reach the
      agent, and its exit is ours.
    * When the agent has ended, so has everything that it started.  An agent whose client is gone
      has `CLIENT_GONE_SECONDS` left.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import FrameType

from accord.errors import SpawnFailed
from accord.machine.console.open_lines import LINE_ENDS
from accord.machine.processes import descendants, shutdown
from accord.machine.processes.process_groups import ProcessGroup, track, watch
from accord.machine.processes.program_lookup import with_program
from accord.tracing.recorder.child_wait import wait_for
from accord.tracing.recorder.packets import pack

READ_BYTES = 1 << 16
BACKLOG_BYTES_MAX = 64 << 20
"""What waits for the scribe; what comes beyond that is passed on and not recorded."""

DRAIN_SECONDS = 2.0
"""How long the pipes of an agent that has ended may go on, held by somebody it started."""

SCRIBE_SECONDS = 3.0
"""How long its end is waited for, so that who waits for us finds all written.

After that it goes on alone with what it was told.
"""

CLIENT_GONE_SECONDS = 5.0
"""How long an agent may go on that nobody writes to and nobody reads."""

FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH")

Say = Callable[[str], None]


class Line:
    """The way to the scribe.  Guards: the order of packets, the bound, and that nobody waits.

    A packet is written at once where the pipe has room, so that it is safe before its bytes are
    passed on; what does not fit waits for the thread that `start` starts.
    """

    def __init__(
        self, pipe: int, broken: Callable[[], None], bytes_max: int = BACKLOG_BYTES_MAX
    ) -> None:
        os.set_blocking(pipe, False)
        self._pipe = pipe
        self._broken = broken
        self._bytes_max = bytes_max
        self._waiting: deque[memoryview] = deque()
        self._bytes = 0
        self._lost: dict[str, int] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to write what waits."""
        self._thread.start()

    def put(self, source: str, at: float, data: bytes) -> None:
        """Take a packet, or count it as lost; returns at once."""
        with self._changed:
            if self._closed:
                return
            if self._bytes + len(data) > self._bytes_max:
                self._lost[source] = self._lost.get(source, 0) + len(data)
                return
            if lost := self._lost.pop(source, 0):
                self._queue(pack(f"gap-{source}", at, b"%d" % lost))
            self._queue(pack(source, at, data))
            self._write()
            if self._waiting or self._closed:
                self._changed.notify()

    def close(self, seconds: float) -> None:
        """Nothing more comes; waits for what waits, but not longer than this."""
        with self._changed:
            for source, lost in self._lost.items():
                self._queue(pack(f"gap-{source}", 0.0, b"%d" % lost))
            self._lost.clear()
            self._closed = True
            self._changed.notify()
        self._thread.join(seconds)

    def _queue(self, packet: bytes) -> None:
        self._waiting.append(memoryview(packet))
        self._bytes += len(packet)

    def _write(self) -> None:
        """As much as there is room for; only with the lock."""
        try:
            while self._waiting:
                written = os.write(self._pipe, self._waiting[0])
                self._bytes -= written
                rest = self._waiting.popleft()[written:]
                if rest:
                    self._waiting.appendleft(rest)
        except BlockingIOError:
            # The pipe is full: the thread goes on when it is not.
            pass
        except OSError:
            self._waiting.clear()
            self._closed = True

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                is_broken = self._closed and not self._waiting
            if is_broken:
                break
            _wait(self._pipe, select.POLLOUT)
            with self._changed:
                self._write()
        os.close(self._pipe)
        self._broken()


class Pump:
    """Passes bytes from one descriptor to another until either ends."""

    def __init__(
        self,
        source: int,
        sink: int,
        seen: Callable[[float, bytes], None],
        pass_on: Callable[[bytes], None] | None = None,
        finish: Callable[[], None] = lambda: None,
    ) -> None:
        """`pass_on` writes to `sink` where the bytes cannot go there as they are."""
        self._source, self._sink, self._seen = source, sink, seen
        self._pass_on = pass_on or partial(_write, sink)
        self._finish = finish
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            while chunk := _read(self._source):
                # Before they go on: the answer may be here before this thread goes on itself.
                self._seen(time.monotonic(), chunk)
                self._pass_on(chunk)
            self._finish()
        except OSError:
            # Nobody reads any more: the other side learns it by our closing below.
            pass
        finally:
            _let_go(self._source)
            _let_go(self._sink)


def _let_go(descriptor: int) -> None:
    """Close it; a standard one leads nowhere then, so that no other file takes its number."""
    try:
        if descriptor > 1:
            os.close(descriptor)
        else:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
    except OSError:
        # It was closed before we began.
        pass


def _read(descriptor: int) -> bytes:
    while True:
        try:
            return os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            # Whoever started us made it so, and shares the setting with us.
            _wait(descriptor, select.POLLIN)


def _write(descriptor: int, chunk: bytes) -> None:
    data = memoryview(chunk)
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            _wait(descriptor, select.POLLOUT)


def _stderr_pump(source: int, sink: int, seen: Callable[[float, bytes], None]) -> Pump:
    """Passes on what an agent prints; to a terminal made visible."""
    if not os.isatty(sink):

        def pass_on(chunk: bytes) -> None:
            _write(sink, chunk)
            LINE_ENDS.wrote(sink, source, chunk)

        return Pump(source, sink, seen, pass_on)
    from accord.machine.console.stderr_passthrough import PassedOutput

    passed = PassedOutput(sink)
    return Pump(source, sink, seen, passed, passed.finish)


def _messages_for_a_person(descriptor: int) -> Callable[[bytes], None] | None:
    """How to write to a terminal what an agent says; None where this is none."""
    if not os.isatty(descriptor):
        return None
    from accord.machine.console.control_characters import VisibleMessages

    visible = VisibleMessages()
    return lambda chunk: _write(descriptor, visible.feed(chunk))


def _has_reader(descriptor: int) -> bool:
    """Whether somebody may still read what we write there."""
    poll = select.poll()
    # Errors are told without being asked for.
    poll.register(descriptor, 0)
    return not any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _wait(descriptor: int, event: int) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    poll.poll()


@dataclass(frozen=True, slots=True)
class Settings:
    """What is recorded where: `file` is an open descriptor, or None where there is none."""

    command: Sequence[str]
    file: int | None
    redact: bool = True
    program: str = "accord"
    env: Mapping[str, str] | None = None


class Recorder:
    """One agent, from its start to its exit."""

    def __init__(self, settings: Settings, say: Say) -> None:
        self._settings = settings
        self._say = say
        self._began = time.monotonic()
        self._line: Line | None = None
        self._scribe: int | None = None
        self._ending = False
        self._mark = descendants.new_mark()
        self._unheard_since: float | None = None

    def run(self) -> int:
        """Record until the agent has ended; its return code as `subprocess` tells it.

        Raises:
            SpawnFailed: there is no such agent.
        """
        # First, while this process has one thread: only then can it be copied safely.
        self._start_scribe()
        agent = self._start_agent()
        group = track(agent.pid)
        self._forward_signals(group)
        if self._line is not None:
            self._line.start()
        inward, outward = self._pumps(agent)
        code = wait_for(agent, lambda: self._end_if_unheard(inward, group))
        group.leader_reaped()
        # Before the last words are waited for: whoever it left behind holds its pipes.
        descendants.end_marked(self._mark)
        group.signal(signal.SIGKILL)
        group.forget()
        deadline = time.monotonic() + DRAIN_SECONDS
        for pump in outward:
            pump.thread.join(max(0.0, deadline - time.monotonic()))
        self._end_recording(code)
        return code

    def _start_agent(self) -> subprocess.Popen[bytes]:
        command = list(self._settings.command)
        watch()
        try:
            return subprocess.Popen(
                with_program(command, self._settings.env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=descendants.marked(self._settings.env, self._mark),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SpawnFailed(f"cannot start {command[0]!r}: {reason}") from error

    def _end_if_unheard(self, inward: Pump, group: ProcessGroup) -> None:
        """End an agent whose client is gone: nothing more comes from it, and it reads nothing."""
        if inward.thread.is_alive() or _has_reader(1):
            self._unheard_since = None
            return
        now = time.monotonic()
        if self._unheard_since is None:
            self._unheard_since = now
        elif now - self._unheard_since > CLIENT_GONE_SECONDS:
            # It had its chance when its stdin was closed.
            group.signal(signal.SIGTERM)
            descendants.end_marked(self._mark)

    def _pumps(self, agent: subprocess.Popen[bytes]) -> tuple[Pump, tuple[Pump, Pump]]:
        """Start passing on: to the agent, and what its end is waited for, from it."""
        assert agent.stdin is not None
        assert agent.stdout is not None
        assert agent.stderr is not None
        ends = [os.dup(pipe.fileno()) for pipe in (agent.stdin, agent.stdout, agent.stderr)]
        for pipe in (agent.stdin, agent.stdout, agent.stderr):
            pipe.close()
        inward = Pump(0, ends[0], self._seeing("client"))
        # A copy: what we have to say ourselves may come after its last word.
        errors = os.dup(2)
        outward = (
            Pump(ends[1], 1, self._seeing("agent"), _messages_for_a_person(1)),
            _stderr_pump(ends[2], errors, self._seeing("stderr")),
        )
        for pump in (inward, *outward):
            pump.thread.start()
        return inward, outward

    def _seeing(self, source: str) -> Callable[[float, bytes], None]:
        line, began = self._line, self._began
        if line is None:
            return lambda came, data: None
        return lambda came, data: line.put(source, came - began, data)

    def _forward_signals(self, group: ProcessGroup) -> None:
        def forward(number: int, _: FrameType | None) -> None:
            group.signal(number)
            if number in shutdown.SIGNALS:
                # It may ignore that; we may not.
                shutdown.begin(number)

        for name in FORWARDED:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, forward)

    # ---- the scribe

    def _start_scribe(self) -> None:
        """Start the process that writes; without one there is no line to it."""
        file = self._settings.file
        if file is None:
            return
        try:
            reading, writing = os.pipe()
            self._scribe = os.fork()
        except OSError as error:
            self._say(f"cannot start the recording: {error.strerror}; the session goes on without")
            return
        if self._scribe == 0:
            os.close(writing)
            self._be_scribe(reading, file)
        # It writes until the input ends, also after our own end, and then exits.
        descendants.spare(self._scribe)
        os.close(reading)
        os.close(file)
        self._line = Line(writing, self._line_ended)

    def _be_scribe(self, pipe: int, file: int) -> None:
        """The other process: never returns, and tells by its exit what went wrong."""
        code = 255
        try:
            for name in FORWARDED:
                signal.signal(getattr(signal, name), signal.SIG_IGN)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for standard in (0, 1, 2):
                # The session's pipes must not stay open because we still write.
                os.dup2(nowhere, standard)
            # Who ends the session's processes does not mean the one that writes their end down.
            os.setsid()
            os.nice(10)
            self._write_recording(pipe, file)
            code = 0
        except OSError as error:
            code = min(error.errno or 255, 255)
        finally:
            os._exit(code)

    def _write_recording(self, pipe: int, file: int) -> None:
        # Loaded here: the process that passes bytes has no use for it.
        from accord.machine import clock
        from accord.machine.redaction.redactor import Redactor
        from accord.tracing.recorder.recording_writer import write_recording

        passed = time.monotonic() - self._began
        write_recording(
            pipe,
            file,
            started=clock.timestamp("microseconds", seconds_ago=passed),
            command=list(self._settings.command),
            program=self._settings.program,
            redactor=Redactor.of_environment() if self._settings.redact else None,
        )

    def _line_ended(self) -> None:
        """The pipe is closed: because the recording is over, or because the scribe died."""
        if not self._ending:
            self._say(f"the recording broke off ({self._why(0)}); the session goes on without")

    def _why(self, options: int) -> str | None:
        """How the scribe ended badly; None where it has not, or not yet."""
        if self._scribe is None:
            return None
        ended, status = os.waitpid(self._scribe, options)
        if not ended:
            return None
        self._scribe = None
        number = os.waitstatus_to_exitcode(status)
        if number == 0:
            return None
        return os.strerror(number) if 0 < number < 255 else "its process died"

    def _end_recording(self, code: int) -> None:
        if self._line is None:
            return
        how = str(code) if code >= 0 else signal.Signals(-code).name
        self._line.put("end", time.monotonic() - self._began, how.encode())
        self._ending = True
        deadline = time.monotonic() + SCRIBE_SECONDS
        self._line.close(SCRIBE_SECONDS)
        while self._scribe is not None and time.monotonic() < deadline:
            why = self._why(os.WNOHANG)
            if why is not None:
                self._say(f"the recording is not complete ({why})")
            time.sleep(0.002)


def leave(code: int) -> int:
    """End as the agent did: the exit code to return, or by its signal."""
    if code >= 0:
        return code
    import resource

    sys.stdout.flush()
    # Its core may be worth keeping; ours says nothing.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
    os.kill(os.getpid(), -code)
    return 128 - code


__all__ = ["Line", "Pump", "Recorder", "Settings", "leave"]
