"""Choosing an agent, an action, a theme."""

from __future__ import annotations

import pytest

from accord.terminal.model.key_bindings import ACTIONS
from accord.terminal.screen.pickers import AgentsScreen, PaletteScreen, ThemeScreen
from tests.terminal.screen.harness.stage import HOSTILE, NARROW, WIDE, Stage


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_an_agent_is_chosen_by_its_name(size: tuple[int, int]) -> None:
    """Issue: with no arguments and several known agents, a picker."""
    app = Stage()
    found: list[str | None] = []
    async with app.run_test(size=size) as pilot:
        agents = {"built-in": "comes with Accord", "codex": "codex-acp --fast", HOSTILE: HOSTILE}
        app.push_screen(AgentsScreen(agents, "codex"), found.append)
        await pilot.pause()
        assert "❯ ● codex  codex-acp --fast" in app.text
        assert "Which agent?" in app.text
        await pilot.press("up", "enter")
        await pilot.pause()
    assert found == ["built-in"]


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_every_action_is_in_the_palette(size: tuple[int, int]) -> None:
    """Contract of the keys: what has no key is here."""
    app = Stage()
    found: list[str | None] = []
    async with app.run_test(size=size) as pilot:
        palette = PaletteScreen(ACTIONS)
        assert [row.key for row in palette.rows.all] == [action.name for action in ACTIONS]
        app.push_screen(palette, found.append)
        await pilot.press(*"log out")
        await pilot.pause()
        assert "❯ Log out of the agent" in app.text
        await pilot.press("enter")
        await pilot.pause()
    assert found == ["log_out"]


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
