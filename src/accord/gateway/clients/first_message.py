"""Reads the first message of a client, to find out which version it speaks.

What always holds: whoever gets the transport afterwards gets every byte of the client.
"""

from __future__ import annotations

from typing import Final, Literal

import anyio
from anyio.abc import TaskGroup

from accord.protocol.negotiation import Chosen, judge_request
from accord.schema.codec import Invalid, to_python
from accord.transport.transport import Ended, Receiver, Transport

FIRST_MESSAGE_BYTES_MAX: Final = 1024 * 1024
"""How long an `initialize` may be."""

FIRST_MESSAGE_SECONDS_MAX: Final = 30.0


class FirstMessage:
    """A transport that has been read up to the end of its first line."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._read = bytearray()
        self._has_line = anyio.Event()
        self._why: Ended | None = None
        self._receiver: Receiver | None = None

    async def dialect(self, tasks: TaskGroup) -> Literal["v1", "v2", "draft"] | None:
        """Wait for the first message; None if it is not an `initialize` that can be judged."""
        await self._transport.start(self, tasks)
        with anyio.move_on_after(FIRST_MESSAGE_SECONDS_MAX):
            await self._has_line.wait()
        line, _, _ = bytes(self._read).strip().partition(b"\n")
        try:
            message = to_python(line)
        except Invalid:
            return None
        params = message.get("params") if isinstance(message, dict) else None
        if not isinstance(params, dict) or message.get("method") != "initialize":
            return None
        chosen = judge_request(params, (1, 2))
        return chosen.dialect if isinstance(chosen, Chosen) else None

    # ---- the receiver of the transport

    def data_received(self, data: bytes) -> None:
        """Keep the bytes, or pass them on."""
        if self._receiver is not None:
            self._receiver.data_received(data)
            return
        self._read += data
        if b"\n" in data or len(self._read) > FIRST_MESSAGE_BYTES_MAX:
            self._has_line.set()
            self._transport.pause()

    def ended(self, why: Ended) -> None:
        """Take notice of the end, or pass it on."""
        if self._receiver is not None:
            self._receiver.ended(why)
        else:
            self._why = why
            self._has_line.set()

    # ---- the transport, from now on

    @property
    def backlog(self) -> int:
        """Bytes that the client has not taken yet."""
        return self._transport.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Deliver what was read, and then what comes."""
        del tasks
        self._receiver = receiver
        read, self._read = bytes(self._read), bytearray()
        if read:
            receiver.data_received(read)
        if self._why is not None:
            receiver.ended(self._why)
        self._transport.resume()

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    async def drain(self) -> None:
        await self._transport.drain()

    def pause(self) -> None:
        self._transport.pause()

    def resume(self) -> None:
        self._transport.resume()

    async def aclose(self) -> None:
        await self._transport.aclose()
