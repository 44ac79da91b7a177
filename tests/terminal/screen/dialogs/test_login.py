"""Logging in, keys, and servers that a project brings along."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from textual.widgets import Input

from accord.client.wire.wire_interface import AuthMethod
from accord.mcp.project_file import ProjectServer
from tests.terminal.screen.harness.question_stage import HOSTILE, asked

NARROW = (60, 20)
METHODS = (
    AuthMethod("browser", "Log in with a browser", "agent", "Opens a page of theirs"),
    AuthMethod("terminal", "Log in here", "terminal"),
    AuthMethod("odd", "Magic", "_magic"),
)


async def test_the_ways_to_log_in_are_shown_and_one_is_chosen() -> None:
    """Brief: names, descriptions, kind."""
    async with asked("login", METHODS, size=NARROW) as scene:
        for words in ("Demo agent asks you to log in", "Opens a page of theirs"):
            assert words in scene.text
        assert "in this terminal" in scene.text
        assert "kind: _magic" in scene.text
        await scene.press("enter")
        assert not scene.is_answered
        await scene.press("2")
        assert await scene.answer() == "terminal"


async def test_nobody_has_to_log_in() -> None:
    """Ours: Esc is not now."""
    async with asked("login", METHODS) as scene:
        await scene.press("escape")
        assert await scene.answer() is None


async def test_more_ways_than_keys_are_reached_by_arrows_and_mouse() -> None:
    """Brief: by keyboard alone, and by mouse."""
    many = tuple(AuthMethod(f"m{number}", f"Way {number}") for number in range(12))
    async with asked("login", many) as scene:
        await scene.press("up", "enter")
        assert await scene.answer() == "m11"
    async with asked("login", many) as scene:
        await scene.click("Way 3")
        assert await scene.answer() == "m3"


async def test_a_key_is_not_shown_and_not_kept(caplog: pytest.LogCaptureFixture) -> None:
    """Brief: a masked input that keeps nothing."""
    caplog.set_level(logging.DEBUG)
    async with asked("credential", "The model needs an API key", size=NARROW) as scene:
        assert "The model needs an API key" in scene.text
        await scene.press("s", "e", "c", "r", "e", "t")
        assert "secret" not in scene.text
        assert scene.dialog.query_one(Input).value == "secret"
        assert "••••••" in scene.text
        await scene.press("enter")
        assert await scene.answer() == "secret"
        assert scene.dialog.query_one(Input).value == ""
    assert "secret" not in caplog.text


async def test_without_a_key_nothing_is_sent() -> None:
    """Ours: an empty key is none, Esc is not now."""
    async with asked("credential", "") as scene:
        await scene.press("tab", "enter")
        assert not scene.is_answered
        await scene.press("x", "escape")
        assert await scene.answer() is None


async def test_what_is_typed_too_early_is_no_key() -> None:
    """Issue: never answered by a stray key press."""
    async with asked("credential", "why", early=True) as scene:
        await scene.press("x", "enter", "escape")
        assert not scene.is_answered
        scene.clock.now += 1
        await scene.press("y", "enter")
        assert await scene.answer() == "y"


def a_server(**more: object) -> ProjectServer:
    return ProjectServer(
        name="files",
        file=Path("/nowhere/.mcp.json"),
        digest="d",
        type="stdio",
        described="runs npx files",
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("press", "answer"), [("y", True), ("n", False), ("escape", None)])
async def test_a_server_of_the_project_is_used_only_when_the_person_says_so(
    press: str, answer: object
) -> None:
    """Issue 4: consent for what a project brings."""
    async with asked("servers", a_server(unset=("TOKEN",)), size=NARROW) as scene:
        for words in ("files", "runs npx files", "/nowhere/.mcp.json", "TOKEN"):
            assert words in scene.text
        await scene.press("enter")
        assert not scene.is_answered
        await scene.press(press)
        assert await scene.answer() is answer


async def test_what_a_project_says_of_its_server_is_words() -> None:
    """Issue: everything is untrusted."""
    server = ProjectServer(
        name=HOSTILE, file=Path("/x"), digest="d", type="stdio", described=HOSTILE
    )
    async with asked("servers", server) as scene:
        assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(scene.text)
        assert "⟨U+202E⟩" in scene.text
