"""The inspector: listed, filtered, searched, copied, saved, and quick with very many messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from accord.terminal.model.chat import Chat
from accord.terminal.model.traffic import Traffic
from accord.terminal.render.conversation_colours import DARK
from accord.terminal.screen.inspectors.traffic_screen import TrafficScreen, row_of
from accord.tracing.recording_file import read_recording
from tests.terminal.model.test_traffic import line, talk
from tests.terminal.screen.harness.inspector_stage import Bench, StandInController, picture


class Inspector:
    """The screen, opened over a controller."""

    def __init__(self, folder: Path, theme: str = "accord-dark") -> None:
        self.controller = StandInController(folder)
        self.app = Bench(theme=theme)
        self.screen = TrafficScreen(self.controller.chat, cast("Any", self.controller))

    @property
    def traffic(self) -> Traffic:
        return self.controller.traffic_of

    async def open(self, pilot: Pilot[None]) -> None:
        self.app.push_screen(self.screen)
        await pilot.pause()
        await pilot.pause()

    async def renew(self, pilot: Pilot[None]) -> None:
        """Not after a moment: now."""
        self.screen._renew()  # pyright: ignore[reportPrivateUsage]
        await pilot.pause()


@pytest.fixture
def inspector(tmp_path: Path) -> Inspector:
    """With a short conversation."""
    found = Inspector(tmp_path)
    talk(found.traffic)
    return found


@pytest.mark.parametrize("size", [(100, 30), (60, 20)])
@pytest.mark.parametrize("theme", ["accord-dark", "accord-none"])
async def test_each_message_is_a_line_and_the_chosen_one_is_shown_whole(
    tmp_path: Path, size: tuple[int, int], theme: str
) -> None:
    """Issue 6: every frame."""
    inspector = Inspector(tmp_path, theme)
    talk(inspector.traffic)
    async with inspector.app.run_test(size=size) as pilot:
        await inspector.open(pilot)
        lines = picture(inspector.app)
    assert "Traffic with Tester" in lines[0]
    assert "6 messages" in lines[0]
    assert "→ session/prompt" in lines[1]
    assert "← a debug print" in lines[2]
    assert "noise" in lines[2]
    assert "✗ fs/read_text_file" in lines[5]
    assert "← ✓ session/prompt" in lines[6]
    assert any('"stopReason": "end_turn"' in one for one in lines)
    assert "Esc close" in lines[-1]


async def test_enter_goes_to_the_pair(inspector: Inspector) -> None:
    """Issue 6: paired."""
    async with inspector.app.run_test() as pilot:
        await inspector.open(pilot)
        await pilot.press("enter")
        assert inspector.screen.frames.cursor == 0
        assert any('"text": "hello"' in one for one in picture(inspector.app))
        await pilot.press("enter", "up")
        await pilot.press("p")
        assert inspector.screen.frames.cursor == 3
        await pilot.press("up", "p")
        assert inspector.app.told == ["There is no matching message."]


async def test_a_filter_works_while_it_is_typed_and_escape_takes_it_away(
    inspector: Inspector,
) -> None:
    """Issue 6: filtered."""
    async with inspector.app.run_test() as pilot:
        await inspector.open(pilot)
        await pilot.press("f", *"errors")
        assert inspector.screen.view.numbers == [2, 5]
        await pilot.press("enter")
        assert "2 with “errors”" in picture(inspector.app)[0]
        await pilot.press("enter")
        assert inspector.screen.view.numbers == [1, 2, 3, 4, 5, 6], "the pair is shown all the same"
        await pilot.press("f", *"sent", "escape")
        assert len(inspector.screen.view.numbers) == 6
        assert inspector.app.screen is inspector.screen
        await pilot.press("escape")
        assert inspector.app.screen is not inspector.screen
        assert inspector.traffic.on_change is None


async def test_search_goes_from_one_place_to_the_next(inspector: Inspector) -> None:
    """Issue 6: searched."""
    async with inspector.app.run_test() as pilot:
        await inspector.open(pilot)
        await pilot.press("slash", *"hello", "enter")
        assert inspector.screen.frames.cursor == 0
        await pilot.press("n")
        assert inspector.screen.frames.cursor == 2
        await pilot.press("N")
        assert inspector.screen.frames.cursor == 0
        await pilot.press("slash", *"xyz", "enter")
        assert inspector.app.told == ["No matches."]


async def test_a_question_of_the_agent_is_not_missed(
    inspector: Inspector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a screen in front of the chat must not hide that somebody waits."""
    async with inspector.app.run_test(size=(100, 30)) as pilot:
        await inspector.open(pilot)
        monkeypatch.setattr(Chat, "needs_answer", True)
        inspector.screen.refresh_chat()
        await pilot.pause()
        assert "has a question" in picture(inspector.app)[0]


