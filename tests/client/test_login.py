"""Logging in and out, and trying again after it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.client import AuthMethod, Client
from accord.client.login import LoginFailed, run_in_terminal
from accord.errors import AuthenticationRequired, LocalProtocolError, RateLimited, SpawnFailed
from tests.client.scripted_agent import BARE, Json, ScriptedAgent, playing_with
from tests.hang_limit import HANG_SECONDS

VERSIONS = pytest.mark.parametrize("version", [1, 2])


def answer(version: int, *extra: Json) -> Json:
    """An agent with a login of its own and one in a terminal."""
    key = "id" if version == 1 else "methodId"
    methods = [
        {key: "key", "name": "API key", "type": "agent"},
        {key: "tty", "name": "Terminal", "type": "terminal", "args": ["login"]},
        {key: "odd", "name": "Odd", "type": "_odd"},
    ]
    if version == 1:
        capabilities: Json = {"auth": {"logout": {}}}
        return {"protocolVersion": 1, "agentCapabilities": capabilities, "authMethods": methods}
    return {
        "protocolVersion": 2,
        "info": {"name": "a", "version": "1"},
        "capabilities": {"session": {}},
        "authMethods": methods,
    }


def login_method(version: int) -> str:
    return "authenticate" if version == 1 else "auth/login"


@pytest.mark.rule("V1-AUTH-12")
@VERSIONS
@pytest.mark.parametrize("how", ["id", "callback", "async callback"])
async def test_a_session_that_needs_a_login_gets_one_and_is_tried_again(
    version: int, how: str
) -> None:
    """Issue 2: a client logs in by the agent's methods (-32000) and tries again."""
    offered: list[str] = []

    def choose(methods: Sequence[AuthMethod]) -> str:
        offered.extend(method.method_id for method in methods)
        return "key"

    async def choose_slowly(methods: Sequence[AuthMethod]) -> str:
        return choose(methods)

    async def script(agent: ScriptedAgent) -> None:
        agent.error(await agent.expect("session/new"), -32000, "Authentication required")
        request = await agent.expect(login_method(version))
        assert request["params"] == {"methodId": "key"}
        agent.result(request, {})
        await agent.open_session()
        agent.error(await agent.expect("session/prompt"), -32000)
        agent.result(await agent.expect(login_method(version)), {})
        agent.end_turn(await agent.begin_turn())

    login: Any = {"id": "key", "callback": choose, "async callback": choose_slowly}[how]
    async with playing_with(answer(version), script, version, login=login) as (client, _):
        session = await client.new_session()
        assert (await session.ask("x")).stop_reason == "end_turn"
        if how != "id":
            assert offered[:3] == ["key", "tty", "odd"]


@VERSIONS
async def test_a_login_is_tried_once(version: int) -> None:
    """Ours: an agent that is never content is not asked for ever."""

    async def script(agent: ScriptedAgent) -> None:
        agent.error(await agent.expect("session/new"), -32000)
        agent.result(await agent.expect(login_method(version)), {})
        agent.error(await agent.expect("session/new"), -32000)

    async with playing_with(answer(version), script, version, login="key") as (client, _):
        with pytest.raises(AuthenticationRequired):
            await client.new_session()


@VERSIONS
@pytest.mark.parametrize("login", [None, lambda methods: None])
async def test_without_a_login_the_error_is_the_callers(version: int, login: Any) -> None:
    """Ours: nobody is logged in without having chosen it."""

    async def script(agent: ScriptedAgent) -> None:
        agent.error(await agent.expect("session/new"), -32000)

    async with playing_with(answer(version), script, version, login=login) as (client, agent):
        with pytest.raises(AuthenticationRequired) as caught:
            await client.new_session()
        assert len(agent.received) == 2
    (note,) = caught.value.__notes__
    assert "'key'" in note


@VERSIONS
@pytest.mark.rule("V1-AUTH-01", "V1-AUTH-03", "V2-AUTH-05")
async def test_only_methods_of_the_agent_that_can_be_called_are_called(version: int) -> None:
    """N1 AuthenticateRequest: an advertised id, never a terminal one."""

    async def script(agent: ScriptedAgent) -> None:
        agent.result(await agent.expect(login_method(version)), None)
        agent.result(await agent.expect("logout" if version == 1 else "auth/logout"), None)

    async with playing_with(answer(version), script, version) as (client, agent):
        bad = {"nope": "no login method", "tty": "login_terminal"}
        if version == 2:
            bad["odd"] = "unknown type"
        for method_id, word in bad.items():
            with pytest.raises(LocalProtocolError, match=word):
                await client.authenticate(method_id)
        with pytest.raises(LocalProtocolError, match="choose a login method"):
            await client.authenticate()
        assert len(agent.received) == 1
        await client.authenticate("key")
        await client.logout()


