"""The recording of one connection of a server, which a thread writes to its file.

What always holds: no problem of the recording (no file, a full disk) affects the session.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence

from accord.machine import clock
from accord.machine.redaction.redactor import Redactor
from accord.tracing.recorder.recording_writer import write_recording
from accord.tracing.recorder.writer_pipe import WriterPipe


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
