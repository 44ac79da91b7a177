"""Checks of a v2 agent's sessions: new, resume, list, close, delete, MCP servers, options."""

from __future__ import annotations

from typing import Any

from accord.conformance.agent_stage import AgentStage, Talk, begun, update_of
from accord.conformance.check import check
from accord.conformance.checks.agent_v1_history import NOT_FOUND, old, taken_up
from accord.conformance.checks.agent_v1_sessions import listed, wait_for_server
from accord.conformance.checks.agent_v1_wire import INVALID_PARAMS
from accord.conformance.wire import Unanswered

CANCELLED = -32800
AFTER_CLOSE_SECONDS = 0.5


def message_texts(talk: Talk, since: int = 0) -> str:
    """The text of every message of both sides in the updates from there on."""
    texts: list[str] = []
    for update in talk.updates(since=since):
        kind = str(update.get("sessionUpdate"))
        if kind.startswith(("user_message", "agent_message")):
            content = update.get("content")
            blocks = content if isinstance(content, list) else [content]
            texts += [str(one.get("text", "")) for one in blocks if isinstance(one, dict)]
    return "".join(texts)


async def two_turns(stage: AgentStage) -> tuple[str, str]:
    """A session with two turns; its id and what was said in it."""
    talk = stage.talk
    session = await talk.session()
    for _ in range(2):
        await talk.say(session, stage.scenario.prompt("say"))
    return session, message_texts(talk)


