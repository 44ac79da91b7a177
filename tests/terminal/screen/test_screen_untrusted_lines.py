"""Whatever an agent sends or writes: nothing that commands a terminal is in the lines of ours."""

from __future__ import annotations

from pathlib import Path
from unicodedata import category

from hypothesis import given
from hypothesis import strategies as st
from textual.strip import Strip

from accord.terminal.model.changes.file_change import change_of, unknown_change
from accord.terminal.model.changes.undo_redo import JournalFiles
from accord.terminal.model.traffic import Traffic
from accord.terminal.model.traffic_filter import pretty
from accord.terminal.render.conversation_colours import DARK
from accord.terminal.render.json_lines import JsonLines
from accord.terminal.render.text_runs import strip_of
from accord.terminal.screen.inspectors.follow_panel import read_page
from accord.terminal.screen.inspectors.review_rows import file_row, page_of
from accord.terminal.screen.inspectors.traffic_screen import row_of

BAD = [
    "\x1b[2J",
    "\x1b]0;x\x07",
    "\x9b31m",
    "\u202e",
    "\x00",
    "\r",
    "\t",
    "漢",
    "e\u0301",
    "[b]",
    "\n",
]
TEXTS = st.lists(st.sampled_from(BAD) | st.text(max_size=5), max_size=8).map("".join)


def assert_harmless(strip: Strip, width: int) -> None:
    """No control, format or surrogate character; no wider than allowed."""
    assert not [letter for letter in strip.text if category(letter) in ("Cc", "Cf", "Cs")]
    assert strip.cell_length <= width


@given(TEXTS, st.sampled_from([40, 100]))
def test_messages(text: str, width: int) -> None:
    """Issue 6: a property test shows it."""
    traffic = Traffic()
    raw = text.encode("utf-8", "replace").replace(b"\n", b" ")
    traffic.record(
        "received", b"noise " + raw + b'\n{"method":"' + raw + b'","params":"' + raw + b'"}\n'
    )
    traffic.catch_up()
    for item in traffic.items():
        assert_harmless(row_of(item, width, DARK), width)
        lines = JsonLines(pretty(item), width)
        for index in range(len(lines)):
            assert_harmless(lines.strip(index, DARK), width)


@given(TEXTS, TEXTS, TEXTS, st.sampled_from([40, 100]))
def test_differences(path: str, before: str, after: str, width: int) -> None:
    """Issue 6: names of files and what is in them are somebody's choice too."""
    change = change_of(f"/p/{path}", before, after) or unknown_change(f"/p/{path}", path)
    assert_harmless(file_row(change, "dirty", "/p", width, DARK), width)
    for strip, _, _ in page_of(change, width, DARK).rows:
        assert_harmless(strip, width)


@given(TEXTS)
def test_the_followed_file(tmp_path_factory: object, text: str) -> None:
    """Issue 6: the same for the file that is followed."""
    folder: Path = tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    (folder / "x.py").write_bytes(text.encode("utf-8", "replace"))
    page = read_page(JournalFiles([str(folder)], 1 << 20), str(folder / "x.py"), None, DARK)
    for line in page.lines:
        assert_harmless(strip_of(*line), 1000)
