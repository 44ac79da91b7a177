"""Questions in the pane: in the place of the prompt, one at a time, and back to the prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from accord.client.permissions.request import Decision
from accord.client.services.elicitation import UrlRequest
from accord.terminal.render.conversation_colours import DARK
from accord.terminal.render.render_options import Look
from accord.terminal.screen.chat_pane import ChatPane
from accord.terminal.screen.dialogs import Dialog
from accord.transcript.items.tool_call import FileDiff
from tests.hang_limit import HANG_SECONDS
from tests.terminal.screen.harness.question_stage import a_call, a_request
from tests.terminal.screen.harness.stage import ControllerDouble, Stage, a_chat, pass_time


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drafts are kept in the user's own folder; here in one of the test's."""
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "config"))


async def until(pilot: Pilot[None], is_so: Any) -> None:
    """Wait for what the pane does by itself."""
    with anyio.fail_after(HANG_SECONDS):
        while not is_so():
            await pilot.pause()


async def test_what_is_typed_when_a_question_comes_goes_on_in_the_prompt() -> None:
    """Issue: a stray key answers nothing, and drafts are kept."""
    chat = a_chat()
    pane = ChatPane(chat, ControllerDouble(chat).controller, Look(100, DARK), follow=False)
    chat.on_change = pane.refresh_chat
    app = Stage(pane)
    answers: list[Any] = []
    async with app.run_test(size=(100, 30)) as pilot, anyio.create_task_group() as tasks:
        pane.take_focus()
        await pilot.press("s", "a")

        async def ask(title: str) -> None:
            answers.append(await chat.questions.ask("permission", a_request(title=title)))

        tasks.start_soon(ask, "the first")
        tasks.start_soon(ask, "the second")
        await until(pilot, lambda: isinstance(app.focused, Dialog))
        assert "1 of 2" in app.text
        await pilot.press("y")
        assert answers == []
        assert pane.query_one(TextArea).text == "say"
        pass_time(chat, 1)
        await pilot.press("n")
        await until(pilot, lambda: "the second" in app.text and isinstance(app.focused, Dialog))
        assert answers == [Decision("reject_once")]
        assert "1 of" not in app.text
        await pilot.press("n")
        assert len(answers) == 1
        pass_time(chat, 1)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.focused, TextArea))
        assert len(answers) == 2
        assert pane.query_one(TextArea).text == "sayn"


async def test_on_a_usual_screen_a_small_change_is_seen_before_it_is_allowed() -> None:
    """Issue 6: the dialog shows what will happen, the diff.  In 80 by 24 nobody has to scroll."""
    chat = a_chat()
    pane = ChatPane(chat, ControllerDouble(chat).controller, Look(80, DARK), follow=False)
    chat.on_change = pane.refresh_chat
    app = Stage(pane)
    old = "".join(f"line {number}\n" for number in range(1, 12))
    diff = FileDiff("src/app.py", old_text=old, new_text=old.replace("line 6\n", "other\n"))
    request = a_request(tool_call=a_call(diff), reason="Because of this.")
    async with app.run_test(size=(80, 24)) as pilot, anyio.create_task_group() as tasks:
        tasks.start_soon(chat.questions.ask, "permission", request)
        await until(pilot, lambda: "other" in app.text)
        assert "- line 6" in app.text
        assert "+ other" in app.text
        for key in ("1 y", "2 f", "3 a", "4 n", "5 v"):
            assert key in app.text
        tasks.cancel_scope.cancel()


@pytest.mark.rule("V1-ELIC-26")
async def test_a_page_is_waited_for_in_the_pane() -> None:
    """Rules: manual retry or cancel when completion never comes."""
    chat = a_chat()
    pane = ChatPane(chat, ControllerDouble(chat).controller, Look(100, DARK), follow=False)
    chat.on_change = pane.refresh_chat
    app = Stage(pane)
    page = UrlRequest(message="x", url="https://a.example/", host="a.example", elicitation_id="e")
    async with app.run_test(size=(100, 30)) as pilot:
        chat.page_opened(page)
        await until(pilot, lambda: "Waiting for a.example" in app.text)
        for words in ("again", "done", "cancel"):
            assert words in app.line_with("Waiting for a.example")
        chat.page_done("e")
        await until(pilot, lambda: "Waiting for a.example" not in app.text)
