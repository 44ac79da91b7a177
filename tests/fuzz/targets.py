"""The targets: each takes any bytes and raises AssertionError where a promise is broken.

Whatever else they raise is a broken promise too.
"""

import json
from collections.abc import Callable
from typing import Any

from accord.jsonrpc import FrameTooLong, splitter_for
from accord.jsonrpc.events import Event, NotificationReceived
from accord.jsonrpc.fast_notifications import notification_reader, notifications_reader
from accord.jsonrpc.framing import HEADER_BYTES_MAX, Framing
from accord.jsonrpc.peer import Peer
from accord.machine.redaction.redactor import Redactor
from accord.schema import v1, v2
from accord.schema.codec import Invalid, decode, encode, reading
from accord.schema.draft import methods as draft_methods
from accord.schema.method import Method
from accord.schema.v1 import methods as v1_methods
from accord.schema.v2 import methods as v2_methods
from accord.tracing.display.html_page import page_of
from accord.tracing.display.statistics import figures_of
from accord.tracing.display.terminal_text import figure_lines, problem_line, row_lines
from accord.tracing.display.timeline import timeline_of
from accord.tracing.recorder.recording_writer import FrameStream, RecordingWriter
from accord.tracing.recording_file import NotARecording, Recording, read_recording
from accord.transcript import Transcript
from tests.fuzz.http_targets import HTTP_TARGETS
from tests.fuzz.source import Source, written

Target = Callable[[bytes], None]
FRAME_BYTES_MAX = 256
_FRAMINGS: tuple[Framing | None, ...] = ("lines", "content-length", None)

METHODS: tuple[Method, ...] = tuple(
    method
    for module in (v1_methods, v2_methods, draft_methods)
    for table in vars(module).values()
    if isinstance(table, dict)
    for method in table.values()
    if isinstance(method, Method)
)
# What most of a conversation is made of.
_SPOKEN = tuple(
    method
    for method in METHODS
    if method.name in ("initialize", "session/new", "session/prompt", "session/update")
    or method.name == "session/request_permission"
)


# ---- framing


def _split(framing: Framing | None, chunks: list[bytes]) -> tuple[list[bytes], bool]:
    """All frames, and whether one was too long."""
    splitter = splitter_for(framing, frame_bytes_max=FRAME_BYTES_MAX)
    frames: list[bytes] = []
    try:
        for chunk in chunks:
            frames += splitter.feed(chunk)
    except FrameTooLong as error:
        return frames + error.frames, True
    return frames + splitter.finish(), False


def framing(data: bytes) -> None:
    """Frames do not depend on how bytes are cut, keep their bound, and come back as they went."""
    source = Source(data)
    chosen = source.choose(_FRAMINGS)
    cuts = [source.byte() for _ in range(source.byte() % 8)]
    rest = source.rest()
    chunks, at = list[bytes](), 0
    for cut in cuts:
        chunks.append(rest[at : at + cut])
        at += cut
    chunks.append(rest[at:])
    whole, too_long = _split(chosen, [rest])
    parts, parts_too_long = _split(chosen, chunks)
    assert (parts, parts_too_long) == (whole, too_long), "the cuts made a difference"
    assert _split(chosen, [bytes([byte]) for byte in rest]) == (whole, too_long)
    # Noise between headers has a bound of its own.
    longest = FRAME_BYTES_MAX if chosen == "lines" else HEADER_BYTES_MAX
    assert all(len(frame) <= longest for frame in whole)
    good = [
        frame
        for frame in whole
        if frame.strip() and not {10, 13} & set(frame) and len(frame) <= FRAME_BYTES_MAX
    ]
    encoder = splitter_for(chosen or "lines", frame_bytes_max=FRAME_BYTES_MAX)
    sent = b"".join(encoder.encode(frame) for frame in good)
    back, _ = _split(chosen or "lines", [sent])
    assert back == good, "what was framed did not come back"


# ---- messages


