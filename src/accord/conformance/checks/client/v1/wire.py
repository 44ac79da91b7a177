"""Checks of clients, v1: the form of messages, and input that must not end a connection."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import anyio

from accord.conformance.check_definition import Findings, check, monitor
from accord.conformance.checks.agent.v1.extensions_and_providers import (
    judge_denials,
    judge_extension,
)
from accord.conformance.checks.agent.v1.wire import FOREIGN_META, null_error
from accord.conformance.checks.agent.v2.message_monitors import ABSOLUTE
from accord.conformance.client.check_environment import ANSWERING, UNKNOWN_METHOD, ClientStage
from accord.conformance.client.fake_agent import (
    MANUAL,
    SESSION,
    Conversation,
    Offer,
    error_code,
    modes,
    responses,
)
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.error_codes import CANCELLED
from accord.conformance.frames.raw_peer import (
    ALIVE_METHOD,
    Frame,
    Message,
    Unanswered,
    as_json,
    same,
)
from accord.conformance.frames.schema_validation import Flaw, flaws, tables

# Keys of v2's and the draft's `initialize` that may stand beside v1's in the first message.
_OTHER_KEYS = frozenset({"info", "capabilities"})
# How long a client gets no answer, to see whether it continues without.
HASTE_SECONDS = 1.0
# How long a client that was refused may take to try again, or to disconnect.
REFUSED_SECONDS = 3.0
# How often it is refused.
REFUSALS = 3
# The requests that name an open session.
INSIDE = frozenset({"session/cancel", "session/set_mode", "session/set_config_option"})
# Longer than the longest line that a peer must accept.
HUGE_BYTES = 40 * 2**20


@monitor("V1-GEN-01", "TR-STDIO-02", "TR-STDIO-04", role="client")
def lines(frames: Sequence[Frame], judge: Findings) -> None:
    """Every line is one JSON object with the member `jsonrpc`."""
    look_at_lines(frames, judge)


def look_at_lines(frames: Sequence[Frame], judge: Findings, *, arrays: bool = False) -> None:
    """Judge the lines of a client; with `arrays`, arrays of messages are valid, as in v2."""
    broken: list[Frame] = []
    for frame in frames:
        if frame.sent:
            continue
        if frame.flaw == "not UTF-8":
            judge.failed("V1-GEN-01", "a line is not UTF-8", came=frame)
        elif frame.flaw.startswith("the last line"):
            if queries.is_unended(frame):
                judge.failed("TR-STDIO-02", frame.flaw, came=frame)
        elif frame.flaw:
            broken.append(frame)
        elif arrays and isinstance(frame.message, list):
            continue
        elif not isinstance(frame.message, dict) or not _is_message(frame.object):
            judge.failed("TR-STDIO-04", "a line that is not a message", came=frame)
        else:
            judge.passed("TR-STDIO-02", "TR-STDIO-04")
            ok = frame.object.get("jsonrpc") == "2.0"
            judge.judge("V1-GEN-01", ok, 'jsonrpc is not "2.0"', came=frame)
    pieces = queries.pieces_of_messages(frames)
    if pieces:
        judge.failed("TR-STDIO-02", "a message goes over several lines", came=pieces)
    others = [frame for frame in broken if frame.raw.strip() and frame not in pieces]
    if others:
        judge.failed("TR-STDIO-04", "a line that is not JSON", came=others)


def _is_message(message: dict[str, Any]) -> bool:
    return any(key in message for key in ("method", "result", "error", "id"))


@monitor("V1-GEN-02", role="client")
def asked(frames: Sequence[Frame], judge: Findings) -> None:
    """A response has the id of a request that is open."""
    for frame, said in queries.unasked_responses(frames):
        judge.failed("V1-GEN-02", said, came=frame)


@monitor("V1-GEN-03", "V1-GEN-05", "V1-GEN-08", role="client")
def envelopes(frames: Sequence[Frame], judge: Findings) -> None:
    """Responses have one outcome, ids are whole numbers or strings, keys are in camelCase."""
    own = {
        json.dumps(one.object["id"])
        for one in frames
        if one.sent and one.is_request and (one.method or "").startswith("_")
    }
    for frame in frames:
        message = frame.object
        if frame.sent or not message:
            continue
        told: Any = frame.params
        if frame.is_response:
            judge.passed("V1-GEN-03")
            # The client's answers to its own methods are free.
            told = None if json.dumps(message.get("id")) in own else message.get("result")
        if frame.is_request:
            name = message.get("id")
            ok = isinstance(name, (int, str)) and not isinstance(name, bool)
            judge.judge("V1-GEN-05", ok, f"a request has the id {as_json(name)}", came=frame)
        wrong = next(_odd_words(told), "")
        judge.judge("V1-GEN-08", not wrong, wrong, came=frame)
    for frame, said in queries.bad_responses(frames):
        judge.failed("V1-GEN-03", said, came=frame)


@monitor("V1-EXT-07", role="client")
def stacks(frames: Sequence[Frame], judge: Findings) -> None:
    """Errors do not show a stack trace of the client."""
    for frame, said in queries.traces(frames):
        judge.failed("V1-EXT-07", said, came=frame)


def _odd_words(value: Any) -> Iterator[str]:
    """Find faults in keys, which are in camelCase, and in tags, which are not."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key.startswith("_") or key in ("rawInput", "rawOutput", "env", "headers", "content"):
                continue
            if "_" in key:
                yield f"the key {as_json(key)} is not camelCase"
            if key in queries.TAGS and isinstance(inner, str) and inner != inner.lower():
                yield f"the tag {as_json(inner)} of {key} is not snake_case"
            yield from _odd_words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _odd_words(inner)


