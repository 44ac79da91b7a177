"""Modes, models and options, as pickers."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.errors import LocalProtocolError
from accord.terminal.model.chat import Chat
from accord.terminal.screen.pickers import OptionsScreen
from accord.terminal.screen.pickers.option_picker import option_rows
from tests.hang_limit import HANG_SECONDS
from tests.terminal.screen.harness.stage import (
    CJK,
    HOSTILE,
    LONG,
    NARROW,
    WIDE,
    ControllerDouble,
    Stage,
    a_chat,
    hear,
    place_of,
    select,
    set_up,
)

MODES = {
    "currentModeId": "ask",
    "availableModes": [
        {"id": "ask", "name": "Ask first", "description": "Asks before every change"},
        {"id": "code", "name": "Code"},
    ],
}
MODEL: dict[str, Any] = {
    **select("m", "Model", ["opus"], category="model"),
    "options": [
        {"group": "a", "name": "Large ones", "options": [{"value": "opus", "name": "Opus"}]},
        {"group": "b", "name": "Small ones", "options": [{"value": "haiku", "name": "Haiku"}]},
    ],
}
WEB = {"type": "boolean", "id": "web", "name": "Web search", "currentValue": False}
SLIDER = {"type": "slider", "id": "heat", "name": "Temperature", "currentValue": 0.4}


def _options(*options: dict[str, Any], **more: Any) -> Chat:
    chat = a_chat()
    set_up(chat, configOptions=list(options), **more)
    return chat


@pytest.mark.rule("V1-CFG-09")
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_options_keep_their_order_with_those_of_the_model_behind_it(
    size: tuple[int, int],
) -> None:
    """Protocol: the order of the agent is that of importance; an unknown type changes nothing."""
    chat = _options(
        select("depth", "Depth", ["low", "high"], category="model_config"),
        select("effort", "Effort", ["low", "high"], category="thought_level"),
        MODEL,
        SLIDER,
        WEB,
        select("second", "Second model", ["x"], category="model"),
        select("size", "Size", ["1m"], category="model_config"),
    )
    double = ControllerDouble(chat)
    app = Stage()
    async with app.run_test(size=size) as pilot:
        app.push_screen(OptionsScreen(chat, double.controller))
        await pilot.pause()
        names = ["Effort", "Model", "Depth", "Size", "Temperature", "Web search", "Second model"]
        places = [place_of(app, f" {name}")[1] for name in names]
        assert places == sorted(places)
        assert "unknown type" in app.line_with("Temperature")
        await pilot.press(*"temper")
        await pilot.press("enter")
        await pilot.pause()
        assert len(app.screen_stack) == 2
        assert double.asked == []


async def test_without_a_model_the_order_is_the_agents() -> None:
    """Protocol: V1-CFG-09, and ties go by order."""
    chat = _options(
        select("size", "Size", ["1m"], category="model_config"),
        select("effort", "Effort", ["low"], category="thought_level"),
    )
    assert [row.title for row in option_rows(chat)] == ["Size", "Effort"]


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_value_is_chosen_under_its_group_and_shown_when_the_agent_says_so(
    size: tuple[int, int],
) -> None:
    """Issue: models and config options as pickers."""
    chat = _options(MODEL)
    double = ControllerDouble(chat)
    app = Stage()
    async with app.run_test(size=size) as pilot:
        app.push_screen(OptionsScreen(chat, double.controller))
        await pilot.press("enter")
        await pilot.pause()
        assert "Small ones" in app.text
        assert "❯ ● Opus" in app.text
        await pilot.press("down", "enter")
        await pilot.pause()
        assert double.asked == [("option", "m", "haiku")]
        # Nobody confirmed it yet.
        assert app.line_with("Model ").rstrip(" │").endswith("Opus")
        changed = {**MODEL, "currentValue": "haiku"}
        hear(chat, sessionUpdate="config_option_update", configOptions=[changed])
        await pilot.pause()
        assert app.line_with("Model ").rstrip(" │").endswith("Haiku")
        await pilot.press("escape")
        await pilot.pause()
    assert chat.hearers == []


async def test_a_switch_is_turned() -> None:
    """Issue: booleans toggled."""
    chat = _options(WEB)
    double = ControllerDouble(chat)
    app = Stage()
    async with app.run_test(size=NARROW) as pilot:
        app.push_screen(OptionsScreen(chat, double.controller))
        await pilot.pause()
        assert app.line_with("Web search").rstrip(" │").endswith("off")
        await pilot.press("enter")
        await pilot.pause()
        assert double.asked == [("option", "web", True)]


async def test_modes_are_chosen_where_no_option_stands_for_them() -> None:
    """Issue: modes as pickers."""
    chat = _options(modes=MODES)
    double = ControllerDouble(chat)
    app = Stage()
    async with app.run_test(size=NARROW) as pilot:
        app.push_screen(OptionsScreen(chat, double.controller))
        await pilot.pause()
        assert app.line_with("Mode ").rstrip(" │").endswith("Ask first")
        await pilot.press("enter")
        await pilot.pause()
        assert "Asks before every change" in app.text
        await pilot.press("down", "enter")
        await pilot.pause()
        await pilot.pause()
        assert double.asked == [("mode", "code")]
        assert app.line_with("Mode ").rstrip(" │").endswith("Code")


@pytest.mark.rule("V1-CFG-02")
async def test_where_an_option_stands_for_the_modes_it_is_used_instead() -> None:
    """Protocol: config options come before modes where an agent has both."""
    chat = _options(select("way", "Way", ["ask", "code"], category="mode"), modes=MODES)
    assert [row.title for row in option_rows(chat)] == ["Way"]
    double = ControllerDouble(chat)
    app = Stage()
    async with app.run_test(size=NARROW) as pilot:
        app.push_screen(OptionsScreen(chat, double.controller))
        await pilot.press("enter", "down", "enter")
        await pilot.pause()
        assert double.asked == [("option", "way", "code")]


@pytest.mark.rule("V1-SESS-17")
async def test_folders_that_the_person_named_are_listed() -> None:
    """The agent got them because the user named them; nothing else adds one."""
    chat = _options(WEB)
    assert "Folders" not in [row.group for row in option_rows(chat)]
    chat.roots = ("/srv/notes",)
    app = Stage()
    async with app.run_test(size=NARROW) as pilot:
        app.push_screen(OptionsScreen(chat, ControllerDouble(chat).controller))
        await pilot.pause()
        assert app.line_with("/home/me/project").rstrip(" │").endswith("the project")
        assert app.line_with("/srv/notes").rstrip(" │").endswith("added by you")


async def test_what_goes_wrong_is_said() -> None:
    """Contract of the controller: a sentence for the user, not read as markup."""
    chat = _options(WEB)
    double = ControllerDouble(chat)
    double.error = LocalProtocolError("the agent [bold]refused[/bold] \x1b[31mit")
    app = Stage()
    async with app.run_test(size=WIDE) as pilot:
        app.push_screen(OptionsScreen(chat, double.controller))
        await pilot.press("enter")
        await pilot.pause()
        assert app.notes == ["the agent [bold]refused[/bold] it"]


@pytest.mark.parametrize("fails", [False, True])
async def test_a_setting_outlives_the_screen_that_it_was_chosen_on(fails: bool) -> None:
    """Issue 14: an agent may want a login first, which can be answered when this is closed."""
    answered, ended = anyio.Event(), anyio.Event()

    class Slow(ControllerDouble):
        async def set_option(self, chat: Chat, option_id: str, value: str | bool) -> None:
            await answered.wait()
            ended.set()
            if fails:
                raise LocalProtocolError("not now")

    chat = _options(WEB)
    app = Stage()
    async with app.run_test(size=WIDE) as pilot:
        app.push_screen(OptionsScreen(chat, Slow(chat).controller))
        await pilot.press("enter", "escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        answered.set()
        with anyio.fail_after(HANG_SECONDS):
            await ended.wait()
        await app.workers.wait_for_complete()
        assert app.notes == (["not now"] if fails else [])


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_no_name_breaks_it(size: tuple[int, int]) -> None:
    """Issue: everything an agent sends is untrusted."""
    chat = _options(*(select(str(at), t, [t]) for at, t in enumerate((HOSTILE, LONG, CJK))))
    app = Stage()
    async with app.run_test(size=size) as pilot:
        app.push_screen(OptionsScreen(chat, ControllerDouble(chat).controller))
        await pilot.press("enter")
        await pilot.pause()
        await pilot.pause()
        assert "─ ⟨U+001B⟩]0;owned⟨U+0007⟩[red]bold[/red]" in app.text
        assert "\x1b" not in app.text


async def test_an_agent_without_options_says_so() -> None:
    """Ours."""
    chat = a_chat()
    app = Stage()
    async with app.run_test(size=NARROW) as pilot:
        app.push_screen(OptionsScreen(chat, ControllerDouble(chat).controller))
        await pilot.pause()
        assert "This agent offers no modes, models or options." in app.text
