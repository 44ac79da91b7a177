"""The desk with real agents: turns, queues, deaths, restarts, sessions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from accord.client.asking import Decision
from accord.client.permissions import Permissions
from accord.errors import LocalProtocolError
from accord.terminal.engine.desk import Desk
from accord.terminal.engine.orders import Order
from accord.terminal.model.chat import Chat
from accord.terminal.model.drafting import Draft
from accord.terminal.model.remark import Remark
from accord.transcript import Message
from tests.terminal.engine.agents import program

SECONDS_MAX = 30

pytestmark = pytest.mark.usefixtures("own_places")


@pytest.fixture
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's is read or written."""
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder that agents work in."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "file.txt").write_text("old\n")
    return folder


@asynccontextmanager
async def desk_of(permissions: Permissions | None = None) -> AsyncGenerator[Desk]:
    """A desk that runs, and is gone in the end."""
    desk = Desk(permissions=permissions or Permissions())
    with anyio.fail_after(SECONDS_MAX):
        async with anyio.create_task_group() as tasks:
            await tasks.start(desk.run)
            yield desk
            desk.leave()


async def until(chat: Chat, is_so: Callable[[Chat], object]) -> None:
    """Wait until a chat is so."""
    changed = anyio.Event()

    def tell() -> None:
        changed.set()

    before = chat.on_change
    chat.on_change = tell
    try:
        while not is_so(chat):
            await changed.wait()
            changed = anyio.Event()
    finally:
        chat.on_change = before


def ready(chat: Chat) -> bool:
    return chat.phase == "ready"


def said(chat: Chat) -> list[str]:
    """What the agent said, in order."""
    return [one.text for one in chat.entries if isinstance(one, Message) and one.role == "agent"]


def remarks(chat: Chat) -> str:
    return "\n".join(one.text for one in chat.entries if isinstance(one, Remark))


async def opened(desk: Desk, work: Path, **more: object) -> Chat:
    order = Order(command=program(work.parent), folder=str(work), **more)  # type: ignore[arg-type]
    chat = await desk.open_chat(order=order)
    await until(chat, lambda chat: chat.phase in ("ready", "lost"))
    return chat


async def test_a_chat_opens_and_answers(work: Path) -> None:
    """Issue 6: the agent's own name, and a turn from the prompt to its end."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        assert chat.agent_name == "The Tester"
        desk.send(chat, Draft("hello"))
        assert chat.is_busy
        await until(chat, ready)
        assert said(chat) == ["you said hello"]
        assert chat.stop_reason == "end_turn"
        assert len(desk.traffic(chat)) > 4


async def test_what_is_typed_before_the_agent_is_there_is_sent_when_it_is(work: Path) -> None:
    """Ours: the first picture is there before the agent; nothing that is typed is lost."""
    async with desk_of() as desk:
        chat = await desk.open_chat(order=Order(command=program(work.parent), folder=str(work)))
        desk.send(chat, Draft("one"))
        desk.send(chat, Draft("two"))
        assert [draft.text for draft in chat.queue] == ["one", "two"]
        await until(chat, lambda chat: ready(chat) and len(said(chat)) == 2)
        assert said(chat) == ["you said one", "you said two"]


async def test_prompts_wait_while_a_turn_runs_and_follow_in_order(work: Path) -> None:
    """Issue 6: a queue of next prompts while a turn runs."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        for text in ("a", "b", "c"):
            desk.send(chat, Draft(text))
        assert [draft.text for draft in chat.queue] == ["b", "c"]
        await until(chat, lambda chat: ready(chat) and not chat.queue)
        assert said(chat) == ["you said a", "you said b", "you said c"]


async def test_a_turn_that_is_stopped_says_so_and_keeps_the_queue(work: Path) -> None:
    """Issue 6: Esc cancels the turn with the tool calls marked at once."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        desk.send(chat, Draft("wait"))
        await until(chat, lambda chat: bool(chat.transcript.tool_calls))
        desk.send(chat, Draft("later"))
        desk.stop(chat)
        await until(chat, lambda chat: chat.phase == "stopping")
        assert chat.transcript.tool_calls[0].cancelled
        await until(chat, ready)
        assert chat.stop_reason == "cancelled"
        assert "stopped" in remarks(chat)
        assert [draft.text for draft in chat.queue] == ["later"]


async def test_an_agent_that_does_not_stop_can_be_left(work: Path) -> None:
    """Ours: Esc twice; nothing hangs."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        desk.send(chat, Draft("stubborn"))
        await until(chat, lambda chat: bool(said(chat)))
        desk.stop(chat)
        await until(chat, lambda chat: chat.phase == "stopping")
        desk.stop(chat)
        await until(chat, ready)
        assert "had not stopped" in remarks(chat)