@monitor("V1-GEN-06", "V1-GEN-09", "V1-SESS-07", "V1-SESS-23", "V1-INIT-09", role="client")
def shapes(frames: Sequence[Frame], judge: Findings) -> None:
    """Params and results have the types of v1."""
    for flaw in flaws(frames, "1", of_agent=False):
        rule = _rule_of(flaw)
        if rule:
            judge.failed(rule, str(flaw), came=flaw.frame)
    for frame in queries.received(frames):
        if frame.method == "session/new":
            there = "mcpServers" in frame.params
            judge.judge("V1-SESS-07", there, "mcpServers is missing", came=frame)
        if "cwd" in frame.params:
            cwd = frame.params["cwd"]
            ok = isinstance(cwd, str) and bool(ABSOLUTE.match(cwd))
            judge.judge("V1-GEN-06", ok, f"cwd is {as_json(cwd)}", came=frame)
        if (frame.method or "").startswith("session/") and frame.method not in _WITHOUT_SESSION:
            ok = isinstance(frame.params.get("sessionId"), str)
            judge.judge("V1-SESS-23", ok, "sessionId is missing", came=frame)
        if frame.params:
            judge.passed("V1-GEN-09")
        if frame.method is not None and frame.method != "initialize":
            foreign = frame.method in tables("2")[0] and frame.method not in tables("1")[0]
            judge.judge("V1-INIT-09", not foreign, "a method of v2 on v1", came=frame)


def _rule_of(flaw: Flaw) -> str:
    """Return the rule that a wrong type breaks; None if it is judged elsewhere, or allowed."""
    key = flaw.where.rpartition(".")[2]
    if flaw.why == "unknown key":
        # The first message may have the keys of other versions.
        allowed = flaw.method == "initialize" and key in _OTHER_KEYS
        return "" if allowed else "V1-GEN-09"
    if flaw.method == "initialize" or key in ("sessionId", "mcpServers", "cwd"):
        return ""
    if flaw.part == "method" or flaw.method in ("elicitation/create", "session/request_permission"):
        return ""
    return "V1-GEN-06" if "absolute path" in flaw.why else "V1-INIT-09"


@monitor("V1-EXT-01", "V1-EXT-06", "V1-EXT-08", role="client")
def extensions(frames: Sequence[Frame], judge: Findings) -> None:
    """Tracing keys have traces, extensions are announced, limits and denials have a reason."""
    announced: Any = None
    for frame in queries.received(frames):
        if frame.method == "initialize":
            announced = queries.at(frame.params, "clientCapabilities._meta")
        judge_extension(frame, announced, judge)
    judge_denials(frames, judge)


_WITHOUT_SESSION = frozenset({"session/new", "session/list"})


