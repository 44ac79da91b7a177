"""A receiver that keeps what a transport tells it."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from accord.transport.transport import Ended
from tests.hang_limit import HANG_SECONDS

SECONDS = HANG_SECONDS


class Collecting:
    """What came, in order, and the end; it fails a test by asserting the transport's promises."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.ends: list[Ended] = []
        self._news = anyio.Event()

    def data_received(self, data: bytes) -> None:
        assert not self.ends, "nothing comes after the end"
        assert data
        self.data += data
        self._tell()

    def ended(self, why: Ended) -> None:
        self.ends.append(why)
        assert len(self.ends) == 1, "the end is told once"
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def until(self, true: Callable[[], object]) -> None:
        """Wait until something is so."""
        with anyio.fail_after(SECONDS):
            while not true():
                await self._news.wait()

    async def end(self) -> Ended:
        """Wait for the end."""
        await self.until(lambda: self.ends)
        return self.ends[0]
