"""Checks of clients, v2: the wire, initialization, gates, permissions and cancelling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import anyio

from accord.conformance.check_definition import Check, Findings, check, monitor
from accord.conformance.checks.agent.v1.wire import CODES
from accord.conformance.checks.agent.v2.batches import BATCHES, judge_arrays, look_at_arrays
from accord.conformance.checks.client.v1 import wire as v1
from accord.conformance.checks.client.v1.initialize import (
    LEAVE_SECONDS,
    gated,
    judge_first_message,
    judge_leaving,
    next_page,
    offered,
    relative_paths,
    unwanted_blocks,
    without,
)
from accord.conformance.checks.client.v1.logins import judge_terminal_login, used_logins
from accord.conformance.checks.client.v1.turns import (
    answers_permission_requests,
    fills_in_forms_safely,
    outcome,
    refuses_modes_that_it_has_not,
)
from accord.conformance.client.check_environment import ClientStage
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
from accord.conformance.frames.raw_peer import Frame, Message, Unanswered, as_json
from accord.conformance.frames.schema_validation import flaws

# All capabilities that an agent of v2 can offer.
ALL: Message = {
    "session": {
        "prompt": {"image": {}, "audio": {}, "embeddedContext": {}},
        "mcp": {"stdio": {}, "http": {}},
        "delete": {},
        "additionalDirectories": {},
    }
}
SESSION_METHODS = (
    "session/new",
    "session/load",
    "session/resume",
    "session/list",
    "session/delete",
)
KEY = {"type": "agent", "methodId": "key", "name": "Key"}
# Subjects of a known type with an invalid payload.
BAD_SUBJECTS: tuple[Message, ...] = (
    {"type": "tool_call", "toolCall": 5},
    {"type": "tool_call"},
    {"type": "tool_call", "toolCall": {"title": "no id"}},
    {"type": "command", "cwd": "/"},
)
TERMINAL = {"type": "terminal", "methodId": "tty", "name": "In a terminal"}
# How long the answer to a prompt is delayed, to see whether the client waits for it.
HELD_SECONDS = 0.7
# A client that decides at once takes less time than this.
DECIDING_SECONDS = 0.1

# Monitors that are the same in both versions.
lines = monitor("V1-GEN-01", "TR-STDIO-02", "TR-STDIO-04", role="client", version="2")(
    partial(v1.look_at_lines, arrays=True)
)
asked = monitor("V1-GEN-02", role="client", version="2")(v1.asked.look)
envelopes = monitor("V1-GEN-03", "V1-GEN-05", "V1-GEN-08", role="client", version="2")(
    v1.envelopes.look
)
stacks = monitor("V1-EXT-07", role="client", version="2")(v1.stacks.look)
answers = check("V1-EXT-04", "V1-GEN-02", "V1-EXT-07", role="client", version="2")(
    v1.answers_what_it_does_not_know.run
)
silence = check("V1-GEN-04", "V1-EXT-05", "V1-CREQ-01", role="client", version="2")(
    v1.leaves_notifications_unanswered.run
)
bad_lines = check("TR-STDIO-08", role="client", version="2")(v1.survives_bad_lines.run)
deep_nesting = check("LIM-01", role="client", version="2")(v1.refuses_deep_nesting.run)
endless_line = check("LIM-03", role="client", version="2")(v1.ends_on_an_endless_line.run)
what_is_new = check("V1-GEN-10", "V1-EXT-02", "V2-GEN-11", role="client", version="2")(
    v1.goes_on_after_what_is_new.run
)


forms = check(
    "V1-ELIC-21", "V1-ELIC-19", "V1-ELIC-23", "V1-ELIC-27", role="client", version="2"
)(fills_in_forms_safely.run)  # fmt: skip
modes_of_forms = check("V1-ELIC-02", "V1-ELIC-03", "V1-ELIC-17", role="client", version="2")(
    refuses_modes_that_it_has_not.run
)
permissions = check("V1-PERM-02", "V1-PERM-03", role="client", version="2")(
    answers_permission_requests.run
)
refused = check("V2-SESS-01", role="client", version="2")(v1.opens_nothing_when_refused.run)
sent_arrays = monitor("TR-BATCH-07", role="client", version="2")(look_at_arrays)


@check("V2-GEN-06", *BATCHES, role="client", version="2")
async def arrays(stage: ClientStage) -> None:
    """Arrays are processed or refused: the sources differ, and both are accepted."""
    talk, prompt = await stage.to_prompt()
    judge_arrays(stage.judge, v1.ARRAYS, await v1.answers_to_arrays(talk))
    await talk.end_turn(prompt)


@monitor("V2-GEN-01", "V2-GEN-02", role="client", version="2")
def ids(frames: Sequence[Frame], judge: Findings) -> None:
    """Ids are whole numbers or texts, and not reused while their request is open."""
    for frame, said in queries.odd_ids(frames):
        judge.failed("V2-GEN-01", said, came=frame)
    if any(queries.open_together(frames)):
        judge.passed("V2-GEN-02")
    for frame, said in queries.reused_ids(frames):
        judge.failed("V2-GEN-02", said, came=frame)


@monitor("V2-GEN-03", role="client", version="2")
def nulls(frames: Sequence[Frame], judge: Findings) -> None:
    """An error has the id of its request if that can be read."""
    for frame, said in queries.null_answers(frames):
        judge.failed("V2-GEN-03", said, came=frame)


@monitor("V2-GEN-04", "V2-GEN-08", "V1-GEN-09", "V2-SESS-25", role="client", version="2")
def shapes(frames: Sequence[Frame], judge: Findings) -> None:
    """Params and results are those of v2, without custom values that lack an underscore."""
    for flaw in flaws(frames, "2", of_agent=False):
        key = flaw.where.rpartition(".")[2]
        if flaw.frame.method == "initialize" and key in ("clientInfo", "clientCapabilities"):
            continue
        if "unknown variant" in flaw.why or "unknown value" in flaw.why:
            rule = "V2-SESS-25" if "mcpServers" in flaw.where else "V2-GEN-08"
        else:
            rule = "V1-GEN-09" if flaw.why == "unknown key" else "V2-GEN-04"
        judge.failed(rule, str(flaw), came=flaw.frame)
    if any(frame.method == "session/new" for frame in frames if not frame.sent):
        judge.passed("V2-GEN-04", "V2-GEN-08", "V1-GEN-09")
    if any(frame.params.get("mcpServers") for frame in frames if not frame.sent):
        judge.passed("V2-SESS-25")


@monitor("V2-PROMPT-01", "V2-SESS-23", "V2-SESS-21", "V2-AUTH-02", role="client", version="2")
def gates(frames: Sequence[Frame], judge: Findings) -> None:
    """Prompts, folders and calls are those that the agent accepts."""
    can = offered(frames, "capabilities.session")

    def marked(name: str) -> bool:
        return isinstance(queries.at(can, name), dict)

    def takes(kind: str) -> bool:
        return marked("prompt.embeddedContext" if kind == "resource" else f"prompt.{kind}")

    for frame in queries.received(frames):
        if frame.method == "session/prompt":
            content = frame.params.get("prompt")
            judge.judge("V2-PROMPT-01", bool(content), "an empty prompt", came=frame)
            wrong = unwanted_blocks(frame, takes)
            said = f"the agent accepts no blocks of {', '.join(wrong)}"
            judge.judge("V2-PROMPT-01", not wrong, said, came=frame)
        roots = frame.params.get("additionalDirectories")
        if roots is not None:
            # Even an empty list is one.
            ok = marked("additionalDirectories")
            judge.judge("V2-SESS-23", ok, "additionalDirectories was not offered", came=frame)
            wrong_ones = relative_paths(roots)
            said = f"{as_json(wrong_ones)} is not absolute"
            judge.judge("V2-SESS-23", not wrong_ones, said, came=frame)
        if frame.method == "session/delete" and not marked("delete"):
            judge.failed("V2-SESS-21", "session/delete was not offered", came=frame)
        if frame.method in ("auth/login", "auth/logout") and not offered(frames, "authMethods"):
            judge.failed("V2-AUTH-02", f"{frame.method} without any login", came=frame)


@monitor("V1-AUTH-01", "V2-AUTH-05", role="client", version="2")
def logins(frames: Sequence[Frame], judge: Findings) -> None:
    """A client logs in by a method that the agent listed, and not by one for terminals."""
    for frame, method in used_logins(frames, "auth/login", "methodId"):
        if not offered(frames, "authMethods"):
            # V2-AUTH-02 judges whether there is a login.
            continue
        name = frame.params.get("methodId")
        judge.judge(
            "V1-AUTH-01", method is not None, f"there is no login {as_json(name)}", came=frame
        )
        by_terminal = (method or {}).get("type") == "terminal"
        said = "auth/login was called with a login for terminals"
        judge.judge("V2-AUTH-05", not by_terminal, said, came=frame)


@check("V2-INIT-01", "TR-STDIO-07", role="client", version="2", basic=True)
async def introduces_itself(stage: ClientStage) -> None:
    """The first message has the client's name and version."""
    talk = await stage.start()
    frame = await talk.request("initialize")
    await judge_first_message(stage, talk, frame)
    asked = frame.params.get("protocolVersion")
    stage.need(isinstance(asked, int) and asked >= 2, f"the client speaks version {as_json(asked)}")
    info = frame.params.get("info")
    ok = isinstance(info, dict) and all(info.get(key) for key in ("name", "version"))
    stage.judge.judge("V2-INIT-01", ok, "info is missing", came=frame)