@check("TR-STDIO-07", role="client", basic=True)
async def answers_at_once(stage: ClientStage) -> None:
    """An answer is sent when it is written, not with the next message."""
    try:
        talk, prompt = await stage.to_prompt()
    except Unanswered as error:
        stage.leave_open(str(error))
    name = await talk.peer.ask(UNKNOWN_METHOD, {})
    try:
        await talk.peer.answer_to(name)
    except Unanswered as error:
        stage.reached.failed.setdefault(ANSWERING, str(error))
        # A delayed answer arrives with the client's next message, or with its end.
        await talk.finish(prompt, "end_turn")
        with anyio.move_on_after(REFUSED_SECONDS):
            await talk.peer.closed.wait()
        late = responses(talk.peer.frames, name)
        if not late:
            stage.leave_open(f"the client does not answer: {error}")
        said = "an answer came only with what the client did next"
        stage.judge.failed("TR-STDIO-07", said, came=late)
        return
    stage.judge.passed("TR-STDIO-07")
    await talk.end_turn(prompt)


@check("V1-EXT-04", "V1-GEN-02", "V1-EXT-07", role="client")
async def answers_what_it_does_not_know(stage: ClientStage) -> None:
    """Requests of any id are answered with that id; unknown methods are -32601."""
    talk, prompt = await stage.to_prompt()
    cases: list[tuple[str, Any, dict[str, Any] | None]] = [
        *((UNKNOWN_METHOD, name, {"n": 1}) for name in (7001, "7001", "abc", 0, -1, "")),
        (UNKNOWN_METHOD, 7002, None),
        ("session/accord_unknown", 7003, {"sessionId": SESSION}),
        ("accordUnknown", "7003", {}),
    ]
    for method, name, params in cases:
        since = len(talk.peer.frames)
        await talk.peer.ask(method, params, id=name)
        frame = await talk.peer.expect(lambda one: one.is_response, "an answer", since=since)
        ok = same(frame.object.get("id"), name)
        stage.judge.judge("V1-GEN-02", ok, "another id", sent=name, came=frame)
        code = error_code(frame.object)
        stage.judge.judge("V1-EXT-04", code == -32601, f"the code is {as_json(code)}", came=frame)
    # A known method, with a text as id.
    since = len(talk.peer.frames)
    await talk.peer.ask("session/request_permission", {"nonsense": True}, id="7004")
    frame = await talk.peer.expect(lambda one: one.is_response, "an answer", since=since)
    stage.judge.judge("V1-GEN-02", frame.object.get("id") == "7004", "another id", came=frame)
    answer = frame.object
    code = error_code(answer)
    error = json.dumps(answer.get("error"))
    clean = code == -32602 and "Traceback" not in error and "\\n    at " not in error
    # Another rule judges whether the method is missing.
    clean = clean or code == -32601
    stage.judge.judge("V1-EXT-07", clean, "bad params are not answered -32602", came=answer)
    await talk.end_turn(prompt)


@check("V1-GEN-04", "V1-EXT-05", "V1-CREQ-01", role="client")
async def leaves_notifications_unanswered(stage: ClientStage) -> None:
    """Neither a known, an unknown, a malformed nor a `$/` notification is answered."""
    talk, prompt = await stage.to_prompt()
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("V1-GEN-04", "session/update", {"sessionId": 5, "update": []}),
        ("V1-GEN-04", "session/request_permission", {"sessionId": SESSION} | talk.permission()),
        ("V1-EXT-05", "_accord.dev/unknown", {"n": 1}),
        ("V1-CREQ-01", "$/accord", {"n": 1}),
    ]
    for rule, method, params in cases:
        start = len(talk.peer.frames)
        await talk.peer.notify(method, params)
        alive = await talk.alive()
        others = _strays(talk.peer.frames[start:])
        ok = alive and not others
        for one in {rule, "V1-GEN-04"}:
            stage.judge.judge(one, ok, "a notification was answered", sent=method, came=others)
    await talk.end_turn(prompt)


def _strays(frames: Sequence[Frame]) -> list[Frame]:
    """Return the responses of the client, also in arrays, but not those to the kit."""
    asked = {frame.object.get("id") for frame in frames if frame.sent and frame.is_request}
    return [
        frame
        for frame in frames
        if not frame.sent
        and (isinstance(frame.message, list) or frame.is_response)
        and frame.object.get("id") not in asked
    ]


