"""Serves an agent over HTTP and WebSocket, and records every connection to a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio

from accord.errors import AccordError
from accord.machine.console.stderr_passthrough import PassedOutput
from accord.machine.processes import exit_on_signal
from accord.proxy.relay.translated_transport import carry
from accord.tracing.recorder.recorded_connection import ConnectionRecording, RecordedTransport
from accord.transport.server.application import RemoteApplication
from accord.transport.server.request_guard import LOOPBACK_HOSTS
from accord.transport.subprocess import SubprocessTransport
from accord.transport.transport import Transport
from accord.version import __version__

LAST_WRITES_SECONDS_MAX = 3.0
"""How long a connection that ends waits for the rest of its recording to be written."""


@dataclass(frozen=True, slots=True)
class RecordingServer:
    """Where to listen, what to start for each client, and where to record."""

    host: str
    port: int
    path: str
    command: Sequence[str]
    open_file: Callable[[], int | None]
    redact: bool
    say: Callable[[str], None]

    async def run(self) -> int:
        """Serve until a signal comes."""
        from accord.transport.server.listener.remote_server import RemoteServer

        application = RemoteApplication(self._serve, hosts=LOOPBACK_HOSTS, path=self.path)
        with anyio.open_signal_receiver(*exit_on_signal.handled_signals()) as signals:
            async with RemoteServer(application, host=self.host, port=self.port) as server:
                name = f"[{self.host}]" if ":" in self.host else self.host
                where = f"{name}:{server.port}{self.path}"
                self.say(f"the agent is at http://{where} and ws://{where}")
                async for number in signals:
                    exit_on_signal.begin(number)
                    break
        return 0

    async def _serve(self, client: Transport, principal: str) -> None:
        recording = ConnectionRecording(
            self.open_file(),
            command=self.command,
            program=f"accord {__version__}",
            redact=self.redact,
            failed=self.say,
        )
        shown = PassedOutput()

        def stderr(data: bytes) -> None:
            recording.take("stderr", data)
            shown(data)

        agent = SubprocessTransport(self.command, stderr=stderr)
        code = 0
        try:
            await carry(RecordedTransport(client, recording.take), agent)
            exited = agent.exit
            code = 0 if exited is None or exited.code is None else exited.code
        except AccordError as error:
            self.say(str(error))
            await client.aclose()
            code = 1
        finally:
            shown.finish()
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(recording.finish, code, LAST_WRITES_SECONDS_MAX)
