"""Checks of the start of a v2 agent, and of its wire: versions, ids, arrays, logins."""

from __future__ import annotations

from typing import Any

from accord.conformance.agent.check_environment import KNOWN_METHOD, AgentStage
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.v1.initialize import (
    judge_status,
    providers_change,
    providers_match,
    refuse_early,
)
from accord.conformance.checks.agent.v1.wire import (
    CODES,
    FOREIGN_META,
    WHOLE_BLOCKS,
    judge_ids_of_results,
    judge_late_answers,
    judge_refusal,
    judge_unknown_method,
    malformed_blocks,
    need_still_running,
    refuse_depth,
    survive_bad_lines,
)
from accord.conformance.frames.error_codes import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    NO_METHOD,
    UNSUPPORTED_VERSION,
)
from accord.conformance.frames.raw_peer import Gone, Message, NotReady, Unanswered, as_json, same

# The prompts that may lead to a request to the user.
ASKING_PURPOSES = ("elicitation", "url", "plan")
# The capability that each type of content block needs.
BLOCK_CAPABILITIES = {
    "image": "session.prompt.image",
    "audio": "session.prompt.audio",
    "resource": "session.prompt.embeddedContext",
}


@check("V2-INIT-01", "V2-INIT-02", CODES, version="2", basic=True)
async def version_2_is_answered_with_2(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    info, found = talk.agent.get("info"), talk.agent.get("protocolVersion")
    ok = isinstance(info, dict) and bool(info.get("name")) and bool(info.get("version"))
    stage.judge.judge("V2-INIT-01", ok, "the result has no info", came=talk.agent)
    stage.judge.judge(
        "V2-INIT-02", found == 2, f"asked 2, answered {as_json(found)}", came=talk.agent
    )
    talk = await stage.another()
    params = talk.hello(info=None)
    error = await talk.error_of("initialize", params)
    said = "version 2 without info is not refused"
    judge_refusal(stage, "V2-INIT-01", error, said, sent=params)
    talk = await stage.another()
    answer = await talk.peer.call("initialize", talk.hello(protocolVersion=9))
    found = (answer.get("result") or {}).get("protocolVersion")
    said = f"asked 9, answered {as_json(found)}"
    ok = type(found) is int and 2 <= found < 9
    stage.judge.judge("V2-INIT-02", ok, said, came=answer)


@check("V2-INIT-08", version="2")
async def newer_versions_are_read_tolerantly(stage: AgentStage) -> None:
    talk = stage.talk
    params = talk.hello(protocolVersion=3, info=None)
    answer = await talk.peer.call("initialize", params)
    ok = (answer.get("result") or {}).get("protocolVersion") in (2, 3)
    stage.judge.judge("V2-INIT-08", ok, "version 3 without info fails", sent=params, came=answer)


@check("V2-INIT-03", "V2-GEN-05", version="2")
async def version_1_is_served_or_refused_with_its_code(stage: AgentStage) -> None:
    talk = stage.talk
    params = {"protocolVersion": 1, "clientCapabilities": {}}
    answer = await talk.peer.call("initialize", params)
    result, error = answer.get("result") or {}, answer.get("error") or {}
    if result.get("protocolVersion") == 1:
        stage.judge.passed("V2-GEN-05")
        error = await (await stage.another()).error_of(
            "initialize", {"protocolVersion": 0, "info": {"name": "k", "version": "1"}}
        )
        if not error:
            stage.judge.skipped("V2-INIT-03", "the agent answers every version with one it has")
            return
    else:
        stage.judge.failed("V2-GEN-05", "version 1 is not served", sent=params, came=answer)
    data: Any = error.get("data") or {}
    ok = error.get("code") == UNSUPPORTED_VERSION and "requested" in data and "supported" in data
    said = "not -32022 with requested and supported"
    stage.judge.judge("V2-INIT-03", ok, said, sent=params, came=answer)


@check("V2-INIT-05", version="2")
async def what_comes_too_early_is_refused(stage: AgentStage) -> None:
    await refuse_early(stage, "V2-INIT-05")


@check("V2-INIT-06", version="2")
async def the_latest_initialize_counts(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    answer = await talk.peer.call("initialize", talk.hello(capabilities={}))
    if "error" in answer:
        stage.judge.skip_open("the agent does not let initialize be repeated, which it may")
        return
    bad = await talk.error_of("initialize", talk.hello(info=None))
    stage.judge.judge("V2-INIT-06", bool(bad), "a bad repetition succeeds", came=bad)
    plain: Message = {}
    with_terminal: Message = {"auth": {"terminal": {}}}
    for capabilities in (with_terminal, plain):
        params = talk.hello(capabilities=capabilities)
        again = (await talk.peer.call("initialize", params)).get("result")
        fresh = (await (await stage.another()).peer.call("initialize", params)).get("result")
        stage.talks.remove(talk)
        stage.talks.append(talk)
        if again is None or fresh is None:
            continue
        said = f"the logins are not those for the capabilities {capabilities}"
        ok = logins_in(again) == logins_in(fresh)
        stage.judge.judge("V2-INIT-06", ok, said, sent=fresh, came=again)
    for prompt in filter(None, map(stage.scenario.prompt, ASKING_PURPOSES)):
        await talk.say(str((await talk.new_session())["sessionId"]), prompt)
        asked = talk.peer.received("elicitation/create")
        stage.judge.judge("V2-INIT-06", not asked, "forms of an earlier initialize", came=asked)
    made = await talk.new_session()
    ok = isinstance(made.get("sessionId"), str)
    stage.judge.judge("V2-INIT-06", ok, "no session after the repetition", came=made)


def logins_in(result: Any) -> list[tuple[Any, Any]]:
    """Return the ids and types of the logins in a result of `initialize`."""
    methods = result.get("authMethods") if isinstance(result, dict) else None
    entries = methods if isinstance(methods, list) else []
    return [(one.get("methodId"), one.get("type")) for one in entries if isinstance(one, dict)]


@check("V2-INIT-10", version="2", basic=True)
async def the_whole_baseline_works(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("session"):
        stage.judge.skip_open("the agent has no session capability")
        return
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("say"))
    where = {"sessionId": session, "cwd": str(talk.folder), "mcpServers": []}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("session/list", {}),
        ("session/close", {"sessionId": session}),
        ("session/resume", where),
    ]
    await talk.peer.notify("session/cancel", {"sessionId": session})
    for method, params in calls:
        answer = await talk.peer.call(method, params, timeout=talk.seconds)
        ok = "result" in answer
        stage.judge.judge("V2-INIT-10", ok, f"{method} does not work", sent=params, came=answer)


@check("V2-INIT-09", version="2")
async def odd_markers_are_no_support(stage: AgentStage) -> None:
    talk = stage.talk
    params = talk.hello(capabilities={"elicitation": {"form": True, "url": True}, "auth": 5})
    answer = await talk.peer.call("initialize", params)
    ok = "result" in answer
    stage.judge.judge("V2-INIT-09", ok, "malformed markers fail", sent=params, came=answer)
    talk.agent = answer.get("result") or {}
    for prompt in filter(None, map(stage.scenario.prompt, ASKING_PURPOSES if ok else ())):
        session = str((await talk.new_session())["sessionId"])
        await talk.say(session, prompt)
        asked = talk.peer.received("elicitation/create")
        stage.judge.judge("V2-INIT-09", not asked, "true counts as a marker", came=asked)
    talk = await stage.another()
    params = talk.hello(capabilities={"auth": {"terminal": True}})
    answer = await talk.peer.call("initialize", params)
    listed = [name for name, kind in logins_in(answer.get("result")) if kind == "terminal"]
    said = "auth.terminal: true counts as a marker"
    stage.judge.judge("V2-INIT-09", not listed, said, sent=params, came=answer)


@check("V2-GEN-01", "V2-GEN-03", "V1-GEN-02", "V1-EXT-04", version="2")
async def ids(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    for odd in (None, 1.5):
        sent: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": odd,
            "method": "_accord_check/none",
            "params": {},
        }
        since = len(talk.peer.frames)
        await talk.peer.send(sent)
        frame = await talk.peer.expect(lambda f: f.is_response, f"an answer to {odd}", since=since)
        code = (frame.object.get("error") or {}).get("code")
        ok = code == INVALID_REQUEST and frame.object.get("id", 0) is None
        said = f"id {as_json(odd)} is not refused with -32600 and id null"
        stage.judge.judge("V2-GEN-01", ok, said, sent=sent, came=frame)
    for request_id in (7, "7", "abc"):
        since = len(talk.peer.frames)
        await talk.peer.ask(KNOWN_METHOD, {}, id=request_id)
        frame = await talk.peer.expect(lambda f: f.is_response, "an answer", since=since)
        ok = same(frame.object.get("id"), request_id)
        stage.judge.judge("V1-GEN-02", ok, "another id", sent=request_id, came=frame)
        stage.judge.judge("V2-GEN-03", frame.object.get("id") is not None, "null", came=frame)
    await judge_ids_of_results(stage)
    await judge_unknown_method(stage)


@check("TR-STDIO-08", version="2")
async def bad_lines_do_not_end_the_connection(stage: AgentStage) -> None:
    await survive_bad_lines(stage, "TR-STDIO-08")


@check("LIM-01", version="2")
async def deep_nesting_is_refused(stage: AgentStage) -> None:
    await refuse_depth(stage)


@check("V1-GEN-04", "V1-EXT-05", "V2-CANCEL-15", version="2")
async def notifications_are_not_answered(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    cases: list[tuple[str, str, Any]] = [
        ("V1-EXT-05", "_accord_check/note", {}),
        ("V2-CANCEL-15", "$/cancel_request", {"requestId": "nobody-asked-this"}),
        ("V2-CANCEL-15", "$/cancel_request", {"requestId": 1}),
        ("V1-GEN-04", "session/cancel", {"sessionId": session}),
        ("V1-GEN-04", "session/cancel", {"sessionId": 5}),
        ("V1-GEN-04", "session/prompt", {"sessionId": session}),
        ("V1-GEN-04", "session/new", {"cwd": str(talk.folder)}),
        ("V1-GEN-04", "no_such_method", {}),
    ]
    for rule, method, params in cases:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        await talk.peer.send(message)
        came = [one for one in await talk.peer.settled() if one.is_response]
        need_still_running(stage, rule, message)
        for broken in {rule, "V1-GEN-04"} if came else {rule}:
            stage.judge.judge(broken, not came, "it was answered", sent=message, came=came)
    await judge_late_answers(stage)
    await _judge_withdrawals(stage, session)


async def _judge_withdrawals(stage: AgentStage, session: str) -> None:
    """Cancel every request that was answered, including a prompt and a refused one."""
    talk = stage.talk
    await talk.peer.call(KNOWN_METHOD, {})
    await talk.say(session, stage.scenario.prompt("say"))
    ids = [one.object["id"] for one in talk.peer.frames if one.sent and one.is_request]
    since = len(talk.peer.frames)
    for request_id in ids:
        await talk.peer.notify("$/cancel_request", {"requestId": request_id})
    await talk.peer.settled()
    came = [
        one
        for one in talk.peer.frames[since:]
        if not one.sent and one.is_response and any(same(one.object["id"], of) for of in ids)
    ]
    said = "a request is answered again when it is withdrawn"
    stage.judge.judge("V2-CANCEL-15", not came, said, sent=ids, came=came)


@check("V2-GEN-07", "V2-PROMPT-02", "V2-PROMPT-07", "V2-GEN-11", CODES, version="2")
async def prompts_with_bad_blocks_are_refused(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    good = {"type": "text", "text": stage.scenario.prompt("say")}
    cases: list[tuple[str, list[Any]]] = [
        *(("V2-GEN-07", [bad]) for bad in malformed_blocks()),
        *(("V2-GEN-07", [good, bad]) for bad in malformed_blocks()),
        ("V2-PROMPT-02", [{"type": "_accord_check", "text": "x"}]),
        ("V2-PROMPT-02", [good, {"type": "_accord_check", "text": "x"}]),
    ]
    for block in WHOLE_BLOCKS:
        capability = BLOCK_CAPABILITIES.get(block["type"])
        if capability is not None and not talk.can(capability):
            cases += [("V2-PROMPT-02", [block]), ("V2-PROMPT-02", [good, block])]
    taken = False
    for rule, prompt in cases:
        params: dict[str, Any] = {"sessionId": session, "prompt": prompt}
        since = len(talk.peer.frames)
        error = await talk.error_of("session/prompt", params)
        if rule == "V2-GEN-07":
            if not judge_refusal(stage, rule, error, "it is not refused", sent=params):
                await stage.talk.peer.notify("session/cancel", {"sessionId": session})
        else:
            ok = error.get("code") == INVALID_PARAMS
            stage.judge.judge(rule, ok, "not refused with -32602", sent=params, came=error)
        taken = taken or not error
        await talk.peer.settled()
        echoed = [one for one in talk.updates(since=since) if is_user_message(one)]
        # Messages of an earlier accepted prompt are not an echo of this one.
        if error and not taken:
            stage.judge.judge("V2-PROMPT-07", not echoed, "a refused prompt is echoed", came=echoed)
    await _judge_bad_servers(stage)
    block = {"type": "text", "text": stage.scenario.prompt("say"), "_meta": FOREIGN_META}
    params = {"sessionId": session, "prompt": [block], "_meta": FOREIGN_META}
    try:
        answer = await talk.peer.call("session/prompt", params, timeout=talk.seconds)
    except Gone:
        raise
    except Unanswered as error:
        raise NotReady(str(error)) from None
    ok = "result" in answer
    if not ok:
        # A request that is also refused without `_meta` shows nothing about it.
        await talk.say(session, stage.scenario.prompt("say"))
    stage.judge.judge("V2-GEN-11", ok, "foreign _meta is refused", sent=params, came=answer)


async def _judge_bad_servers(stage: AgentStage) -> None:
    """A server without a required member is refused, also beside a valid one."""
    talk = stage.talk
    good = [stage.mcp_server()[0]] if talk.can("session.mcp.stdio") else []
    for bad in (
        {"type": "stdio", "name": "accord-check-half"},
        {"type": "http", "name": "accord-check-half", "headers": []},
    ):
        params = {"cwd": str(talk.folder), "mcpServers": [*good, bad]}
        error = await talk.error_of("session/new", params)
        judge_refusal(stage, "V2-GEN-07", error, "a malformed server is accepted", sent=params)


def is_user_message(update: Message) -> bool:
    """Whether an update is a user message or a chunk of one."""
    return update.get("sessionUpdate") in ("user_message", "user_message_chunk")


@check("V2-AUTH-01", version="2")
async def logins_go_both_ways(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    methods = talk.agent.get("authMethods")
    if not methods:
        stage.judge.skip_open("the agent has no logins")
        return
    for method in ("auth/login", "auth/logout"):
        params = {"methodId": "accord-check-no-such-login"} if method == "auth/login" else {}
        error = await talk.error_of(method, params)
        ok = error.get("code") not in (NO_METHOD, INTERNAL_ERROR)
        stage.judge.judge("V2-AUTH-01", ok, f"{method} does not work", came=error)


@check("V1-AUTH-13", version="2")
async def the_login_can_be_asked_for(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("auth.status"):
        stage.judge.skip_open("the agent has no auth.status")
        return
    await judge_status(stage)


@check("V1-PROV-01", version="2")
async def providers_are_there_when_advertised(stage: AgentStage) -> None:
    await providers_match(stage)


@check("V1-PROV-03", "V1-PROV-04", "V1-PROV-05", version="2")
async def providers_are_disabled_and_set(stage: AgentStage) -> None:
    await providers_change(stage)