async def test_a_failed_turn_says_why_and_can_be_tried_again(work: Path) -> None:
    """Issue 6: a failed turn says why and offers retry by one key."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        desk.send(chat, Draft("fail"))
        await until(chat, ready)
        problem = chat.problem
        assert problem is not None
        assert "the model is away" in problem.text
        assert problem.remedies[0] == "retry"
        desk.retry(chat)
        await until(chat, lambda chat: chat.problem is None)
        await until(chat, lambda chat: chat.problem is not None)
        assert len(chat.transcript.messages) == 2


async def test_a_rate_limit_says_until_when(work: Path) -> None:
    """Issue 6: rate limits count down."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        desk.send(chat, Draft("often"))
        await until(chat, ready)
        problem = chat.problem
        assert problem is not None
        assert problem.kind == "rate_limited"
        assert problem.retry_at is not None
        assert 0 < problem.retry_at - chat.clock() <= 7


async def test_a_lost_session_offers_a_new_one(work: Path) -> None:
    """Issue 6: a lost session offers a new one."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        first = chat.session_id
        desk.send(chat, Draft("lost"))
        await until(chat, ready)
        assert chat.problem is not None
        assert chat.problem.kind == "session_lost"
        desk.retry(chat)
        await until(chat, lambda chat: chat.session_id not in (None, first) and ready(chat))
        desk.send(chat, Draft("again"))
        await until(chat, ready)
        assert said(chat)[-1] == "you said again"


async def test_when_the_agent_dies_its_last_words_are_shown_and_the_session_goes_on(
    work: Path,
) -> None:
    """Issue 6: exit code, last lines of stderr, restart with the session resumed by one key."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        desk.send(chat, Draft("remember me"))
        await until(chat, ready)
        session = chat.session_id
        desk.send(chat, Draft("die"))
        await until(chat, lambda chat: chat.problem is not None)
        problem = chat.problem
        assert problem is not None
        assert chat.phase == "lost"
        assert "3" in problem.text
        assert "I am tired" in problem.detail
        assert problem.remedies == ("restart",)
        desk.retry(chat)
        await until(chat, ready)
        assert chat.session_id == session
        assert said(chat)[0] == "you said remember me"
        desk.send(chat, Draft("back"))
        await until(chat, ready)
        assert said(chat)[-1] == "you said back"


async def test_a_program_that_is_no_agent_is_explained_and_can_be_started_again(
    work: Path,
) -> None:
    """Issue 6: when it never answers initialize: the same."""
    async with desk_of() as desk:
        order = Order(command=("sh", "-c", "echo broken >&2; exit 4"), folder=str(work))
        chat = await desk.open_chat(order=order)
        await until(chat, lambda chat: chat.problem is not None)
        problem = chat.problem
        assert problem is not None
        assert problem.kind == "start_failed"
        assert "broken" in problem.detail
        desk.retry(chat)
        await until(chat, lambda chat: chat.problem is None)
        await until(chat, lambda chat: chat.problem is not None)


@pytest.mark.parametrize("allow", [True, False])
async def test_a_question_reaches_its_chat_and_a_denial_is_explained(
    work: Path, *, allow: bool
) -> None:
    """Issue 6: permission, and a denial that is explained."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        desk.send(chat, Draft("edit"))
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
        assert bool(chat.denied) is not allow
        assert ("you said no" in remarks(chat)) is not allow
        await desk.journal(chat).settle()
        assert bool(desk.journal(chat).changes) is allow


async def test_stopping_takes_the_question_back(work: Path) -> None:
    """Ours: a dialog that nobody waits for is gone."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        desk.send(chat, Draft("edit"))
        await until(chat, lambda chat: chat.needs_answer)
        desk.stop(chat)
        await until(chat, ready)
        assert not chat.needs_answer
        assert not chat.denied


@pytest.mark.rule("D26-02")
async def test_several_sessions_share_one_agent_and_end_alone(work: Path) -> None:
    """Issue 6: several sessions in tabs."""
    async with desk_of() as desk:
        one = await opened(desk, work)
        two = await desk.open_chat(one)
        await until(two, ready)
        assert one.session_id != two.session_id
        assert desk.traffic(one) is desk.traffic(two)
        desk.send(one, Draft("wait"))
        desk.send(two, Draft("hello"))
        await until(two, ready)
        assert said(two) == ["you said hello"]
        assert one.is_busy
        await desk.close_chat(two)
        assert desk.chats == [one]
        desk.stop(one)
        await until(one, ready)


async def test_an_agent_that_dies_takes_all_its_chats_and_brings_them_back(work: Path) -> None:
    """Ours: one restart is for all of them."""
    async with desk_of() as desk:
        one = await opened(desk, work)
        two = await desk.open_chat(one)
        await until(two, ready)
        ids = [one.session_id, two.session_id]
        desk.send(one, Draft("die"))
        await until(two, lambda chat: chat.problem is not None)
        desk.restart(two)
        await until(one, ready)
        await until(two, ready)
        assert [one.session_id, two.session_id] == ids
        assert desk.traffic(one) is desk.traffic(two)


