"""The controller with real agents: turns, queues, deaths, restarts."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.client.permissions.request import Decision
from accord.connection.limits import Limits
from accord.errors import ConnectionLost
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.engine.problems import lost_problem
from accord.terminal.model.prompt.unsent_prompts import Draft
from tests.terminal.engine.agents import program
from tests.terminal.engine.controller_harness import (
    opened,
    ready,
    remarks,
    running_controller,
    said,
    shown,
    until,
)

pytestmark = pytest.mark.usefixtures("own_places")


async def test_a_chat_opens_and_answers(work: Path) -> None:
    """Issue 6: the agent's own name, and a turn from the prompt to its end."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        assert chat.agent_name == "The Tester"
        controller.send(chat, Draft("hello"))
        assert chat.is_busy
        await until(chat, ready)
        assert said(chat) == ["you said hello"]
        assert chat.stop_reason == "end_turn"
        assert len(controller.traffic(chat)) > 4


async def test_what_is_typed_before_the_agent_is_there_is_sent_when_it_is(work: Path) -> None:
    """Ours: the first picture is there before the agent; nothing that is typed is lost."""
    async with running_controller() as controller:
        chat = await controller.open_chat(
            launch=LaunchOptions(command=program(work.parent), folder=str(work))
        )
        controller.send(chat, Draft("one"))
        controller.send(chat, Draft("two"))
        assert [draft.text for draft in chat.queue] == ["one", "two"]
        await until(chat, lambda chat: ready(chat) and len(said(chat)) == 2)
        assert said(chat) == ["you said one", "you said two"]


async def test_what_was_said_is_seen_before_the_agent_says_anything(work: Path) -> None:
    """Ours: agents of version 1 do not repeat a prompt, and may think for long."""
    async with running_controller() as controller:
        command = program(work.parent, "v1")
        chat = await controller.open_chat(launch=LaunchOptions(command=command, folder=str(work)))
        await until(chat, ready)
        controller.send(chat, Draft("silent"))
        await until(chat, lambda chat: "silent" in shown(chat))
        assert chat.phase == "working"


async def test_prompts_wait_while_a_turn_runs_and_follow_in_order(work: Path) -> None:
    """Issue 6: a queue of next prompts while a turn runs."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        for text in ("a", "b", "c"):
            controller.send(chat, Draft(text))
        assert [draft.text for draft in chat.queue] == ["b", "c"]
        await until(chat, lambda chat: ready(chat) and not chat.queue)
        assert said(chat) == ["you said a", "you said b", "you said c"]


async def test_a_turn_that_is_stopped_says_so_and_keeps_the_queue(work: Path) -> None:
    """Issue 6: Esc cancels the turn with the tool calls marked at once."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        controller.send(chat, Draft("wait"))
        await until(chat, lambda chat: bool(chat.transcript.tool_calls))
        controller.send(chat, Draft("later"))
        controller.stop(chat)
        await until(chat, lambda chat: chat.phase == "stopping")
        assert chat.transcript.tool_calls[0].cancelled
        await until(chat, ready)
        assert chat.stop_reason == "cancelled"
        assert "stopped" in remarks(chat)
        assert [draft.text for draft in chat.queue] == ["later"]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_an_agent_that_does_not_stop_is_left_at_once(work: Path, version: str) -> None:
    """Ours: Esc twice; however long a turn may take to close, nobody waits for that."""
    async with running_controller(Limits(close_seconds=3600)) as controller:
        command = program(work.parent, version)
        chat = await controller.open_chat(launch=LaunchOptions(command=command, folder=str(work)))
        await until(chat, ready)
        controller.send(chat, Draft("stubborn"))
        await until(chat, lambda chat: bool(said(chat)))
        controller.stop(chat)
        await until(chat, lambda chat: chat.phase == "stopping")
        controller.stop(chat)
        await until(chat, ready)
        assert chat.stop_reason == "cancelled"
        assert "abandoned the turn" in remarks(chat)
        # What is said next is the agent's to take; it is stopped, or left, like any other.
        controller.send(chat, Draft("next"))
        await until(chat, lambda chat: "next" in shown(chat))
        assert chat.phase == "working"
        controller.stop(chat)
        await until(chat, lambda chat: chat.phase != "working")
        controller.stop(chat)
        await until(chat, ready)
        assert chat.stop_reason == "cancelled"


async def test_what_a_turn_that_was_left_still_says_is_shown(work: Path) -> None:
    """Ours: nothing that an agent says is dropped, and the next turn is not taken for that one."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        controller.send(chat, Draft("late"))
        await until(chat, lambda chat: said(chat) == ["not yet"])
        controller.stop(chat)
        await until(chat, lambda chat: chat.phase == "stopping")
        controller.stop(chat)
        await until(chat, ready)
        assert "abandoned the turn" in remarks(chat)
        (work / "go").touch()
        controller.send(chat, Draft("hello"))
        await until(chat, lambda chat: ready(chat) and "you said hello" in said(chat))
        assert "at last" in "".join(said(chat))
        assert chat.stop_reason == "end_turn"


async def test_a_failed_turn_says_why_and_can_be_tried_again(work: Path) -> None:
    """Issue 6: a failed turn says why and offers retry by one key."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        controller.send(chat, Draft("fail"))
        await until(chat, ready)
        problem = chat.problem
        assert problem is not None
        assert "the model is away" in problem.text
        assert problem.remedies[0] == "retry"
        controller.retry(chat)
        await until(chat, lambda chat: chat.problem is None)
        await until(chat, lambda chat: chat.problem is not None)
        assert len(chat.transcript.messages) == 2


