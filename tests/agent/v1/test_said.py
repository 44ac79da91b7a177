"""Usage, notices, compaction and extensions in v1."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.errors import LocalProtocolError
from tests.agent.raw_client import initialize_params, raw_client
from tests.hang_limit import HANG_SECONDS

NOTICES: dict[str, Any] = {"session": {"notices": {}}}
COMPACTION: dict[str, Any] = {"session": {"compaction": {}}}
FINAL = {"completed", "failed", "cancelled"}


def agent_of(handler: Any) -> Agent:
    """An agent with this handler."""
    agent = Agent("sayer", version="1")
    agent.on_prompt(handler)
    return agent


@pytest.mark.rule("V1-USAGE-01", "V1-USAGE-04")
async def test_usage_has_used_and_size_and_a_cost_its_currency() -> None:
    """Spec: session usage."""

    async def answer(turn: Turn) -> None:
        await turn.usage(5, 10)
        await turn.usage(6, 10, cost=0.25)
        await turn.usage(7, 10, cost=3, currency="credits")

    async with raw_client(agent_of(answer)) as client:
        await client.prompt(await client.new_session())
    told = [{k: v for k, v in one.items() if k != "sessionUpdate"} for one in client.updates()]
    assert told == [
        {"used": 5, "size": 10},
        {"used": 6, "size": 10, "cost": {"amount": 0.25, "currency": "USD"}},
        {"used": 7, "size": 10, "cost": {"amount": 3.0, "currency": "credits"}},
    ]


@pytest.mark.rule("V1-USAGE-05", "V1-USAGE-06")
@pytest.mark.parametrize(
    ("capabilities", "told"), [({}, 0), ({"session": {"notices": None}}, 0), (NOTICES, 2)]
)
async def test_notices_go_to_clients_that_know_them_and_have_a_title(
    capabilities: dict[str, Any], told: int
) -> None:
    """Schema: a title of at least one character; others are refused at once."""

    async def answer(turn: Turn) -> None:
        await turn.notice("warning", "Low on space", "2 GB left")
        await turn.notice("_own", "Own words")
        for severity, title in (("info", ""), ("info", "  "), ("loud", "Hey")):
            with pytest.raises(LocalProtocolError):
                await turn.notice(severity, title)

    async with raw_client(agent_of(answer), capabilities=capabilities) as client:
        assert await client.prompt(await client.new_session()) == {"stopReason": "end_turn"}
    assert len(client.updates("notice")) == told
    if told:
        first = client.updates("notice")[0]
        assert (first["severity"], first["title"], first["description"]) == (
            "warning",
            "Low on space",
            "2 GB left",
        )


async def well(turn: Turn) -> None:
    async with turn.compaction() as compaction:
        await compaction.write("short ")
        await compaction.write("story")
        with pytest.raises(LocalProtocolError, match="once"):
            await compaction.__aenter__()
    with pytest.raises(LocalProtocolError, match="inside"):
        await compaction.write("late")
    with pytest.raises(LocalProtocolError, match="inside"):
        await turn.compaction().write("early")


async def badly(turn: Turn) -> None:
    try:
        async with turn.compaction():
            raise ValueError("too long")
    except ValueError:
        pass


async def never(turn: Turn) -> None:
    await turn.compaction().__aenter__()


async def never_and_fails(turn: Turn) -> None:
    await turn.compaction().__aenter__()
    raise LocalProtocolError("no")


async def late(turn: Turn) -> None:
    async with turn.compaction():
        await anyio.sleep_forever()


@pytest.mark.rule("V1-USAGE-09", "V1-USAGE-10", "V1-USAGE-11", "V1-USAGE-15")
@pytest.mark.parametrize(
    ("handler", "final", "error"),
    [
        (well, "completed", None),
        (badly, "failed", "too long"),
        (never, "cancelled", None),
        (never_and_fails, "failed", None),
        (late, "cancelled", None),
    ],
)
@pytest.mark.parametrize("capabilities", [COMPACTION, {}])
async def test_a_compaction_begins_and_ends_exactly_once(
    handler: Any, final: str, error: str | None, capabilities: dict[str, Any]
) -> None:
    """RFD: in progress, chunks, one final status; clients that do not know it are not told."""
    async with raw_client(agent_of(handler), capabilities=capabilities) as client:
        session_id = await client.new_session()
        turn = client.start_prompt(session_id)
        if handler is late:
            if capabilities:
                await client.update("compaction_update")
            client.cancel(session_id)
        await client.answer(turn)
        load = {"sessionId": session_id, "cwd": "/tmp", "mcpServers": []}
        await client.result("session/load", load)
    told = [one for one in client.updates() if "compaction" in one["sessionUpdate"]]
    if not capabilities:
        assert told == []
        return
    live = told[: len(told) // 2]
    assert told[len(live) :] == live
    assert len({one["compactionId"] for one in live}) == 1
    statuses = [one.get("status") for one in live]
    assert statuses[0] == "in_progress"
    assert statuses[-1] == final
    assert set(statuses[1:-1]) <= {None}
    assert live[-1].get("error") == error
    assert not any(one.get("summary") for one in live)


@pytest.mark.rule("V1-EXT-03", "V1-EXT-04", "V1-EXT-06")
async def test_extensions_are_announced_typed_and_answered() -> None:
    """Spec: extensibility; unknown ones are -32601, bad params -32602 with the place."""
    agent = Agent("extended", version="1")
    noted: list[Any] = []
    heard = anyio.Event()

    @agent.method("_acme/add")
    async def add(params: dict[str, int]) -> dict[str, int]:
        return {"sum": sum(params.values())}

    @agent.notification("_acme/note")
    async def note(params: dict[str, Any]) -> None:
        noted.append(params)
        heard.set()
        raise ValueError("nobody is there to be told")

    with pytest.raises(LocalProtocolError, match="already"):
        agent.method("_acme/add")
    async with raw_client(agent, initialize=False) as client:
        result = await client.result("initialize", initialize_params(1, {}))
        methods = result["agentCapabilities"]["_meta"]["accord.extensions"]["methods"]
        assert methods == ["_acme/add", "_acme/note"]
        assert await client.result("_acme/add", {"a": 1, "b": 2}) == {"sum": 3}
        error = await client.error("_acme/add", {"a": "x"})
        assert error["code"] == -32602
        assert error["data"]["path"]
        error = await client.error("_acme/other", {})
        assert (error["code"], error["data"]["method"]) == (-32601, "_acme/other")
        assert (await client.error("_acme/note", {}))["code"] == -32601
        seen = len(client.frames)
        client.notify("_acme/note", {"x": 1})
        client.notify("_acme/note", "not an object")
        client.notify("_acme/unknown", {"x": 1})
        with anyio.fail_after(HANG_SECONDS):
            await heard.wait()
        await client.result("session/list", {})
        assert len(client.frames) == seen + 1
    assert noted == [{"x": 1}]
