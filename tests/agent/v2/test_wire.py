"""The wire of v2 as an agent keeps it: ids, errors, arrays, one version and its words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accord.agent import Turn
from tests.agent.raw_client import initialize_params, raw_client
from tests.agent.v2.play import idle, insert, made, playing, text, turn


@pytest.mark.rule("V2-GEN-01", "V2-GEN-03")
@pytest.mark.parametrize("bad", ["null", "1.5", "true", "[1]", "{}", "1e400"])
async def test_a_request_with_a_bad_id_is_refused_without_one(bad: str) -> None:
    """Spec: -32600 with `id: null`, and the connection lives."""
    async with playing(made()) as client:
        frame = f'{{"jsonrpc":"2.0","id":{bad},"method":"session/list","params":{{}}}}\n'
        client.send_bytes(frame.encode())
        refused = await client.take(lambda message: "error" in message)
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)
        await client.result("session/list", {})


@pytest.mark.rule("V2-GEN-01", "V2-GEN-03")
@pytest.mark.parametrize("request_id", [0, -1, 2**53 + 1, 2**63 - 1, "", "a", "\u2028"])
async def test_every_legal_id_comes_back_as_it_was(request_id: int | str) -> None:
    """Spec: strings and int64; null only where the id could not be read."""
    async with playing(made()) as client:
        client.start("session/list", {}, id_=request_id)
        assert "result" in await client.answer(request_id)
        client.start("session/list", {"cursor": 5}, id_=request_id)
        assert (await client.answer(request_id))["error"]["code"] == -32602


@pytest.mark.rule("V2-GEN-03")
async def test_what_is_not_json_is_answered_without_an_id() -> None:
    """Spec: -32700 with `id: null`."""
    async with playing(made()) as client:
        client.send_bytes(b"{not json\n")
        refused = await client.take(lambda message: "error" in message)
        assert (refused["id"], refused["error"]["code"]) == (None, -32700)
        error = await client.error("nothing", {})
        assert error["code"] == -32601


@pytest.mark.rule("V2-GEN-03")
@pytest.mark.parametrize("version", [1, 2])
async def test_an_object_that_is_no_message_is_told_each_time(version: int) -> None:
    """Issue 13: neither a request nor an answer, also right behind a line that is not JSON."""
    async with raw_client(made(), version=version, validate=False) as client:
        bad: list[dict[str, Any]] = [{}, {"params": {}}, {"id": None}, {"id": 1.5}, {"id": "x"}]
        client.send_bytes(b"not json\n")
        for one in bad:
            client.send_bytes(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n")
        await client.result("session/list", {})
        codes = [(one["id"], one["error"]["code"]) for one in client.frames if "error" in one]
        assert codes == [(None, -32700)] + [(None, -32600)] * 4 + [("x", -32600)]


@pytest.mark.rule("V2-GEN-02")
async def test_ids_of_our_requests_are_never_used_twice() -> None:
    """Spec: not while a request is open; ours: not at all."""

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit") as call:
            await call.ask("May I?")

    async with playing(made(work)) as client:
        sessions = [await client.new_session() for _ in range(3)]
        for session_id in sessions:
            await insert(client, session_id)
        for session_id in sessions:
            client.cancel(session_id)
            await idle(client)
        for session_id in sessions:
            await insert(client, session_id)
        ids = [(await client.next("session/request_permission"))["id"] for _ in range(6)]
    assert len(ids) == len(set(ids)) == 6


def listing(request_id: int) -> dict[str, Any]:
    """A request that is answered at once."""
    return {"jsonrpc": "2.0", "id": request_id, "method": "session/list", "params": {}}


def array(*entries: Any) -> bytes:
    """A line with an array of these."""
    return json.dumps(entries).encode() + b"\n"


@pytest.mark.rule("V2-GEN-06", "TR-BATCH-04", "TR-BATCH-06")
async def test_an_array_is_answered_by_one_array() -> None:
    """V2 pages: one answer per request and per bad entry, matched by their ids."""
    async with playing(made(), validate=False) as client:
        session_id = await client.new_session()
        cancel = {
            "jsonrpc": "2.0",
            "method": "session/cancel",
            "params": {"sessionId": session_id},
        }
        client.send_bytes(array(listing(90), cancel, 5, listing(91), {"jsonrpc": "2.0"}))
        await client.answer(90)
        await client.answer(91)
        (answers,) = client.arrays
        codes = [one["error"]["code"] for one in answers if one["id"] is None]
        assert codes == [-32600, -32600]
        assert sorted(one["id"] for one in answers if "result" in one) == [90, 91]


@pytest.mark.rule("V2-GEN-06", "TR-BATCH-02", "TR-BATCH-05")
async def test_an_empty_array_is_refused_and_one_of_notifications_is_silence() -> None:
    """V2 pages: one -32600 with `id: null`, no array of no answers; then a request works."""
    async with playing(made()) as client:
        note = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "none"}}
        client.send_bytes(array() + array(note, note))
        refused = await client.take(lambda message: "error" in message)
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)
        await client.result("session/list", {})
        assert client.arrays == []
        assert len([frame for frame in client.frames if "error" in frame]) == 1


async def test_an_array_with_too_many_entries_is_refused_whole() -> None:
    """Ours: the number of entries is bounded."""
    async with playing(made()) as client:
        client.send_bytes(array(*[listing(1)] * 1025))
        refused = await client.take(lambda message: "error" in message)
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)
        await client.result("session/list", {})


@pytest.mark.rule("V1-GEN-14")
@pytest.mark.parametrize("version", [1, 2])
async def test_an_array_is_refused_before_v2_is_agreed(version: int) -> None:
    """Spec: so nothing in it happens, `initialize` included."""
    async with raw_client(made(), version=version, initialize=False) as client:
        begin = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": initialize_params(version, None),
        }
        client.send_bytes(array(begin))
        assert (await client.answer(None))["error"]["code"] == -32600
        await client.result("initialize", initialize_params(version, None))


@pytest.mark.rule("V2-GEN-05", "V2-GEN-04")
async def test_one_agent_serves_v1_and_v2_clients_side_by_side() -> None:
    """Spec: v1 stays served; each connection speaks its own version, and the schema judges it."""
    agent = made()
    async with raw_client(agent, version=1) as old, playing(agent) as new:
        old_session, new_session = await old.new_session(), await new.new_session()
        assert (await old.prompt(old_session, "hi"))["stopReason"] == "end_turn"
        assert (await turn(new, new_session, "hi"))["stopReason"] == "end_turn"
        assert old.text() == "hi"
        assert new.updates("agent_message")[0]["content"] == text("hi")
        assert old.updates("state_update") == []


@pytest.mark.rule("V2-GEN-07")
@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        ("session/new", {}, "$.cwd"),
        ("session/new", {"cwd": "/tmp", "mcpServers": 5}, "$.mcpServers"),
        ("session/new", {"cwd": "/tmp", "mcpServers": [{"type": "stdio"}]}, "$.mcpServers[0]"),
        ("session/new", {"cwd": "/tmp", "additionalDirectories": ["x"]}, "$.additionalDirectories"),
        ("session/list", {"cursor": 5}, "$.cursor"),
        ("session/close", {}, "$.sessionId"),
        ("session/prompt", {"sessionId": 5, "prompt": []}, "$.sessionId"),
        ("session/new", [], "$"),
    ],
)
async def test_bad_params_are_refused_with_path_and_reason(
    method: str, params: Any, path: str
) -> None:
    """Issue: -32602 with what helps; a known tag with a bad payload is an error."""
    async with playing(made()) as client:
        error = await client.error(method, params)
        assert error["code"] == -32602
        assert error["data"]["path"].startswith(path)
        assert error["data"]["reason"]
        await client.result("session/list", {})


async def test_a_broken_notification_is_ignored() -> None:
    """Ours: nobody is answered, nothing ends."""
    async with playing(made()) as client:
        broken: list[Any] = [None, {}, {"sessionId": 5}, [], "x"]
        for params in broken:
            client.notify("session/cancel", params)
        client.notify("session/unheard_of", {})
        await client.result("session/list", {})
    assert len(client.frames) == 2


async def test_extensions_are_served_under_their_names_and_advertised() -> None:
    """Spec: names start with `_`; ours: listed in the capabilities' `_meta`."""
    agent = made()

    @agent.method("_player/add")
    async def add(params: dict[str, int]) -> dict[str, int]:
        return {"sum": params["a"] + params["b"]}

    async with playing(agent, initialize=False) as client:
        offer = await client.result("initialize", initialize_params(2, {}))
        assert "_player/add" in json.dumps(offer["capabilities"]["_meta"])
        assert await client.result("_player/add", {"a": 1, "b": 2}) == {"sum": 3}
        error = await client.error("_player/sub", {})
        assert (error["code"], error["data"]["method"]) == (-32601, "_player/sub")
