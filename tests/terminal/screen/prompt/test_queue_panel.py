"""What waits to be sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import MouseDown, MouseMove, MouseUp

from accord.terminal.model.prompt.unsent_prompts import Attachment, Draft
from accord.terminal.screen.prompt.queue_panel import ROWS_MAX
from tests.terminal.screen.harness.prompt_stage import PromptStage, typing
from tests.terminal.screen.harness.stage import CJK, HOSTILE, NARROW, WIDE, place_of

ONE, TWO, THREE = Draft("one"), Draft("two\nlines"), Draft("three")


@pytest.fixture
def app(tmp_path: Path) -> PromptStage:
    """A turn runs, and three prompts wait."""
    stage = PromptStage(tmp_path)
    stage.chat.set_phase("working")
    stage.chat.queue[:] = [ONE, TWO, THREE]
    return stage


async def test_there_is_nothing_where_nothing_waits(app: PromptStage) -> None:
    """Issue 6: the queue is visible, and gone when it is empty."""
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert "3 queued prompts" in app.text
        assert "1. one" in app.text
        assert "2. two lines" in app.text
        app.chat.queue[:] = [ONE]
        app.renew()
        await pilot.pause()
        assert "1 queued prompt" in app.text
        app.chat.queue.clear()
        app.renew()
        await pilot.pause()
        assert not app.panel.display
        assert not app.panel.can_focus


async def test_prompts_are_put_in_order_edited_sent_and_removed_by_keys(app: PromptStage) -> None:
    """Issue 6: queue of next prompts, visible, editable."""
    async with app.run_test(size=WIDE) as pilot:
        app.panel.focus()
        await pilot.press("down", "alt+up")
        assert app.chat.queue == [TWO, ONE, THREE]
        await pilot.press("down", "J")
        assert app.chat.queue == [TWO, THREE, ONE]
        await pilot.press("delete")
        assert app.chat.queue == [TWO, THREE]
        await pilot.press("s")
        assert app.controller.asked == [("now", THREE)]
        await pilot.press("enter")
        assert app.typed == "two\nlines"
        assert app.focused is app.area
        assert app.chat.queue == []


async def test_a_prompt_that_is_edited_leaves_its_place_to_what_was_being_written(
    app: PromptStage,
) -> None:
    """Ours: nothing that was typed is lost."""
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "new")
        await pilot.press("alt+up")
        await pilot.pause()
        assert app.typed == "three"
        assert app.chat.queue == [ONE, TWO, Draft("new")]
        app.chat.queue.clear()
        await pilot.press("alt+up")
        assert app.told == ["No prompt is queued."]
        app.editor.take_queued(7)
        assert app.typed == "three"


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_everything_goes_by_mouse_too(app: PromptStage, size: tuple[int, int]) -> None:
    """Issue 6: mouse too where natural, also at 60 columns."""
    async with app.run_test(size=size) as pilot:
        await pilot.pause()

        async def press(word: str, row: str) -> None:
            y = place_of(app, row)[1]
            x = app.lines[y].rindex(word)
            await pilot.click(offset=(x, y))
            await pilot.pause()

        await press("↓", "1. one")
        assert app.chat.queue == [TWO, ONE, THREE]
        await press("↑", "3. three")
        assert app.chat.queue == [TWO, THREE, ONE]
        await press("×", "3. one")
        assert app.chat.queue == [TWO, THREE]
        await press("now", "1. two lines")
        assert app.controller.asked == [("now", TWO)]
        await press("edit", "1. three")
        assert app.typed == "three"


async def test_a_row_can_be_dragged_to_its_place(app: PromptStage) -> None:
    """Issue 6: reorder by mouse."""
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        for kind, y in ((MouseDown, 1), (MouseMove, 2), (MouseMove, 3), (MouseUp, 3)):
            button = 0 if kind is MouseUp else 1
            x, top = app.panel.region.offset
            event = kind(app.panel, 6, y, 0, 0, button, False, False, False, x + 6, top + y)
            app.panel.post_message(event)
            await pilot.pause()
        assert app.chat.queue == [TWO, THREE, ONE]
        await pilot.hover(app.panel, offset=(6, 1))
        assert app.chat.queue == [TWO, THREE, ONE]


async def test_when_the_last_one_goes_the_keys_are_for_the_prompt_again(app: PromptStage) -> None:
    """Ours: a panel that is not there must not have the focus."""
    app.chat.queue[:] = [ONE]
    async with app.run_test(size=WIDE) as pilot:
        app.panel.focus()
        await pilot.press("d", "x")
        assert app.chat.queue == []
        assert app.typed == "x"


async def test_when_no_turn_runs_now_is_a_turn_of_its_own(app: PromptStage) -> None:
    """Ours: what waits after a turn that was stopped."""
    app.chat.set_phase("ready")
    async with app.run_test(size=WIDE) as pilot:
        app.panel.focus()
        await pilot.press("s")
        assert app.controller.sent == [ONE]
        assert app.chat.queue == [TWO, THREE]


@pytest.mark.parametrize("theme", ["accord-dark", "accord-none"])
async def test_many_and_odd_prompts_stay_in_their_lines(tmp_path: Path, theme: str) -> None:
    """Issue 6: narrow terminals, wide letters; the queue has a bound on the screen."""
    app = PromptStage(tmp_path, theme=theme)
    more = Attachment("text", "x", "[x]", data=b"x")
    odd = [Draft(CJK), Draft(HOSTILE), Draft("", (more,)), *[Draft(str(n)) for n in range(9)]]
    app.chat.queue[:] = odd
    async with app.run_test(size=NARROW) as pilot:
        await pilot.pause()
        assert app.panel.size.height == ROWS_MAX + 1
        assert "\x1b" not in app.text
        assert "3. x (+1)" in app.text
        app.panel.focus()
        await pilot.press(*["down"] * 11)
        await pilot.pause()
        assert "12. 8" in app.text
        assert "12 queued prompts" in app.text