at_once = check("TR-STDIO-07", role="client", version="2", basic=True)(v1.answers_at_once.run)


@check("V2-SESS-01", role="client", version="2")
async def initializes_first(stage: ClientStage) -> None:
    """A session is not opened before the answer to `initialize`."""
    talk = await stage.start()
    first = await talk.request(*MANUAL)
    await talk.peer.quiet(v1.HASTE_SECONDS)
    early = [f for f in talk.peer.received() if (f.method or "").startswith("session/")]
    ok = first.method == "initialize" and not early
    stage.judge.judge("V2-SESS-01", ok, "a session before the answer", came=early)


@check("V2-INIT-04", role="client", version="2")
async def leaves_a_version_that_it_does_not_speak(stage: ClientStage) -> None:
    """After an answer with version 7 the client does not continue; to disconnect is advice."""
    await judge_leaving(stage, "V2-INIT-04", 7, must_close=False)


@check("V2-INIT-11", role="client", version="2")
async def opens_nothing_where_there_are_no_sessions(stage: ClientStage) -> None:
    """Without the capability `session` no method of sessions is called."""
    for purpose in ("prompt", "list", "load", "resume", "close", "delete"):
        if stage.scenario.get(purpose) is not None:
            came = await _sessions_at(stage, purpose, Offer())
            stage.judge.judge("V2-INIT-11", not came, "sessions were not offered", came=came)