def messages(data: bytes) -> None:
    """A peer makes an event of any frame, and what it answers is a message itself."""
    source = Source(data)
    peer = Peer(accept_batches=source.chance(2), depth_max=16, frame_bytes_max=1 << 16)
    peer.call("a/b", b"{}")
    for _ in range(1 + source.byte() % 3):
        frame = source.rest() if source.chance(3) else _envelope(source)
        event = peer.receive(frame)
        assert isinstance(event, Event)
        answer = getattr(event, "answer", None)
        if answer is not None:
            said = json.loads(answer)
            for one in said if isinstance(said, list) else [said]:
                assert one["jsonrpc"] == "2.0"
                assert "id" in one


def _envelope(source: Source) -> bytes:
    members: dict[str, Any] = {}
    for name, usual in (
        ("jsonrpc", "2.0"),
        ("id", 1),
        ("method", "session/update"),
        ("params", {}),
        ("result", {}),
        ("error", {"code": -1, "message": "no"}),
    ):
        match source.byte() % 4:
            case 1 | 2:
                members[name] = usual
            case 3:
                members[name] = source.anything()
    return written([members, source.anything()] if source.chance(8) else members)


_NOTIFICATIONS: tuple[Any, ...] = (v1.SessionNotification, v2.UpdateSessionNotification)
_READERS = tuple(
    (
        notification_reader("session/update", wanted, depth_max=16),
        notifications_reader("session/update", wanted, depth_max=16),
    )
    for wanted in _NOTIFICATIONS
)


def shortcut(data: bytes) -> None:
    """What the shortcut takes, the long way takes as the same; it never takes anything else."""
    source = Source(data)
    (read, read_all), wanted = source.choose(tuple(zip(_READERS, _NOTIFICATIONS, strict=True)))
    params = source.json_of(wanted)
    frame = b'{"jsonrpc":"2.0","method":"session/update","params":' + params + b"}"
    if source.chance(4):
        at = source.byte() % len(frame)
        frame = frame[:at] + source.rest() + frame[at:]
    taken = [one for one in (read(frame),) if one is not None]
    taken += read_all([frame, frame])
    if not taken:
        return
    event = Peer(depth_max=16).receive(frame)
    assert isinstance(event, NotificationReceived), event
    assert event.method == "session/update"
    assert event.note is None
    assert all(one == decode(wanted, event.params) for one in taken)


# ---- decoding


def decoding(data: bytes) -> None:
    """Any method's params and result are read or refused; what was read can be said again."""
    source = Source(data)
    method = METHODS[(source.byte() << 8 | source.byte()) % len(METHODS)]
    is_result = method.result is not None and source.chance(2)
    wanted = method.result if is_result else method.params
    raw = source.rest() if source.chance(10) else source.json_of(wanted)
    read = method.decode_result if is_result else method.decode_params
    notes: list[str] = []
    try:
        value = read(raw, notes=notes)
    except Invalid:
        _must_be_refused_strictly(wanted, raw)
        return
    said = encode(value)
    more: list[str] = []
    again = read(said, notes=more)
    assert again == value, f"{method.name}: said again it means something else"
    assert encode(again) == said
    _check_strict(wanted, raw, value, notes)


def _must_be_refused_strictly(wanted: Any, raw: bytes) -> None:
    try:
        reading(wanted, strict=True)(raw)
    except Invalid:
        return
    raise AssertionError("strict reading takes what tolerant reading refuses")


def _check_strict(wanted: Any, raw: bytes, value: Any, notes: list[str]) -> None:
    """Strict reading takes only what needed no tolerance, and reads the same."""
    try:
        strictly = reading(wanted, strict=True)(raw)
    except Invalid:
        return
    assert strictly == value
    assert not notes, notes


# ---- folding


def folding(data: bytes) -> None:
    """Any sequence of updates folds; the same sequence gives the same view, which can be told."""
    source = Source(data)
    wanted = source.choose(_NOTIFICATIONS)
    one, other = Transcript(), Transcript()
    for _ in range(12):
        if source.is_spent:
            break
        try:
            update = decode(wanted, source.json_of(wanted)).update
        except Invalid:
            continue
        one.apply(update)
        other.apply(update)
    assert one.dump() == other.dump()
    assert len({id(entry) for entry in one.timeline}) == len(one.timeline)


