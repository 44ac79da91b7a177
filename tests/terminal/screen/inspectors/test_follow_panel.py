"""The followed file: live, at its line, the range highlighted and marked with the tool call."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from textual.pilot import Pilot

from accord.terminal.screen.inspectors.follow_panel import FollowPanel
from accord.transcript import ToolCall
from accord.transcript.items.tool_call import FileDiff, Location
from tests.terminal.screen.harness.inspector_stage import Bench, StandInController, picture


class Following:
    """The panel over a controller."""

    def __init__(self, folder: Path, theme: str = "accord-dark") -> None:
        self.folder = folder
        self.controller = StandInController(folder)
        self.controller.chat.set_phase("working")
        self.panel = FollowPanel(self.controller.chat, cast("Any", self.controller))
        self.app = Bench(lambda: self.panel, theme)
        self.calls = 0

    def work_on(
        self, path: str, line: int | None = None, *diffs: FileDiff, status: str = "in_progress"
    ) -> ToolCall:
        self.calls += 1
        call = ToolCall(f"t{self.calls}")
        call.patch(title=f"Edit {Path(path).name}", kind="edit", status=status)
        call.replace_locations([Location(path, line)])
        call.replace_content(list(diffs), lambda item: (item,))
        self.controller.chat.entries.append(call)
        return call

    async def renew(self, pilot: Pilot[None]) -> list[str]:
        self.panel.refresh_chat()
        for _ in range(2):
            await pilot.pause()
            await self.app.workers.wait_for_complete()
        await pilot.pause()
        return picture(self.app)


@pytest.fixture
def following(tmp_path: Path) -> Following:
    """A project with two files of a hundred lines."""
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("".join(f"{name[0]}_{n} = {n}\n" for n in range(1, 101)))
    return Following(tmp_path)


@pytest.mark.rule("D26-16")
@pytest.mark.parametrize("size", [(100, 30), (60, 20), (45, 12)])
async def test_the_file_is_shown_at_its_line_with_the_call(
    following: Following, size: tuple[int, int]
) -> None:
    """D26-16: navigate, highlight, annotate."""
    following.work_on(str(following.folder / "a.py"), 60)
    async with following.app.run_test(size=size) as pilot:
        lines = await following.renew(pilot)
        assert "a.py:60" in lines[0]
        assert "Edit a.py" in lines[0] or size[0] < 60
        (marked,) = [one for one in lines if "▌" in one and "=" in one]
        assert "60 a_60 = 60" in marked


async def test_a_panel_that_is_opened_after_the_turn_shows_where_it_was(
    following: Following,
) -> None:
    """Issue 6: the file the agent works on.  Nothing has to happen before it is seen."""
    following.controller.chat.set_phase("ready")
    following.work_on("a.py", 60, status="completed")
    async with following.app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await following.app.workers.wait_for_complete()
        await pilot.pause()
        assert "a.py:60" in picture(following.app)[0]


@pytest.mark.rule("D26-16")
async def test_what_a_diff_changed_is_highlighted(following: Following) -> None:
    """D26-16: the changed lines."""
    path = following.folder / "a.py"
    text = path.read_text().replace("a_70 = 70", "a_70 = 0\nnew = 1")
    path.write_text(text)
    diff = FileDiff("a.py", old_text="a_70 = 70\n", new_text="a_70 = 0\nnew = 1\n")
    following.work_on("a.py", None, diff, status="completed")
    async with following.app.run_test(size=(100, 30)) as pilot:
        lines = await following.renew(pilot)
    assert sum("▌" in one and "=" in one for one in lines) == 2
    assert "done" in lines[0]


async def test_the_view_goes_where_the_agent_goes_unless_it_is_pinned(
    following: Following,
) -> None:
    """Issue 6: live; it can be pinned."""
    following.work_on("a.py", 10)
    async with following.app.run_test(size=(100, 30)) as pilot:
        await following.renew(pilot)
        following.work_on("b.py", 90)
        assert "b.py:90" in (await following.renew(pilot))[0]
        following.panel.action_pin()
        assert "pinned" in (await following.renew(pilot))[0]
        following.work_on("a.py", 20)
        assert "b.py" in (await following.renew(pilot))[0]
        following.panel.action_pin()
        assert "a.py:20" in (await following.renew(pilot))[0]


async def test_a_file_that_changes_is_read_again(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 6: live; looked at once a second while the agent works."""
    monkeypatch.setattr("accord.terminal.screen.inspectors.follow_panel.READ_SECONDS", 0.0)
    following.work_on("a.py", 1)
    async with following.app.run_test(size=(100, 30)) as pilot:
        assert "a_1 = 1" in "\n".join(await following.renew(pilot))
        page = following.panel.page
        await following.renew(pilot)
        assert following.panel.page is page, "what did not change is not read again"
        (following.folder / "a.py").write_text("written = True\n")
        assert "written = True" in "\n".join(await following.renew(pilot))
        (following.folder / "a.py").unlink()
        assert "the file no longer exists" in (await following.renew(pilot))[0]


