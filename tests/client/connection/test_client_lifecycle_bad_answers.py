"""Whatever an agent answers, the library raises its own errors and the connection goes on."""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from accord.client import Client, Session
from accord.errors import AccordError
from tests.client.scripted_agent import BARE, Json, ScriptedAgent, playing, playing_with

SELECT: Json = {
    "id": "depth",
    "configId": "depth",
    "name": "Depth",
    "type": "select",
    "currentValue": "shallow",
    "options": [{"value": "shallow", "name": "Shallow"}, {"value": "deep", "name": "Deep"}],
}
MODES: Json = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}
MODELS: Json = {
    "currentModelId": "small",
    "availableModels": [
        {"modelId": "small", "name": "Small"},
        {"modelId": "big", "name": "Big"},
    ],
}
EVERYTHING: Json = {
    "list": {},
    "resume": {},
    "close": {},
    "delete": {},
    "fork": {},
    "archive": {},
    "status": {},
    "title": {},
}
LOGINS: list[Json] = [{"id": "key", "methodId": "key", "name": "Key", "type": "agent"}]
OFFERS: dict[int, Json] = {
    1: {
        "protocolVersion": 1,
        "agentInfo": {"name": "a", "version": "1"},
        "authMethods": LOGINS,
        "agentCapabilities": {
            "loadSession": True,
            "sessionCapabilities": EVERYTHING,
            "auth": {"status": {}, "logout": {}},
            "providers": {},
        },
    },
    2: {
        "protocolVersion": 2,
        "info": {"name": "a", "version": "1"},
        "authMethods": LOGINS,
        "capabilities": {
            "session": EVERYTHING,
            "auth": {"status": {}, "logout": {}},
            "providers": {},
        },
    },
}
SETUP: dict[int, Json] = {
    1: {"modes": MODES, "models": MODELS, "configOptions": [SELECT]},
    2: {"configOptions": [SELECT]},
}
PAGE: Json = {"sessions": [{"sessionId": "s9", "cwd": "/", "title": "t"}]}
GOOD: dict[str, Callable[[int], Any]] = {
    "session/new": lambda version: {"sessionId": "s1", **SETUP[version]},
    "session/load": lambda version: SETUP[version],
    "session/resume": lambda version: SETUP[version],
    "session/fork": lambda version: {"sessionId": "s2", **SETUP[version]},
    "session/list": lambda _: PAGE,
    "session/set_config_option": lambda version: {"configOptions": SETUP[version]["configOptions"]},
    "session/status": lambda _: {"status": "open"},
    "session/set_title": lambda _: {"title": "t"},
    "auth/status": lambda _: {"state": "authenticated", "accounts": [{"label": "me"}]},
    "providers/list": lambda _: {
        "providers": [{"providerId": "p", "supported": ["openai"], "required": False}]
    },
}

Act = Callable[[Client, Session], Awaitable[object]]


async def _listed(client: Client, _: Session) -> object:
    return [info async for info in client.list_sessions()]


ACTS: dict[str, Act] = {
    "session/new": lambda client, _: client.new_session(),
    "session/load": lambda client, _: client.load_session("s7"),
    "session/resume": lambda client, _: client.resume_session("s8"),
    "session/fork": lambda client, session: client.fork_session(session),
    "session/list": _listed,
    "session/close": lambda _, session: session.close(),
    "session/delete": lambda _, session: session.delete(),
    "session/prompt": lambda _, session: session.ask("hello"),
    "session/set_mode": lambda _, session: session.set_mode("code"),
    "session/set_model": lambda _, session: session.set_option("model", "big"),
    "session/set_config_option": lambda _, session: session.set_option("depth", "deep"),
    "session/status": lambda client, _: client.unstable.session_status("s1"),
    "session/set_title": lambda client, _: client.unstable.set_title("s1", "t"),
    "session/archive": lambda client, _: client.unstable.archive_session("s9"),
    "session/unarchive": lambda client, _: client.unstable.unarchive_session("s9"),
    "auth/status": lambda client, _: client.unstable.auth_status(),
    "providers/list": lambda client, _: client.unstable.list_providers(),
    "providers/set": lambda client, _: client.unstable.set_provider("p", "openai", "http://x"),
    "providers/disable": lambda client, _: client.unstable.disable_provider("p"),
    "authenticate": lambda client, _: client.authenticate(),
    "auth/login": lambda client, _: client.authenticate(),
    "logout": lambda client, _: client.logout(),
    "auth/logout": lambda client, _: client.logout(),
    "_beyond": lambda client, _: client.call_extension("_beyond", {}, result=dict[str, int]),
}
V1_ONLY = {"session/load", "session/set_mode", "session/set_model", "authenticate", "logout"}
V2_ONLY = {"auth/login", "auth/logout"}

