"""What functions of the program raise is theirs: a cancellation that is not ours ends nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest

from accord.client.callbacks import CallbackCancelled, call, until_it_fails
from accord.client.connection.extensions import Extensions
from accord.client.permissions.permissions import Permissions
from accord.client.services.elicitation import Elicitations
from tests.client.scripted_agent import Json, ScriptedAgent, connected

# Trio lets nobody make a cancellation of his own.
pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)


async def cancelled_future(*arguments: object) -> Any:
    """What a user interface does whose window is closed."""
    future = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


def cancelled_at_once(*arguments: object) -> Any:
    """The same without waiting."""
    raise asyncio.CancelledError


@pytest.mark.parametrize("function", [cancelled_future, cancelled_at_once])
async def test_a_cancellation_of_its_own_is_an_error(function: Any) -> None:
    """Ours: whoever called can tell it from being cancelled."""
    with pytest.raises(CallbackCancelled, match="not by its client"):
        await call(function)


async def test_a_cancellation_of_ours_passes() -> None:
    """Ours."""
    with anyio.move_on_after(5) as scope:
        scope.cancel()
        await call(anyio.sleep_forever)
        raise AssertionError
    assert scope.cancelled_caught


async def test_a_cancellation_of_the_task_passes() -> None:
    """Issue 14: a screen that was closed over a login ended the chat with a traceback."""
    task = asyncio.ensure_future(call(anyio.sleep_forever))
    await anyio.wait_all_tasks_blocked()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(CallbackCancelled):
        await call(cancelled_future)


@pytest.mark.parametrize("version", [1, 2])
async def test_a_permission_callback_that_is_cancelled_approves_nothing_and_ends_nothing(
    version: int,
) -> None:
    """Issue 2: what is not understood is never approval."""
    answers: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        for _ in range(2):
            prompt = await agent.begin_turn()
            answers.append(await agent.answer_to(agent.ask_permission()))
            agent.end_turn(prompt)

    permissions = Permissions.ask(cancelled_future)
    async with connected(script, version, permissions=permissions) as (client, _):
        session = await client.new_session()
        for _ in range(2):
            assert (await session.ask("a")).stop_reason == "end_turn"
    outcomes = [answer["result"]["outcome"] for answer in answers]
    assert outcomes == [{"outcome": "selected", "optionId": "reject_once"}] * 2


async def test_services_and_extensions_that_are_cancelled_are_answered_for() -> None:
    """Ours: every request of the agent is answered, and the next one is served."""

    class Files:
        read_text = staticmethod(cancelled_future)

    extensions = Extensions()
    extensions.method("_x/ask")(cancelled_future)
    extensions.notification("_x/tell")(cancelled_future)
    answers: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        agent.write({"jsonrpc": "2.0", "method": "_x/tell", "params": {}})
        read = {"sessionId": "s1", "path": "/x"}
        form = {"mode": "form", "sessionId": "s1", "message": "Who?"}
        form["requestedSchema"] = {"type": "object", "properties": {}}  # type: ignore[assignment]
        for method, params in (
            ("_x/ask", {}),
            ("fs/read_text_file", read),
            ("elicitation/create", form),
        ):
            answers.append(await agent.answer_to(agent.request(method, params)))
        agent.end_turn(prompt)

    options: Any = {
        "files": Files(),
        "extensions": extensions,
        "elicitation": Elicitations(on_form=cancelled_future),
    }
    async with connected(script, 1, **options) as (client, _):
        session = await client.new_session()
        assert (await session.ask("a")).stop_reason == "end_turn"
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32603, -32603, None]
    assert answers[2]["result"] == {"action": "cancel"}


async def test_a_listener_that_fails_is_told_nothing_more(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: as for `traffic=`, what it raises is in the log once."""
    heard: list[bytes] = []

    def listen(data: bytes) -> None:
        heard.append(data)
        raise ValueError("mine")

    tell = until_it_fails(listen, "stderr")
    for _ in range(3):
        tell(b"x")
    assert heard == [b"x"]
    (told,) = caplog.records
    assert told.getMessage() == "the function for stderr= failed; it is no longer called"


async def test_a_listener_for_updates_that_fails_fails_early_ones_too_and_no_session(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ours: whether an update comes before or behind the answer makes no difference."""

    async def script(agent: ScriptedAgent) -> None:
        opening = await agent.expect("session/new")
        agent.say("early ")
        agent.result(opening, {"sessionId": "s1"})
        prompt = await agent.begin_turn()
        agent.say("late")
        agent.end_turn(prompt)

    def listen(update: object) -> None:
        raise ValueError("mine")

    async with connected(script) as (client, _):
        session = await client.new_session(on_update=listen)
        await session.ask("a")
        texts = [message.text for message in session.transcript.messages]
        assert texts == ["early ", "a", "late"]
    assert len([one for one in caplog.records if one.exc_info]) == 2
