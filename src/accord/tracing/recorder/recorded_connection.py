"""A connection of a server that is recorded: its transport, and the thread that writes the file.

What always holds: no problem of the recording (no file, a full disk) affects the session.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence

from anyio.abc import TaskGroup

from accord.machine import clock
from accord.machine.redaction.redactor import Redactor
from accord.tracing.recorder.recording_writer import write_recording
from accord.tracing.recorder.writer_pipe import WriterPipe
from accord.transport.transport import Ended, Receiver, Transport


class ConnectionRecording:
    """One connection's file, which a thread writes."""

    def __init__(
        self,
        file: int | None,
        *,
        command: Sequence[str],
        program: str,
        redact: bool,
        failed: Callable[[str], None],
    ) -> None:
        self._began = time.monotonic()
        self._file = file
        self._failed = failed
        self._pipe: WriterPipe | None = None
        self._thread = threading.Thread(
            target=self._write, args=(list(command), program, redact), daemon=True
        )
        if file is not None:
            self._source, sink = os.pipe()
            self._pipe = WriterPipe(sink, lambda: None)
            self._pipe.start()
            self._thread.start()

    def take(self, source: str, data: bytes) -> None:
        """Record bytes of `client`, `agent` or `stderr`; return at once."""
        if self._pipe is not None:
            self._pipe.put(source, time.monotonic() - self._began, data)

    def finish(self, code: int, seconds_max: float) -> None:
        """Write what is left, for at most about this time; after that the thread goes on alone."""
        self.take("end", b"%d" % code)
        if self._pipe is not None:
            self._pipe.close(seconds_max)
            self._thread.join(seconds_max)

    def _write(self, command: list[str], program: str, redact: bool) -> None:
        assert self._file is not None
        try:
            write_recording(
                self._source,
                self._file,
                started=clock.timestamp("microseconds"),
                command=command,
                program=program,
                redactor=Redactor.of_environment() if redact else None,
            )
        except OSError as error:
            self._failed(f"the recording failed ({error.strerror}); the session continues")
            # The pipe is read on, so that nothing waits for it.
            while os.read(self._source, 1 << 16):
                pass
        finally:
            os.close(self._source)
            os.close(self._file)


Observe = Callable[[str, bytes], None]


class RecordedTransport:
    """A transport to a client; `observe` sees what each side says, before it is passed on."""

    def __init__(self, inner: Transport, observe: Observe) -> None:
        self._inner = inner
        self._observe = observe

    @property
    def backlog(self) -> int:
        return self._inner.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        await self._inner.start(_ObservedReceiver(receiver, self._observe), tasks)

    def write(self, data: bytes) -> None:
        self._observe("agent", data)
        self._inner.write(data)

    async def drain(self) -> None:
        await self._inner.drain()

    def pause(self) -> None:
        self._inner.pause()

    def resume(self) -> None:
        self._inner.resume()

    async def aclose(self) -> None:
        await self._inner.aclose()


class _ObservedReceiver:
    def __init__(self, receiver: Receiver, observe: Observe) -> None:
        self._receiver = receiver
        self._observe = observe

    def data_received(self, data: bytes) -> None:
        self._observe("client", data)
        self._receiver.data_received(data)

    def ended(self, why: Ended) -> None:
        self._receiver.ended(why)
