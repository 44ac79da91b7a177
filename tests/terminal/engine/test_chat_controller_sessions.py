"""The controller with real agents: several sessions, stored ones, settings, servers, logins."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.errors import ConnectionLost, LocalProtocolError, RequestFailed
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.engine.problems import start_problem
from accord.terminal.model.prompt.unsent_prompts import Draft
from tests.terminal.engine.agents import program
from tests.terminal.engine.controller_harness import (
    opened,
    ready,
    remarks,
    running_controller,
    said,
    until,
)

pytestmark = pytest.mark.usefixtures("own_places")


@pytest.mark.rule("D26-02")
async def test_several_sessions_share_one_agent_and_end_alone(work: Path) -> None:
    """Issue 6: several sessions in tabs."""
    async with running_controller() as controller:
        one = await opened(controller, work)
        two = await controller.open_chat(one)
        await until(two, ready)
        assert one.session_id != two.session_id
        assert controller.traffic(one) is controller.traffic(two)
        controller.send(one, Draft("wait"))
        controller.send(two, Draft("hello"))
        await until(two, ready)
        assert said(two) == ["you said hello"]
        assert one.is_busy
        await controller.close_chat(two)
        assert controller.chats == [one]
        controller.stop(one)
        await until(one, ready)


async def test_an_agent_that_dies_takes_all_its_chats_and_brings_them_back(work: Path) -> None:
    """Ours: one restart is for all of them."""
    async with running_controller() as controller:
        one = await opened(controller, work)
        two = await controller.open_chat(one)
        await until(two, ready)
        ids = [one.session_id, two.session_id]
        controller.send(one, Draft("die"))
        await until(two, lambda chat: chat.problem is not None)
        controller.restart(two)
        await until(one, ready)
        await until(two, ready)
        assert [one.session_id, two.session_id] == ids
        assert controller.traffic(one) is controller.traffic(two)


@pytest.mark.rule("V1-CLOSE-28")
async def test_sessions_are_listed_opened_renamed_forked_and_deleted(work: Path) -> None:
    """Issue 6: session list with resume, rename, fork, delete."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        controller.send(chat, Draft("first words"))
        await until(chat, ready)
        session_id = chat.session_id or ""
        assert await controller.rename(chat, session_id, "  A name ") == chat.title
        other = await controller.fork(chat)
        assert said(other) == ["you said first words"]
        assert other.title in (chat.title, f"{chat.title} (fork)")
        controller.send(other, Draft("more"))
        await until(other, ready)
        found = await controller.sessions(chat)
        assert {info.session_id for info in found} >= {session_id, other.session_id}
        stored = next(info for info in found if info.session_id == session_id)
        assert await controller.open_stored(other, stored) is chat
        await controller.close_chat(chat)
        branch = await controller.fork_stored(other, stored)
        assert said(branch) == ["you said first words"]
        assert branch.session_id not in (session_id, other.session_id)
        await controller.close_chat(branch)
        again = await controller.open_stored(other, stored)
        assert again.title == stored.title
        await until(again, ready)
        assert said(again) == ["you said first words"]
        assert again.history_end == len(again.entries)
        await controller.close_chat(again)
        await controller.delete(other, session_id)
        assert session_id not in {info.session_id for info in await controller.sessions(other)}


async def test_modes_go_round(work: Path) -> None:
    """Issue 6: Shift-Tab cycles the modes."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        seen: list[str] = []
        for _ in range(3):
            await controller.cycle_mode(chat)
            option = next(o for o in chat.transcript.config_options if o.category == "mode")
            seen.append(option.value)
        assert seen == ["code", "ask", "code"]


async def test_the_last_session_of_the_folder_goes_on(work: Path) -> None:
    """Issue 6: --continue, also after we were killed."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        controller.send(chat, Draft("before"))
        await until(chat, ready)
        session_id = chat.session_id
    async with running_controller() as controller:
        chat = await opened(controller, work, go_on=True)
        assert chat.session_id == session_id
        assert said(chat) == ["you said before"]


async def test_a_session_whose_folder_is_gone_offers_one_where_the_person_is(work: Path) -> None:
    """Issue 6: a lost session offers a new one, which must not fail for the same reason."""
    gone = work.parent / "gone"
    gone.mkdir()
    async with running_controller() as controller:
        here = await opened(controller, work)
        there = await controller.open_chat(
            launch=LaunchOptions(command=program(work.parent), folder=str(gone))
        )
        await until(there, ready)
        controller.send(there, Draft("hello"))
        await until(there, ready)
        session_id = there.session_id
        await controller.close_chat(there)
        gone.rmdir()
        stored = next(
            one for one in await controller.sessions(here) if one.session_id == session_id
        )
        chat = await controller.open_stored(here, stored)
        await until(chat, lambda chat: chat.problem is not None)
        problem = chat.problem
        assert problem is not None
        assert problem.text == f"The folder does not exist: {gone}"
        assert str(work) in problem.detail
        assert problem.remedies == ("new_session",)
        controller.send(chat, Draft("go on"))
        controller.retry(chat)
        await until(chat, lambda chat: said(chat) == ["you said go on"] and ready(chat))
        assert chat.folder == str(work)
        assert remarks(chat) == f"Started a new session in {work}: {gone} not found."