async def _sessions_at(stage: ClientStage, purpose: str, offer: Offer) -> list[Frame]:
    """Return the methods of sessions that a client calls at an agent without them."""
    talk = await stage.begin(purpose, offer)
    try:
        await talk.request(*SESSION_METHODS, timeout=LEAVE_SECONDS)
    except Unanswered:
        pass
    return [one for one in talk.peer.received() if (one.method or "").startswith("session/")]


@check("V2-INIT-09", role="client", version="2")
async def opens_nothing_for_a_marker_that_is_none(stage: ClientStage) -> None:
    """`session` is a marker as well: `true` is not support."""
    came = await _sessions_at(stage, "prompt", Offer(capabilities={"session": True}))
    stage.judge.judge("V2-INIT-09", not came, "`true` was taken for a marker", came=came)


@check("V2-INIT-09", "V2-PROMPT-01", role="client", version="2")
async def reads_markers_as_objects(stage: ClientStage) -> None:
    """`true` is not a marker: no image is sent; and a prompt is never empty."""
    some = without(ALL, "session.prompt.image")["session"]["prompt"]
    for takes in ({"image": True}, some | {"image": True}):
        offer = Offer(capabilities={"session": {"prompt": takes}})
        talk, _ = await stage.to_session("image", offer)
        try:
            prompt = await talk.request("session/prompt", timeout=LEAVE_SECONDS)
        except Unanswered:
            stage.judge.passed("V2-INIT-09")
            continue
        wrong = unwanted_blocks(prompt, lambda kind: kind != "image")
        stage.judge.judge("V2-INIT-09", not wrong, f"blocks of {', '.join(wrong)}", came=prompt)
        empty = not prompt.params.get("prompt")
        stage.judge.judge("V2-PROMPT-01", not empty, "an empty prompt", came=prompt)


