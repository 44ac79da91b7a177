"""The tabs: several sessions at once, one marked when it needs an answer."""

from __future__ import annotations

import anyio
import pytest

from accord.terminal.model.chat import Chat, Problem
from accord.terminal.screen.chrome.tab_bar import TabBar
from tests.terminal.screen.harness.stage import (
    CJK,
    HOSTILE,
    LONG,
    NARROW,
    WIDE,
    ControllerDouble,
    Stage,
    a_chat,
    place_of,
)


class Tabbed(Stage):
    """Notes what is chosen and closed."""

    def __init__(self, bar: TabBar) -> None:
        super().__init__(bar)
        self.chosen: list[Chat] = []
        self.closed: list[Chat] = []

    def on_tab_bar_tab_chosen(self, event: TabBar.TabChosen) -> None:
        self.chosen.append(event.chat)

    def on_tab_bar_tab_closed(self, event: TabBar.TabClosed) -> None:
        self.closed.append(event.chat)


def _named(*titles: str) -> list[Chat]:
    found = []
    for number, title in enumerate(titles):
        chat = a_chat(f"s{number}")
        chat.own_title = title
        found.append(chat)
    return found


@pytest.mark.rule("D26-02")
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_several_sessions_are_marked_by_where_they_stand(size: tuple[int, int]) -> None:
    """Issue: several sessions in tabs, one marked when it needs an answer."""
    one, two, three, four = chats = _named("one", "two", "three", "four")
    bar = TabBar(ControllerDouble(*chats).controller)
    app = Tabbed(bar)
    async with app.run_test(size=size) as pilot, anyio.create_task_group() as tasks:
        bar.show(one)
        await pilot.pause()
        assert app.lines[0].split() == ["one", "×", "two", "×", "three", "×", "four", "×"]
        tasks.start_soon(two.questions.ask, "credential", "why")
        three.set_phase("working")
        four.remark("something is new")
        await pilot.pause()
        bar.refresh_chat()
        await pilot.pause()
        said = ["one", "×", "◆", "two", "×", "●", "three", "×", "•", "four", "×"]
        assert app.lines[0].split() == said
        three.set_phase("ready")
        three.set_problem(Problem("turn_failed", "No."))
        bar.show(four)
        await pilot.pause()
        # The tab in front never counts as news, nor after it was left again.
        bar.show(one)
        await pilot.pause()
        assert app.lines[0].split() == [*said[:5], "✗", "three", "×", "four", "×"]
        tasks.cancel_scope.cancel()


async def test_tabs_are_chosen_and_closed_by_clicks() -> None:
    """Issue: by mouse too."""
    one, two = chats = _named("漢字", "two")
    bar = TabBar(ControllerDouble(*chats).controller)
    app = Tabbed(bar)
    async with app.run_test(size=WIDE) as pilot:
        bar.show(one)
        await pilot.pause()
        await pilot.click(offset=place_of(app, "two"))
        x, y = place_of(app, "two")
        await pilot.click(offset=(x + len("two "), y))
        await pilot.pause()
        assert app.chosen == [two]
        assert app.closed == [two]


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_with_many_tabs_the_one_in_front_is_seen(size: tuple[int, int]) -> None:
    """Contract: and one that needs an answer is marked although its tab does not fit."""
    chats = _named(*(f"talk {number}" for number in range(30)))
    bar = TabBar(ControllerDouble(*chats).controller)
    app = Tabbed(bar)
    async with app.run_test(size=size) as pilot, anyio.create_task_group() as tasks:
        bar.show(chats[15])
        await pilot.pause()
        assert "talk 15 " in app.lines[0]
        assert "‹" in app.lines[0]
        assert "›" in app.lines[0]
        tasks.start_soon(chats[2].questions.ask, "credential", "why")
        await pilot.pause()
        bar.refresh_chat()
        await pilot.pause()
        assert "‹ ◆" in app.lines[0]
        await pilot.click(offset=place_of(app, "‹ ◆"))
        await pilot.pause()
        assert app.chosen == [chats[2]]
        for at in (0, 29):
            bar.show(chats[at])
            await pilot.pause()
            assert f"talk {at} " in app.lines[0]
        tasks.cancel_scope.cancel()


async def test_titles_are_cut_and_clean() -> None:
    """Issue: everything an agent sends is untrusted."""
    chats = _named(HOSTILE, LONG, CJK, "")
    bar = TabBar(ControllerDouble(*chats).controller)
    app = Tabbed(bar)
    async with app.run_test(size=NARROW) as pilot:
        bar.show(chats[1])
        await pilot.pause()
        assert "\x1b" not in app.text
        assert "⟨U+001B⟩" in app.lines[0]
        bar.show(chats[3])
        await pilot.pause()
        # A session without a title has the name of its agent.
        assert "Claude" in app.lines[0]
