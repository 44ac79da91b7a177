"""What the prompt remembers: history and drafts."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

import pytest

from accord.configuration.user_paths import state_folder
from accord.errors import ConfigError
from accord.terminal.model.prompt.history import History, history_file
from accord.terminal.model.prompt.unsent_prompts import Draft, Drafts, Writer
from accord.terminal.screen.prompt import saved_prompts
from accord.terminal.screen.prompt.saved_prompts import Memory
from tests.terminal.screen.harness.prompt_stage import (
    PromptStage,
    paste,
    typing,
    until,
)
from tests.terminal.screen.harness.stage import NARROW, WIDE, hear, place_of

SECONDS_MAX = 20


def _texts() -> list[str]:
    history = History(history_file())
    history.load()
    return history.texts


def _say_before(*texts: str) -> None:
    for text in texts:
        History(history_file()).add(text)


def _save_before(session_id: str, text: str, agent: str = "", folder: str = "/other") -> None:
    drafts = Drafts(state_folder() / "drafts")
    drafts.save(Writer("another chat", agent, folder, session_id), Draft(text), 0)


async def test_up_and_down_walk_through_what_was_said(tmp_path: Path) -> None:
    """Issue 6: like a shell, at the first and the last line; what is being typed is kept."""
    _say_before("first", "second\nof two lines")
    app = PromptStage(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: len(app.editor._memory.history.texts) == 2)
        await typing(pilot, "now")
        await pilot.press("up")
        assert app.typed == "second\nof two lines"
        # In the text the arrows move the cursor first.
        await pilot.press("up")
        assert app.typed == "second\nof two lines"
        await pilot.press("up")
        assert app.typed == "first"
        await pilot.press("up", "down")
        assert app.typed == "second\nof two lines"
        await pilot.press("down")
        assert app.typed == "now"
        await pilot.press("down")
        assert app.typed == "now"


async def test_what_is_sent_is_in_the_history_at_once_and_on_the_disk(tmp_path: Path) -> None:
    """Issue 6: history."""
    app = PromptStage(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "hello")
        await pilot.press("enter", "up")
        assert app.typed == "hello"
        await until(pilot, lambda: _texts() == ["hello"])


async def test_long_pasted_text_is_in_the_history_as_a_whole(tmp_path: Path) -> None:
    """Ours: its mark would mean nothing the next time."""
    app = PromptStage(tmp_path)
    long = "\n".join("x" * 40)
    async with app.run_test(size=WIDE) as pilot:
        await paste(pilot, long)
        await pilot.press("enter")
        await until(pilot, lambda: _texts() == [long])


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_the_history_is_searched_while_one_types(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    """Issue 6: Ctrl-R; Ctrl-R again goes on to an older one."""
    _say_before("fix the tests", "nope", "fix the 漢字\nplease", "fix nothing")
    app = PromptStage(tmp_path)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: len(app.editor._memory.history.texts) == 4)
        await typing(pilot, "typed")
        await pilot.press("ctrl+r")
        await pilot.pause()
        await typing(pilot, "the fix")
        await pilot.pause()
        assert "2 lines" in app.line_with("fix the 漢字 please")
        assert "nope" not in app.text
        await pilot.press("escape")
        await pilot.pause()
        assert app.typed == "typed"
        await pilot.press("ctrl+r")
        await pilot.pause()
        await typing(pilot, "the")
        await pilot.pause()
        await pilot.press("ctrl+r", "enter")
        await pilot.pause()
        assert app.typed == "fix the tests"
        assert app.focused is app.area
        await pilot.press("ctrl+z")
        assert app.typed == "typed"
        await pilot.press("ctrl+r")
        await pilot.pause()
        await pilot.click(offset=place_of(app, "nope"))
        await pilot.pause()
        assert app.typed == "nope"


async def test_a_draft_survives_leaving(tmp_path: Path) -> None:
    """Issue 6: drafts kept."""
    app = PromptStage(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "half a thought")
        await pilot.pause()
    app = PromptStage(tmp_path, session_id="another")
    app.chat.remark("The agent is here")
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: app.typed == "half a thought")
        await pilot.press("enter")
        await pilot.pause()
    assert list((state_folder() / "drafts").iterdir()) == []


async def test_a_draft_is_on_the_disk_soon_so_that_a_crash_does_not_take_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 6: drafts kept, whatever happens."""
    from accord.terminal.screen.prompt import prompt_editor as module

    monkeypatch.setattr(module, "SAVE_SECONDS", 0.01)
    app = PromptStage(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "x")

        def saved() -> bool:
            drafts = Drafts(state_folder() / "drafts")
            found = drafts.restore(Writer("other", "", str(tmp_path), "s1"), is_new=False)
            return found == Draft("x")

        await until(pilot, saved)
        app.editor.keep()