@check("V1-GEN-12", role="client")
async def reads_malformed_options_as_absent(stage: ClientStage) -> None:
    """An optional value of a wrong type in the agent's answer does not end the connection."""
    offer = Offer(capabilities="x", info=5)
    talk, prompt = await stage.to_prompt("prompt", offer, modes="x", configOptions="x")
    await talk.update("tool_call", toolCallId="call-1", title="T", kind=5, status=5, locations="x")
    await talk.update("session_info_update", title=5, updatedAt=5)
    stage.judge.judge("V1-GEN-12", await talk.alive(), "the client does not continue")
    whole = talk.permission()
    # A request without its call can still be decided, as some clients do.
    cases: list[tuple[str, Message]] = [
        ("session/request_permission", {"toolCall": whole["toolCall"]})
    ]
    if talk.can("fs", "readTextFile"):
        cases.append(("fs/read_text_file", {}))
    for method, params in cases:
        answer = await talk.call(method, **params)
        said = f"{method} without a required key is not refused"
        ok = error_code(answer) is not None or outcome_of(answer) == "cancelled"
        stage.judge.judge("V1-GEN-12", ok, said, sent=params, came=answer)
    await talk.end_turn(prompt)


def outcome_of(answer: Message) -> Any:
    """Return the outcome of a permission request."""
    return queries.at(answer, "result.outcome.outcome")


@check("V1-GEN-10", "V1-EXT-02", role="client")
async def goes_on_after_what_is_new(stage: ClientStage) -> None:
    """Unknown updates, keys and metadata do not end the connection."""
    new: Message = {"_meta": {"x.example/y": [1]}, "brandNew": {"a": 1}}
    talk, prompt = await stage.to_prompt(
        "prompt", stage.offer(more=new), **modes(stage.version), **new
    )
    await talk.update("accord_brand_new", anything=[1, 2])
    text = {"type": "text", "text": "hello", "brandNew": True}
    await talk.update("agent_message_chunk", content=text, extra={"a": 1})
    stage.judge.judge("V1-GEN-10", await talk.alive(), "the client does not continue")
    meta = {"_meta": FOREIGN_META}
    await talk.update("agent_message_chunk", content={"type": "text", "text": "x"} | meta, **meta)
    # Version 2 has its own rule for this.
    rules = [one for one in ("V1-EXT-02", "V2-GEN-11") if one in stage.judge.rules]
    try:
        alive = await talk.alive()
    except Unanswered:
        alive = False
    for rule in rules:
        stage.judge.judge(rule, alive, "the client does not continue")
    for method, params in _requests(stage, talk) if alive else ():
        more = params | meta
        if "toolCall" in params:
            more |= {"toolCall": params["toolCall"] | meta}
        if "options" in params:
            more |= {"options": [one | meta for one in params["options"]]}
        answer = await _answered(talk, method, more)
        if error_code(answer) is not None:
            plain = await _answered(talk, method, params)
            ok = error_code(plain) is not None
            said = f"{method} is refused with metadata, and not without"
            for rule in rules:
                stage.judge.judge(rule, ok, said, sent=more, came=answer)
    await talk.end_turn(prompt)


def _requests(stage: ClientStage, talk: Conversation) -> list[tuple[str, Message]]:
    """Return one request of each kind that this client accepts."""
    asked: list[tuple[str, Message]] = [("session/request_permission", talk.permission())]
    path = {"path": str(stage.folder / "new.txt")}
    if talk.can("fs", "writeTextFile"):
        asked.append(("fs/write_text_file", path | {"content": "new\n"}))
    if talk.can("fs", "readTextFile"):
        (stage.folder / "new.txt").write_text("new\n")
        asked.append(("fs/read_text_file", path))
    if talk.can("terminal"):
        asked.append(("terminal/create", {"command": "true", "cwd": str(stage.folder)}))
    if talk.can("elicitation", "form"):
        wanted = {"type": "object", "properties": {"name": {"type": "string"}}}
        params = {"mode": "form", "message": "Who?", "requestedSchema": wanted}
        asked.append(("elicitation/create", params))
    return asked


async def _answered(talk: Conversation, method: str, params: Message) -> Message:
    """Return the answer; an empty one if the client runs and waits for a person."""
    try:
        return await talk.call(method, **params)
    except Unanswered:
        if not await talk.alive():
            raise
        return {}


IN_ARRAY = {"jsonrpc": "2.0", "id": 8001, "method": "_accord.dev/unknown"}
NOTE_IN_ARRAY = {"jsonrpc": "2.0", "method": "_accord.dev/x"}
# An empty array, a request, a notification, and both beside something that is not a message.
ARRAYS: tuple[list[Any], ...] = (
    [], [IN_ARRAY], [NOTE_IN_ARRAY], [IN_ARRAY, NOTE_IN_ARRAY, 5],
)  # fmt: skip


