"""The command palette."""

from __future__ import annotations

import pytest

from accord.terminal.model.key_bindings import ACTIONS
from accord.terminal.screen.pickers import PaletteScreen
from tests.terminal.screen.harness.stage import NARROW, WIDE, Stage


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