@VERSIONS
async def test_a_login_callback_that_raises_in_a_prompt_ends_that_prompt_alone(
    version: int,
) -> None:
    """Ours: the program sees its own exception, and the connection lives."""

    def choose(methods: Sequence[AuthMethod]) -> str:
        raise ZeroDivisionError("mine")

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.error(await agent.expect("session/prompt"), -32000, "log in")
        agent.end_turn(await agent.begin_turn())

    async with playing_with(answer(version), script, version, login=choose) as (client, _):
        session = await client.new_session()
        with pytest.raises(ZeroDivisionError, match="mine"):
            await session.ask("a")
        assert (await session.ask("b")).stop_reason == "end_turn"


async def test_rate_limits_are_waited_for_when_asked() -> None:
    """Issue 2: waiting and retrying on rate limits is one option away."""
    limited: Json = {"reason": "rate_limited", "retryAfter": 0.01}

    async def script(agent: ScriptedAgent) -> None:
        for _ in range(2):
            agent.error(await agent.expect("session/new"), -32058, "slow down", limited)
        await agent.open_session()

    async with playing_with(answer(1), script, 1, retry=2) as (client, _):
        assert (await client.new_session()).id == "s1"


async def test_without_the_option_a_rate_limit_is_an_error_that_knows_the_time() -> None:
    """Issue 2: errors are typed, with `retry_after`."""

    async def script(agent: ScriptedAgent) -> None:
        data = {"reason": "rate_limited", "retryAfter": 7}
        agent.error(await agent.expect("session/new"), -32603, "slow down", data)

    async with playing_with(answer(1), script) as (client, _):
        with pytest.raises(RateLimited) as caught:
            await client.new_session()
        assert caught.value.retry_after == 7


AGENT = """
import json, os, sys
if sys.argv[1:2] == ["login"]:
    open(os.environ["TOKEN"], "w").write(os.environ["WHO"])
    sys.exit(int(os.environ.get("STATUS", "0")))
for line in sys.stdin:
    message = json.loads(line)
    method, answer = message["method"], {"jsonrpc": "2.0", "id": message.get("id")}
    if method == "initialize":
        has = message["params"]["clientCapabilities"]["auth"]["terminal"]
        method = {"id": "tty", "name": "T", "type": "terminal", "args": ["login"],
                  "env": {"WHO": "me"}}
        answer["result"] = {"protocolVersion": 1, "authMethods": [method] if has else []}
    elif os.path.exists(os.environ["TOKEN"]):
        answer["result"] = {"sessionId": "s"}
    else:
        answer["error"] = {"code": -32000, "message": "log in"}
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.rule("V1-AUTH-06", "V2-AUTH-07")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("status", [0, 3])
async def test_a_login_in_a_terminal_starts_the_agent_afresh(tmp_path: Path, status: int) -> None:
    """D1 authentication: exit 0 is success, then reconnect, initialize and try again."""
    program = tmp_path / "agent.py"
    program.write_text(AGENT, "utf-8")
    token = tmp_path / "token"
    ran: list[Sequence[str]] = []

    async def terminal(command: Sequence[str], env: Mapping[str, str]) -> int:
        ran.append(command)
        return await run_in_terminal(command, {**env, "TOKEN": str(token), "STATUS": str(status)})

    with anyio.fail_after(HANG_SECONDS):
        async with Client.spawn(
            sys.executable,
            str(program),
            env={"TOKEN": str(token)},
            login="tty",
            login_terminal=terminal,
            **BARE,
        ) as client:
            if status:
                with pytest.raises(LoginFailed, match="3"):
                    await client.new_session(tmp_path)
                return
            ended: list[str] = []

            async def watch() -> None:
                ended.append(str(await client.wait_closed()))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch)
                session = await client.new_session(tmp_path)
                assert session.id == "s"
                assert list(client.sessions) == ["s"]
                # An agent that is restarted has not ended.
                assert not ended
                tasks.cancel_scope.cancel()
    assert ran == [(sys.executable, str(program), "login")]
    assert token.read_text() == "me"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_login_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Ours."""
    with pytest.raises(SpawnFailed, match="missing"):
        await run_in_terminal([str(tmp_path / "missing")], {})
