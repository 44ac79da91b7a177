"""Checks of a v2 agent's sessions: new, resume, list, close, delete, MCP servers, options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from accord.conformance.agent.check_environment import AgentStage, Refused, Talk
from accord.conformance.agent.turn import at_work_before_another, call_of, is_short
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.v1.modes_and_options import values_of
from accord.conformance.checks.agent.v1.session_history import (
    NeverTakenUp,
    holds_in_order,
    old,
    taken_up,
    unused,
)
from accord.conformance.checks.agent.v1.sessions import (
    has_use_for_servers,
    judge_servers_again,
    listed,
    more_sessions,
    prompted_for_servers,
    wait_for_server,
)
from accord.conformance.checks.agent.v1.wire import CODES, judge_refusal
from accord.conformance.frames.error_codes import CANCELLED, INVALID_PARAMS, NOT_FOUND
from accord.conformance.frames.message_fold import Texts, fold
from accord.conformance.frames.raw_peer import Message, NotReady, TooLate, Unanswered, brief

FINAL = ("completed", "failed", "cancelled")
# Every message from the first on.
FROM_START: Message = {"replayFrom": {"type": "start"}}
AFTER_CLOSE_SECONDS = 1.5


def spoken(texts: Texts) -> list[str]:
    """Return the messages of both sides in order; thoughts need not be stored."""
    return [text for (kind, _), text in texts.items() if kind != "agent_thought" and text.strip()]


async def two_turns(stage: AgentStage) -> tuple[str, Texts]:
    """Run a session with two turns; return its id and messages."""
    talk = stage.talk
    session = await talk.session()
    for _ in range(2):
        await talk.say(session, stage.scenario.prompt("say"))
    return session, fold(talk.updates(session=session))


@check("V2-SESS-02", "V2-SESS-03", version="2", basic=True)
async def session_ids_differ(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    params = {"cwd": str(talk.folder)}
    ids = [(await talk.ask("session/new", params)).get("sessionId") for _ in range(2)]
    ids += await more_sessions(talk, 8)
    ok = len(set(map(str, ids))) == len(ids) and all(isinstance(one, str) for one in ids)
    stage.judge.judge("V2-SESS-02", ok, "ids repeat, or mcpServers is required", came=ids)


@check("V2-SESS-05", version="2")
async def unknown_sessions_are_not_found(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    prompt = [{"type": "text", "text": "hello"}]
    cases: list[tuple[str, Message]] = [
        ("session/prompt", {"sessionId": "accord-nope", "prompt": prompt}),
        ("session/resume", old(stage, "accord-nope")),
    ]
    options = (await talk.new_session()).get("configOptions") or []
    for one in [one for one in options if one.get("type") == "select"][:1]:
        value = {"type": "id", "configId": one["configId"], "value": one["currentValue"]}
        cases.append(("session/set_config_option", {"sessionId": "accord-nope"} | value))
    closed = str((await talk.new_session())["sessionId"])
    await talk.say(closed, stage.scenario.prompt("say"))
    await talk.prepare("session/close", {"sessionId": closed})
    cases += [
        (method, params | {"sessionId": closed})
        for method, params in cases
        if method != "session/resume"
    ]
    for method, params in cases:
        error = await talk.error_of(method, params)
        data: Any = error.get("data") or {}
        ok = error.get("code") == NOT_FOUND and data.get("sessionId") == params["sessionId"]
        what = "a closed session" if params["sessionId"] == closed else "an unknown session"
        said = f"{method}: {what} is not -32002 with sessionId"
        stage.judge.judge("V2-SESS-05", ok, said, sent=params, came=error)


@check("V2-SESS-09", "V2-SESS-10", "V2-SESS-11", "V2-SESS-12", version="2")
async def resuming_replays_what_is_asked(stage: AgentStage) -> None:
    session, said = await two_turns(stage)
    if (tool := stage.scenario.prompt("tool")) is not None:
        await stage.talk.say(session, tool)
    lived = set(map(call_of, stage.talk.updates(session=session)))
    try:
        talk = await taken_up(stage, session, "session/resume")
    except NeverTakenUp as never:
        stage.judge.failed("V2-SESS-09", str(never))
        raise
    since = len(talk.peer.frames)
    try:
        await talk.ask("session/resume", old(stage, session), timeout=talk.seconds)
    except Refused as refused:
        # V2-INIT-10 judges whether it works; nothing was replayed.
        raise NotReady(str(refused)) from None
    came = spoken(fold(talk.updates(since=since, session=session)))
    stage.judge.judge("V2-SESS-09", not came, "history was replayed without a request", came=came)
    told = talk.updates(since=since, session=session)
    calls = [one for one in told if call_of(one) is not None and call_of(one) in lived]
    stage.judge.judge("V2-SESS-09", not calls, "history was replayed without a request", came=calls)
    _state_last(stage, talk, session, since)
    await talk.prepare("session/close", {"sessionId": session})
    since = len(talk.peer.frames)
    params = old(stage, session) | FROM_START
    sent = await talk.peer.ask("session/resume", params)
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    until = talk.peer.place_of_answer(sent)
    came = spoken(fold(talk.updates(since=since, until=until, session=session)))
    ok = holds_in_order("\n".join(came), spoken(said))
    what = "the replay does not have the messages of both sides in order"
    stage.judge.judge("V2-SESS-10", ok, what, sent=spoken(said), came=came or answer)
    _state_last(stage, talk, session, since)
    await talk.prepare("session/close", {"sessionId": session})
    for bad in ({"type": "_accord_check"}, 5, {}, "start", {"type": 5}):
        params = old(stage, session) | {"replayFrom": bad}
        error = await talk.error_of("session/resume", params)
        ok = error.get("code") == INVALID_PARAMS
        stage.judge.judge("V2-SESS-12", ok, "not refused with -32602", sent=params, came=error)


@check("V2-SESS-27", version="2")
async def a_replay_does_not_double_what_is_held(stage: AgentStage) -> None:
    """A client that still has the messages has each of them once after the replay."""
    session, held = await two_turns(stage)
    talk = stage.talk
    params = old(stage, session) | FROM_START
    since = len(talk.peer.frames)
    answer = await talk.call("session/resume", params, timeout=talk.seconds)
    if "error" in answer:
        # Some agents reopen only closed sessions.
        await talk.prepare("session/close", {"sessionId": session})
        since = len(talk.peer.frames)
        await talk.prepare("session/resume", params)
    replayed = fold(talk.updates(since=since, session=session))
    now = fold(talk.updates(since=since, session=session), held)
    if not spoken(replayed):
        stage.judge.close("nothing was replayed", failing=False)
        return
    # A client that has a message ends with the same text as one without it.
    doubled = {
        f"{kind} {name}": now[kind, name]
        for kind, name in replayed
        if now[kind, name] != replayed[kind, name]
    }
    said = "a message that the client holds is appended to itself"
    if not stage.judge.judge("V2-SESS-27", not doubled, said, came=doubled):
        return
    # V2-SESS-28 judges user messages with another id.
    again = [
        name for kind, name in replayed
        if kind == "agent_message" and (kind, name) not in held and replayed[kind, name].strip()
        and replayed[kind, name] in held.values()
    ]  # fmt: skip
    said = "a message that the client holds comes back under another id"
    stage.judge.judge("V2-SESS-27", not again, said, came=again)


@check("V2-SESS-28", version="2")
async def user_messages_keep_their_ids(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    names: list[Any] = []
    for _ in range(2):
        since = len(talk.peer.frames)
        sent = await talk.send_prompt(session, stage.scenario.prompt("say") or "")
        try:
            answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
            await talk.idle(session, since=since)
        except Unanswered as error:
            raise NotReady(f"a plain prompt does not work: {error}") from None
        names.append((answer.get("result") or {}).get("messageId"))
    if not all(isinstance(one, str) for one in names):
        stage.judge.close("the answers to the prompts give no ids", failing=False)
        return
    talk = await taken_up(stage, session, "session/resume")
    since = len(talk.peer.frames)
    await talk.prepare("session/resume", old(stage, session) | FROM_START)
    found = [
        name
        for kind, name in fold(talk.updates(since=since, session=session))
        if kind == "user_message"
    ]
    if not found:
        stage.judge.close("no user message was replayed", failing=False)
        return
    ok = set(names) <= set(found)
    said = "user messages are replayed under other ids than the answers gave"
    stage.judge.judge("V2-SESS-28", ok, said, sent=names, came=found)


def _state_last(stage: AgentStage, talk: Talk, session: str, since: int) -> None:
    """The state is the last update of the session before the result."""
    at = [n for n, frame in enumerate(talk.peer.frames) if n >= since and frame.is_response]
    until = at[-1] if at else since
    kinds, before = (
        [one.get("sessionUpdate") for one in talk.updates(since=since, until=end, session=session)]
        for end in (None, until)
    )
    ok = before[-1:] == ["state_update"] and before.count("state_update") >= 1
    said = f"the last update before the result is {before[-1] if before else 'missing'}"
    stage.judge.judge("V2-SESS-11", ok, said, came=kinds)


@check("V2-SESS-08", version="2")
async def old_servers_are_not_connected_again(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("session.mcp.stdio"):
        stage.judge.skip_open("the agent accepts no stdio servers")
        return
    server, log = stage.mcp_server()
    session = str((await talk.new_session(mcpServers=[server]))["sessionId"])
    await talk.say(session, stage.scenario.prompt("say"))
    if not await wait_for_server(talk, log, "initialize"):
        stage.judge.close("the server was not started in the first place", failing=False)
        return
    talk = await taken_up(stage, session, "session/resume")
    log.unlink()
    params = {"sessionId": session, "cwd": str(stage.folder)}
    await talk.prepare("session/resume", params)
    await talk.say(session, stage.scenario.prompt("say"))
    said = "a server that was not sent again was started"
    stage.judge.judge("V2-SESS-08", not log.exists(), said, sent=params)


@check("V2-SESS-15", "V2-SESS-16", "V2-SESS-17", needs="long", version="2")
async def closing_ends_the_work(stage: AgentStage) -> None:
    talk, session, first, held = await at_work_before_another(stage)
    since = talk.peer.place_of(first) or 0
    stage.judge.brought_about()
    closing = await talk.peer.ask("session/close", {"sessionId": session})
    answer = await talk.peer.answer_to(closing, timeout=talk.seconds)
    if "error" in answer:
        raise NotReady(f"session/close does not work: {brief(answer)}")
    end = talk.peer.place_of_answer(closing)
    told = talk.updates(since=since, until=end, session=session)
    states = [one for one in told if one.get("sessionUpdate") == "state_update"]
    ok = bool(states) and states[-1].get("state") == "idle"
    ok = ok and states[-1].get("stopReason") == "cancelled"
    if not ok and await is_short(talk, first, end - 1):
        raise TooLate("the turn was over before the session was closed")
    stage.judge.judge("V2-SESS-16", ok, "no idle cancelled before the result", came=states[-1:])
    left = open_calls(told)
    stage.judge.judge("V2-SESS-16", not left, f"not over at the result: {', '.join(left)}")
    await talk.peer.settled()
    await talk.peer.quiet(AFTER_CLOSE_SECONDS)
    later = [f for f in talk.peer.frames[end:] if not f.sent and f.method == "session/update"]
    late = [f for f in later if f.params.get("sessionId") == session]
    stage.judge.judge("V2-SESS-15", not late, "updates after the close", came=late)
    for name, what in ((held, "held"), (first, "inserted")):
        try:
            answer = await talk.peer.answer_to(name, timeout=talk.seconds)
        except Unanswered:
            answer = {}
        code = (answer.get("error") or {}).get("code")
        ok = "messageId" in (answer.get("result") or {}) or (name == held and code == CANCELLED)
        said = f"a prompt that was {what} got {code or 'no answer'}"
        stage.judge.judge("V2-SESS-17", ok, said, came=answer)


def open_calls(updates: Iterable[Message]) -> list[str]:
    """Return the tool calls without a final status after these updates."""
    last: dict[str, Any] = {}
    for update in updates:
        if update.get("sessionUpdate") == "tool_call_update":
            name = str(update.get("toolCallId"))
            last[name] = update.get("status", last.get(name, "pending"))
    return [name for name, status in last.items() if status not in FINAL]


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
    empty = await talk.ask("session/list", {"cwd": unused(stage)})
    stage.judge.judge("V2-SESS-19", empty.get("sessions") == [], "not empty", came=empty)
    inner = stage.folder / "inner"
    inner.mkdir()
    made = await talk.new_session(cwd=str(inner))
    await talk.say(str(made["sessionId"]), stage.scenario.prompt("say"))
    outer = [one.get("sessionId") for one in await listed(talk, cwd=str(stage.folder))]
    ok = made["sessionId"] not in outer
    stage.judge.judge("V2-SESS-19", ok, "a session of a folder below is listed", came=outer)
    own = [one.get("sessionId") for one in await listed(talk, cwd=str(inner))]
    ok = made["sessionId"] in own
    stage.judge.judge("V2-SESS-19", ok, "a session is not listed in its own folder", came=own)


@check("V2-SESS-24", version="2")
async def other_kinds_of_servers_are_refused(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("say"))
    await talk.prepare("session/close", {"sessionId": session})
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
        for method, name in (("session/new", {}), ("session/resume", {"sessionId": session})):
            error = await talk.error_of(method, name | params)
            ok = error.get("code") == INVALID_PARAMS
            said = f"{method} does not refuse it with -32602"
            stage.judge.judge("V2-SESS-24", ok, said, sent=name | params, came=error)


@check("V2-SESS-26", version="2")
async def servers_are_connected(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("session.mcp.stdio"):
        stage.judge.skip_open("the agent accepts no stdio servers")
        return
    first, first_log = stage.mcp_server()
    second, second_log = stage.mcp_server("accord-check-2")
    session = str((await talk.new_session(mcpServers=[first, second]))["sessionId"])
    await talk.say(session, stage.scenario.prompt("mcp") or stage.scenario.prompt("say"))
    ok = await wait_for_server(talk, first_log, "initialize")
    if not ok and not await has_use_for_servers(stage, session):
        stage.judge.close(f"no server was connected{prompted_for_servers(stage)}", failing=False)
        return
    both = ok and await wait_for_server(talk, second_log, "initialize")
    stage.judge.judge("V2-SESS-26", both, "a listed server was not connected", sent=[first, second])
    if ok:
        await judge_servers_again(stage, "session/resume", session, "V2-SESS-26")


@check("V2-CFG-01", "V2-CFG-02", "V2-CFG-04", CODES, version="2")
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
    judge_refusal(stage, "V2-CFG-01", error, "a value without a type is accepted", sent=base)
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
    await _set_options(stage, session, options)
    ok = found.get(name, {}).get("currentValue") == now
    stage.judge.judge("V2-CFG-02", ok, "a refused value was stored", came=result)


async def _set_options(stage: AgentStage, session: str, options: list[Message]) -> None:
    """Change each option and restore it, and let the agent change one unasked.

    One option may bring and take others, so the lists are compared when all is as it was.  A
    monitor looks at what is told of it.
    """
    talk = stage.talk
    names = {one["configId"] for one in options}
    for option in options:
        now, flag = option.get("currentValue"), option.get("type") == "boolean"
        values = values_of(option) if option.get("type") == "select" else [not now] * flag
        other = next((one for one in values if one != now), None)
        if other is None:
            continue
        kind = {"sessionId": session, "configId": option["configId"]}
        kind["type"] = "boolean" if flag else "id"
        changed = await talk.prepare("session/set_config_option", kind | {"value": other})
        back = await talk.prepare("session/set_config_option", kind | {"value": now})
        found = [
            {one.get("configId") for one in result["configOptions"]} for result in (changed, back)
        ]
        full = found[1] == names and option["configId"] in found[0]
        stage.judge.judge("V2-CFG-04", full, "not the full list", sent=kind, came=[changed, back])
    for purpose in ("mode", "config"):
        prompt = stage.scenario.prompt(purpose)
        if prompt is not None:
            await talk.say(session, prompt)
