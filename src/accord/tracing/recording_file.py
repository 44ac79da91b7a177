"""The file of a recording: JSON Lines, written and read.  docs/reference/recording-format.md.

The first line is a header; each further line is one entry.  The file may be malicious, truncated or
still growing.

What always holds
    * Reading raises `NotARecording` for a wrong first line, and nothing else for any bytes; a later
      line that cannot be read becomes an entry of the kind `damage`.
    * Reading a frame returns the bytes that `frame_line` got.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from accord.errors import AccordError
from accord.schema.codec import Invalid, encode, to_python
from accord.tracing.frames import Speaker

FORMAT = "accord-recording"
VERSION = 1

EntryKind = Literal["frame", "stderr", "gap", "end", "damage"]

TIME_MAX = 1e9
"""In seconds; a longer time (thirty years) is damage."""


class NotARecording(AccordError):
    """The file is not a recording, or has an unknown version."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a recording."""

    version: int = VERSION
    started: str | None = None
    command: tuple[str, ...] = ()
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a recording.

    `number` counts from 1.  `raw` is the frame, or the text on stderr.  `speaker` is None if the
    entry is from neither side.  `detail` describes a gap, an end or a damaged line.
    """

    number: int
    time: float
    kind: EntryKind
    speaker: Speaker | None = None
    raw: bytes = b""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recording:
    header: Header
    entries: tuple[Entry, ...]


def header_line(*, started: str, command: Iterable[str], redacted: bool, program: str) -> bytes:
    """Return the first line of a new recording."""
    return _line(
        {
            "format": FORMAT,
            "version": VERSION,
            "started": started,
            "command": list(command),
            "redacted": redacted,
            "program": program,
        }
    )


def frame_line(
    time: float, speaker: Speaker, raw: bytes, *, facts: Mapping[str, object] | None = None
) -> bytes:
    """Return the line of a frame; `facts` (kind, method, pair) are for people and other tools."""
    return _line({"t": round(time, 6), "from": speaker, **(facts or {}), **_content("frame", raw)})


def stderr_line(time: float, raw: bytes) -> bytes:
    """Return the line of a text on stderr."""
    return _line({"t": round(time, 6), "from": "stderr", **_content("text", raw)})


def gap_line(time: float, speaker: str, lost_bytes: int, why: str) -> bytes:
    """Return the line of a gap: bytes that were forwarded but not recorded."""
    return _line({"t": round(time, 6), "gap": {"from": speaker, "bytes": lost_bytes, "why": why}})


def end_line(time: float, code: int | None, signal: str | None) -> bytes:
    """Return the line for the exit of the agent."""
    how = {"code": code} if signal is None else {"signal": signal}
    return _line({"t": round(time, 6), "end": how})


def _content(name: str, raw: bytes) -> dict[str, str]:
    try:
        return {name: raw.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode("ascii")}


def _line(value: Mapping[str, object]) -> bytes:
    return encode(value) + b"\n"


def read_header(line: bytes) -> Header:
    """Read the first line.

    Raises:
        NotARecording: it is not a header.
    """
    try:
        value = to_python(line)
    except Invalid:
        value = None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise NotARecording("not a recording: the first line is not a recording header")
    found = value.get("version")
    if found != VERSION:
        raise NotARecording(
            f"recording format {json.dumps(found)[:20]} is not supported, only {VERSION}"
        )
    command, started = value.get("command"), value.get("started")
    return Header(
        version=VERSION,
        started=started if isinstance(started, str) else None,
        command=tuple(map(str, command)) if isinstance(command, list) else (),
        redacted=value.get("redacted") is True,
    )


def read_entry(line: bytes, number: int, time_before: float = 0.0) -> Entry:
    """Read one line after the first, whatever it contains."""
    try:
        value = to_python(line)
    except Invalid as error:
        return _damaged(number, time_before, error.reason)
    if not isinstance(value, dict):
        return _damaged(number, time_before, "not an object")
    time = value.get("t")
    if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time <= TIME_MAX:
        return _damaged(number, time_before, "no time")
    speaker = value.get("from")
    for kind in ("gap", "end"):
        if isinstance(value.get(kind), dict):
            return Entry(number, float(time), kind, detail=value[kind])
    raw = _raw(value)
    if raw is None:
        return _damaged(number, float(time), "neither a frame nor a text")
    if speaker == "stderr":
        return Entry(number, float(time), "stderr", raw=raw)
    if speaker in ("client", "agent"):
        return Entry(number, float(time), "frame", speaker, raw)
    return _damaged(number, float(time), "unknown sender")


def _raw(value: Mapping[str, Any]) -> bytes | None:
    coded = value.get("base64")
    if isinstance(coded, str):
        try:
            return base64.b64decode(coded, validate=True)
        except (binascii.Error, ValueError):
            return None
    text = value.get("frame", value.get("text"))
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else None


def _damaged(number: int, time: float, why: str) -> Entry:
    return Entry(number, time, "damage", detail={"why": why})


def read_entries(lines: Iterable[bytes]) -> Iterator[Entry]:
    """Yield the entries of all lines after the first; blank lines are skipped."""
    number, time = 0, 0.0
    for line in lines:
        if line.strip():
            number += 1
            entry = read_entry(line, number, time)
            time = entry.time
            yield entry


def read_recording(lines: Iterable[bytes]) -> Recording:
    """Read a whole file from its lines.

    Raises:
        NotARecording: the first line is not a header.
    """
    all_lines = iter(lines)
    header = read_header(next(all_lines, b""))
    return Recording(header, tuple(read_entries(all_lines)))