def gate(purpose: str, rule: str, method: str, can: Message) -> Check[ClientStage]:
    """Make a check that a method is not called if it was not offered.

    Neither where nothing is offered nor where all else is, which `can` says.
    """

    async def never_calls(stage: ClientStage) -> None:
        for offer in (stage.offer(), Offer(capabilities=can)):
            came = await gated(stage, purpose, offer, method)
            stage.judge.judge(rule, not came, f"{method} was not offered", came=came)

    never_calls.__name__ = f"never_calls_{method.replace('/', '_')}_unasked"
    return check(rule, role="client", version="2")(never_calls)


delete_gate = gate("delete", "V2-SESS-21", "session/delete", without(ALL, "session.delete"))
logout_gate = gate("logout", "V2-AUTH-02", "auth/logout", ALL)


@check("V2-GEN-04", "V1-AUTH-01", role="client", version="2")
async def logs_in_as_version_2_has_it(stage: ClientStage) -> None:
    """On -32000 the client uses an offered method, by `auth/login`."""
    offer = stage.offer(auth_methods=[KEY])
    talk = await stage.begin("login", offer, manual=("auth/login", "authenticate"))
    try:
        frame = await talk.request("session/new", "auth/login", "authenticate")
        if frame.method == "session/new":
            data = {"reason": "auth_required", "authMethods": [KEY]}
            await talk.refuse(frame, -32000, "Authentication required", data)
            frame = await talk.request("auth/login", "authenticate")
    except Unanswered as error:
        stage.leave_open(f"the client does not log in: {error}")
    ok = frame.method == "auth/login"
    stage.judge.judge("V2-GEN-04", ok, "a login of version 1", came=frame)
    method = frame.params.get("methodId")
    ok = method == KEY["methodId"]
    stage.judge.judge("V1-AUTH-01", ok, f"methodId is {as_json(method)}", came=frame)


@check("V2-GEN-04", role="client", version="2")
async def works_as_version_2_has_it(stage: ClientStage) -> None:
    """The monitor judges the messages; this check gives the client reasons to use version 1."""
    for purpose in ("mode", "load", "close"):
        if stage.scenario.get(purpose) is None:
            continue
        talk = await stage.begin(purpose, Offer(capabilities=ALL))
        try:
            await talk.session(**modes(stage.version))
            await talk.end_turn(await talk.prompt())
        except Unanswered:
            pass


@check("V2-AUTH-05", "V2-AUTH-07", role="client", version="2")
async def never_logs_in_by_terminal(stage: ClientStage) -> None:
    """A method of type terminal is never passed to `auth/login`, and its login reconnects."""
    offer = stage.offer(auth_methods=[TERMINAL])
    await judge_terminal_login(stage, offer, "auth/login", ("V2-AUTH-05", "V2-AUTH-07"))


@check("V2-SESS-23", role="client", version="2")
async def sends_no_roots_unasked(stage: ClientStage) -> None:
    """`additionalDirectories` is sent only to an agent that accepts it."""
    all_else = Offer(capabilities=without(ALL, "session.additionalDirectories"))
    # The monitor judges the params.
    for offer in (stage.offer(), all_else, Offer(capabilities=ALL)):
        talk = await stage.begin("roots", offer)
        try:
            await talk.session()
        except Unanswered:
            stage.judge.passed("V2-SESS-23")


@check("V2-SESS-06", role="client", version="2")
async def resumes_with_its_folder(stage: ClientStage) -> None:
    """A session is resumed with its folder, its roots and the servers of the client.

    Which these are is told where the client lists sessions; the folder is its own where it does
    not.
    """
    names = ("elsewhere", "root-1", "root-2")
    elsewhere, *roots = [str(stage.folder.parent / name) for name in names]
    for folder in (elsewhere, *roots):
        await anyio.Path(folder).mkdir()
    if stage.scenario.get("resume") is None:
        stage.leave_open("no scenario says how to make the client do this: resume")
    talk = await stage.begin("prompt", Offer(capabilities=ALL))
    opened = await talk.request("session/new", "session/resume")
    servers = opened.params.get("mcpServers") or []
    for folder in (str(stage.folder), elsewhere):
        talk = await stage.begin("resume", Offer(capabilities=ALL), manual=("session/list",))
        frame, listed = await _resuming(talk, folder, roots)
        known = listed.get("cwd", str(stage.folder))
        cwd = frame.params.get("cwd")
        stage.judge.judge(
            "V2-SESS-06", cwd == known, f"cwd is {as_json(cwd)}", sent=listed, came=frame
        )
        given = frame.params.get("additionalDirectories") or []
        ok = not listed or given == roots
        stage.judge.judge("V2-SESS-06", ok, f"the roots are {given}", sent=listed, came=frame)
        ok = (frame.params.get("mcpServers") or []) == servers
        stage.judge.judge("V2-SESS-06", ok, "not the servers of a new session", came=frame)


