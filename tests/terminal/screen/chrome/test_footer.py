"""The footer: who works, how, with what left, and where."""

from __future__ import annotations

import pytest

from accord.terminal.model.key_bindings import actions_with
from accord.terminal.model.settings import Settings
from accord.terminal.screen.chrome.footer import Footer, shortened
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
    "availableModes": [{"id": "ask", "name": "Ask first"}, {"id": "code", "name": "Code"}],
}
MODEL = select("m", "Model", ["opus", "haiku"], category="model")


async def test_a_wide_footer_has_everything() -> None:
    """Issue: usage, cost and context in the footer."""
    chat = a_chat()
    set_up(chat, modes=MODES, configOptions=[MODEL])
    cost = {"amount": 0.431, "currency": "USD"}
    hear(chat, sessionUpdate="usage_update", used=84_000, size=200_000, cost=cost)
    footer = Footer(ControllerDouble(chat).controller)
    app = Stage(footer)
    async with app.run_test(size=(120, 30)) as pilot:
        footer.show(chat)
        await pilot.pause()
        line = app.lines[-1]
        for words in ("Claude Agent · Ask first · Opus", "███░░░░░ 42%", "$0.43", "? keys"):
            assert words in line
        assert "/home/me/project" in line
        for used, mark in ((170_000, "85%"), (999_000, "500%")):
            hear(chat, sessionUpdate="usage_update", used=used, size=200_000)
            footer.refresh_chat()
            await pilot.pause()
            assert mark in app.lines[-1]
        hear(chat, sessionUpdate="usage_update", used=1, size=0)
        footer.refresh_chat()
        await pilot.pause()
        assert "context" not in app.lines[-1]


async def test_a_narrow_footer_keeps_what_matters_most() -> None:
    """Issue: 60 columns still work."""
    chat = a_chat()
    set_up(chat, modes=MODES, configOptions=[MODEL])
    hear(chat, sessionUpdate="usage_update", used=84_000, size=200_000)
    footer = Footer(ControllerDouble(chat).controller)
    app = Stage(footer)
    async with app.run_test(size=NARROW) as pilot:
        footer.show(chat)
        await pilot.pause()
        assert app.lines[-1].strip() == "Claude Agent · Ask first · Opus · context 42%       ? keys"


@pytest.mark.rule("V1-SESS-17")
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_folders_outside_of_the_project_are_said(size: tuple[int, int]) -> None:
    """The user named them; so they see that they are there."""
    chat = a_chat()
    chat.roots = ("/srv/notes", "/srv/lib")
    footer = Footer(ControllerDouble(chat).controller)
    app = Stage(footer)
    async with app.run_test(size=size) as pilot:
        footer.show(chat)
        await pilot.pause()
        assert "project · +2 folders · ? keys" in app.lines[-1]


@pytest.mark.parametrize("name", [HOSTILE, LONG, CJK, ""])
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_no_name_breaks_the_line(name: str, size: tuple[int, int]) -> None:
    """Issue: everything an agent sends is untrusted."""
    chat = a_chat(folder="/" + CJK)
    chat.agent_name = name
    modes = {"currentModeId": "x", "availableModes": [{"id": "x", "name": name or "x"}]}
    set_up(chat, modes=modes)
    footer = Footer(ControllerDouble(chat).controller)
    app = Stage(footer)
    async with app.run_test(size=size) as pilot:
        footer.show(chat)
        await pilot.pause()
        assert app.lines[-1].rstrip().endswith("? keys")
        assert "\x1b" not in app.text
        assert "\u202e" not in app.text


async def test_parts_are_clicked_and_the_help_has_the_persons_key() -> None:
    """Issue: by mouse too; keys are changeable."""
    chat = a_chat()
    set_up(chat, modes=MODES)
    double = ControllerDouble(chat)
    double.settings = Settings(actions=actions_with({"help": ("f12",)}))
    footer = Footer(double.controller)
    app = Stage(footer)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert app.lines[-1].strip() == "F12 keys"
        footer.show(chat)
        await pilot.pause()
        await pilot.click(offset=place_of(app, "Ask first"))
        await pilot.click(offset=place_of(app, "F12 keys"))
        await pilot.pause()
        assert app.ran == ["pick_options", "help"]


def test_the_home_of_the_person_is_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours."""
    monkeypatch.setenv("HOME", "/home/me")
    assert shortened("/home/me/x") == "~/x"
    assert shortened("/home/me") == "~"
    assert shortened("/home/mean") == "/home/mean"
