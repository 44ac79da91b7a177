"""What is typed: before the first picture, and in bursts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events
from textual.message import Message
from textual.pilot import Pilot

from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.screen import key_queue
from accord.terminal.screen.app import AccordApp
from accord.terminal.screen.pickers import AgentsScreen
from accord.terminal.screen.prompt.text_area import PromptArea
from tests.terminal.screen.harness.app_stage import (
    SECONDS_MAX,
    StagedController,
    asked,
    staged,
    until,
)


@pytest.fixture(autouse=True)
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "state"))


LAUNCH = LaunchOptions(command=("agent",), folder="/home/me/project")


class Typist:
    """Types as soon as the app takes anything in: long before there is a prompt."""

    def __init__(self, app: AccordApp, *typed: str) -> None:
        self._app, self._typed = app, typed

    def __call__(self, message: Message) -> None:
        del message
        typed, self._typed = self._typed, ()
        for one in typed:
            if len(one) > 1 and one not in ("enter", "ctrl+j", "backspace"):
                self._app.post_message(events.Paste(one))
            else:
                self._app.post_message(events.Key(one, one if len(one) == 1 else None))


@pytest.mark.parametrize(
    ("typed", "said", "left"),
    [
        (("h", "i"), [], "hi"),
        (("enter", "h", "i"), [], "hi"),
        (("h", "i", "enter", "o", "k"), [("send", "hi")], "ok"),
        (("h", "i", "ctrl+j"), [("send", "hi")], ""),
        (("x", "backspace", "a paste"), [], "a paste"),
    ],
)
async def test_what_is_typed_before_the_first_picture_is_in_the_prompt(
    typed: tuple[str, ...], said: list[tuple[str, str]], left: str
) -> None:
    """Ours: nothing that is typed is lost; Enter alone sends nothing that nobody has seen."""
    app = AccordApp(StagedController(), LAUNCH, suggestions=("suggested",))
    with anyio.fail_after(SECONDS_MAX):
        async with app.run_test(message_hook=Typist(app, *typed)) as pilot:
            await until(pilot, lambda: app.pane is not None and app.pane.prompt.draft.text == left)
            await until(pilot, lambda: asked(app) == said)
            await pilot.press("!")
            assert app.pane is not None
            assert app.pane.prompt.draft.text == left + "!"
            await app.leave()


async def test_what_is_typed_before_the_agent_is_chosen_waits_for_the_prompt() -> None:
    """Ours: a list that nobody has seen yet is not chosen from."""
    app = AccordApp(StagedController(), None, {"one": LAUNCH, "two": LAUNCH})
    with anyio.fail_after(SECONDS_MAX):
        async with app.run_test(message_hook=Typist(app, *"hello")) as pilot:
            await until(pilot, lambda: isinstance(app.screen, AgentsScreen))
            await pilot.pause()
            await pilot.press("down", "enter")
            await until(
                pilot, lambda: app.pane is not None and app.pane.prompt.draft.text == "hello"
            )
            await app.leave()


def _post(app: AccordApp, *typed: str) -> None:
    """All at once, as a terminal hands over what came while nobody read.  `paste:` is pasted."""
    for one in typed:
        if one.startswith("paste:"):
            app.post_message(events.Paste(one.removeprefix("paste:")))
        else:
            app.post_message(events.Key(one, one if len(one) == 1 else None))


async def _worked_off(app: AccordApp, pilot: Pilot[int]) -> None:
    keys = app.key_queue
    await until(pilot, lambda: not keys._typed and keys._in_progress is None and not keys._holds)
    await pilot.pause()


def _area(app: AccordApp) -> PromptArea:
    assert app.pane is not None
    return app.pane.prompt.query_one(PromptArea)


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        ((*"abcX", "backspace", *"def"), "abcdef"),
        ((*"abc", "left", "left", "X", "right", "Y"), "aXbYc"),
        ((*"abc", "home", "X", "end", "Y"), "XabcY"),
        ((*"one two", "ctrl+w", *"three"), "one three"),
        ((*"one", "ctrl+u", *"two"), "two"),
        ((*"one", "ctrl+a", "ctrl+k", *"two"), "two"),
        ((*"abc", "ctrl+c", *"def"), "def"),
        ((*"ab", "paste:/nope/x", *"cd"), "ab/nope/xcd"),
        ((*"ab", "paste:words ", "backspace", *"cd"), "abwordscd"),
        ((*"ab", "shift+enter", "up", "X"), "Xab\n"),
    ],
)
async def test_keys_that_edit_keep_their_place_among_the_letters(
    typed: tuple[str, ...], left: str
) -> None:
    """Issue 14: `abcX`, backspace, `def` in one burst was `abcXde`."""
    async with staged() as (app, pilot, _):
        _post(app, *typed)
        await _worked_off(app, pilot)
        assert _area(app).text == left


_KEYS = st.one_of(
    st.sampled_from("ab ? @/"),
    st.sampled_from(
        [
            *("backspace", "delete", "left", "right", "up", "down", "home", "end"),
            *("ctrl+a", "ctrl+e", "ctrl+w", "ctrl+u", "ctrl+k", "ctrl+z", "ctrl+y", "ctrl+left"),
            *("shift+left", "shift+enter", "enter", "tab", "ctrl+d", "ctrl+x"),
            *("paste:two words", "paste:/nope/x y", "paste:" + "line\n" * 30),
        ]
    ),
)


async def _outcome(
    app: AccordApp, pilot: Pilot[int], typed: list[str], *, at_once: bool
) -> tuple[object, ...]:
    """What comes of some keys in an empty prompt: what was said, what is there, and where."""
    area = _area(app)
    assert app.pane is not None
    prompt = app.pane.prompt
    area.load_text("")
    # Undo looks at the clock.
    area.history.checkpoint_timer = 1000.0
    prompt._attached.forget()
    prompt._walk.reset()
    prompt._memory.history._texts.clear()
    asked(app).clear()
    app.pane.take_focus()
    await pilot.pause()
    assert app.focused is area
    for one in [typed] if at_once else [[one] for one in typed]:
        _post(app, *one)
        await _worked_off(app, pilot)
    while len(app.screen_stack) > 1:
        await app.pop_screen()
    return tuple(asked(app)), area.text, area.selection


async def test_a_burst_does_what_its_keys_do_one_by_one(tmp_path: Path) -> None:
    """Issue 14: whatever the keys."""
    del tmp_path
    bursts: list[list[str]] = []

    @settings(max_examples=30, database=None)
    @given(st.lists(_KEYS, max_size=14))
    def gather(typed: list[str]) -> None:
        bursts.append(typed)

    gather()
    async with staged(seconds=200) as (app, pilot, _):
        for typed in bursts:
            slow = await _outcome(app, pilot, typed, at_once=False)
            assert await _outcome(app, pilot, typed, at_once=True) == slow, typed


async def test_letters_behind_a_key_that_opens_a_screen_are_for_that_screen() -> None:
    """Issue 14: the search through what was said has a text field of its own."""
    async with staged() as (app, pilot, _):
        assert app.pane is not None
        history = app.pane.prompt._memory.history
        for text in ("first", "second", "third"):
            history.remember(text)
        _post(app, "ctrl+r", *"secX", "backspace", *"ond", "enter", "!")
        await _worked_off(app, pilot)
        assert len(app.screen_stack) == 1
        assert _area(app).text == "second!"


async def test_letters_behind_a_key_that_opens_a_tab_are_for_that_tab() -> None:
    """Issue 14: what is meant for one chat is not written into another."""
    async with staged() as (app, pilot, chat):
        _post(app, *"one", "ctrl+t", *"two")
        await until(pilot, lambda: len(app.controller.chats) == 2 and app.chat is not chat)
        await _worked_off(app, pilot)
        assert (chat.draft.text, _area(app).text) == ("one", "two")
        _post(app, "alt+w", "!")
        await until(pilot, lambda: app.chat is chat)
        await _worked_off(app, pilot)
        assert _area(app).text == "one!"


async def test_a_handler_that_hangs_does_not_keep_the_other_keys_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: everything has a bound."""
    monkeypatch.setattr(key_queue, "WAIT_SECONDS_MAX", 0.05)
    async with staged() as (app, pilot, chat):
        may_go_on, has_changed = asyncio.Event(), asyncio.Event()
        assert app.pane is not None
        app.pane.call_later(may_go_on.wait)
        renew = app.controller.lifecycle.on_change

        def changed() -> None:
            renew()
            has_changed.set()

        app.controller.lifecycle.on_change = changed
        _post(app, "a", "ctrl+t", "b")
        await has_changed.wait()
        assert len(app.controller.chats) == 2
        may_go_on.set()
        await _worked_off(app, pilot)
        assert chat.draft.text == "a"
