"""What was said before."""

from __future__ import annotations

import json
import multiprocessing
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.model.prompt import history as module
from accord.terminal.model.prompt.history import History, Walk, history_file
from tests.hang_limit import HANG_SECONDS


def _said(path: Path) -> list[str]:
    history = History(path)
    history.load()
    return history.texts


def test_what_was_said_is_there_the_next_time_newest_first(tmp_path: Path) -> None:
    """Issue 6: history.  Nothing twice in a row; the file is the user's alone."""
    path = tmp_path / "state" / "prompts.jsonl"
    history = History(path)
    for text in ("one", "two\nlines", "two\nlines", " ", "日本 🙂", "\ud83d half"):
        history.add(text, "/folder")
    assert _said(path) == ["\ud83d half", "日本 🙂", "two\nlines", "one"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text().splitlines()[0])["folder"] == "/folder"


def test_it_is_in_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6: per user."""
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path))
    History().add("hello")
    assert history_file() == tmp_path / "prompts.jsonl"
    assert _said(history_file()) == ["hello"]


def test_lines_of_other_versions_and_broken_ones_do_no_harm(tmp_path: Path) -> None:
    """Ours: another version of the program writes the same file."""
    path = tmp_path / "p"
    lines = [b'{"v": 9, "text": "newer", "more": [1]}', b"\xff\xfe", b"[1]", b'{"text": 3}', b"{"]
    path.write_bytes(b"\n".join(lines))
    History(path).add("mine")
    assert _said(path) == ["mine", "newer"]
    assert lines[1] in path.read_bytes()


def test_the_file_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: everything has a bound; the newest stay."""
    monkeypatch.setattr(module, "FILE_BYTES_MAX", 2_000)
    path = tmp_path / "p"
    history = History(path)
    for number in range(100):
        history.add(f"prompt {number}")
    assert path.stat().st_size <= 2_100
    assert _said(path)[:2] == ["prompt 99", "prompt 98"]
    history.add("x" * (module.TEXT_CHARACTERS_MAX + 1))
    assert _said(path)[0] == "prompt 99"


def _say_many(path: Path, who: str) -> None:
    history = History(path)
    for number in range(60):
        history.add(f"{who} {number} " + "x" * 200)


def test_two_processes_may_say_things_at_once(tmp_path: Path) -> None:
    """Ours: several terminals are open.  Every prompt is there, each one's in its order."""
    path = tmp_path / "p"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_say_many, args=(path, name)) for name in ("a", "b")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(HANG_SECONDS)
        assert writer.exitcode == 0
    said = _said(path)
    for name in ("a", "b"):
        mine = [int(text.split()[1]) for text in said if text.startswith(name)]
        assert mine == list(range(59, -1, -1))


def test_what_is_said_before_the_file_was_read_is_not_lost(tmp_path: Path) -> None:
    """Ours: the file is read in a thread."""
    path = tmp_path / "p"
    History(path).add("old")
    history = History(path)
    history.remember("new")
    history.remember("new")
    history.load()
    assert history.texts == ["new", "old"]
    assert History(tmp_path / "none").texts == []


def test_a_search_finds_all_words_newest_first_each_once() -> None:
    """Issue 6: search with Ctrl-R."""
    history = History(Path("unused"))
    for text in ("Fix the test", "other", "fix THE docs", "other", "fix the test again"):
        history.remember(text)
    assert history.search("the fix", 9) == ["fix the test again", "fix THE docs", "Fix the test"]
    assert history.search("other", 9) == ["other"]
    assert history.search("", 2) == ["fix the test again", "other"]
    assert history.search("nothing such", 9) == []


def test_walking_up_and_down_keeps_what_was_being_typed() -> None:
    """Issue 6: like a shell; also what was changed on the way."""
    history = History(Path("unused"))
    for text in ("one", "two"):
        history.remember(text)
    walk = Walk(history)
    assert walk.newer("typing") is None
    assert (walk.older("typing"), walk.is_away) == ("two", True)
    assert walk.older("two changed") == "one"
    assert walk.older("one") is None
    assert walk.newer("one") == "two changed"
    assert (walk.newer("two changed"), walk.is_away) == ("typing", False)
    walk.reset()
    # What is shown already is passed over.
    assert walk.older("two") == "one"


@given(st.lists(st.text("ab", min_size=1, max_size=2), max_size=6), st.lists(st.booleans()))
def test_a_walk_never_loses_what_was_typed(said: list[str], steps: list[bool]) -> None:
    """Ours: whatever way one goes, coming back finds it."""
    history = History(Path("unused"))
    for text in said:
        history.remember(text)
    walk = Walk(history)
    shown = "being typed"
    for is_up in steps:
        moved = walk.older(shown) if is_up else walk.newer(shown)
        shown = shown if moved is None else moved
    while (moved := walk.newer(shown)) is not None:
        shown = moved
    assert shown == "being typed"