async def answers_to_arrays(talk: Conversation) -> list[list[Frame]]:
    """Return the answers to each of the arrays."""
    came: list[list[Frame]] = []
    for case in ARRAYS:
        start = len(talk.peer.frames)
        await talk.peer.send(case)
        await talk.alive()
        await talk.peer.quiet()
        came.append(_strays(talk.peer.frames[start:]))
    return came


@check("V1-GEN-14", role="client")
async def refuses_arrays(stage: ClientStage) -> None:
    """An array gets one -32600 without an id, and its entries have no effect."""
    talk, prompt = await stage.to_prompt()
    for case, came in zip(ARRAYS, await answers_to_arrays(talk), strict=True):
        ok = [null_error(one) for one in came] == [-32600]
        stage.judge.judge("V1-GEN-14", ok, "not one -32600 with id null", sent=case, came=came)
    await talk.end_turn(prompt)


@check("V1-GEN-11", role="client")
async def copes_with_unknown_error_codes(stage: ClientStage) -> None:
    """A prompt that fails with an unknown code does not crash the client."""
    talk, prompt = await stage.to_prompt()
    await talk.refuse(prompt, -32077, "something of our own")
    assert stage.client is not None
    code = await stage.client.ended(stage.patience)
    ok = code is None or code >= 0
    stage.judge.judge("V1-GEN-11", ok, f"the client was ended by signal {-(code or 0)}")
    crashed = queries.TRACE.search(stage.stderr())
    stage.judge.judge("V1-GEN-11", not crashed, "the client crashed", came=stage.stderr())


@check("V1-CREQ-02", "V1-CREQ-05", role="client")
async def answers_cancelled_requests_once(stage: ClientStage) -> None:
    """A request that the agent cancels is answered once; cancelling it again changes nothing."""
    # A client that can be made to cancel leaves the request open until then.
    talk, prompt = await stage.to_prompt("cancel" if stage.scenario.get("cancel") else "prompt")
    name = await talk.ask("session/request_permission", **talk.permission())
    await talk.peer.notify("$/cancel_request", {"requestId": name})
    try:
        await talk.peer.answer_to(name)
    except Unanswered:
        # The client may ignore this one, but not its own cancel.
        if not stage.scenario.get("cancel"):
            stage.leave_open("the client leaves the question to a person")
        await talk.say("working")
        await stage.cancelled(talk)
        await talk.peer.answer_to(name)
        stage.need(False, "the client ignores it, which is allowed")
    alive = await talk.alive()
    came = responses(talk.peer.frames, name)
    code = error_code(came[0].object) if came else None
    ok = len(came) == 1 and code in (None, CANCELLED)
    stage.judge.judge("V1-CREQ-02", ok, "not one answer, or an error but -32800", came=came)
    await talk.peer.notify("$/cancel_request", {"requestId": name})
    alive = alive and await talk.alive()
    strays = _strays(talk.peer.frames) + responses(talk.peer.frames, name)[len(came) :]
    stage.judge.judge("V1-CREQ-05", alive and not strays, "an answer to a cancel", came=strays)
    await talk.end_turn(prompt)


@check("TR-STDIO-08", role="client")
async def survives_bad_lines(stage: ClientStage) -> None:
    """The first of some bad lines gets -32700, the others no answer, and the client continues."""
    talk, prompt = await stage.to_prompt()
    start = len(talk.peer.frames)
    await talk.peer.send_raw(b"xx\n" * 50)
    first = await talk.alive()
    await talk.peer.send_raw(b"\n\n\xff\xfe\n")
    second = await talk.alive()
    strays = _strays(talk.peer.frames[start:])
    codes = [error_code(frame.object) for frame in strays]
    ok = first and second and codes == [-32700, -32700]
    said = f"two runs of bad lines were answered with {as_json(codes)}"
    stage.judge.judge("TR-STDIO-08", ok, said, sent="xx (50 times)", came=strays)
    await talk.end_turn(prompt)


