"""Checks of a v1 agent's wire: ids, notifications, arrays, extensions, errors, noise, limits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anyio

from accord.conformance.agent.check_environment import KNOWN_METHOD, AgentStage, Talk
from accord.conformance.agent.scenario import IMAGE
from accord.conformance.agent.turn import ASKING, OVER, asked_in, at_work, is_instant, is_over
from accord.conformance.check_definition import check
from accord.conformance.frames.error_codes import INVALID_PARAMS, INVALID_REQUEST, NO_METHOD
from accord.conformance.frames.raw_peer import (
    ErrorOf,
    Frame,
    Message,
    NotReady,
    Reply,
    TooLate,
    Unanswered,
    as_json,
    same,
)

DEEP = 10_000
# Foreign metadata, of any type.
FOREIGN_META: Message = {"accord.check/odd": [None, {"a": 1}], "accord.check": 5}
IN_ARRAY: Message = {"jsonrpc": "2.0", "id": "in-an-array", "method": "_accord_check/none"}
NOTE_IN_ARRAY: Message = {"jsonrpc": "2.0", "method": "_accord_check/note"}
# An empty array, a request, a notification, and both beside something that is not a message.
ARRAYS: tuple[list[Any], ...] = (
    [], [IN_ARRAY], [NOTE_IN_ARRAY], [IN_ARRAY, NOTE_IN_ARRAY, 1],
)  # fmt: skip


# A whole content block of each type that the protocol knows.
WHOLE_BLOCKS: tuple[Message, ...] = (
    {"type": "text", "text": "hello"},
    IMAGE,
    {"type": "audio", "data": "aGVsbG8=", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///accord-check.txt", "name": "accord-check.txt"},
    {"type": "resource", "resource": {"uri": "file:///accord-check.txt", "text": "hello"}},
)
# The requests that open an existing session, and the capability for each.
OPENED_AGAIN = (
    ("session/load", "loadSession"),
    ("session/resume", "sessionCapabilities.resume"),
    ("session/fork", "sessionCapabilities.fork"),
)


async def alive(talk: Talk) -> bool:
    """Whether the agent still answers; raise if it does not."""
    await talk.peer.probe()
    return True


# The rule about codes: if another rule demands only a refusal, the code is advice.
CODES = "V1-EXT-07"


def judge_refusal(
    stage: AgentStage, rule: str, error: ErrorOf, said: str, *, sent: Any = ""
) -> bool:
    """Judge that bad params were refused, and with which code, as advice."""
    ok = stage.judge.judge(rule, bool(error), said, sent=sent, came=error)
    if ok:
        code = error.get("code")
        known = code == INVALID_PARAMS or error.is_status
        stage.judge.judge(CODES, known, f"refused with {code}, not -32602", sent=sent, came=error)
    return ok


@check("V1-GEN-02", "V1-EXT-04")
async def ids_come_back_as_they_were(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    for request_id in (7, "7", "abc", 0, -5, 2**53 - 1):
        sent: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": request_id,
            "method": KNOWN_METHOD,
            "params": {},
        }
        since = len(talk.peer.frames)
        await talk.peer.send(sent)
        frame = await talk.peer.expect(
            lambda one: one.is_response, f"an answer to id {as_json(request_id)}", since=since
        )
        ok = same(frame.object.get("id"), request_id)
        if not stage.judge.judge("V1-GEN-02", ok, "another id", sent=sent, came=frame):
            stage.judge.close("answers have other ids than their requests", failing=False)
            return
    await judge_ids_of_results(stage)
    await judge_unknown_method(stage)


async def judge_ids_of_results(stage: AgentStage) -> None:
    """Results have the ids of their requests too, also late ones."""
    talk = stage.talk
    session = str((await talk.new_session())["sessionId"])
    for request_id in ("accord-check-prompt", "8"):
        since = len(talk.peer.frames)
        await talk.peer.ask("session/prompt", asking(session, said_plainly(stage)), id=request_id)
        frame = await talk.peer.expect(
            lambda one: one.is_response, "an answer to a prompt", since=since, timeout=talk.seconds
        )
        ok = same(frame.object.get("id"), request_id)
        stage.judge.judge("V1-GEN-02", ok, "another id", sent=request_id, came=frame)


async def judge_unknown_method(stage: AgentStage) -> None:
    """A request of a foreign extension gets -32601; no answer fails the rule too."""
    try:
        answer = await stage.talk.peer.call("_accord_check/none", {})
    except Unanswered as error:
        stage.judge.failed("V1-EXT-04", f"an unknown method: {error}")
        return
    code = (answer.get("error") or {}).get("code")
    said = "an unknown method is not -32601"
    stage.judge.judge("V1-EXT-04", code == NO_METHOD, said, came=answer)


@check("V1-GEN-04", "V1-EXT-05", "V1-CREQ-01")
async def notifications_are_not_answered(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    session = await talk.session()
    cases: list[tuple[str, str, Any]] = [
        ("V1-EXT-05", "_accord_check/note", {}),
        ("V1-CREQ-01", "$/accord_check", {}),
        ("V1-CREQ-01", "$/cancel_request", {"requestId": "nobody-asked-this"}),
        ("V1-GEN-04", "session/cancel", {"sessionId": session}),
        ("V1-GEN-04", "session/cancel", {"sessionId": 5}),
        ("V1-GEN-04", "session/prompt", {"sessionId": session}),
        ("V1-GEN-04", "session/new", {"cwd": str(talk.folder), "mcpServers": []}),
        ("V1-GEN-04", "no_such_method", {}),
    ]
    for rule, method, params in cases:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        await talk.peer.send(message)
        came = [one for one in await talk.peer.settled() if one.is_response]
        need_still_running(stage, rule, message)
        stage.judge.judge(rule, not came, "a notification was answered", sent=message, came=came)
        if came:
            stage.judge.failed("V1-GEN-04", "a notification was answered", sent=message, came=came)
    await judge_late_answers(stage)


def need_still_running(stage: AgentStage, rule: str, sent: Message) -> None:
    """A notification must not end the agent; another check judges whether a cancel works.

    Raises:
        NotReady: it has ended.
    """
    if not stage.talk.peer.closed.is_set():
        return
    said = f"the agent exits at {sent['method']}"
    if sent["method"] != "session/cancel" or not isinstance(sent["params"].get("sessionId"), str):
        stage.judge.failed(rule, said, sent=sent)
    raise NotReady(said)


async def judge_late_answers(stage: AgentStage) -> None:
    """Notifications get no late answers, and requests after them are answered."""
    talk = stage.talk
    came = [one for one in await talk.peer.quiet() if one.is_response]
    stage.judge.judge("V1-GEN-04", not came, "a notification was answered", came=came)
    stage.judge.judge("V1-GEN-04", await alive(talk), "nothing is answered afterwards")


@check("V1-GEN-14")
async def arrays_are_refused_as_a_whole(stage: AgentStage) -> None:
    """Each array gets one -32600 with id null, and nothing in it has an effect."""
    talk = stage.talk
    await talk.initialize()
    for array in ARRAYS:
        since = len(talk.peer.frames)
        await talk.peer.send(array)
        await talk.peer.expect(lambda one: one.method is None, "an answer to an array", since=since)
        # Other messages of the agent are not answers.
        await talk.peer.settled()
        came = answers_to_array(talk.peer.frames[since:])
        ok = [null_error(one) for one in came] == [INVALID_REQUEST]
        said = "not exactly one -32600 with id null"
        if not stage.judge.judge("V1-GEN-14", ok, said, sent=array, came=came):
            return
    if not await alive(talk):
        stage.judge.failed("V1-GEN-14", "nothing is answered after the arrays")


def answers_to_array(frames: Sequence[Frame]) -> list[Frame]:
    """Return the answers to an array: arrays, and answers to none of the later requests."""
    # Another rule judges whether ids keep their type.
    asked = [str(one.object["id"]) for one in frames if one.sent and one.is_request]
    return [
        one
        for one in frames
        if not one.sent and one.method is None and one.raw.strip()
        and str(one.object.get("id", "")) not in asked
    ]  # fmt: skip


def null_error(frame: Frame) -> Any:
    """Return the code of an error whose id is null."""
    if "id" not in frame.object or frame.object["id"] is not None:
        return None
    error = frame.object.get("error")
    return error.get("code") if isinstance(error, dict) else None


@check("V1-GEN-10", "V1-EXT-02")
async def unknown_keys_are_no_trouble(stage: AgentStage) -> None:
    """The same conversation with unknown keys and metadata."""
    session = await stage.talk.session()
    await stage.talk.say(session, said_plainly(stage))
    for rule, what, more in (
        ("V1-GEN-10", "unknown keys", {"accordCheck": {"x": [1]}}),
        ("V1-EXT-02", "foreign _meta", {"_meta": FOREIGN_META}),
    ):
        talk = await stage.another()
        opening = {"cwd": str(talk.folder), "mcpServers": [], **more}
        made: Message = {}
        for method in ("initialize", "session/new", "session/prompt"):
            block = {"type": "text", "text": said_plainly(stage), **more}
            prompt = {"sessionId": made.get("sessionId"), "prompt": [block], **more}
            params = {"initialize": talk.hello(**more), "session/new": opening}.get(method, prompt)
            answer = await talk.call(method, params, timeout=talk.seconds)
            said = f"{method} with {what} is refused"
            ok = "result" in answer
            if not stage.judge.judge(rule, ok, said, sent=params, came=answer):
                break
            made = answer["result"] if isinstance(answer["result"], dict) else {}


def said_plainly(stage: AgentStage) -> str:
    """Return the prompt that asks for a short answer."""
    return stage.scenario.prompt("say") or ""


@check("V1-GEN-12", CODES)
async def malformed_optional_values_count_as_absent(stage: AgentStage) -> None:
    talk = stage.talk
    params = talk.hello(clientInfo=5, clientCapabilities=[7])
    answer = await talk.peer.call("initialize", params)
    said = "malformed clientInfo and clientCapabilities are not read as absent"
    ok = "result" in answer
    if not stage.judge.judge("V1-GEN-12", ok, said, sent=params, came=answer):
        return
    talk.agent = answer["result"] if isinstance(answer["result"], dict) else {}
    session = str((await talk.new_session())["sessionId"])
    await talk.say(session, said_plainly(stage))
    block = {"type": "text", "text": said_plainly(stage), "annotations": 5}
    params = {"sessionId": session, "prompt": [block]}
    answer = await talk.call("session/prompt", params, timeout=talk.seconds)
    said = "malformed annotations of a block are not read as absent"
    stage.judge.judge("V1-GEN-12", "result" in answer, said, sent=params, came=answer)
    for method, params in (
        ("session/new", {"mcpServers": []}),
        ("session/prompt", {"sessionId": session}),
        ("session/prompt", {"prompt": [{"type": "text", "text": said_plainly(stage)}]}),
    ):
        error = await talk.error_of(method, params)
        said = f"{method} without a required key is not refused"
        judge_refusal(stage, "V1-GEN-12", error, said, sent=params)
    talk = await stage.another()
    params = talk.hello(protocolVersion=None)
    error = await talk.error_of("initialize", params)
    said = "initialize without protocolVersion is not refused"
    judge_refusal(stage, "V1-GEN-12", error, said, sent=params)


@check("V1-GEN-06", "V1-GEN-13", "V1-SESS-08", "V1-SESS-03", CODES)
async def bad_params_of_a_session_are_refused(stage: AgentStage) -> None:
    talk = stage.talk
    # An agent that cannot create sessions also refuses valid params.
    session = await talk.session()
    folder = str(talk.folder)
    server = stage.mcp_server()[0]
    cases: list[tuple[str, dict[str, Any]]] = [
        ("V1-GEN-06", {"cwd": "relative/folder", "mcpServers": []}),
        ("V1-SESS-03", {"cwd": "relative/folder", "mcpServers": []}),
        ("V1-SESS-08", {"cwd": folder, "mcpServers": "x"}),
        ("V1-SESS-08", {"cwd": folder, "mcpServers": [{}]}),
        ("V1-GEN-13", {"cwd": folder, "mcpServers": [server, {"name": "half"}]}),
        ("V1-GEN-13", {"cwd": folder, "mcpServers": [server, 5]}),
        ("V1-GEN-13", {"cwd": folder, "mcpServers": [server | {"env": [{"name": "HALF"}]}]}),
    ]
    methods = ["session/new"]
    methods += [method for method, path in OPENED_AGAIN if talk.can(path)]
    for method in methods:
        name = {} if method == "session/new" else {"sessionId": session}
        for rule, params in cases:
            error = await talk.error_of(method, name | params)
            said = f"{method} does not refuse it"
            if method == "session/new":
                judge_refusal(stage, rule, error, said, sent=params)
            else:
                # The code may say that the session is open already.
                stage.judge.judge(rule, bool(error), said, sent=name | params)
    await _judge_bad_blocks(stage, str((await talk.new_session())["sessionId"]))
    params = {"cwd": folder, "mcpServers": None}
    answer = await talk.peer.call("session/new", params)
    said = "null for mcpServers is not read as an empty list"
    stage.judge.judge("V1-SESS-08", "result" in answer, said, sent=params, came=answer)


async def _judge_bad_blocks(stage: AgentStage, session: str) -> None:
    """A malformed block is not dropped from a prompt, before or after a valid one."""
    good = {"type": "text", "text": said_plainly(stage)}
    for bad in (*malformed_blocks(), 5):
        params = {"sessionId": session, "prompt": [good, bad]}
        answer = await stage.talk.call("session/prompt", params, timeout=stage.talk.seconds)
        said = "a prompt with a malformed block beside a good one is not refused"
        if not judge_refusal(stage, "V1-GEN-13", ErrorOf(answer), said, sent=params):
            return


def malformed_blocks() -> list[Message]:
    """Return a block of each known type without each of its required members."""
    return [
        {key: value for key, value in block.items() if key != left_out}
        for block in WHOLE_BLOCKS
        for left_out in block
        if left_out != "type"
    ] + [
        {"type": "text", "text": 5},
        {"type": "resource", "resource": {"uri": "file:///accord-check.txt"}},
        {"type": "resource", "resource": {"text": "no address"}},
    ]


@check("V1-EXT-07")
async def errors_have_their_codes(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    cases = [
        (INVALID_PARAMS, "session/new", {}),
        (INVALID_PARAMS, "session/prompt", {"sessionId": 5, "prompt": []}),
        (NO_METHOD, "session/no_such_method", {}),
        (NO_METHOD, "no_such_method", {}),
    ]
    for code, method, params in cases:
        error = await talk.error_of(method, params)
        ok = error.get("code") == code or error.is_status
        stage.judge.judge("V1-EXT-07", ok, f"{method}: not {code}", sent=params, came=error)


@check("TR-STDIO-08")
async def bad_lines_do_not_end_the_connection(stage: AgentStage) -> None:
    await survive_bad_lines(stage, "TR-STDIO-08")


async def survive_bad_lines(stage: AgentStage, rule: str) -> None:
    """The first bad line after a good frame gets an error, further ones get none."""
    talk = stage.talk
    await talk.initialize()
    for raw, code in ((b"xx\n" * 50, -32700), (b"\xff\xfe\n", -32700), (b"5\n", INVALID_REQUEST)):
        since = len(talk.peer.frames)
        await talk.peer.send_raw(raw)
        if not await alive(talk):
            stage.judge.failed(rule, "a bad line ends the connection", sent=raw)
            return
        came = [one for one in talk.peer.frames[since:] if not one.sent]
        nulls = [null_error(one) for one in came if null_error(one) is not None]
        said = f"bad lines got {len(nulls)} errors {as_json(nulls[:3])}, not one {code}"
        if not stage.judge.judge(rule, nulls == [code], said, sent=raw[:40], came=came[:3]):
            return
    await talk.peer.send_raw(b"\n\r\n")
    stage.judge.judge(rule, await alive(talk), "blank lines end the connection")
    last = {"jsonrpc": "2.0", "id": "last", "method": "_accord_check/last"}
    await talk.peer.send_raw(json.dumps(last).encode())
    await talk.program.close_input()
    try:
        await talk.peer.answer_to("last")
    except Unanswered as error:
        said = f"a whole message without a newline at the end of the input: {error}"
        stage.judge.failed(rule, said, sent=last)


@check("TR-STDIO-02")
async def text_with_newlines_stays_on_its_line(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, "first line\nsecond line\r\nthird\u2028line")
    stage.judge.judge("TR-STDIO-02", await alive(talk), "the agent does not answer afterwards")


@check("TR-STDIO-07")
async def each_message_comes_at_once(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    for _ in range(3):
        await talk.peer.call(KNOWN_METHOD, {})
    stage.judge.passed("TR-STDIO-07")


@check("LIM-01")
async def deep_nesting_is_refused(stage: AgentStage) -> None:
    await refuse_depth(stage)


async def refuse_depth(stage: AgentStage) -> None:
    """A request nested 10,000 levels deep gets -32600, and the next one is answered."""
    talk = stage.talk
    await talk.initialize()
    nested = b'{"a":' * DEEP + b"1" + b"}" * DEEP
    start = b'{"jsonrpc":"2.0","id":"deep","method":"_accord_check/none","params":{"_meta":'
    since = len(talk.peer.frames)
    await talk.peer.send_raw(start + nested + b"}}\n")
    ok = await alive(talk)
    came = [one for one in talk.peer.frames[since:] if not one.sent and one.is_response]
    code = (came[0].object.get("error") or {}).get("code") if came else None
    said = f"deep nesting got {code}, not -32600, or nothing is answered afterwards"
    stage.judge.judge("LIM-01", ok and code == INVALID_REQUEST, said)


@check("LIM-04")
async def waiting_prompts_keep_their_order(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    say = stage.scenario.prompt("say") or ""
    ids = await behind_a_question(stage, session, (say, f"{say} "))
    if not ids:
        words = (stage.scenario.prompt("stream") or say, say, f"{say} ")
        ids = await talk.peer.ask_at_once("session/prompt", [asking(session, one) for one in words])
    try:
        answers = [await talk.peer.answer_to(one, timeout=talk.seconds) for one in ids]
    except Unanswered as error:
        raise NotReady(f"prompts that have to wait do not work: {error}") from None
    refused = [one for one in answers if "error" in one]
    if refused:
        # The official documents leave it open: the rule is Accord's decision, and so advice.
        said = "a prompt is refused while another one runs, instead of waiting"
        stage.judge.failed("LIM-04", said, came=refused[0])
        return
    places = [talk.peer.place_of_answer(one) for one in ids]
    said = "waiting prompts were not processed in order"
    came = [talk.peer.frames[at - 1] for at in sorted(places)]
    stage.judge.judge("LIM-04", places == sorted(places), said, sent=ids, came=came)


def asking(session: str, text: str) -> Message:
    """Return the params of a prompt."""
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}]}


async def behind_a_question(stage: AgentStage, session: str, words: Sequence[str]) -> list[Any]:
    """Send prompts while a turn waits for permission, then allow it; return their ids.

    There are none where the agent asks for nothing.
    """
    talk = stage.talk
    allowed, allow = anyio.Event(), talk.host.permission

    async def later(params: Message) -> Reply | None:
        await allowed.wait()
        return await allow(params)

    talk.host.permission = later
    since = len(talk.peer.frames)
    edit = stage.scenario.prompt("edit")
    first = await talk.send_prompt(session, edit) if edit is not None else None
    if first is None or await asked_in(talk, ASKING, first, since) is None:
        allowed.set()
        return []
    rest = await talk.peer.ask_at_once("session/prompt", [asking(session, one) for one in words])
    await talk.peer.settled()
    allowed.set()
    return [first, *rest]


@check("LIM-04", needs="long")
async def prompts_wait_in_line(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    if stage.scenario.tries and not await is_instant(talk, session):
        stage.judge.close("seventeen prompts are not sent to an agent with a model", failing=False)
        return
    first = await at_work(stage, session)
    ids = [await talk.send_prompt(session, stage.scenario.prompt("say") or "") for _ in range(17)]
    await talk.peer.settled()
    # On a busy machine the turn may end before all of them have arrived.
    if is_over(talk, first):
        raise TooLate(OVER)
    try:
        answer = await talk.peer.answer_to(ids[-1])
    except Unanswered:
        stage.judge.failed("LIM-04", "the 17th waiting prompt is not refused")
        return
    code = (answer.get("error") or {}).get("code")
    said = f"the 17th waiting prompt got {json.dumps(answer)[:200]}, not -32600"
    stage.judge.judge("LIM-04", code == INVALID_REQUEST, said)
