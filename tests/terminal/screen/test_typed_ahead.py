"""What is typed before the first picture."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from textual import events
from textual.message import Message

from accord.terminal.engine.orders import Order
from accord.terminal.screen.app import AccordApp
from accord.terminal.screen.pickers import AgentsScreen
from tests.terminal.screen.staged import SECONDS_MAX, StagedDesk, asked, until


@pytest.fixture(autouse=True)
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "state"))


ORDER = Order(command=("agent",), folder="/home/me/project")


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
    app = AccordApp(StagedDesk(), ORDER, suggestions=("suggested",))
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
    app = AccordApp(StagedDesk(), None, {"one": ORDER, "two": ORDER})
    with anyio.fail_after(SECONDS_MAX):
        async with app.run_test(message_hook=Typist(app, *"hello")) as pilot:
            await until(pilot, lambda: isinstance(app.screen, AgentsScreen))
            await pilot.pause()
            await pilot.press("down", "enter")
            await until(
                pilot, lambda: app.pane is not None and app.pane.prompt.draft.text == "hello"
            )
            await app.leave()
