"""The conversation on the screen: what is in sight, what stays, and what is not rendered at all."""

from __future__ import annotations

import pytest
from textual import events
from textual.geometry import Region

from accord.terminal.model.chat import Chat
from accord.terminal.render.block import OpenSession
from accord.terminal.render.conversation_colours import NONE
from accord.terminal.screen.conversation import Conversation
from accord.terminal.screen.conversation.rows import STRIPS_MAX
from tests.terminal.screen.harness.conversation_stage import Stage, new_chat, say, take


def many(count: int) -> Chat:
    """A chat of this many messages of three lines each."""
    chat = new_chat()
    for number in range(count):
        say(chat, f"message {number}\nsecond line\nthird line", f"m{number}")
    return chat


@pytest.mark.rule("V1-PROMPT-13", "V2-UPS-03")
async def test_what_the_agent_says_is_shown_as_markdown() -> None:
    """Rules: text blocks are rendered as Markdown."""
    chat = new_chat()
    say(
        chat,
        "# Title\n\nsome **bold** words and `code`\n\n- one\n- two\n\n| a | b |\n|-|-|\n| 1 | 2 |",
    )
    app = Stage(chat, NONE)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert app.seen()[:12] == [
            " Title", "", " some bold words and code", "", " • one", " • two", "",
            " a │ b", " ──┼──", " 1 │ 2", "", "",
        ]  # fmt: skip
        styles = {part.text: str(part.style) for part in app.view.render_line(2)}
        assert "bold" in styles["bold"]


async def test_the_end_is_in_sight_and_stays_there() -> None:
    """Required: the view follows the end."""
    chat = many(30)
    app = Stage(chat)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert app.seen()[-1] == " third line"
        say(chat, "\nfourth line", "m29")
        app.view.refresh_chat()
        assert app.seen()[-1] == " fourth line"


async def test_what_is_looked_at_stays_while_more_comes() -> None:
    """Required: no jumps; a hint says what is new, and End goes there."""
    chat = many(30)
    app = Stage(chat)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        app.view.action_page_up()
        before = app.seen()
        for number in range(5):
            say(chat, "new\nlines", f"n{number}")
        app.view.refresh_chat()
        assert app.seen()[:-1] == before[:-1]
        assert "▼ 15 new lines" in app.seen()[-1]
        app.view.action_scroll_end()
        assert app.seen()[-1] == " lines"
        say(chat, "\nmore", "n4")
        app.view.refresh_chat()
        assert app.seen()[-1] == " more"


async def test_scrolling_moves_by_lines_whatever_was_guessed() -> None:
    """Required: heights that were guessed wrong are set right without a jump."""
    chat = new_chat()
    for number in range(60):
        # A table is guessed to be taller and a thought shorter than they are.
        say(chat, f"| a | b |\n|--|--|\n| {number} | x |\n\n```\n{'y' * 200}\n```", f"m{number}")
        say(chat, "thought " * 50, f"t{number}", "agent_thought")
    app = Stage(chat)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        for _ in range(40):
            before = app.seen()
            app.view.scroll_rows(-7)
            assert app.seen()[7:-1] == before[: 20 - 8]
        for _ in range(20):
            before = app.seen()
            app.view.scroll_rows(5)
            assert app.seen()[: 20 - 6] == before[5:-1]


async def test_home_and_end_reach_the_first_and_the_last_line() -> None:
    """Required: keys home and end."""
    app = Stage(many(200))
    async with app.run_test(size=(60, 20)) as pilot:
        app.view.focus()
        await pilot.press("home")
        assert app.seen()[0] == " message 0"
        last = app.seen()[-2]
        await pilot.press("pagedown")
        assert app.seen()[0] in (last, "")
        await pilot.press("end")
        assert app.seen()[-1] == " third line"
        assert app.view.follows


async def test_the_wheel_scrolls_and_leaves_the_end() -> None:
    """Required: the mouse wheel."""
    app = Stage(many(50))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        before = app.seen()
        wheel = events.MouseScrollUp(app.view, 5, 5, 0, -1, 0, False, False, False, 5, 5)
        app.view.post_message(wheel)
        await pilot.pause()
        assert app.seen() != before
        assert not app.view.follows


async def test_only_what_is_in_sight_is_rendered_and_little_is_kept() -> None:
    """Required: memory is bounded, and a long session costs what is seen of it."""
    app = Stage(many(3000))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        rows = app.view.rows
        assert rows.kept_lines < 100
        for _ in range(450):
            app.view.action_page_up()
        assert rows.kept_lines <= STRIPS_MAX + 20


