"""The picker of an agent."""

from __future__ import annotations

import pytest

from accord.terminal.screen.pickers import AgentsScreen
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
