"""The line of questions that wait for a user."""

from __future__ import annotations

import anyio

from accord.terminal.model.questions import Question, Questions
from tests.hang_limit import HANG_SECONDS


async def test_questions_are_shown_in_order_and_each_gets_its_own_answer() -> None:
    """Issue 6: several waiting requests queue with a count."""
    changes: list[int] = []
    questions = Questions(lambda: 1.0, lambda: changes.append(questions.waiting))
    answers: dict[str, object] = {}

    async def ask(name: str) -> None:
        answers[name] = await questions.ask("permission", name)

    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            for name in "abc":
                tasks.start_soon(ask, name)
                await anyio.wait_all_tasks_blocked()
            assert questions.waiting == 3
            for name in "abc":
                first = questions.first
                assert first is not None
                assert first.request == name
                first.answer(f"yes {name}")
                await anyio.wait_all_tasks_blocked()
    assert answers == {"a": "yes a", "b": "yes b", "c": "yes c"}
    assert questions.first is None
    assert changes == [1, 2, 3, 2, 1, 0]


async def test_a_question_that_nobody_waits_for_any_more_is_gone() -> None:
    """Ours: a dialog closes when the agent takes its question back."""
    questions = Questions(lambda: 1.0, lambda: None)
    shown: list[Question] = []
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(questions.ask, "form", "x")
            await anyio.wait_all_tasks_blocked()
            assert questions.first is not None
            shown.append(questions.first)
            tasks.cancel_scope.cancel()
    assert questions.all == ()
    assert shown[0].is_answered


async def test_a_second_answer_changes_nothing() -> None:
    """Ours."""
    question = Question("url", "x", 0.0)
    question.answer(True)
    question.answer(False)
    assert await question.wait() is True


def test_those_that_wait_elsewhere_are_counted_too() -> None:
    """Issue 6: the count is of all, not of those that we were asked."""
    questions = Questions(lambda: 1.0, lambda: None)
    questions.count_behind = lambda: 2
    assert questions.waiting == 2
