"""Several permission requests at once: one at a time to the user, and each of them answered."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.client import question_queue as module
from accord.client.permissions.permissions import Permissions
from accord.client.permissions.request import CANCELLED, OWN_OPTIONS, Decision, PermissionRequest
from tests.hang_limit import HANG_SECONDS

pytestmark = pytest.mark.anyio


def request(
    session_id: str = "s", title: str = "Edit a", paths: tuple[str, ...] = ("/nowhere/a",)
) -> PermissionRequest:
    return PermissionRequest(
        session_id=session_id, title=title, options=OWN_OPTIONS, kind="edit", paths=paths
    )


class Desk:
    """A user who answers when the test says so."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self._changed = anyio.Event()
        self._answers: dict[str, tuple[anyio.Event, list[Any]]] = {}

    def _slot(self, title: str) -> tuple[anyio.Event, list[Any]]:
        return self._answers.setdefault(title, (anyio.Event(), []))

    async def __call__(self, one: PermissionRequest) -> Any:
        self.shown.append(one.title)
        self._changed.set()
        self._changed = anyio.Event()
        event, answer = self._slot(one.title)
        await event.wait()
        return answer[0]

    def answer(self, title: str, answer: Any) -> None:
        event, answers = self._slot(title)
        answers.append(answer)
        event.set()

    async def showing(self, count: int) -> None:
        while len(self.shown) < count:
            await self._changed.wait()


async def test_several_requests_queue_in_order_and_none_is_lost() -> None:
    """Issue: several requests at once queue and none is lost."""
    desk, got = Desk(), {}
    user = Permissions.ask(desk)
    names = [f"Edit {number}" for number in range(5)]

    async def ask(title: str) -> None:
        got[title] = (await user.decide(request(title=title, paths=(f"/{title}",)))).option_id

    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(ask, name)
                await anyio.wait_all_tasks_blocked()
            for number, name in enumerate(names):
                await desk.showing(number + 1)
                await anyio.wait_all_tasks_blocked()
                assert desk.shown == names[: number + 1]
                desk.answer(name, number % 2 == 0)
    expected = ["allow_once", "reject_once"] * 3
    assert [got[name] for name in names] == expected[:5]


async def test_the_answer_before_may_settle_the_one_that_waits() -> None:
    """Users: asked twenty times for the same."""
    desk, got = Desk(), []
    user = Permissions.ask(desk)

    async def ask(title: str) -> None:
        got.append((await user.decide(request(title=title))).option_id)

    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            for title in ("first", "second", "third"):
                tasks.start_soon(ask, title)
                await anyio.wait_all_tasks_blocked()
            desk.answer("first", Decision("reject_once", "session"))
    assert desk.shown == ["first"]
    assert got == ["reject_once"] * 3


async def test_sessions_need_not_wait_for_each_other() -> None:
    """Users: the queue must be per session where there is a window for each."""
    desk = Desk()
    user = Permissions.ask(desk, per_session=True)
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(user.decide, request("s", "in s"))
            tasks.start_soon(user.decide, request("t", "in t"))
            await desk.showing(2)
            for title in ("in s", "in t"):
                desk.answer(title, True)


@pytest.mark.rule("V1-PERM-05")
async def test_cancelling_a_session_settles_what_shows_and_what_waits() -> None:
    """Spec: a cancelled turn answers its requests `cancelled`; other sessions go on."""
    desk, got = Desk(), {}
    user = Permissions.ask(desk)

    async def ask(session_id: str, title: str) -> None:
        got[title] = await user.decide(request(session_id, title, paths=(f"/{title}",)))

    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            for session_id, title in (("s", "shows"), ("s", "waits"), ("t", "other")):
                tasks.start_soon(ask, session_id, title)
                await anyio.wait_all_tasks_blocked()
            user.cancel_session("s")
            user.cancel_session("unknown")
            await desk.showing(2)
            assert desk.shown == ["shows", "other"]
            desk.answer("other", True)
    assert got["shows"] == got["waits"] == CANCELLED
    assert got["other"] == Decision("allow_once")


