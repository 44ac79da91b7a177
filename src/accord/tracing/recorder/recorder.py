"""Runs an agent, forwards every byte, and sends copies to the process that writes the recording.

Three threads forward bytes (to the agent, from it, its stderr) and send copies to the writer, which
is a process of its own; a fourth thread serves a slow writer.  This module must not know what the
bytes mean, and imports nothing that does: an editor waits for the agent to start.

What always holds
    * Bytes are forwarded unchanged and in order, before anything parses them.  Only on a terminal
      are control characters of the agent escaped.
    * No problem of the recording (no file, a full or hanging disk, a dead writer) affects the
      session.  Bytes that cannot be recorded are counted and recorded as a gap.
    * If one side closes a pipe, it is closed for the other; signals are forwarded to the agent,
      and its exit status is ours.
    * When the agent exits, so does everything that it started.  An agent whose client is gone
      exits within `CLIENT_GONE_SECONDS`.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

from accord.errors import SpawnFailed
from accord.machine.processes import descendants
from accord.machine.processes import exit_on_signal as shutdown
from accord.machine.processes.process_groups import ProcessGroup, track, watch
from accord.machine.processes.program_lookup import with_program
from accord.tracing.recorder.byte_pump import BytePump, escaped_writer, has_reader, stderr_pump
from accord.tracing.recorder.writer_pipe import WriterPipe

DRAIN_SECONDS_MAX = 2.0
"""How long to read the pipes of an agent that has exited, if a child holds them open."""

WRITER_SECONDS_MAX = 3.0
"""How long to wait for the writer, so that the file is complete when we exit.