async def test_of_a_file_outside_only_the_name_is_shown(following: Following) -> None:
    """Ours: a session's folders are all that we show."""
    following.work_on("/etc/hostname", 1)
    async with following.app.run_test(size=(100, 30)) as pilot:
        lines = await following.renew(pilot)
    assert "/etc/hostname" in lines[0]
    assert "outside" in lines[0]
    assert not any("1 " in one for one in lines[1:])


async def test_the_changed_files_are_listed_and_can_be_chosen(following: Following) -> None:
    """Issue 6: files that the agent touches listed with changes."""
    for name in ("a.py", "b.py"):
        async with following.controller.journal_of.writing(str(following.folder / name)):
            (following.folder / name).write_text(f"{name[0]} = 1\n")
    following.work_on("b.py", 1)
    async with following.app.run_test(size=(100, 30)) as pilot:
        lines = await following.renew(pilot)
        whole = "\n".join(lines)
        assert "2 changed files" in whole
        assert "+1 −100" in whole
        row = next(n for n, one in enumerate(lines) if "−100" in one and "a.py" in one)
        await pilot.click(offset=(20, row))
        lines = await following.renew(pilot)
        assert "a.py" in lines[0]
        assert following.panel.is_pinned


async def test_a_low_panel_still_shows_the_line(following: Following) -> None:
    """Issue 6: narrow terminals still work."""
    async with following.app.run_test(size=(60, 7)) as pilot:
        following.work_on("b.py", 9)
        await following.renew(pilot)
        async with following.controller.journal_of.writing(str(following.folder / "a.py")):
            (following.folder / "a.py").write_text("a = 1\n")
        lines = await following.renew(pilot)
        assert any("▌ 9" in one for one in lines) or any("▌  9" in one for one in lines)
        assert "a.py" in lines[-1]


async def test_nothing_to_follow_says_so(tmp_path: Path) -> None:
    """Ours; and a title that is somebody's trick is harmless."""
    following = Following(tmp_path, "accord-none")
    async with following.app.run_test(size=(60, 20)) as pilot:
        assert "appears here" in (await following.renew(pilot))[0]
        (tmp_path / "x.py").write_text("\x1b[2J = 1\n" + "漢字 😀" * 50 + "\n")
        call = following.work_on("x.py", 1)
        call.title = "\x1b[2J[bold]evil\u202e"
        lines = await following.renew(pilot)
        assert "[bold]evil" in lines[0]
        assert not any(set("\x1b\u202e") & set(one) for one in lines)


async def test_the_editor_opens_the_followed_line(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 6: open at line in $EDITOR."""
    asked: list[tuple[str, int | None]] = []

    def opened(app: object, path: str, line: int | None, *more: object) -> str:
        asked.append((Path(path).name, line))
        return "no editor"

    monkeypatch.setattr("accord.terminal.screen.external_editor.open_in_editor", opened)
    async with following.app.run_test(size=(100, 30)) as pilot:
        following.panel.action_open()
        following.work_on("a.py", 42)
        await following.renew(pilot)
        following.panel.query_one("#page").focus()
        await pilot.press("o")
    assert asked == [("a.py", 42)]
    assert following.app.told == ["no editor"]