async def test_the_draft_of_a_session_comes_when_that_is_known(tmp_path: Path) -> None:
    """Ours: the agent takes its time; what is typed meanwhile is not written over."""
    _save_before("s7", "from before")
    app = PromptStage(tmp_path)
    app.chat.session_id = None
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert app.typed == ""
        app.chat.session_id = "s7"
        hear(app.chat, sessionUpdate="agent_message_chunk", content={"type": "text", "text": "x"})
        app.renew()
        await until(pilot, lambda: app.typed == "from before")
    _save_before("s8", "from before")
    app = PromptStage(tmp_path)
    app.chat.session_id = None
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "mine")
        app.chat.session_id = "s8"
        app.renew()
        await pilot.pause()
        await pilot.pause()
        assert app.typed == "mine"


async def test_what_was_sent_while_the_agent_started_does_not_come_back(tmp_path: Path) -> None:
    """Issue 14: the draft was on the disk when the session came."""
    app = PromptStage(tmp_path)
    app.chat.session_id = None
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "hello")
        await app.editor._memory.save(app.chat)
        await pilot.press("enter")
        app.chat.session_id = "s1"
        app.renew()
        await pilot.pause()
        await app.workers.wait_for_complete()
        assert app.said == [Draft("hello")]
        assert app.typed == ""
        assert list((state_folder() / "drafts").iterdir()) == [], "nor in the next run"


async def test_what_is_sent_while_a_draft_is_read_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 14: the disk may take its time; the prompt is empty again by then."""
    _save_before("s1", "from before", folder=str(tmp_path))
    may_read = Event()
    read = Drafts._read

    def read_slowly(self: Drafts, name: str) -> dict[str, Any] | None:
        assert may_read.wait(SECONDS_MAX)
        return read(self, name)

    monkeypatch.setattr(Drafts, "_read", read_slowly)
    app = PromptStage(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "hello")
        await pilot.press("enter")
        may_read.set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert (app.said, app.typed) == ([Draft("hello")], "")


async def test_a_draft_of_one_agent_is_not_shown_to_another(tmp_path: Path) -> None:
    """Issue 14: not in the same folder, nor in a session that has the same name."""
    _save_before("s1", "for one", agent="one", folder=str(tmp_path))
    app = PromptStage(tmp_path)
    app.chat.agent = "two"
    async with app.run_test(size=WIDE) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.typed == ""
    app = PromptStage(tmp_path)
    app.chat.agent = "one"
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: app.typed == "for one")


async def test_a_chat_shown_again_has_what_was_typed(tmp_path: Path) -> None:
    """Ours: `chat.draft` is what is written."""
    app = PromptStage(tmp_path)
    app.chat.draft = Draft("kept in the chat")
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert app.typed == "kept in the chat"


async def test_without_a_place_for_it_nothing_is_kept_and_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: also where the disk is full or read-only."""

    def nowhere() -> Path:
        raise ConfigError("no place")

    monkeypatch.setattr(saved_prompts, "state_folder", nowhere)
    app = PromptStage(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await typing(pilot, "a")
        await pilot.press("enter", "up")
        assert app.typed == "a"
        app.editor.keep()
    file = tmp_path / "file"
    file.write_text("")
    memory = Memory(file / "beneath a file")
    await memory.said("a", "/x")
    app.chat.draft = Draft("x")
    await memory.save(app.chat)
    memory.save_now(app.chat)
    assert await memory.restore(app.chat) == Draft("")