After that it continues alone.
"""

EXIT_CHECK_SECONDS = 1.0
"""After this time a signal that arrived at a bad moment is handled."""

CLIENT_GONE_SECONDS = 5.0
"""How long an agent may run after its client is gone."""

FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH")

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """What to record; `file` is an open descriptor, or None to record nothing."""

    command: Sequence[str]
    file: int | None
    redact: bool = True
    program: str = "accord"
    env: Mapping[str, str] | None = None


def _wait_for(agent: subprocess.Popen[bytes], look: Callable[[], None] = lambda: None) -> int:
    """Wait for a child and return its return code; call `look` about once a second.

    The wait is repeated, because a signal that arrives just before an unlimited wait would be
    handled only after it.
    """
    try:
        ended = os.pidfd_open(agent.pid)
    except (AttributeError, OSError):
        ended = -1
    try:
        while True:
            look()
            if ended >= 0 and not select.select([ended], [], [], EXIT_CHECK_SECONDS)[0]:
                continue
            try:
                return agent.wait(EXIT_CHECK_SECONDS)
            except subprocess.TimeoutExpired:
                continue
    finally:
        if ended >= 0:
            os.close(ended)


class Recorder:
    """One agent, from its start to its exit."""

    def __init__(self, settings: Settings, say: Say) -> None:
        self._settings = settings
        self._say = say
        self._began = time.monotonic()
        self._pipe_to_writer: WriterPipe | None = None
        self._writer_pid: int | None = None
        self._ending = False
        self._mark = descendants.new_mark()
        self._client_gone_since: float | None = None

    def run(self) -> int:
        """Record until the agent exits; return its return code as `subprocess` does.

        Raises:
            SpawnFailed: the agent cannot be started.
        """
        # First, since forking is safe only while this process has one thread.
        self._start_writer()
        agent = self._start_agent()
        group = track(agent.pid)
        self._forward_signals(group)
        if self._pipe_to_writer is not None:
            self._pipe_to_writer.start()
        inward, outward = self._pumps(agent)
        code = _wait_for(agent, lambda: self._end_if_client_gone(inward, group))
        group.leader_reaped()
        # Before waiting for the last output: processes that it left behind hold its pipes.
        descendants.end_marked(self._mark)
        group.signal(signal.SIGKILL)
        group.forget()
        deadline = time.monotonic() + DRAIN_SECONDS_MAX
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

    def _end_if_client_gone(self, inward: BytePump, group: ProcessGroup) -> None:
        """End an agent whose client is gone: nothing more comes from it, and it reads nothing."""
        if inward.thread.is_alive() or has_reader(1):
            self._client_gone_since = None
            return
        now = time.monotonic()
        if self._client_gone_since is None:
            self._client_gone_since = now
        elif now - self._client_gone_since > CLIENT_GONE_SECONDS:
            # It could have exited when its stdin was closed.
            group.signal(signal.SIGTERM)
            descendants.end_marked(self._mark)

    def _pumps(self, agent: subprocess.Popen[bytes]) -> tuple[BytePump, tuple[BytePump, BytePump]]:
        """Start to forward; return the pump to the agent, and those from it."""
        assert agent.stdin is not None
        assert agent.stdout is not None
        assert agent.stderr is not None
        ends = [os.dup(pipe.fileno()) for pipe in (agent.stdin, agent.stdout, agent.stderr)]
        for pipe in (agent.stdin, agent.stdout, agent.stderr):
            pipe.close()
        inward = BytePump(0, ends[0], self._observer("client"))
        # A copy, because our own messages may come after its last output.
        errors = os.dup(2)
        outward = (
            BytePump(ends[1], 1, self._observer("agent"), escaped_writer(1)),
            stderr_pump(ends[2], errors, self._observer("stderr")),
        )
        for pump in (inward, *outward):
            pump.thread.start()
        return inward, outward

    def _observer(self, source: str) -> Callable[[float, bytes], None]:
        pipe, began = self._pipe_to_writer, self._began
        if pipe is None:
            return lambda came, data: None
        return lambda came, data: pipe.put(source, came - began, data)

    def _forward_signals(self, group: ProcessGroup) -> None:
        def forward(number: int, _: FrameType | None) -> None:
            group.signal(number)
            if number in shutdown.SIGNALS:
                # The agent may ignore the signal; we must not.
                shutdown.begin(number)

        for name in FORWARDED:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, forward)

    # ---- the writer

    def _start_writer(self) -> None:
        """Start the process that writes the recording."""
        file = self._settings.file
        if file is None:
            return
        try:
            reading, writing = os.pipe()
            self._writer_pid = os.fork()
        except OSError as error:
            self._say(f"cannot start the recording: {error.strerror}; the session is not recorded")
            return
        if self._writer_pid == 0:
            os.close(writing)
            self._run_writer(reading, file)
        # It writes until its input ends, even after our own exit, and then exits.
        descendants.spare(self._writer_pid)
        os.close(reading)
        os.close(file)
        self._pipe_to_writer = WriterPipe(writing, self._pipe_closed)

    def _run_writer(self, pipe: int, file: int) -> None:
        """Run the writer process; never returns, and exits with an error number."""
        code = 255
        try:
            for name in FORWARDED:
                signal.signal(getattr(signal, name), signal.SIG_IGN)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for standard in (0, 1, 2):
                # The writer must not keep the session's pipes open.
                os.dup2(nowhere, standard)
            # A new session, so that a signal to the session's processes does not end the writer.
            os.setsid()
            os.nice(10)
            self._write_recording(pipe, file)
            code = 0
        except OSError as error:
            code = min(error.errno or 255, 255)
        finally:
            os._exit(code)

    def _write_recording(self, pipe: int, file: int) -> None:
        # Imported here: the forwarding process does not need it.
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

    def _pipe_closed(self) -> None:
        """Report a pipe that was closed because the writer died."""
        if not self._ending:
            self._say(f"the recording failed ({self._why(0)}); the session continues without it")

    def _why(self, options: int) -> str | None:
        """Return how the writer failed; None if it did not, or has not exited."""
        if self._writer_pid is None:
            return None
        ended, status = os.waitpid(self._writer_pid, options)
        if not ended:
            return None
        self._writer_pid = None
        number = os.waitstatus_to_exitcode(status)
        if number == 0:
            return None
        return os.strerror(number) if 0 < number < 255 else "its process died"

    def _end_recording(self, code: int) -> None:
        if self._pipe_to_writer is None:
            return
        how = str(code) if code >= 0 else signal.Signals(-code).name
        self._pipe_to_writer.put("end", time.monotonic() - self._began, how.encode())
        self._ending = True
        deadline = time.monotonic() + WRITER_SECONDS_MAX
        self._pipe_to_writer.close(WRITER_SECONDS_MAX)
        while self._writer_pid is not None and time.monotonic() < deadline:
            why = self._why(os.WNOHANG)
            if why is not None:
                self._say(f"the recording is incomplete ({why})")
            time.sleep(0.002)


def leave(code: int) -> int:
    """Return the agent's exit code, or exit by the same signal."""
    if code >= 0:
        return code
    import resource

    sys.stdout.flush()
    # The agent's core dump may be useful; ours is not.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
    os.kill(os.getpid(), -code)
    return 128 - code