@check("LIM-01", role="client")
async def refuses_deep_nesting(stage: ClientStage) -> None:
    """A request that is nested too deeply gets -32600, and the client continues."""
    talk, prompt = await stage.to_prompt()
    deep = b"[" * 10_000 + b"]" * 10_000
    line = b'{"jsonrpc":"2.0","id":9001,"method":"_accord.dev/deep","params":{"a":' + deep + b"}}\n"
    start = len(talk.peer.frames)
    await talk.peer.send_raw(line)
    alive = await talk.alive()
    refused = [
        frame
        for frame in talk.peer.frames[start:]
        if not frame.sent and error_code(frame.object) == -32600
    ]
    ok = alive and len(refused) == 1
    stage.judge.judge("LIM-01", ok, "not refused with one -32600", came=refused)
    await talk.end_turn(prompt)


@check("LIM-03", role="client")
async def ends_on_an_endless_line(stage: ClientStage) -> None:
    """A line over every bound ends the connection, without an answer."""
    talk, _prompt = await stage.to_prompt()
    start = len(talk.peer.frames)
    huge = b'{"jsonrpc":"2.0","method":"_x","params":["' + b"x" * HUGE_BYTES + b'"]}'
    await talk.peer.send_raw(huge + b"\n")
    await talk.peer.ask(ALIVE_METHOD, {})
    try:
        await talk.peer.expect(lambda _frame: True, "the end of the connection", since=start)
    except Unanswered:
        pass
    came = [frame for frame in talk.peer.frames[start:] if not frame.sent]
    ok = talk.peer.closed.is_set() and not came
    stage.judge.judge("LIM-03", ok, "the connection goes on", came=came)


@check("V1-INIT-01", "V1-SESS-01", "V1-PROMPT-01", role="client")
async def keeps_the_order_of_a_start(stage: ClientStage) -> None:
    """initialize, then a session, then a prompt; nothing before the answer to initialize."""
    talk = await stage.start()
    first = await talk.request(*MANUAL)
    ok = first.method == "initialize"
    stage.judge.judge("V1-INIT-01", ok, f"the first request is {first.method}", came=first)
    if not ok:
        return
    await talk.peer.quiet(HASTE_SECONDS)
    made = [frame for frame in talk.peer.received() if (frame.method or "").startswith("session/")]
    stage.judge.judge("V1-SESS-01", not made, "a session before the answer", came=made)
    talk.hello = first.params
    await talk.reply(first, stage.offer().answer(stage.version))
    opening = ("session/new", "session/load", "session/resume")
    second = await talk.request(*opening, "session/prompt")
    await talk.peer.quiet(HASTE_SECONDS)
    early = talk.peer.received("session/prompt")
    said = "a prompt before the session was opened"
    stage.judge.judge("V1-PROMPT-01", not early, said, came=early)
    if second.method in opening:
        await talk.reply(second, {"sessionId": SESSION} | modes(stage.version))


@check("V1-SESS-01", role="client")
async def opens_nothing_when_refused(stage: ClientStage) -> None:
    """A client whose `initialize` is refused may try again, and opens no session."""
    talk = await stage.start()
    for _ in range(REFUSALS):
        try:
            frame = await talk.request(*MANUAL, timeout=REFUSED_SECONDS)
        except Unanswered:
            break
        if frame.method != "initialize":
            break
        await talk.refuse(frame, -32603, "Internal error")
    came = [one for one in talk.peer.received() if (one.method or "").startswith("session/")]
    said = "a session after initialize was refused"
    stage.judge.judge(stage.judge.rules[0], not came, said, came=came)


@monitor("V1-PROMPT-01", "V1-SESS-23", role="client")
def prompts_come_after_sessions(frames: Sequence[Frame], judge: Findings) -> None:
    """A prompt names a session that is open, not one that is still being opened."""
    asked_about: set[str] = set()
    ever: frozenset[str] = frozenset()
    for frame, opened in queries.with_open_sessions(frames):
        ever |= opened
        name = frame.params.get("sessionId")
        if frame.sent:
            continue
        if frame.method == "session/status":
            # V1-CLOSE-25 judges prompts to a session that is known only by its status.
            asked_about.add(str(name))
        elif frame.method == "session/prompt" and str(name) not in asked_about:
            # V1-SESS-23 judges a prompt without a session.
            ok = str(name) in opened or (name is None and bool(opened))
            said = f"the session {as_json(name)} is not open"
            judge.judge("V1-PROMPT-01", ok, said, came=frame)
        elif frame.method in INSIDE:
            said = f"{frame.method} names the session {as_json(name)}, which is not open"
            judge.judge("V1-SESS-23", name in ever, said, came=frame)