async def test_cancelling_beats_an_answer_that_comes_at_the_same_moment() -> None:
    """Ours: the agent was told that the turn is over; an approval must not follow."""
    desk, got = Desk(), []
    user = Permissions.ask(desk)

    async def ask() -> None:
        got.append(await user.decide(request(title="x")))

    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await desk.showing(1)
            desk.answer("x", Decision("allow_once", "always"))
            user.remove_session("s")
    assert got == [CANCELLED]
    assert user.remembered() == ()


async def test_an_answer_after_the_cancel_is_too_late() -> None:
    """Ours: the agent was told that the turn is over; an approval must not follow."""

    def late(_: PermissionRequest) -> Decision:
        user.cancel_session("s")
        return Decision("allow_once", "always")

    user = Permissions.ask(late)
    assert await user.decide(request()) == CANCELLED
    assert user.remembered() == ()


async def test_one_cancelled_request_leaves_the_queue_alone() -> None:
    """Contract: cancel of one waiting request removes it from the queue."""
    desk, got = Desk(), []
    user = Permissions.ask(desk)
    waiting, showing = anyio.CancelScope(), anyio.CancelScope()

    async def ask(title: str, scope: anyio.CancelScope) -> None:
        with scope:
            got.append((title, await user.decide(request(title=title, paths=(f"/{title}",)))))

    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            for title, scope in (("a", showing), ("b", waiting), ("c", anyio.CancelScope())):
                tasks.start_soon(ask, title, scope)
                await anyio.wait_all_tasks_blocked()
            waiting.cancel()
            await anyio.wait_all_tasks_blocked()
            showing.cancel()
            await desk.showing(2)
            desk.answer("c", True)
    assert desk.shown == ["a", "c"]
    assert got == [("c", Decision("allow_once"))]


async def test_the_queue_has_a_bound(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: no peer can fill our memory."""
    monkeypatch.setattr(module, "WAITING_MAX", 1)
    desk = Desk()
    user = Permissions.ask(desk)
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            for title in ("a", "b"):
                tasks.start_soon(user.decide, request(title=title, paths=(f"/{title}",)))
                await anyio.wait_all_tasks_blocked()
            assert await user.decide(request(title="c")) == Decision("reject_once")
            tasks.cancel_scope.cancel()
    assert "refused" in caplog.text


async def test_it_is_known_how_many_wait_behind_the_one_that_is_shown() -> None:
    """Issue: several waiting requests queue with a count."""
    desk = Desk()
    user = Permissions.ask(desk)
    assert user.waiting() == user.waiting("s") == 0
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            for title in ("a", "b", "c"):
                tasks.start_soon(user.decide, request(title=title, paths=(f"/{title}",)))
                await anyio.wait_all_tasks_blocked()
            # One line for all: whoever is shown next, it is behind this one.
            assert user.waiting() == user.waiting("other") == 2
            desk.answer("a", True)
            await desk.showing(2)
            assert user.waiting() == 1
            tasks.cancel_scope.cancel()
    assert user.waiting() == 0


async def test_where_sessions_have_lines_of_their_own_each_is_counted_apart() -> None:
    """Issue: a tab says how many requests of its own session wait."""
    desk = Desk()
    user = Permissions.ask(desk, per_session=True)
    one, other = user.for_connection("one"), user.for_connection("other")
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            for number, (asker, session) in enumerate(
                ((one, "s"), (one, "s"), (one, "t"), (other, "s"), (other, "s"))
            ):
                asked = request(session, f"Edit {number}", (f"/{number}",))
                tasks.start_soon(asker.decide, asked)
                await anyio.wait_all_tasks_blocked()
            assert one.waiting("s") == other.waiting("s") == 1
            assert one.waiting("t") == 0
            assert one.waiting() == 1
            # Whoever made them all sees them all.
            assert user.waiting("s") == user.waiting() == 2
            tasks.cancel_scope.cancel()
