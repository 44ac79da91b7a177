"""The picker of a theme."""

from __future__ import annotations

from accord.terminal.screen.pickers import ThemeScreen
from tests.terminal.screen.harness.stage import NARROW, Stage


async def test_a_theme_is_shown_before_it_is_chosen() -> None:
    """Ours: and Esc brings back what was."""
    app = Stage()
    found: list[str | None] = []
    async with app.run_test(size=NARROW) as pilot:
        app.push_screen(ThemeScreen(app.theme), found.append)
        await pilot.press("down")
        await pilot.pause()
        assert app.theme == "accord-light"
        await pilot.press("escape")
        await pilot.pause()
        assert app.theme == "accord-dark"
        app.push_screen(ThemeScreen(app.theme), found.append)
        await pilot.press(*"contr")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.theme == "accord-contrast"
    assert found == [None, "accord-contrast"]