async def _resuming(talk: Conversation, folder: str, roots: list[str]) -> tuple[Frame, Message]:
    """Wait for the request to resume the session; also return its entry in the list."""
    listed: Message = {}
    frame = await talk.reach("session/list", "session/resume")
    while frame.method == "session/list":
        # A request for the sessions of one folder finds it.
        known = frame.params.get("cwd") or folder
        listed = {"sessionId": SESSION, "cwd": known, "additionalDirectories": roots}
        await talk.reply(frame, {"sessions": [listed]})
        frame = await talk.reach("session/list", "session/resume")
    return frame, listed


@check("V2-SESS-20", role="client", version="2")
async def takes_an_empty_cursor_for_one(stage: ClientStage) -> None:
    """Only null or no cursor ends a list; an empty text is a cursor."""
    talk = await stage.begin("list", manual=("session/list",))
    first = await talk.reach("session/list")
    await talk.reply(first, {"sessions": [], "nextCursor": "more"})
    await talk.reply(await next_page(stage, talk), {"sessions": [], "nextCursor": ""})
    try:
        third = await talk.request("session/list")
    except Unanswered:
        stage.judge.failed("V2-SESS-20", "an empty cursor ends the list")
        return
    same = third.params.get("cursor") == ""
    last = {"sessionId": "kit-9", "cwd": str(stage.folder)}
    await talk.reply(third, {"sessions": [last], "nextCursor": None})
    more = [frame for frame in await talk.peer.settled() if frame.method == "session/list"]
    ok = same and not more
    stage.judge.judge("V2-SESS-20", ok, "not exactly three pages", came=[third, *more])


@check("V2-GEN-01", "V2-GEN-03", "V2-GEN-07", CODES, role="client", version="2")
async def refuses_odd_requests(stage: ClientStage) -> None:
    """Ids that are null or fractions get -32600; a known tag with a bad payload is an error."""
    talk, prompt = await stage.to_prompt()
    if stage.way == "http":
        said = "over HTTP an error without an id belongs to no session, and servers refuse it"
        stage.judge.skipped("V2-GEN-01", said)
    for odd in () if stage.way == "http" else (None, 1.5):
        sent: Message = {"jsonrpc": "2.0", "id": odd, "method": "_accord.dev/odd", "params": {}}
        since = len(talk.peer.frames)
        await talk.peer.send(sent)
        frame = await talk.peer.expect(lambda f: f.is_response, "an answer", since=since)
        ok = error_code(frame.object) == -32600 and frame.object.get("id", 0) is None
        stage.judge.judge("V2-GEN-01", ok, "not -32600 with id null", sent=sent, came=frame)
    for bad in BAD_SUBJECTS:
        since = len(talk.peer.frames)
        params = talk.permission() | {"subject": bad}
        name = await talk.ask("session/request_permission", **params)
        frame = await talk.peer.expect(lambda f: f.is_response, "an answer", since=since)
        known = frame.object.get("id") == name
        stage.judge.judge("V2-GEN-03", known, "the answer has another id", came=frame)
        code = error_code(frame.object)
        ok = code is not None
        stage.judge.judge("V2-GEN-07", ok, "a bad subject is not refused", sent=bad, came=frame)
        if ok:
            said = f"refused with {code}, not -32602"
            stage.judge.judge(CODES, code == -32602, said, sent=bad, came=frame)
    if talk.can("elicitation", "form"):
        answer = await talk.call("elicitation/create", mode="form", message="Who?")
        ok = error_code(answer) is not None
        stage.judge.judge("V2-GEN-07", ok, "a form without its fields is not refused", came=answer)
    await talk.end_turn(prompt)


