"""The page as a file; what it does in a browser is tested in tests/browser."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

from accord.tracing.display.html_page import FRAME_CHARACTERS_MAX, page_of
from accord.tracing.recording_file import read_recording
from tests.tracing.samples import HOSTILE, Tape, hostile, talk


def page(tape: Tape) -> str:
    return page_of(read_recording(tape.lines), name=HOSTILE)


def data_of(text: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert match is not None
    data: dict[str, Any] = json.loads(match.group(1))
    return data


class Elements(HTMLParser):
    """Which elements a browser would make."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.sources: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]


def test_nothing_of_a_recording_becomes_markup() -> None:
    """Issue 4: data embedded safely, hostile content escaped."""
    assert Elements(page(hostile())).names == Elements(page(talk())).names
    assert Elements(page(hostile())).names.count("script") == 2
    assert HOSTILE not in page(hostile())


def test_the_page_needs_nothing_and_allows_no_other_program() -> None:
    """Issue 4: no dependencies, no network."""
    text = page(hostile())
    assert Elements(text).sources == []
    policy = re.search(r"script-src 'sha256-([^']+)'", text)
    script = re.search(r"<script>(.*)</script>", text, re.DOTALL)
    assert policy is not None
    assert script is not None
    digest = hashlib.sha256(script.group(1).encode()).digest()
    assert policy.group(1) == base64.b64encode(digest).decode()
    assert "default-src 'none'" in text
    assert "http://" not in text.replace(HOSTILE, "")
    assert "https://" not in text


def test_every_frame_is_there_to_be_jumped_to() -> None:
    """Issue 4: jump to the raw frame."""
    tape = talk()
    frames = data_of(page(tape))["frames"]
    assert len(frames["raw"]) == len(frames["t"]) == len(tape.lines) - 1
    assert json.loads(frames["raw"][0])["method"] == "initialize"


def test_a_very_long_frame_is_cut_and_says_so() -> None:
    """Style: everything has a bound."""
    tape = Tape()
    tape.chunk("x" * (FRAME_CHARACTERS_MAX + 10))
    raw = data_of(page(tape))["frames"]["raw"][0]
    assert len(raw) < FRAME_CHARACTERS_MAX + 100
    assert raw.endswith("more characters in the recording")


def test_an_empty_recording_is_a_page_too() -> None:
    """Ours: an agent that never said anything is what people look at."""
    assert data_of(page(Tape()))["rows"] == []
