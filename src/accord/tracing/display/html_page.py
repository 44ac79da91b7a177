"""A recording as a self-contained HTML page.

Must not know browsers, nor where the page is written.

What always holds
    * Nothing in a recording becomes markup or script: data is JSON in an element that no browser
      executes, with every `<` escaped, and the page forbids all scripts but its own (by hash) and
      every network connection.
    * A recording of any length gives a page; very long frames are cut, with a note.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from accord.tracing.display.statistics import figures_of
from accord.tracing.display.timeline import Timeline, timeline_of
from accord.tracing.recording_file import Entry, Recording

FRAME_CHARACTERS_MAX = 1 << 18
"""How much of one frame the page contains."""

SCRIPTS = ("model.js", "render.js", "list.js", "panels.js", "main.js")
_SPEAKERS = ("client", "agent", "stderr", "")


def page_of(recording: Recording, *, name: str = "recording") -> str:
    timeline = timeline_of(recording.entries)
    data = json.dumps(
        _data(recording, timeline, name), ensure_ascii=False, separators=(",", ":")
    ).replace("<", "\\u003c")
    script = "".join(_asset(one) for one in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    parts = {
        "STYLE": _asset("style.css"),
        "POLICY": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        "SCRIPT": script,
        # Last, because the data may contain the placeholder of another part.
        "DATA": data,
    }
    page = _asset("page.html")
    for place, text in parts.items():
        before, mark, after = page.partition(f"%%{place}%%")
        assert mark, place
        page = before + text + after
    return page


def _asset(name: str) -> str:
    return files("accord.tracing").joinpath("viewer", name).read_text(encoding="utf-8")


def _data(recording: Recording, timeline: Timeline, name: str) -> dict[str, Any]:
    """Return the data that `model.js` reads."""
    kinds, sessions, methods = _Words(), _Words(), _Words()
    problems = {id(problem): at for at, problem in enumerate(timeline.problems)}
    rows = [
        [
            kinds.index(row.kind),
            row.start,
            row.end,
            row.speaker or "",
            sessions.index(row.session),
            methods.index(row.method),
            _sound(row.title),
            _sound(row.status),
            row.frames,
            -1 if row.turn is None else row.turn,
            [[time, _sound(status)] for time, status in row.steps],
            [problems[id(problem)] for problem in row.problems],
        ]
        for row in timeline.rows
    ]
    header = recording.header
    return {
        "name": _sound(name),
        "started": header.started,
        "command": [_sound(word) for word in header.command],
        "redacted": header.redacted,
        "dialect": timeline.dialect,
        "frames": _frames(recording.entries),
        "rows": rows,
        "kinds": kinds.all,
        "sessions": sessions.all,
        "methods": methods.all,
        "problems": [
            [one.number, one.rule, one.level, one.sentence, _sound(one.detail)]
            for one in timeline.problems
        ],
        "figures": [
            [f.method, f.speaker, f.count, f.errors, f.unanswered, f.p50, f.p99, f.longest]
            for f in figures_of(timeline.rows)
        ],
    }


def _frames(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return frames by columns, which takes a third of the size of objects."""
    times: list[float] = []
    speakers: list[int] = []
    texts: list[str] = []
    for entry in entries:
        times.append(entry.time)
        who = "stderr" if entry.kind == "stderr" else entry.speaker or ""
        speakers.append(_SPEAKERS.index(who))
        text = (
            entry.raw.decode("utf-8", "replace") if not entry.detail else json.dumps(entry.detail)
        )
        if len(text) > FRAME_CHARACTERS_MAX:
            left = len(text) - FRAME_CHARACTERS_MAX
            text = f"{text[:FRAME_CHARACTERS_MAX]}… {left} more characters in the recording"
        texts.append(text)
    return {"t": times, "s": speakers, "raw": texts}


def _sound(text: str) -> str:
    """Replace lone surrogates, which JSON may contain but UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()


class _Words:
    """A table of frequent words, each once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._at: dict[str, int] = {}

    def index(self, word: str | None) -> int:
        """Return the index of a word; -1 for None."""
        if word is None:
            return -1
        at = self._at.get(word)
        if at is None:
            at = self._at[word] = len(self.all)
            self.all.append(_sound(word))
        return at
