"""Terminals of the agent, whose output v1 can show only as text of a tool call.

What always holds
    * A terminal of v1 is never made up: v1's belong to the client.
    * What is shown has no control sequences and is the tail of what was printed.
    * A session keeps at most `TERMINALS_KEPT` terminals with `TERMINAL_BYTES_KEPT` bytes each.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from typing import Any, Final

from accord.translate.message import Json
from accord.translate.meta_store import OFFICIAL, keep
from accord.translate.v2_agent.updates.diffs import text_item

TERMINALS_KEPT: Final = 64
TERMINAL_BYTES_KEPT: Final = 64 * 1024
# The size up to which the raw bytes are kept beside the text.
RAW_BYTES_MAX: Final = 4096

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, movements of the cursor
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\x9c|\Z)"  # titles, links, strings for devices
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]",
    re.DOTALL,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_OVERWRITTEN = re.compile(r"[^\n]*\r(?!\Z|\n)")


def plain(text: str) -> str:
    """Remove control sequences; of a line that was overwritten, the last state is kept."""
    text = _SEQUENCES.sub("", text.replace("\r\n", "\n"))
    return _CONTROLS.sub("", _OVERWRITTEN.sub("", text))


class _Terminal:
    __slots__ = ("command", "data", "exit_status", "is_cut")

    def __init__(self) -> None:
        self.data = bytearray()
        self.is_cut = False
        self.command: str | None = None
        self.exit_status: Json | None = None

    def print(self, data: bytes) -> None:
        self.data += data
        excess = len(self.data) - TERMINAL_BYTES_KEPT
        if excess > 0:
            # Do not cut in the middle of a character.
            while excess < len(self.data) and self.data[excess] & 0xC0 == 0x80:
                excess += 1
            del self.data[:excess]
            self.is_cut = True


class Terminals:
    """The terminals of one session."""

    def __init__(self) -> None:
        self._terminals: dict[str, _Terminal] = {}

    def update(self, update: Json) -> bool:
        """Apply an update of a terminal; return whether its process has just ended."""
        terminal = self._of(update["terminalId"])
        if "command" in update:
            terminal.command = update["command"]
        if "output" in update:
            terminal.data.clear()
            terminal.is_cut = False
            if update["output"] is not None:
                terminal.print(b64decode(update["output"]["data"]))
        if "exitStatus" in update:
            terminal.exit_status = update["exitStatus"]
        return update.get("exitStatus") is not None

    def print(self, update: Json) -> None:
        self._of(update["terminalId"]).print(b64decode(update["data"]))

    def shown(self, terminal_id: str) -> Json:
        """Return the text of a terminal in a tool call."""
        terminal = self._terminals.get(terminal_id) or _Terminal()
        lines = []
        if terminal.command is not None:
            lines.append(f"$ {plain(terminal.command)}")
        if terminal.is_cut:
            lines.append("…")
        output = plain(terminal.data.decode("utf-8", "replace"))
        if output:
            lines.append(output.removesuffix("\n"))
        if terminal.exit_status is not None:
            lines.append(_ending(terminal.exit_status))
        item = text_item("\n".join(lines))
        keep(item, OFFICIAL, "terminalId", terminal_id)
        if terminal.exit_status is not None:
            keep(item, OFFICIAL, "exitStatus", dict(terminal.exit_status))
            if not terminal.is_cut and len(terminal.data) <= RAW_BYTES_MAX:
                keep(item, OFFICIAL, "output", {"data": b64encode(terminal.data).decode()})
        return item

    def _of(self, terminal_id: str) -> _Terminal:
        terminal = self._terminals.get(terminal_id)
        if terminal is None:
            terminal = self._terminals[terminal_id] = _Terminal()
            if len(self._terminals) > TERMINALS_KEPT:
                del self._terminals[next(iter(self._terminals))]
        return terminal


def _ending(status: Json) -> str:
    code: Any = status.get("exitCode")
    signal: Any = status.get("signal")
    if signal is not None:
        return f"[ended by {plain(signal)}]"
    return "[ended]" if code is None else f"[exit code {code}]"