async def test_a_resize_keeps_the_place() -> None:
    """Required: resize never garbles."""
    chat = new_chat()
    for number in range(60):
        say(chat, f"message {number} " + "with many words " * 12, f"m{number}")
    app = Stage(chat)
    async with app.run_test(size=(100, 20)) as pilot:
        await pilot.pause()
        app.view.action_scroll_home()
        app.view.scroll_rows(31)
        top = app.view.top.block
        await pilot.resize_terminal(60, 24)
        await pilot.pause()
        assert app.view.top.block == top
        assert all(len(line) <= 60 for line in app.seen())
        assert len(app.seen()) == 24


async def test_a_session_that_is_replaced_is_drawn_from_its_head() -> None:
    """A chat may show another session."""
    chat = many(20)
    app = Stage(chat)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        from accord.transcript import Transcript

        chat.adopt(Transcript("v1"), "other")
        say(chat, "hello")
        app.view.refresh_chat()
        assert [line for line in app.seen() if line] == [" hello"]


async def test_an_entry_is_selected_by_keys_folded_and_copied() -> None:
    """Required: everything by keyboard."""
    chat = new_chat()
    say(chat, "first", "a")
    say(chat, "deep **thought**\n\nabout it", "t", "agent_thought")
    say(chat, "last", "b")
    app = Stage(chat)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        view = app.view
        chosen = [view.selected]
        assert view.text_of_selected() == "last"
        view.select(-1)
        view.select(-1)
        chosen.append(view.selected)
        assert app.seen()[:5] == [" first", "", "▌▸ Thought: deep thought about it", "", " last"]
        assert view.toggle_fold()
        assert app.seen()[2:6] == ["▌▾ Thought", "▌│ deep thought", "▌│", "▌│ about it"]
        assert view.text_of_selected() == "deep **thought**\n\nabout it"
        view.fold_all()
        assert app.seen()[2] == "▌▸ Thought: deep thought about it"
        view.select(1)
        view.select(1)
        chosen.append(view.selected)
        assert chosen == [None, chat.entries[1], None]


async def test_a_click_unfolds_and_tells_what_a_line_means() -> None:
    """Required: the mouse too."""
    chat = new_chat()
    say(chat, "deep thought", "t", "agent_thought")
    app = Stage(chat)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        await pilot.click("Conversation", offset=(4, 0))
        assert app.seen()[0] == " ▾ Thought"
        assert app.chosen == []


async def test_a_click_on_a_message_of_another_session_names_that() -> None:
    """Sub-agents and other sessions can be gone to."""
    from accord.transcript import SessionMessage

    chat = new_chat()
    message = SessionMessage("x")
    message.sender_session_id = "other"
    chat.entries.append(message)
    app = Stage(chat)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        await pilot.click("Conversation", offset=(4, 0))
        await pilot.pause()
        assert app.chosen == [OpenSession("other")]


async def test_text_that_is_marked_with_the_mouse_can_be_copied() -> None:
    """Required: text selection."""
    chat = new_chat()
    say(chat, "one two\n\nthree four", "a")
    app = Stage(chat)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        await pilot.mouse_down("Conversation", offset=(5, 0))
        await pilot.hover("Conversation", offset=(6, 2))
        await pilot.mouse_up("Conversation", offset=(6, 2))
        await pilot.pause()
        assert app.screen.get_selected_text() == "two\n\nthree"


async def test_nothing_is_drawn_when_nothing_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Required: calm."""
    chat = many(10)
    app = Stage(chat)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        drawn: list[object] = []

        def draw(*regions: Region, **named: object) -> Conversation:
            drawn.append((regions, named))
            return app.view

        monkeypatch.setattr(app.view, "refresh", draw)
        app.view.refresh_chat()
        assert drawn == []
        say(chat, " more", "m9")
        app.view.refresh_chat()
        assert len(drawn) == 1


async def test_a_tool_call_that_changes_out_of_sight_does_not_move_what_is_seen() -> None:
    """Required: only the visible anchor counts."""
    chat = new_chat()
    take(chat, "tool_call", toolCallId="c", title="Run", kind="execute", status="pending")
    for number in range(30):
        say(chat, f"message {number}\nsecond", f"m{number}")
    app = Stage(chat)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        app.view.action_page_up()
        before = app.seen()
        body = {"type": "content", "content": {"type": "text", "text": "line\n" * 30}}
        take(chat, "tool_call_update", toolCallId="c", status="completed", content=[body])
        app.view.refresh_chat()
        assert app.seen() == before