@pytest.mark.parametrize("wish", [{"go_on": True}, {"session": "nope"}, {"mode": "nope"}])
async def test_a_wish_that_cannot_be_is_no_dead_end(work: Path, wish: dict[str, object]) -> None:
    """Issue 6: a lost session offers a new one, also at the start; what was typed is sent then."""
    async with running_controller() as controller:
        chat = await opened(controller, work, **wish)
        assert chat.problem is not None
        assert chat.problem.remedies[0] == "new_session"
        assert chat.lacks_session
        controller.send(chat, Draft("kept"))
        controller.retry(chat)
        await until(chat, lambda chat: ready(chat) and said(chat))
        assert said(chat) == ["you said kept"]


def test_an_agent_that_gives_no_session_is_not_said_to_be_gone() -> None:
    """Ours: it runs, and other tabs may have sessions with it."""
    refused = RequestFailed("session/new", -32603, "no more today", None)
    problem = start_problem(refused, is_running=True)
    assert (problem.kind, problem.remedies) == ("session_lost", ("new_session", "restart"))
    assert "no more today" in problem.text
    assert start_problem(refused).kind == "start_failed"
    assert start_problem(ConnectionLost("it ended"), is_running=True).kind == "start_failed"


def test_what_the_agent_refuses_at_the_start_can_be_tried_again() -> None:
    """Ours: a session that is open elsewhere is there when that is closed."""
    refused = RequestFailed("session/load", -32056, "open in another process")
    again = start_problem(refused, is_running=True, is_wish=True)
    assert again.remedies == ("new_session", "restart")
    none = LocalProtocolError("there is no session to continue")
    assert start_problem(none, is_running=True, is_wish=True).remedies == ("new_session",)


async def test_the_beginning_of_an_id_is_enough(work: Path) -> None:
    """Ours: `accord sessions list` shows no more of it."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        controller.send(chat, Draft("before"))
        await until(chat, ready)
        session_id = chat.session_id or ""
    async with running_controller() as controller:
        chat = await opened(controller, work, session=session_id[:8])
        assert chat.session_id == session_id
        assert said(chat) == ["you said before"]
        other = await opened(controller, work, session=session_id[:2])
        assert other.lacks_session


async def test_what_the_agent_cannot_do_is_said_before_anything_else(work: Path) -> None:
    """Ours: a mode and a model that are not there."""
    async with running_controller() as controller:
        chat = await opened(controller, work, mode="nope")
        assert chat.problem is not None
        assert "nope" in chat.problem.text
        other = await opened(controller, work, model="nope")
        assert other.problem is not None
        assert "models" in other.problem.text
        with pytest.raises(LocalProtocolError):
            await controller.set_mode(other, "ask")


async def test_servers_of_the_folder_are_asked_about_once(work: Path) -> None:
    """Issue 6: the config hands servers to any agent; a project's own need consent."""
    (work / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "true"}}}')
    async with running_controller() as controller:
        chat = await controller.open_chat(
            launch=LaunchOptions(command=program(work.parent), folder=str(work))
        )
        await until(chat, lambda chat: chat.needs_answer)
        question = chat.questions.first
        assert question is not None
        assert question.kind == "servers"
        assert question.request.name == "x"
        question.answer(False)
        await until(chat, ready)
        other = await controller.open_chat(chat)
        await until(other, ready)


@pytest.mark.rule("V1-AUTH-09")
async def test_a_login_that_ended_in_a_live_session_is_offered_again_and_the_prompt_repeated(
    work: Path,
) -> None:
    """D1 authentication#active-sessions: no crash, login offered."""
    async with running_controller() as controller:
        chat = await opened(controller, work)
        controller.send(chat, Draft("secret"))
        await until(chat, ready)
        assert chat.problem is not None
        assert chat.problem.kind == "login_needed"
        assert "log in first" in chat.problem.text
        controller.retry(chat)
        await until(chat, lambda chat: chat.needs_answer)
        question = chat.questions.first
        assert question is not None
        assert [method.method_id for method in question.request] == ["key"]
        question.answer("key")
        await until(chat, lambda chat: ready(chat) and said(chat))
        assert said(chat) == ["you said secret"]
        await controller.log_out(chat)
        assert "logged out" in remarks(chat)


async def test_an_agent_that_wants_a_login_before_anything_gets_one(work: Path) -> None:
    """Issue 6: login flows of the agent's auth methods."""
    async with running_controller() as controller:
        launch = LaunchOptions(command=program(work.parent, "login"), folder=str(work))
        chat = await controller.open_chat(launch=launch)
        await until(chat, lambda chat: chat.needs_answer)
        question = chat.questions.first
        assert question is not None
        question.answer(None)
        await until(chat, lambda chat: chat.problem is not None)
        assert chat.problem is not None
        assert chat.problem.kind == "login_needed"
        controller.retry(chat)
        await until(chat, lambda chat: chat.needs_answer)
        question = chat.questions.first
        assert question is not None
        question.answer("key")
        await until(chat, ready)
        controller.send(chat, Draft("secret"))
        await until(chat, lambda chat: bool(said(chat)))
        assert said(chat) == ["you said secret"]
