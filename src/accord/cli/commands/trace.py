"""`accord trace`: shows a recording as a page, as text or as statistics, or validates it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from accord.cli.console import complain, say, say_json, show
from accord.tracing.recording_file import NotARecording, Recording, read_header, read_recording
from accord.tracing.recording_redaction import without_secrets

DESCRIPTION = """\
Shows a recording made by `accord record`.

Without options it makes a page and opens it in the browser: one self-contained file that loads
nothing from the network.  --html writes that page to a file.

exit codes: 0 done, 1 --validate found a broken rule, 2 wrong usage or not a recording
"""
EPILOG = """\
examples:
  accord trace session.jsonl
  accord trace session.jsonl --text
  accord trace session.jsonl --validate
"""
POLL_SECONDS = 0.2


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord trace`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord trace FILE [--html OUT | --text | --stats | --validate | --follow]"
    add = parser.add_argument
    add("file", metavar="FILE", type=Path, help="the recording; - is standard input")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--html", metavar="OUT", type=Path, help="write the page to this file")
    ways.add_argument("--text", action="store_true", help="print one line per event")
    ways.add_argument("--stats", action="store_true", help="print counts and durations per method")
    ways.add_argument("--validate", action="store_true", help="print the rules that are broken")
    ways.add_argument(
        "--follow", action="store_true", help="like --text, while the recording grows"
    )
    add("--json", action="store_true", help="with --stats or --validate: print JSON")


def run(arguments: Namespace) -> int:
    try:
        if arguments.follow:
            return _follow(arguments.file)
        recording = _read(arguments.file)
    except NotARecording as error:
        return _refuse(str(error))
    except BrokenPipeError:
        # The reader of --follow has closed the pipe; the file is fine.
        raise
    except OSError as error:
        return _refuse(f"cannot read {arguments.file}: {error.strerror}")
    if arguments.text:
        return _text(recording)
    if arguments.stats:
        return _stats(recording, as_json=arguments.json)
    if arguments.validate:
        return _validate(recording, as_json=arguments.json)
    return _page(recording, arguments)


def _refuse(sentence: str) -> int:
    complain(f"accord trace: {sentence}")
    return 2


def _read(path: Path) -> Recording:
    if str(path) == "-":
        return without_secrets(read_recording(sys.stdin.buffer))
    with path.open("rb") as file:
        return without_secrets(read_recording(file))


def _has_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def _width() -> int | None:
    """Return the terminal's width; None for a pipe, where lines are not cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _text(recording: Recording) -> int:
    from accord.tracing.display.terminal_text import row_lines
    from accord.tracing.display.timeline import timeline_of

    width, unicode = _width(), _has_unicode()
    for row in timeline_of(recording.entries).rows:
        for line in row_lines(row, width=width, unicode=unicode):
            show(line)
    return 0


def _stats(recording: Recording, *, as_json: bool) -> int:
    from accord.tracing.display.statistics import figures_of
    from accord.tracing.display.terminal_text import figure_lines
    from accord.tracing.display.timeline import timeline_of

    figures = figures_of(timeline_of(recording.entries).rows)
    if as_json:
        say_json(json.dumps([asdict(one) for one in figures], indent=2))
        return 0
    for line in figure_lines(figures, unicode=_has_unicode()):
        show(line)
    return 0


def _validate(recording: Recording, *, as_json: bool) -> int:
    from accord.tracing.display.terminal_text import problem_line, summary_line
    from accord.tracing.display.timeline import timeline_of

    timeline = timeline_of(recording.entries)
    broken = [problem for problem in timeline.problems if problem.level == "must"]
    if as_json:
        say_json(json.dumps([asdict(one) for one in timeline.problems], indent=2))
        return 1 if broken else 0
    for problem in timeline.problems:
        show(problem_line(problem, unicode=_has_unicode()))
    frames = sum(entry.kind == "frame" for entry in recording.entries)
    show(summary_line(frames, timeline.dialect, timeline.problems))
    return 1 if broken else 0


def _page(recording: Recording, arguments: Namespace) -> int:
    from accord.tracing.display.html_page import page_of

    name = "recording" if str(arguments.file) == "-" else arguments.file.name
    page = page_of(recording, name=name).encode("utf-8", "replace")
    if arguments.html is not None:
        _write_private(arguments.html, page)
        return 0
    import tempfile
    import webbrowser

    # The file stays, so that the user may reload the page.
    descriptor, place = tempfile.mkstemp(prefix="accord-trace-", suffix=".html")
    with os.fdopen(descriptor, "wb") as file:
        file.write(page)
    say(str(place))
    if not webbrowser.open(Path(place).as_uri()):
        complain("accord trace: cannot open a browser")
    return 0


def _write_private(path: Path, page: bytes) -> None:
    """Write a page that only the user can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(page)


def _follow(path: Path) -> int:
    from accord.tracing.display.terminal_text import LiveText

    with path.open("rb") as file:
        lines = _lines_of(file.fileno())
        first = next((line for line in lines if line is not None), b"")
        redacted = read_header(first).redacted
        live = LiveText(redacted=redacted, width=_width(), unicode=_has_unicode())
        for line in lines:
            # Unfinished rows are shown when nothing arrives for a moment.
            shown = live.settle() if line is None else live.take(line)
            for text in shown:
                show(text)
            sys.stdout.flush()
            if live.ended:
                return 0
    return 0


def _lines_of(descriptor: int) -> Iterator[bytes | None]:
    """Yield whole lines of a growing file; None after each moment without one."""
    held = b""
    while True:
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            yield None
            time.sleep(POLL_SECONDS)
            continue
        *lines, held = (held + chunk).split(b"\n")
        yield from lines
