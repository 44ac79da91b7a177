"""A fast path around the JSON-RPC peer for one notification that arrives very often."""

from collections.abc import Callable
from typing import Any, Protocol

from accord.errors import ConnectionLost


class _Ending(Protocol):
    error: ConnectionLost | None


class Shortcut:
    """Handles frames of one notification method.

    `read` gets each frame first and returns None for one that is not clearly of this method.  For
    many frames at once, `read_all` decodes the leading frames of this method.  `handle` gets each
    result.  `method` names the notification in the log.
    """

    __slots__ = ("_read_all", "handle", "method", "read")

    def __init__(
        self,
        method: str,
        read: Callable[[bytes], Any],
        read_all: Callable[[list[bytes]], list[Any]],
        handle: Callable[[Any], None],
    ) -> None:
        self.method = method
        self.read = read
        self._read_all = read_all
        self.handle = handle

    def take_all(
        self, frames: list[bytes], connection: _Ending, failed: Callable[[str, Exception], None]
    ) -> int:
        """Handle the leading frames of this method; return how many were taken."""
        found, handle = self._read_all(frames), self.handle
        for one in found:
            try:
                handle(one)
            except Exception as error:  # noqa: BLE001 - as for any notification
                failed(self.method, error)
            if connection.error is not None:
                break
        return len(found)