@pytest.mark.rule("V1-CLOSE-28")
async def test_sessions_are_listed_opened_renamed_forked_and_deleted(work: Path) -> None:
    """Issue 6: session list with resume, rename, fork, delete."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        desk.send(chat, Draft("first words"))
        await until(chat, ready)
        session_id = chat.session_id or ""
        assert await desk.rename(chat, session_id, "  A name ") == chat.title
        other = await desk.fork(chat)
        assert said(other) == ["you said first words"]
        desk.send(other, Draft("more"))
        await until(other, ready)
        found = await desk.sessions(chat)
        assert {info.session_id for info in found} >= {session_id, other.session_id}
        stored = next(info for info in found if info.session_id == session_id)
        assert await desk.open_stored(other, stored) is chat
        await desk.close_chat(chat)
        again = await desk.open_stored(other, stored)
        await until(again, ready)
        assert said(again) == ["you said first words"]
        assert again.history_end == len(again.entries)
        await desk.close_chat(again)
        await desk.delete(other, session_id)
        assert session_id not in {info.session_id for info in await desk.sessions(other)}


async def test_modes_go_round(work: Path) -> None:
    """Issue 6: Shift-Tab cycles the modes."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        seen: list[str] = []
        for _ in range(3):
            await desk.cycle_mode(chat)
            option = next(o for o in chat.transcript.config_options if o.category == "mode")
            seen.append(option.value)
        assert seen == ["code", "ask", "code"]


async def test_the_last_session_of_the_folder_goes_on(work: Path) -> None:
    """Issue 6: --continue, also after we were killed."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        desk.send(chat, Draft("before"))
        await until(chat, ready)
        session_id = chat.session_id
    async with desk_of() as desk:
        chat = await opened(desk, work, go_on=True)
        assert chat.session_id == session_id
        assert said(chat) == ["you said before"]


async def test_what_the_agent_cannot_do_is_said_before_anything_else(work: Path) -> None:
    """Ours: a mode and a model that are not there."""
    async with desk_of() as desk:
        chat = await opened(desk, work, mode="nope")
        assert chat.problem is not None
        assert "nope" in chat.problem.text
        other = await opened(desk, work, model="nope")
        assert other.problem is not None
        assert "models" in other.problem.text
        with pytest.raises(LocalProtocolError):
            await desk.set_mode(other, "ask")


async def test_servers_of_the_folder_are_asked_about_once(work: Path) -> None:
    """Issue 6: the config hands servers to any agent; a project's own need consent."""
    (work / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "true"}}}')
    async with desk_of() as desk:
        chat = await desk.open_chat(order=Order(command=program(work.parent), folder=str(work)))
        await until(chat, lambda chat: chat.needs_answer)
        question = chat.questions.first
        assert question is not None
        assert question.kind == "servers"
        assert question.request.name == "x"
        question.answer(False)
        await until(chat, ready)
        other = await desk.open_chat(chat)
        await until(other, ready)


@pytest.mark.rule("V1-AUTH-09")
async def test_a_login_that_ended_in_a_live_session_is_offered_again_and_the_prompt_repeated(
    work: Path,
) -> None:
    """D1 authentication#active-sessions: no crash, login offered."""
    async with desk_of() as desk:
        chat = await opened(desk, work)
        desk.send(chat, Draft("secret"))
        await until(chat, ready)
        assert chat.problem is not None
        assert chat.problem.kind == "login_needed"
        assert "log in first" in chat.problem.text
        desk.retry(chat)
        await until(chat, lambda chat: chat.needs_answer)
        question = chat.questions.first
        assert question is not None
        assert [method.method_id for method in question.request] == ["key"]
        question.answer("key")
        await until(chat, lambda chat: ready(chat) and said(chat))
        assert said(chat) == ["you said secret"]
        await desk.log_out(chat)
        assert "logged out" in remarks(chat)


async def test_an_agent_that_wants_a_login_before_anything_gets_one(work: Path) -> None:
    """Issue 6: login flows of the agent's auth methods."""
    async with desk_of() as desk:
        order = Order(command=program(work.parent, "login"), folder=str(work))
        chat = await desk.open_chat(order=order)
        await until(chat, lambda chat: chat.needs_answer)
        question = chat.questions.first
        assert question is not None
        question.answer(None)
        await until(chat, lambda chat: chat.problem is not None)
        assert chat.problem is not None
        assert chat.problem.kind == "login_needed"
        desk.retry(chat)
        await until(chat, lambda chat: chat.needs_answer)
        question = chat.questions.first
        assert question is not None
        question.answer("key")
        await until(chat, ready)
        desk.send(chat, Draft("secret"))
        await until(chat, lambda chat: bool(said(chat)))
        assert said(chat) == ["you said secret"]
