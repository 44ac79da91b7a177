"""The keys, listed."""

from __future__ import annotations

import pytest

from accord.terminal.model.key_bindings import ACTIONS, actions_with
from accord.terminal.screen.help_screen import HelpScreen, grouped
from tests.terminal.screen.harness.stage import NARROW, WIDE, Stage, place_of


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_all_keys_are_listed_and_scrolled(size: tuple[int, int]) -> None:
    """Issue: keys listed by `?`, the user's own among them."""
    app = Stage()
    async with app.run_test(size=size) as pilot:
        app.push_screen(HelpScreen(actions_with({"quit": ("alt+q",)})))
        await pilot.pause()
        assert "Writing a prompt" in app.text
        seen = app.text
        for _ in range(20):
            await pilot.press("pagedown")
            await pilot.pause()
            seen += app.text
        assert "Alt+Q" in seen
        for action in ACTIONS:
            assert action.text.split(",")[0].split(":")[0][:16] in seen
        await pilot.press("up", "pageup")
        await pilot.press("escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1


async def test_it_is_closed_by_a_click() -> None:
    """Issue: by mouse too."""
    app = Stage()
    async with app.run_test(size=WIDE) as pilot:
        app.push_screen(HelpScreen(ACTIONS))
        await pilot.pause()
        await pilot.click(offset=place_of(app, "Esc close"))
        await pilot.pause()
        assert len(app.screen_stack) == 1
        app.push_screen(HelpScreen(ACTIONS))
        await pilot.pause()
        await pilot.click(offset=(0, 0))
        await pilot.pause()
        assert len(app.screen_stack) == 1


def test_what_has_no_key_is_listed_too() -> None:
    """Ours: it is in the palette."""
    rows = [row for group in grouped(ACTIONS).values() for row in group]
    assert ("—", "log in to the agent") in rows