async def test_a_message_is_copied_as_it_was_sent(inspector: Inspector) -> None:
    """Issue 6: copied."""
    async with inspector.app.run_test() as pilot:
        await inspector.open(pilot)
        await pilot.press("c")
        assert json.loads(inspector.app.copied)["result"] == {"stopReason": "end_turn"}


async def test_it_is_saved_as_a_recording_and_nothing_is_written_over(
    inspector: Inspector, tmp_path: Path
) -> None:
    """Issue 6: saved as a recording for `accord trace`."""
    async with inspector.app.run_test() as pilot:
        await inspector.open(pilot)
        await pilot.press("s")
        asked = inspector.screen.query_one(Input)
        assert asked.value.startswith(str(tmp_path))
        for _ in range(2):
            asked.value = "t.jsonl"
            await pilot.press("enter")
            await inspector.app.workers.wait_for_complete()
            await pilot.press("s")
    recording = read_recording((tmp_path / "t.jsonl").read_bytes().splitlines())
    assert len(recording.entries) == 6
    assert "6 messages saved to" in inspector.app.told[0]
    assert "Cannot save" in inspector.app.told[1]


async def test_the_cursor_stays_on_the_last_row_and_on_any_other(
    tmp_path: Path,
) -> None:
    """Issue 6: live; and a pause holds still."""
    inspector = Inspector(tmp_path)
    async with inspector.app.run_test() as pilot:
        await inspector.open(pilot)
        talk(inspector.traffic)
        await inspector.renew(pilot)
        assert inspector.screen.frames.cursor == 5
        await pilot.press("home")
        talk(inspector.traffic)
        await inspector.renew(pilot)
        assert (inspector.screen.frames.cursor, inspector.screen.frames.count) == (0, 12)
        await pilot.press("space")
        talk(inspector.traffic)
        await inspector.renew(pilot)
        assert inspector.screen.frames.count == 12
        assert "paused, 6 new" in picture(inspector.app)[0]
        await pilot.press("space")
        assert inspector.screen.frames.count == 18


async def test_the_cursor_stays_with_its_message_when_old_ones_go(tmp_path: Path) -> None:
    """Ours: a list that is full moves up."""
    inspector = Inspector(tmp_path)
    inspector.controller.traffic_of = Traffic(frames_max=20)
    inspector.screen = TrafficScreen(inspector.controller.chat, cast("Any", inspector.controller))
    for _ in range(3):
        talk(inspector.traffic)
    async with inspector.app.run_test() as pilot:
        await inspector.open(pilot)
        await pilot.press("up", "up")
        item = inspector.screen.item
        talk(inspector.traffic)
        await inspector.renew(pilot)
        assert inspector.screen.item is item
        assert "older ones were discarded" in picture(inspector.app)[0]


async def test_only_what_is_seen_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6: live updates are cheap with 20,000 messages."""
    inspector = Inspector(tmp_path)
    for number in range(20_000):
        inspector.traffic.record("sent", line(method="x", params={"n": number}))
    drawn: list[int] = []

    def counting(item: Any, width: int, palette: Any) -> Any:
        drawn.append(item.number)
        return row_of(item, width, palette)

    monkeypatch.setattr("accord.terminal.screen.inspectors.traffic_screen.row_of", counting)
    async with inspector.app.run_test(size=(100, 30)) as pilot:
        await inspector.open(pilot)
        assert inspector.screen.frames.count == 20_000
        drawn.clear()
        inspector.traffic.record("sent", line(method="x", params={"n": -1}))
        await inspector.renew(pilot)
        assert inspector.screen.frames.cursor == 20_000
        assert 0 < len(drawn) < 200


@pytest.mark.parametrize("text", ["\x1b[2J", "\u202e", "漢字" * 100, "[bold]", "\x9b31m"])
def test_a_line_is_as_wide_as_it_may_be_and_harmless(text: str) -> None:
    """Issue 6: what an agent sends is untrusted."""
    traffic = Traffic()
    traffic.record("received", f"{text} noise\n".encode())
    traffic.record("received", line(method=text))
    traffic.catch_up()
    for item in traffic.items():
        for width in (20, 60, 100):
            strip = row_of(item, width, DARK)
            assert strip.cell_length <= max(width, 40)
            assert not set(strip.text) & set("\x1b\u202e\x9b")