async def test_a_rate_limit_says_until_when(work: Path) -> None:
    """Issue 6: rate limits count down."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        controller.send(chat, Draft("often"))
        await until(chat, ready)
        problem = chat.problem
        assert problem is not None
        assert problem.kind == "rate_limited"
        assert problem.retry_at is not None
        assert 0 < problem.retry_at - chat.clock() <= 7


async def test_a_lost_session_offers_a_new_one(work: Path) -> None:
    """Issue 6: a lost session offers a new one."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        first = chat.session_id
        controller.send(chat, Draft("lost"))
        await until(chat, ready)
        assert chat.problem is not None
        assert chat.problem.kind == "session_lost"
        controller.retry(chat)
        await until(chat, lambda chat: chat.session_id not in (None, first) and ready(chat))
        controller.send(chat, Draft("again"))
        await until(chat, ready)
        assert said(chat)[-1] == "you said again"


async def test_when_the_agent_dies_its_last_words_are_shown_and_the_session_goes_on(
    work: Path,
) -> None:
    """Issue 6: exit code, last lines of stderr, restart with the session resumed by one key."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        controller.send(chat, Draft("remember me"))
        await until(chat, ready)
        session = chat.session_id
        controller.send(chat, Draft("die"))
        await until(chat, lambda chat: chat.problem is not None)
        problem = chat.problem
        assert problem is not None
        assert chat.phase == "lost"
        assert "3" in problem.text
        assert "I am tired" in problem.detail
        assert problem.remedies == ("restart",)
        controller.retry(chat)
        await until(chat, ready)
        assert chat.session_id == session
        assert said(chat)[0] == "you said remember me"
        controller.send(chat, Draft("back"))
        await until(chat, ready)
        assert said(chat)[-1] == "you said back"


async def test_a_program_that_is_no_agent_is_explained_and_can_be_started_again(
    work: Path,
) -> None:
    """Issue 6: when it never answers initialize: the same."""
    async with running_controller() as controller:
        launch = LaunchOptions(command=("sh", "-c", "echo broken >&2; exit 4"), folder=str(work))
        chat = await controller.open_chat(launch=launch)
        await until(chat, lambda chat: chat.problem is not None)
        problem = chat.problem
        assert problem is not None
        assert problem.kind == "start_failed"
        assert "broken" in problem.detail
        controller.retry(chat)
        await until(chat, lambda chat: chat.problem is None)
        await until(chat, lambda chat: chat.problem is not None)


@pytest.mark.parametrize("allow", [True, False])
async def test_a_question_reaches_its_chat_and_a_denial_is_explained(
    work: Path, *, allow: bool
) -> None:
    """Issue 6: permission, and a denial that is explained."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        controller.send(chat, Draft("edit"))
        await until(chat, lambda chat: chat.needs_answer)
        question = chat.questions.first
        assert question is not None
        assert question.kind == "permission"
        assert question.request.reason == "it must be new"
        option = question.request.of_kind("allow_once" if allow else "reject_once")
        question.answer(Decision(option.option_id))
        await until(chat, ready)
        assert said(chat) == ["allowed" if allow else "denied"]
        assert (work / "file.txt").read_text() == ("new\n" if allow else "old\n")
        assert list(chat.denied.values()) == ([] if allow else ["you said no"])
        assert "you said no" not in remarks(chat), "the card of the call says it"
        await controller.journal(chat).settle()
        assert bool(controller.journal(chat).changes) is allow


async def test_stopping_takes_the_question_back(work: Path) -> None:
    """Ours: a dialog that nobody waits for is gone."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        controller.send(chat, Draft("edit"))
        await until(chat, lambda chat: chat.needs_answer)
        controller.stop(chat)
        await until(chat, ready)
        assert not chat.needs_answer
        assert not chat.denied


async def test_an_agent_that_never_answers_is_given_up_and_can_be_started_again(
    work: Path,
) -> None:
    """Issue 6: when it never answers initialize: the same after the time limit."""
    async with running_controller(Limits(initialize_seconds=0.3)) as controller:
        launch = LaunchOptions(
            command=("sh", "-c", "echo slow >&2; exec cat > /dev/null"), folder=str(work)
        )
        chat = await controller.open_chat(launch=launch)
        await until(chat, lambda chat: chat.problem is not None)
        problem = chat.problem
        assert problem is not None
        assert "did not answer initialize" in problem.text
        assert "slow" in problem.detail
        assert problem.remedies == ("restart",)


def test_an_agent_at_a_url_is_gone_and_need_not_have_stopped() -> None:
    """Ours: what is known is that the connection ended, and why."""
    gone = lost_problem(ConnectionLost("the connection to wss://a/acp ended: it was cut"))
    assert gone.text == "The agent is gone: the connection to wss://a/acp ended: it was cut"
    stopped = lost_problem(ConnectionLost("the agent exited", exit_status="exit code 3"))
    assert stopped.text == "The agent stopped: exit code 3"