@check("V2-SESS-02", "V2-SESS-03", version="2", basic=True)
async def session_ids_differ(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    params = {"cwd": str(talk.folder)}
    ids = [(await talk.ask("session/new", params)).get("sessionId") for _ in range(10)]
    ok = len(set(ids)) == 10 and all(isinstance(one, str) for one in ids)
    stage.judge.judge("V2-SESS-02", ok, "ids repeat, or mcpServers is needed", came=ids)


@check("V2-SESS-05", version="2")
async def unknown_sessions_are_not_found(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    prompt = [{"type": "text", "text": "hello"}]
    for method, params in (
        ("session/prompt", {"sessionId": "accord-nope", "prompt": prompt}),
        ("session/resume", old(stage, "accord-nope")),
    ):
        error = await talk.error_of(method, params)
        data: Any = error.get("data") or {}
        ok = error.get("code") == NOT_FOUND and data.get("sessionId") == "accord-nope"
        said = f"{method}: not -32002 with sessionId"
        stage.judge.judge("V2-SESS-05", ok, said, sent=params, came=error)


@check("V2-SESS-09", "V2-SESS-10", "V2-SESS-11", "V2-SESS-12", version="2")
async def resuming_replays_what_is_asked(stage: AgentStage) -> None:
    session, said = await two_turns(stage)
    talk = await taken_up(stage, session, "session/resume")
    since = len(talk.peer.frames)
    await talk.ask("session/resume", old(stage, session), timeout=talk.seconds)
    came = message_texts(talk, since)
    stage.judge.judge("V2-SESS-09", not came, "history unasked", came=came)
    _state_last(stage, talk, since)
    await talk.ask("session/close", {"sessionId": session})
    since = len(talk.peer.frames)
    params = old(stage, session) | {"replayFrom": {"type": "start"}}
    await talk.ask("session/resume", params, timeout=talk.seconds)
    came = message_texts(talk, since)
    ok = came == said
    stage.judge.judge("V2-SESS-10", ok, "the replay differs", sent=said, came=came)
    _state_last(stage, talk, since)
    for bad in ({"type": "_accord_check"}, 5):
        params = old(stage, session) | {"replayFrom": bad}
        error = await talk.error_of("session/resume", params)
        ok = error.get("code") == INVALID_PARAMS
        stage.judge.judge("V2-SESS-12", ok, "not refused with -32602", sent=params, came=error)


def _state_last(stage: AgentStage, talk: Talk, since: int) -> None:
    """The last update before the result is the state."""
    kinds = [
        update_of(frame).get("sessionUpdate")
        for frame in talk.peer.frames[since:]
        if not frame.sent and frame.method == "session/update"
    ]
    at = [n for n, frame in enumerate(talk.peer.frames[since:]) if frame.is_response]
    before = [
        update_of(frame).get("sessionUpdate")
        for frame in talk.peer.frames[since:][: at[-1] if at else 0]
        if not frame.sent and frame.method == "session/update"
    ]
    ok = before[-1:] == ["state_update"] and before.count("state_update") >= 1
    said = f"the last update before the result is {before[-1:] or 'none'}"
    stage.judge.judge("V2-SESS-11", ok, said, came=kinds)


@check("V2-SESS-08", version="2")
async def old_servers_are_not_connected_again(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("session.mcp.stdio"):
        stage.judge.skip_open("the agent takes no stdio servers")
        return
    server, log = stage.mcp_server()
    session = str((await talk.new_session(mcpServers=[server]))["sessionId"])
    await talk.say(session, stage.scenario.prompt("say"))
    talk = await taken_up(stage, session, "session/resume")
    if log.exists():
        log.unlink()
    params = {"sessionId": session, "cwd": str(stage.folder)}
    await talk.ask("session/resume", params, timeout=talk.seconds)
    await talk.say(session, stage.scenario.prompt("say"))
    said = "a server that was not sent again was started"
    stage.judge.judge("V2-SESS-08", not log.exists(), said, sent=params)


@check("V2-SESS-15", "V2-SESS-16", "V2-SESS-17", needs="long", version="2")
async def closing_ends_the_work(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    first = await talk.send_prompt(session, stage.scenario.prompt("long") or "")
    await begun(talk, since)
    held = await talk.send_prompt(session, stage.scenario.prompt("say") or "")
    await talk.peer.settled()
    closing = await talk.peer.ask("session/close", {"sessionId": session})
    await talk.peer.answer_to(closing)
    end = talk.peer.place_of_answer(closing)
    states = talk.updates(since=since, until=end, kind="state_update")
    ok = bool(states) and states[-1].get("state") == "idle"
    ok = ok and states[-1].get("stopReason") == "cancelled"
    stage.judge.judge("V2-SESS-16", ok, "no idle cancelled before the result", came=states[-1:])
    answer = await talk.peer.answer_to(held, timeout=5)
    code = (answer.get("error") or {}).get("code")
    ok = code == CANCELLED or "messageId" in (answer.get("result") or {})
    stage.judge.judge("V2-SESS-17", ok, f"a held prompt got {code}", came=answer)
    try:
        answer = await talk.peer.answer_to(first, timeout=5)
    except Unanswered:
        answer = {}
    ok = "messageId" in (answer.get("result") or {})
    stage.judge.judge("V2-SESS-17", ok, "an inserted prompt has no result", came=answer)
    await talk.peer.settled()
    await talk.peer.quiet(AFTER_CLOSE_SECONDS)
    late = [f for f in talk.peer.frames[end:] if not f.sent and f.method == "session/update"]
    stage.judge.judge("V2-SESS-15", not late, "updates after the close", came=late)


@check("V2-SESS-18", "V2-SESS-22", version="2")
async def closing_and_deleting_twice_succeeds(stage: AgentStage) -> None:
    session, _ = await two_turns(stage)
    talk = stage.talk
    for name in (session, session, "accord-nope"):
        answer = await talk.peer.call("session/close", {"sessionId": name})
        ok = "result" in answer
        stage.judge.judge("V2-SESS-18", ok, f"closing {name} fails", came=answer)
    if not talk.can("session.delete"):
        stage.judge.skip_open("the agent has no session/delete")
        return
    for name in (session, session, "accord-nope"):
        answer = await talk.peer.call("session/delete", {"sessionId": name})
        ok = "result" in answer
        stage.judge.judge("V2-SESS-22", ok, f"deleting {name} fails", came=answer)


@check("V2-SESS-19", version="2")
async def lists_are_of_one_folder(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    empty = await talk.ask("session/list", {"cwd": str(stage.root / "nobody-worked-here")})
    stage.judge.judge("V2-SESS-19", empty.get("sessions") == [], "not empty", came=empty)
    inner = stage.folder / "inner"
    inner.mkdir()
    made = await talk.new_session(cwd=str(inner))
    await talk.say(str(made["sessionId"]), stage.scenario.prompt("say"))
    outer = [one.get("sessionId") for one in await listed(talk, cwd=str(stage.folder))]
    ok = made["sessionId"] not in outer
    stage.judge.judge("V2-SESS-19", ok, "a session of a folder below is listed", came=outer)


@check("V2-SESS-24", version="2")
async def other_kinds_of_servers_are_refused(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    servers: list[dict[str, Any]] = [
        {"type": "sse", "name": "x", "url": "http://127.0.0.1:9/", "headers": []},
        {"type": "_accord_check", "name": "x"},
    ]
    if not talk.can("session.mcp.http"):
        servers.append({"type": "http", "name": "x", "url": "http://127.0.0.1:9/", "headers": []})
    if not talk.can("session.mcp.stdio"):
        servers.append(stage.mcp_server()[0])
    for server in servers:
        params = {"cwd": str(talk.folder), "mcpServers": [server]}
        error = await talk.error_of("session/new", params)
        ok = error.get("code") == INVALID_PARAMS
        stage.judge.judge("V2-SESS-24", ok, "not refused with -32602", sent=params, came=error)


@check("V2-SESS-26", version="2")
async def servers_are_connected(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("session.mcp.stdio"):
        stage.judge.skip_open("the agent takes no stdio servers")
        return
    first, first_log = stage.mcp_server()
    second, second_log = stage.mcp_server("accord-check-2")
    session = str((await talk.new_session(mcpServers=[first, second]))["sessionId"])
    await talk.say(session, stage.scenario.prompt("mcp") or stage.scenario.prompt("say"))
    ok = await wait_for_server(first_log, "initialize")
    if not ok and stage.scenario.prompt("mcp") is None:
        stage.judge.close("no server was connected: a prompt for 'mcp' would tell", failing=False)
        return
    ok = ok and await wait_for_server(second_log, "initialize")
    stage.judge.judge("V2-SESS-26", ok, "a listed server was not connected", sent=[first, second])


@check("V2-CFG-01", "V2-CFG-02", "V2-CFG-04", version="2")
async def options_change(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    made = await talk.new_session()
    session, options = str(made["sessionId"]), made.get("configOptions")
    if not options:
        stage.judge.skip_open("the agent has no config options")
        return
    select = next((one for one in options if one.get("type") == "select"), None)
    if select is None:
        stage.judge.skip_open("the agent has no option with a list")
        return
    name, now = select["configId"], select["currentValue"]
    base = {"sessionId": session, "configId": name}
    error = await talk.error_of("session/set_config_option", base | {"value": now})
    ok = error.get("code") == INVALID_PARAMS
    stage.judge.judge("V2-CFG-01", ok, "a value without type is taken", came=error)
    for change in (
        {"type": "id", "configId": "accord-check-no-option", "value": now},
        {"type": "id", "value": "accord-check-no-value"},
        {"type": "boolean", "value": True},
        {"type": "_accord", "value": now},
    ):
        error = await talk.error_of("session/set_config_option", base | change)
        ok = error.get("code") == INVALID_PARAMS
        stage.judge.judge("V2-CFG-02", ok, "not refused with -32602", sent=change, came=error)
    result = await talk.ask("session/set_config_option", base | {"type": "id", "value": now})
    found = {one.get("configId"): one for one in result["configOptions"]}
    full = set(found) == {one["configId"] for one in options}
    full = full and all("currentValue" in one for one in found.values())
    stage.judge.judge("V2-CFG-04", full, "not the full list", came=result)
    ok = found.get(name, {}).get("currentValue") == now
    stage.judge.judge("V2-CFG-02", ok, "a refused value was taken", came=result)
