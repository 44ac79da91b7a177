"""Terminals: the bytes that a command wrote, and how it ended.

Must not know: who runs the command.  v2 agents report theirs; a client shows its own here too.

Invariant: the kept bytes are the last ones that came, unchanged; where too many came, the front
is missing up to the start of a character.
"""

from __future__ import annotations

from codecs import IncrementalDecoder, getincrementaldecoder
from dataclasses import dataclass

from accord.schema.struct import UNSET, Patch, Raw
from accord.transcript.items.meta import patch_meta

TERMINAL_BYTES_MAX = 1024 * 1024

_utf8 = getincrementaldecoder("utf-8")


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """The command has ended; both facts may be unknown."""

    exit_code: int | None = None
    signal: str | None = None


@dataclass(frozen=True, slots=True)
class TerminalSize:
    """The grid that the output was written for."""

    cols: int
    rows: int


class Terminal:
    """One terminal.

    Guards: bytes are joined before they are decoded, so a character split between two chunks
    survives, and never more than `TERMINAL_BYTES_MAX` bytes are held.
    """

    __slots__ = (
        "_bytes",
        "_decoder",
        "_text",
        "cancellable",
        "command",
        "cwd",
        "exit_status",
        "meta",
        "received",
        "replacements",
        "size",
        "terminal_id",
        "truncated",
    )

    def __init__(self, terminal_id: str) -> None:
        self.terminal_id = terminal_id
        self.command: str | None = None
        self.cwd: str | None = None
        self.size: TerminalSize | None = None
        self.exit_status: ExitStatus | None = None
        # Whether the client may ask for the end of this one process.
        self.cancellable = False
        # Whether the front of the output is missing.
        self.truncated = False
        self.meta: dict[str, Raw] = {}
        # How often all was replaced, and the bytes that came since, dropped ones included: who
        # shows the output as it grows reads on from there with `since`.
        self.replacements = 0
        self.received = 0
        self._bytes = bytearray()
        # Reads chunk after chunk, for `append`; `text` reads all that is kept.
        self._decoder: IncrementalDecoder = _utf8("replace")
        self._text: str | None = ""

    def __repr__(self) -> str:
        return f"Terminal({self.terminal_id!r}, {self.command!r}, {len(self._bytes)} bytes)"

    @property
    def data(self) -> bytes:
        """The bytes that are kept."""
        return bytes(self._bytes)

    @property
    def text(self) -> str:
        """The kept bytes as UTF-8, U+FFFD for what is not; half a character at the end waits."""
        if self._text is None:
            self._text = _utf8("replace").decode(self._bytes, final=self.exit_status is not None)
        return self._text

    def since(self, received: int) -> bytes:
        """What came after this many bytes, as far as it is kept."""
        new = self.received - received
        return bytes(self._bytes[-new:]) if new > 0 else b""

    def append(self, data: bytes) -> str:
        """Take more output.  Returns the text that it completes."""
        self._bytes += data
        self.received += len(data)
        self._bound()
        return self._decoder.decode(data)

    def replace(self, data: bytes) -> str:
        """Take a snapshot in place of everything before it.  Returns its text."""
        self._bytes = bytearray(data)
        self.received = len(data)
        self.replacements += 1
        self.truncated = False
        self._bound()
        self._decoder.reset()
        return self._decoder.decode(data)

    def patch(
        self,
        *,
        command: Patch[str] = UNSET,
        cwd: Patch[str] = UNSET,
        size: Patch[TerminalSize] = UNSET,
        exit_status: Patch[ExitStatus] = UNSET,
    ) -> None:
        """Keep what is not given, clear what is null, replace the rest."""
        if command is not UNSET:
            self.command = command
        if cwd is not UNSET:
            self.cwd = cwd
        if size is not UNSET:
            self.size = size
        if exit_status is not UNSET:
            self.exit_status = exit_status
            self._text = None

    def patch_meta(self, patch: Patch[dict[str, Raw]]) -> None:
        """Merge metadata by its top-level keys."""
        patch_meta(self.meta, patch)

    def _bound(self) -> None:
        self._text = None
        start = len(self._bytes) - TERMINAL_BYTES_MAX
        if start <= 0:
            return
        # At most three continuation bytes belong to a character; more are not UTF-8, and stay.
        end = start + 3
        while start < end and self._bytes[start] & 0xC0 == 0x80:
            start += 1
        del self._bytes[:start]
        self.truncated = True

    def dump(self) -> dict[str, object]:
        """Plain values; the bytes are base64 in JSON."""
        status, size = self.exit_status, self.size
        return {
            "type": "terminal",
            "terminalId": self.terminal_id,
            "command": self.command,
            "cwd": self.cwd,
            "size": size and {"cols": size.cols, "rows": size.rows},
            "exitStatus": status and {"exitCode": status.exit_code, "signal": status.signal},
            "cancellable": self.cancellable,
            "truncated": self.truncated,
            "data": self.data,
            "text": self.text,
            "meta": self.meta,
        }
