"""The review: what the agent changed, kept or undone by a key, and nothing without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from textual.pilot import Pilot

from accord.terminal.model.changes.file_change import change_of
from accord.terminal.model.chat import Chat
from accord.terminal.render.conversation_colours import NONE
from accord.terminal.screen.inspectors.review_rows import file_row, page_of
from accord.terminal.screen.inspectors.review_screen import ReviewScreen
from tests.terminal.model.changes.test_git_state import git
from tests.terminal.model.projects import NEW, OLD
from tests.terminal.screen.harness.inspector_stage import Bench, StandInController, picture


class Review:
    """The screen over a controller whose agent wrote three files."""

    def __init__(self, folder: Path, theme: str = "accord-dark") -> None:
        self.folder = folder
        self.controller = StandInController(folder)
        self.app = Bench(theme=theme)
        self.screen = ReviewScreen(self.controller.chat, cast("Any", self.controller))

    async def write(self, name: str, text: str) -> None:
        async with self.controller.journal_of.writing(str(self.folder / name)):
            (self.folder / name).write_text(text)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()

    async def open(self, pilot: Pilot[None]) -> None:
        self.app.push_screen(self.screen)
        await self.settle(pilot)

    async def settle(self, pilot: Pilot[None]) -> None:
        for _ in range(3):
            await pilot.pause()
            await self.app.workers.wait_for_complete()
        await pilot.pause()

    async def press(self, pilot: Pilot[None], *keys: str) -> None:
        for key in keys:
            await pilot.press(key)
            await self.settle(pilot)

    @property
    def states(self) -> list[tuple[str, ...]]:
        return [one.states for one in self.controller.journal_of.changes]


async def begun(folder: Path, theme: str = "accord-dark") -> Review:
    """A review of three files."""
    review = Review(folder, theme)
    (folder / "b.py").write_text(OLD)
    (folder / "a.py").write_text("import os\n")
    await review.write("a.py", "import sys\n")
    await review.write("new.py", "print('hello')\n")
    await review.write("b.py", NEW)
    return review


@pytest.mark.parametrize("size", [(100, 30), (60, 20)])
@pytest.mark.parametrize("theme", ["accord-dark", "accord-none"])
async def test_files_and_differences_are_listed(
    tmp_path: Path, size: tuple[int, int], theme: str
) -> None:
    """Issue 6: files that the agent touches listed with changes."""
    review = await begun(tmp_path, theme)
    async with review.app.run_test(size=size) as pilot:
        await review.open(pilot)
        lines = picture(review.app)
    whole = "\n".join(lines)
    assert "3 changed files  +4 −3" in lines[0]
    for words in ("○ a.py", "○ new.py", "○ b.py", "1 of 2", "- two", "+ TWO", "  three"):
        assert words in whole, words
    assert "Esc close" in lines[-1]
    assert "a keep" in lines[-1]


async def test_a_difference_is_kept_or_undone_by_a_key(tmp_path: Path) -> None:
    """Issue 6: accept or undo per hunk."""
    review = await begun(tmp_path)
    async with review.app.run_test(size=(100, 30)) as pilot:
        await review.open(pilot)
        assert (review.screen.change or cast("Any", None)).path.endswith("b.py")
        await review.press(pilot, "a")
        assert review.states[2] == ("kept", "pending")
        assert review.screen.hunk == 1, "the next one that waits"
        await review.press(pilot, "u")
        assert review.states[2] == ("kept", "undone")
        assert review.read("b.py") == OLD.replace("two", "TWO")
        assert "2 of 2 ── undone" in "\n".join(picture(review.app))
        await review.press(pilot, "u")
        assert review.read("b.py") == NEW, "once more does it again"


async def test_files_and_everything_are_kept_or_undone(tmp_path: Path) -> None:
    """Issue 6: per file, and all."""
    review = await begun(tmp_path)
    async with review.app.run_test(size=(100, 30)) as pilot:
        await review.open(pilot)
        await review.press(pilot, "U")
        assert review.read("b.py") == OLD
        await review.press(pilot, "U")
        assert review.read("b.py") == NEW
        await review.press(pilot, "A")
        assert review.states[2] == ("kept", "kept")
        await review.press(pilot, "shift+tab", "up", "u")
        assert not (tmp_path / "new.py").exists()
        await review.press(pilot, "ctrl+u")
        assert review.read("a.py") == "import os\n"
        assert review.read("b.py") == NEW, "what is kept stays"
        await review.press(pilot, "up", "u", "ctrl+a")
        assert review.states == [("kept",), ("undone",), ("kept", "kept")]
        assert "all reviewed" in picture(review.app)[0]


async def test_what_somebody_else_changed_is_left_alone_and_said(tmp_path: Path) -> None:
    """Issue 6: tells that it was changed since, and offers nothing destructive."""
    review = await begun(tmp_path)
    theirs = NEW.replace("TWO", "mine")
    (tmp_path / "b.py").write_text(theirs)
    async with review.app.run_test(size=(100, 30)) as pilot:
        await review.open(pilot)
        await review.press(pilot, "u")
        assert "was changed in the meantime" in review.app.told[0]
        assert review.read("b.py") == theirs
        await review.press(pilot, "U")
        assert "1 hunk not undone" in review.app.told[1]
        assert review.read("b.py") == theirs.replace("FIVE", "five")


async def test_differences_are_walked_through_over_all_files(tmp_path: Path) -> None:
    """Ours: by keyboard alone."""
    review = await begun(tmp_path)
    async with review.app.run_test(size=(100, 30)) as pilot:
        await review.open(pilot)
        await review.press(pilot, "n")
        assert review.screen.hunk == 1
        await review.press(pilot, "N", "N")
        assert (review.screen.change or cast("Any", None)).path.endswith("new.py")
        await review.press(pilot, "escape")
        assert review.app.screen is not review.screen
        assert review.controller.journal_of.on_change is None


async def test_a_change_that_comes_meanwhile_is_shown(tmp_path: Path) -> None:
    """Ours: the agent goes on while somebody looks."""
    review = Review(tmp_path)
    async with review.app.run_test(size=(60, 20)) as pilot:
        await review.open(pilot)
        assert "not changed any files yet" in picture(review.app)[0]
        for key in ("a", "u", "A", "U", "n", "o"):
            await review.press(pilot, key)
        await review.write("x.py", "hello = 1\n")
        await review.settle(pilot)
        assert "1 changed file" in picture(review.app)[0]
        assert "hello = 1" in "\n".join(picture(review.app))


async def test_a_question_of_the_agent_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a screen in front of the chat must not hide that somebody waits."""
    review = await begun(tmp_path)
    async with review.app.run_test(size=(60, 20)) as pilot:
        await review.open(pilot)
        monkeypatch.setattr(Chat, "needs_answer", True)
        review.screen.refresh_chat()
        await pilot.pause()
        assert "has a question" in picture(review.app)[0]