@check("V2-CANCEL-10", "V2-CANCEL-14", "V2-CANCEL-15", "V2-CANCEL-13", role="client", version="2")
async def settles_cancelled_requests(stage: ClientStage) -> None:
    """A permission request that the agent cancels is answered once, as cancelled."""
    holds = stage.scenario.get("cancel") is not None
    purpose = "cancel" if holds else "prompt"
    talk, _ = await stage.to_session(purpose)
    with stage.reached.step(f"a prompt for {purpose!r}"):
        prompt = await talk.request("session/prompt")
    await _judge_own_prompt(stage, talk, prompt)
    await talk.insert(prompt)
    name = await talk.ask("session/request_permission", **talk.permission())
    await talk.peer.notify("$/cancel_request", {"requestId": name})
    try:
        answer = await talk.peer.answer_to(name)
    except Unanswered:
        stage.judge.failed("V2-CANCEL-14", "a cancelled request is never answered")
        return
    code = error_code(answer)
    said = f"it is answered with {as_json(code)}, which is not -32800"
    stage.judge.judge("V2-CANCEL-14", code in (None, CANCELLED), said, came=answer)
    got = outcome(answer)
    kind = got.get("outcome") if isinstance(got, dict) else None
    if kind == "selected" and not await _decides_in_spite_of_cancels(talk):
        said = "the client decides without waiting for anybody"
        stage.judge.skipped("V2-CANCEL-10", said)
    else:
        stage.judge.judge("V2-CANCEL-10", kind == "cancelled", f"it is {kind}", came=answer)
    for known in (name, "nobody", 999_999):
        await talk.peer.notify("$/cancel_request", {"requestId": known})
        await talk.alive()
        count = len(responses(talk.peer.frames, known))
        ok = count == (1 if known == name else 0)
        stage.judge.judge("V2-CANCEL-15", ok, f"{count} answers to {as_json(known)}")
    await talk.end_turn(prompt)


async def _decides_in_spite_of_cancels(talk: Conversation) -> bool:
    """Whether the client chooses an option well after it has read that the request is cancelled.

    What it answers to a later question shows that it has.
    """
    for _ in range(2):
        name = await talk.ask("session/request_permission", **talk.permission())
        await talk.peer.notify("$/cancel_request", {"requestId": name})
        await talk.alive()
        read = talk.peer.received()[-1].at
        if responses(talk.peer.frames, name):
            return False
        await talk.peer.answer_to(name)
        answer = responses(talk.peer.frames, name)[0]
        chosen = queries.at(outcome(answer.object), "outcome") == "selected"
        if not chosen or answer.at - read < DECIDING_SECONDS:
            return False
    return True


async def _judge_own_prompt(stage: ClientStage, talk: Conversation, prompt: Frame) -> None:
    """The agent cannot cancel the client's prompt: it stays open, and the client waits for it.

    What the client does meanwhile in any case is seen before.
    """
    before = {one.method for one in await talk.peer.quiet(HELD_SECONDS)}
    since = len(talk.peer.frames)
    await talk.peer.notify("$/cancel_request", {"requestId": prompt.object.get("id")})
    try:
        alive = await talk.alive()
    except Unanswered:
        alive = False
    came = [one for one in await talk.peer.quiet(HELD_SECONDS) if one.method is not None]
    came += [one for one in talk.peer.frames[since:] if one.method == "session/cancel"]
    news = [one for one in came if one.method not in before]
    ok = alive and not news and not talk.peer.closed.is_set()
    said = "the client cancelled its own prompt, or continues as if it were over"
    stage.judge.judge("V2-CANCEL-13", ok, said, came=news)
    if not alive or talk.peer.closed.is_set() or any(one.is_request for one in news):
        stage.leave_open("the client does not wait for its prompt any more")


@check("V2-CANCEL-16", role="client", version="2")
async def cancels_no_single_call_unasked(stage: ClientStage) -> None:
    """A call or terminal that does not offer it is not cancelled unasked."""
    talk, prompt = await stage.to_prompt("cancel")
    await talk.update("tool_call_update", toolCallId="c1", title="T", status="in_progress")
    await talk.say("working")
    await stage.cancelled(talk)
    await talk.alive()
    came = talk.peer.received("tool_call/cancel") + talk.peer.received("terminal/cancel")
    stage.judge.judge("V2-CANCEL-16", not came, "it was not offered", came=came)
    await talk.end_turn(prompt, "cancelled")
