"""What can be done about a problem, and that it is told once."""

from __future__ import annotations

from textual.widgets import Static

from accord.terminal.model.chat import Chat, Problem
from accord.terminal.screen.chrome.problem_bar import ProblemBar
from accord.terminal.screen.widgets.button import Button
from tests.terminal.screen.harness.stage import Stage, a_chat, pass_time


def _said(bar: ProblemBar) -> list[str]:
    """The words that are shown, without the buttons."""
    texts = [bar.query_one(f"#problem-{one}", Static) for one in ("text", "detail")]
    return [str(one.content) for one in texts if one.display]


def _failed(chat: Chat, problem: Problem, *, is_told: bool) -> None:
    if is_told:
        chat.remark(problem.text, "error", problem.detail)
    chat.set_problem(problem)


async def test_what_the_conversation_tells_is_not_told_again() -> None:
    """Ours: a message that fails is told once; what can be done stands below it."""
    chat = a_chat()
    bar = ProblemBar(chat, "Alt+R")
    app = Stage(bar)
    async with app.run_test() as pilot:
        problem = Problem("turn_failed", "It failed: away", "why", ("retry", "dismiss"))
        _failed(chat, problem, is_told=True)
        bar.refresh_chat()
        await pilot.pause()
        assert bar.has_class("-shown")
        assert _said(bar) == []
        assert [str(one.content) for one in bar.query(Button)] == ["Try again (Alt+R)", "Dismiss"]
        other = Problem("start_failed", "It did not start: no", "why", ("restart",))
        _failed(chat, other, is_told=False)
        bar.refresh_chat()
        await pilot.pause()
        assert _said(bar) == ["It did not start: no", "why"]


async def test_the_wait_is_counted_down_where_the_limit_is_told_above() -> None:
    """Issue 6: rate limits count down."""
    chat = a_chat()
    bar = ProblemBar(chat)
    app = Stage(bar)
    async with app.run_test() as pilot:
        at = chat.clock() + 7
        _failed(chat, Problem("rate_limited", "Too many", "", ("retry",), at), is_told=True)
        bar.refresh_chat()
        await pilot.pause()
        assert _said(bar) == ["Try again in 7 s"]
        pass_time(chat, 9)
        bar.refresh_chat()
        assert _said(bar) == ["You can try again now"]
        chat.set_problem(None)
        bar.refresh_chat()
        assert not bar.has_class("-shown")