async def test_what_is_not_known_says_why(tmp_path: Path) -> None:
    """Ours."""
    review = Review(tmp_path)
    (tmp_path / "x.bin").write_bytes(b"\xff")
    await review.write("x.bin", "text")
    async with review.app.run_test(size=(100, 30)) as pilot:
        await review.open(pilot)
        await review.press(pilot, "u", "a", "A", "U")
        assert set(review.app.told) == {"This cannot be undone: it is not UTF-8 text."}
        assert "? x.bin" in "\n".join(picture(review.app))


async def test_git_is_told_of(tmp_path: Path) -> None:
    """Issue 6: git-aware."""
    git(tmp_path, "init", "-b", "trunk")
    (tmp_path / "mine.py").write_text("before\n")
    review = await begun(tmp_path)
    await review.write("mine.py", "after\n")
    async with review.app.run_test(size=(100, 30)) as pilot:
        await review.open(pilot)
        whole = "\n".join(picture(review.app))
    assert "on trunk" in whole
    assert "untracked" in whole
    assert "new" in whole


async def test_the_editor_opens_at_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 6: open at line in $EDITOR."""
    asked: list[tuple[str, int | None]] = []

    def opened(app: object, path: str, line: int | None, *more: object) -> str:
        asked.append((Path(path).name, line))
        return "no editor"

    monkeypatch.setattr("accord.terminal.screen.external_editor.open_in_editor", opened)
    review = await begun(tmp_path)
    async with review.app.run_test(size=(100, 30)) as pilot:
        await review.open(pilot)
        await review.press(pilot, "o", "n", "o")
        await review.press(pilot, "shift+tab", "enter")
    assert asked == [("b.py", 2), ("b.py", 5), ("b.py", None)]
    assert review.app.told == ["no editor"] * 3


@pytest.mark.parametrize("width", [20, 40, 60, 100])
def test_lines_fit_their_width(width: int) -> None:
    """Issue 6: narrow terminals, wide characters."""
    change = change_of("/p/" + "漢字" * 40 + "/" + "x" * 90 + ".py", "a\n", "漢字 😀" * 99 + "\n")
    assert change is not None
    strip = file_row(change, "dirty", "/p", width, NONE)
    assert strip.cell_length <= width
    assert strip.text.rstrip().endswith(("−1", "dirty"))
    assert all(row[0].cell_length <= width for row in page_of(change, width, NONE).rows)