WRONG: tuple[Any, ...] = (None, True, 5, -1.5, "x", [], [1], {}, {"x": 1})


def mutations(value: Any) -> Iterator[Any]:
    """The value with each of its parts wrong, or missing."""
    yield from copy.deepcopy(WRONG)
    parts: Any = ()
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = list(enumerate(value))
    for key, part in parts:
        without = copy.deepcopy(value)
        del without[key]
        yield without
        for changed in mutations(part):
            other = copy.deepcopy(value)
            other[key] = changed
            yield other


def wrong_answers(method: str, version: int) -> list[Any]:
    """Each of them once."""
    good = GOOD[method](version) if method in GOOD else {}
    found = {json.dumps(one, sort_keys=True): one for one in mutations(good)}
    return list(found.values())


CASES = [
    (version, method)
    for method in ACTS
    for version in (1, 2)
    if method not in (V2_ONLY if version == 1 else V1_ONLY)
]


@pytest.mark.parametrize(("version", "method"), CASES)
async def test_a_wrong_answer_is_an_error_of_ours_and_the_connection_goes_on(
    version: int, method: str
) -> None:
    """Issue 14: droid answered `session/set_config_option` with `{}`, and the chat died."""
    wrong: list[Any] = []
    opened = 0

    async def script(agent: ScriptedAgent) -> None:
        nonlocal opened
        while True:
            request = await agent.next()
            name = request.get("method")
            if "id" not in request or name is None:
                continue
            answer = GOOD[name](version) if name in GOOD else {}
            if wrong and name == method:
                answer = wrong[0]
            elif name in ("session/new", "session/fork"):
                opened += 1
                answer = {**answer, "sessionId": f"open{opened}"}
            elif name == "session/prompt":
                answer = {"stopReason": "end_turn"} if version == 1 else {"messageId": "u"}
            agent.result(request, answer)
            if name == "session/prompt" and version == 2:
                agent.session_id = request["params"]["sessionId"]
                agent.state("running")
                agent.end_turn(request)

    async with playing_with(OFFERS[version], script, version, unstable=True) as (client, _):
        for answer in wrong_answers(method, version):
            session = await client.new_session()
            wrong[:] = [answer]
            with suppress(AccordError):
                await ACTS[method](client, session)
            wrong.clear()
            for one in tuple(client._core.link.sessions.values()):
                one.over()
        assert (await (await client.new_session()).ask("still there?")).stop_reason == "end_turn"


@pytest.mark.parametrize("version", [1, 2])
async def test_a_wrong_answer_to_initialize_is_an_error_of_ours(version: int) -> None:
    """Issue 14: the same for the first answer of all."""
    for answer in mutations(OFFERS[version]):

        async def script(agent: ScriptedAgent, answer: Any = answer) -> None:
            request = await agent.next()
            agent.result(request, answer)

        async with playing(script, version) as (_, transport):
            with suppress(AccordError):
                async with Client.connect(transport, unstable=True, **BARE):
                    pass


@pytest.mark.parametrize("answer", [{}, None, {"_meta": {}}])
@pytest.mark.parametrize("version", [1, 2])
async def test_an_option_whose_answer_says_nothing_was_set(version: int, answer: Any) -> None:
    """Issue 14: droid's answer means that the setting was taken."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session(configOptions=[SELECT])
        agent.result(await agent.expect("session/set_config_option"), answer)

    async with playing_with(OFFERS[version], script, version) as (client, _):
        session = await client.new_session()
        await session.set_option("depth", "deep")
        assert [option.value for option in session.transcript.config_options] == ["deep"]