# ---- recordings


def recorded(data: bytes) -> None:
    """Whatever passes the recorder, its file can be read, and has the frames as they were."""
    source = Source(data)
    lines: list[bytes] = []
    scribe = RecordingWriter(lines.append, Redactor(["sesame"]) if source.chance(2) else None)
    scribe.head(started="now", command=["agent", "--token", "sesame"], program="accord")
    passed: dict[str, bytes] = {"client": b"", "agent": b""}
    for time in range(1 + source.byte() % 6):
        speaker = source.choose(("client", "agent", "stderr"))
        chunk = source.rest() if source.chance(5) else _envelope(source) + b"\n"
        scribe.take(speaker, float(time), chunk)
        passed[speaker] = passed.get(speaker, b"") + chunk
    scribe.take("end", 9.0, b"0")
    recording = read_recording(b"".join(lines).splitlines(keepends=True))
    assert len(recording.entries) == len(lines) - 1
    assert all(entry.kind != "damage" for entry in recording.entries)
    if not recording.header.redacted:
        for speaker in ("client", "agent"):
            raw = [one.raw for one in recording.entries if one.speaker == speaker]
            stream = FrameStream()
            frames = [*stream.feed(passed[speaker]), *stream.finish()]
            assert raw == frames, "a frame was not recorded as it passed"
    _look_at(recording)


def recordings(data: bytes) -> None:
    """Any file is read or refused, and what was read can be shown, in a terminal and as a page."""
    source = Source(data)
    lines = [b'{"format":"accord-recording","version":1}\n'] if not source.chance(10) else []
    while not source.is_spent and len(lines) < 20:
        lines.append(_line(source) + b"\n")
    try:
        recording = read_recording(lines)
    except NotARecording:
        return
    _look_at(recording)


def _line(source: Source) -> bytes:
    if source.chance(12):
        return source.rest()
    odd = source.chance(12)
    entry: dict[str, Any] = {
        "t": source.choose((-1, 1e12, None, "1") if odd else (0, 0.5, 1, 2, 3)),
        "from": source.choose(("client", "agent", "client", "agent", "stderr", "nobody")),
    }
    match source.byte() % 8:
        case 0:
            entry["end"] = source.anything()
        case 1:
            entry["gap"] = {"from": source.anything(), "bytes": source.anything()}
        case 2:
            entry["base64"] = source.choose(("aGk=", "!", ""))
        case 3:
            entry["frame"] = source.anything()
        case _:
            entry["frame"] = _frame(source)
    return written(entry)


def _frame(source: Source) -> str:
    """A message of the protocol, or what would be one."""
    method = METHODS[(source.byte() << 8 | source.byte()) % len(METHODS)]
    number = f'"jsonrpc":"2.0","id":{source.byte() % 3}'
    match source.byte() % 4:
        case 0 if method.result is not None:
            return f'{{{number},"result":{_text(source, method.result)}}}'
        case 1:
            number = '"jsonrpc":"2.0"'
        case 2:
            method = source.choose(_SPOKEN)
    name = json.dumps(method.name)
    return f'{{{number},"method":{name},"params":{_text(source, method.params)}}}'


def _text(source: Source, wanted: Any) -> str:
    return source.json_of(wanted).decode("utf-8", "replace")


def _look_at(recording: Recording) -> None:
    timeline = timeline_of(recording.entries)
    for row in timeline.rows:
        for line in row_lines(row, width=80):
            assert line.isprintable(), f"a terminal would be commanded: {line!r}"
    for line in figure_lines(figures_of(timeline.rows)):
        assert line.isprintable()
    for problem in timeline.problems:
        assert problem_line(problem).isprintable()
    page = page_of(recording)
    assert page.isascii() or page.encode()


TARGETS: dict[str, Target] = {
    "framing": framing,
    "messages": messages,
    "shortcut": shortcut,
    "decoding": decoding,
    "folding": folding,
    "recorded": recorded,
    "recordings": recordings,
    **HTTP_TARGETS,
}
