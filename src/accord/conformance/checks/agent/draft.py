"""Checks and monitors of agents of the 2026-02 draft."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from accord.conformance.agent.check_environment import AgentStage, Talk
from accord.conformance.agent.fake_client import always, choosing
from accord.conformance.agent.fake_draft_client import granted
from accord.conformance.agent.turn import asked_to_edit, begun, calls_of
from accord.conformance.check_definition import Findings, check, monitor
from accord.conformance.checks.agent.v1.message_monitors import not_asked, responses, watching
from accord.conformance.checks.agent.v1.sessions import asked_of, comes_true
from accord.conformance.checks.agent.v1.wire import alive
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.error_codes import INVALID_PARAMS, NO_METHOD, OFFICIAL_ONLY
from accord.conformance.frames.raw_peer import Frame, NotAsked, NotReady, TooLate, as_json, same
from accord.conformance.frames.schema_validation import tables

TYPES = frozenset(
    {
        "plan", "agent_message_chunk", "user_message_chunk", "thought_message_chunk", "tool_call",
        "tool_call_update", "available_commands", "current_mode_update", "config_option_update",
    }
)  # fmt: skip
STOPS = frozenset({"end_turn", "cancelled", "max_tokens", "error"})
# The updates of a turn; the others may come at any time.
OF_TURNS = TYPES - {"available_commands", "current_mode_update", "config_option_update"}
# The statuses that may follow each status; one without followers is final.
STEPS: dict[str, frozenset[str]] = {
    "": frozenset({"pending"}),
    "pending": frozenset({"awaiting_permission", "in_progress", "cancelled"}),
    "awaiting_permission": frozenset({"in_progress", "denied"}),
    "in_progress": frozenset({"completed", "failed", "cancelled"}),
    "completed": frozenset(),
    "failed": frozenset(),
    "denied": frozenset(),
    "cancelled": frozenset(),
}
GATES = {
    "fs/read_text_file": "fs.read",
    "fs/write_text_file": "fs.write",
    "terminal/create": "terminal.create",
}
# Requests by which a client works for a tool call.
WORK = frozenset({"fs/write_text_file", "terminal/create"})

draft_jsonrpc = watching("V1-GEN-01", "draft", queries.not_jsonrpc)
draft_asked = watching("V1-GEN-02", "draft", not_asked, needs=responses)
draft_responses = watching("V1-GEN-03", "draft", queries.bad_responses, needs=responses)
draft_lines = watching("TR-STDIO-02", "draft", queries.broken_lines)
draft_noise = watching("TR-STDIO-03", "draft", queries.noise)
draft_meta = watching("D26-19", "draft", queries.odd_meta)


@monitor("D26-20", version="draft")
def methods(frames: Sequence[Frame], judge: Findings) -> None:
    """Methods that an agent calls are in the draft, or have an underscore."""
    _, known = tables("draft")
    for frame in queries.received(frames):
        name = frame.method or "_"
        if name not in known and not name.startswith(("_", "$/")):
            said = f"{name} is not of the draft, and has no underscore"
            judge.failed("D26-20", said, came=frame)


@monitor("D26-14", version="draft")
def updates(frames: Sequence[Frame], judge: Findings) -> None:
    for frame in queries.received(frames):
        if frame.method != "session/update":
            continue
        params = frame.params
        ok = isinstance(params.get("sessionId"), str) and isinstance(params.get("data"), dict)
        ok = ok and params.get("type") in TYPES
        judge.judge("D26-14", ok, "no sessionId, type and data", came=frame)


@monitor("D26-32", "D26-34", version="draft")
def tool_calls(frames: Sequence[Frame], judge: Findings) -> None:
    """Statuses follow the legal steps, and permission is requested before the work begins."""
    status: dict[str, str] = {}
    asked: set[str] = set()
    for frame in queries.received(frames):
        data = frame.params.get("data")
        name = str(queries.at(data, "id"))
        kind = frame.params.get("type")
        if frame.method == "session/request_permission":
            name = str(frame.params.get("toolCallId"))
            asked.add(name)
            ok = status.get(name) in ("pending", "awaiting_permission")
            said = f"asked while {status.get(name, 'not reported')}"
            judge.judge("D26-34", ok, said, came=frame)
        if frame.method in WORK and asked & status.keys():
            ok = "in_progress" in status.values()
            judge.judge("D26-34", ok, f"{frame.method} while no call is in progress", came=frame)
        if kind not in ("tool_call", "tool_call_update"):
            continue
        now, before = queries.at(data, "status"), status.get(name, "")
        if (kind == "tool_call") != (before == ""):
            judge.failed("D26-34", f"{kind} of a call that is {before or 'new'}", came=frame)
        if isinstance(now, str) and now != before:
            ok = now in STEPS.get(before, frozenset())
            judge.judge("D26-32", ok, f"{now} after {before or 'nothing'}", came=frame)
            status[name] = now
        if now in ("completed", "failed") and name in asked:
            judge.passed("D26-34")


@monitor("D26-08", version="draft")
def failures(frames: Sequence[Frame], judge: Findings) -> None:
    """A turn that fails after its first update ends with a result, not with an error."""
    for asked, answered, frame in queries.refusals(frames, "session/prompt"):
        session = frames[asked].params.get("sessionId")
        begun = any(
            one.params.get("type") in OF_TURNS and one.params.get("sessionId") == session
            for one in queries.received(frames[asked:answered])
            if one.method == "session/update"
        )
        if begun and queries.is_alone(frames, asked, answered):
            judge.failed("D26-08", "an error after the turn began", came=frame)


@monitor("D26-08", "D26-17", "D26-22", "D26-33", version="draft")
def words(frames: Sequence[Frame], judge: Findings) -> None:
    for _, _, frame, result in queries.answers(frames, "session/prompt"):
        reason = result.get("stopReason")
        judge.judge("D26-08", reason in STOPS, f"the stop reason {as_json(reason)}", came=frame)
    for frame in (*queries.unended_turns(frames), *queries.unanswered_cancels(frames)):
        judge.failed("D26-08", f"the turn has no end: {frame.unanswered}", sent=frame)
    offered = queries.hello(frames).get("capabilities")
    for frame in queries.received(frames):
        gate = GATES.get(frame.method or "")
        if gate is not None:
            ok = queries.at(offered, gate) is True
            judge.judge("D26-17", ok, f"{frame.method} without {gate}", came=frame)
        if frame.method == "session/request_permission":
            ok = bool(frame.params.get("reason"))
            judge.judge("D26-22", ok, "a request without a reason", came=frame)
    for frame, error in queries.errors(frames):
        ok = error.get("code") not in OFFICIAL_ONLY
        judge.judge("D26-33", ok, f"{error.get('code')} is not of the draft", came=frame)


NO_SESSION = -32000
# The three logins of the draft, and how an agent refuses one that it lacks.
LOGINS = ("api_key", "oauth2", "custom")
NO_LOGIN = frozenset({NO_METHOD, INVALID_PARAMS, -32007})
LOADED = {
    "sessionId": str,
    "workingDirectory": str,
    "mode": str,
    "configOptions": dict,
    "messageCount": int,
}


def told(talk: Talk, kind: str, since: int = 0) -> list[dict[str, Any]]:
    """The data of the updates of one type."""
    return [
        frame.params["data"]
        for frame in talk.peer.frames[since:]
        if not frame.sent
        and frame.method == "session/update"
        and frame.params.get("type") == kind
        and isinstance(frame.params.get("data"), dict)
    ]


@check("D26-04", version="draft", basic=True)
async def initialize_has_its_fields(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    for key, kind in (("protocolVersion", int), ("agentInfo", dict), ("capabilities", dict)):
        ok = isinstance(talk.agent.get(key), kind)
        stage.judge.judge("D26-04", ok, f"the result has no {key}", came=talk.agent)
    for key in ("protocolVersion", "clientInfo", "capabilities"):
        talk = await stage.another()
        answer = await talk.peer.call("initialize", talk.hello(**{key: None}))
        ok = "error" in answer
        if key == "capabilities":
            # A client of the official version 1 may also begin with a version and a name.
            ok = ok or isinstance(queries.at(answer, "result.agentCapabilities"), dict)
        stage.judge.judge("D26-04", ok, f"it is accepted without {key}", came=answer)


@check("D26-05", version="draft")
async def logins_say_whether_they_worked(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    login = stage.scenario.login
    for method in (login,) if login else LOGINS:
        params = {"method": method, "credentials": {"apiKey": "accord-check-wrong"}}
        answer = await talk.peer.call("authenticate", params)
        if not login and queries.at(answer, "error.code") in NO_LOGIN:
            continue
        ok = isinstance(queries.at(answer, "result.success"), bool)
        stage.judge.judge("D26-05", ok, "the result has no success", sent=params, came=answer)
        return
    stage.judge.skip_open("the agent has none of the three logins")


@check("D26-06", version="draft", basic=True)
async def new_sessions_say_when(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    made = await talk.new_session()
    ok = isinstance(made.get("sessionId"), str) and _is_time(made.get("createdAt"))
    stage.judge.judge("D26-06", ok, "no sessionId, or no time in createdAt", came=made)


def _is_time(text: Any) -> bool:
    try:
        datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return False
    return isinstance(text, str)


@check("D26-07", version="draft")
async def loaded_sessions_come_with_their_facts(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("loadSession"):
        stage.judge.skip_open("the agent has no loadSession")
        return
    session = str((await talk.new_session())["sessionId"])
    await talk.say(session, stage.scenario.prompt("say"))
    result = await talk.prepare("session/load", {"sessionId": session})
    wrong = [key for key, kind in LOADED.items() if not isinstance(result.get(key), kind)]
    stage.judge.judge("D26-07", not wrong, f"missing: {', '.join(wrong)}", came=result)


@check("D26-13", "D26-08", version="draft", basic=True)
async def turns_are_told_of(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.prompt(session, stage.scenario.prompt("say") or "")
    ok = bool(talk.peer.received("session/update"))
    stage.judge.judge("D26-13", ok, "the turn has no update")
    # The monitor judges whether a failure in a turn is an error of its prompt.
    for purpose in ("fail", "crash"):
        prompt = stage.scenario.prompt(purpose)
        if prompt is not None:
            await talk.answered(session, prompt)


@check("D26-08", "D26-15", needs="long_command", version="draft")
async def cancelled_turns_cancel_their_calls_first(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("long_command") or "")
    going_on = await begun(talk, since, command=True)
    calls = calls_of(talk, since).values()
    if not going_on or not any(one.get("status") == "in_progress" for one in calls):
        stage.judge.close("the prompt led to no running tool call", failing=False)
        return
    stage.judge.brought_about()
    await talk.peer.notify("session/cancel", {"sessionId": session})
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    reason = (answer.get("result") or {}).get("stopReason")
    stage.judge.judge("D26-08", reason == "cancelled", f"{as_json(reason)}", came=answer)
    last = [one.get("status") for one in told(talk, "tool_call_update")]
    ok = last[-1:] == ["cancelled"] and reason == "cancelled"
    stage.judge.judge("D26-15", ok, f"the call ended {last[-1:]}", came=answer)


@check("D26-32", "D26-08", needs="edit", version="draft")
async def a_cancel_while_permission_is_asked(stage: AgentStage) -> None:
    """The turn ends cancelled; a monitor sees the steps of the call that waited."""
    talk = stage.talk
    talk.host.permission = always(None)
    session = await talk.session()
    _, sent, frame = await asked_to_edit(stage, session)
    stage.judge.brought_about()
    await talk.peer.notify("session/cancel", {"sessionId": session})
    refused = granted({"outcome": {"outcome": "cancelled"}})
    await talk.peer.send({"jsonrpc": "2.0", "id": frame.object["id"], "result": refused})
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    reason = (answer.get("result") or {}).get("stopReason")
    stage.judge.judge("D26-08", reason == "cancelled", f"{as_json(reason)}", came=answer)
    await talk.peer.settled()


@check("D26-09", "D26-35", version="draft")
async def modes_are_answered_and_announced(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    modes = looking_at(talk, "modes")
    if not modes:
        stage.judge.skip_open("the agent has no modes")
        return
    session = str((await talk.new_session())["sessionId"])
    if len(modes) > 1:
        before = None
        for mode in (modes[-1], modes[0]):
            since = len(talk.peer.frames)
            result = await talk.ask("session/set_mode", {"sessionId": session, "mode": mode})
            ok = result.get("currentMode") == mode and isinstance(result.get("previousMode"), str)
            ok = ok and before in (None, result.get("previousMode"))
            stage.judge.judge("D26-09", ok, "not the old and the new mode", came=result)
            await talk.peer.settled()
            await talk.peer.quiet(0.1)
            came = told(talk, "current_mode_update", since)
            ok = [one.get("currentMode") for one in came] == [mode]
            stage.judge.judge("D26-35", ok, "the change is not announced exactly once", came=came)
            before = mode


@check("D26-09", "D26-35", version="draft")
async def options_are_answered_and_announced(stage: AgentStage) -> None:
    """The draft does not list the values that an option accepts.

    It is set to what it is, a switch over, and any other to what the scenario says: one that the
    agent refuses is none of its values.
    """
    talk = stage.talk
    await talk.initialize()
    if not looking_at(talk, "configOptions") or not talk.can("loadSession"):
        stage.judge.skip_open("the agent has no options, or does not list their values")
        return
    session = str((await talk.new_session())["sessionId"])
    loaded = await talk.prepare("session/load", {"sessionId": session})
    for key, value in loaded["configOptions"].items():
        others: tuple[Any, ...] = stage.scenario.options.get(key, ())
        others = (not value,) if isinstance(value, bool) else others
        for wanted in (value, *others, value):
            await _set_option(stage, session, key, wanted, is_own=same(wanted, value))


async def _set_option(
    stage: AgentStage, session: str, key: str, wanted: Any, *, is_own: bool
) -> None:
    talk = stage.talk
    since = len(talk.peer.frames)
    params = {"sessionId": session, "key": key, "value": wanted}
    answer = await talk.peer.call("session/set_config_option", params)
    if "error" in answer and not is_own and not isinstance(wanted, bool):
        return
    result = answer.get("result") or {}
    ok = result.get("key") == key and same(result.get("currentValue"), wanted)
    stage.judge.judge("D26-09", ok, "not the key and its value", sent=params, came=answer)
    changed = not same(result.get("previousValue", wanted), wanted)
    await talk.peer.settled()
    await talk.peer.quiet(0.1 if changed else 0)
    came = [
        one.get("currentValue")
        for one in told(talk, "config_option_update", since)
        if one.get("key") == key
    ]
    ok = came == [wanted] or not (came or changed)
    stage.judge.judge(
        "D26-35", ok, "the change is not announced exactly once", sent=params, came=came
    )


def looking_at(talk: Talk, key: str) -> list[Any]:
    """A list of the agent's session capabilities."""
    found = talk.capabilities.get("sessionCapabilities")
    value = found.get(key) if isinstance(found, dict) else None
    return value if isinstance(value, list) else []


@check("D26-19", "D26-20", version="draft")
async def what_is_foreign_does_no_harm(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize(_meta={"accord.check/odd": [None]})
    for meta in ({"x.y": 1}, 5):
        params = {"workingDirectory": str(talk.folder), "_meta": meta}
        answer = await talk.peer.call("session/new", params)
        good = isinstance(meta, dict)
        ok = "result" in answer if good else ("result" in answer or "error" in answer)
        stage.judge.judge("D26-19", ok, "_meta is not ignored", sent=params, came=answer)
    await _judge_metadata(stage)
    error = await talk.error_of("_accord_check/none", {})
    ok = error.get("code") == NO_METHOD
    stage.judge.judge("D26-20", ok, "an unknown method is not -32601", came=error)
    stage.judge.judge("D26-19", await alive(talk), "nothing is answered afterwards")


async def _judge_metadata(stage: AgentStage) -> None:
    """Prompts and loading work with metadata as without."""
    talk = stage.talk
    session = str((await talk.new_session())["sessionId"])
    text = stage.scenario.prompt("say") or ""
    await talk.say(session, text)
    block = {"type": "text", "text": text, "_meta": {"x.y": [1]}}
    cases: list[tuple[str, dict[str, Any]]] = [("session/prompt", {"content": [block]})]
    if talk.can("loadSession"):
        await talk.prepare("session/load", {"sessionId": session})
        cases.append(("session/load", {}))
    for method, more in cases:
        params = {"sessionId": session, **more, "_meta": {"x.y": {"z": None}}}
        answer = await talk.peer.call(method, params, timeout=talk.seconds)
        ok = "result" in answer
        stage.judge.judge("D26-19", ok, "_meta is not ignored", sent=params, came=answer)


@check("D26-18", version="draft")
async def needs_are_told_at_the_start(stage: AgentStage) -> None:
    talk = stage.talk
    answer = await talk.peer.call("initialize", talk.hello(capabilities={}))
    if "error" in answer:
        clear = bool(str(queries.at(answer, "error.message") or "").strip())
        stage.judge.judge("D26-18", clear, "the error has no message", came=answer)
        return
    wanted = (answer.get("result") or {}).get("requiredClientCapabilities")
    stage.judge.judge("D26-18", not wanted, "a need that is not met", came=answer)


@check("D26-33", version="draft")
async def errors_have_the_codes_of_the_draft(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    nobody = {"sessionId": "accord-nope"}
    cases: list[tuple[str, dict[str, Any]]] = [
        ("session/prompt", {"content": [{"type": "text", "text": "hello"}]})
    ]
    if talk.can("loadSession"):
        cases.append(("session/load", {}))
    cases += [("session/set_mode", {"mode": one}) for one in looking_at(talk, "modes")[:1]]
    for key in looking_at(talk, "configOptions")[:1]:
        cases.append(("session/set_config_option", {"key": key, "value": True}))
    for method, params in cases:
        error = await talk.error_of(method, nobody | params)
        ok = error.get("code") == NO_SESSION
        said = f"{method}: an unknown session is not -32000"
        stage.judge.judge("D26-33", ok, said, sent=nobody | params, came=error)


@check("D26-17", needs="tool", version="draft")
async def what_a_client_cannot_is_not_asked(stage: AgentStage) -> None:
    """The monitor judges the requests; this check gives the agent every reason for them."""
    talk = stage.talk
    await talk.initialize(capabilities={})
    session = str((await talk.new_session())["sessionId"])
    for purpose in ("tool", "read", "edit", "terminal"):
        prompt = stage.scenario.prompt(purpose)
        if prompt is not None:
            await talk.say(session, prompt)
    if stage.scenario.tries and not calls_of(talk, 0):
        stage.judge.close("the prompts led to no tool call", failing=False)
        return
    stage.judge.passed("D26-17")


@check("D26-32", "D26-34", "D26-22", needs="edit", version="draft")
async def edits_go_through_their_steps(stage: AgentStage) -> None:
    """Edits are allowed and denied; the monitors judge the steps."""
    talk = stage.talk
    session = await talk.session()
    talk.host.permission = choosing("reject")
    await talk.say(session, stage.scenario.prompt("edit"))
    talk.host.permission = choosing("allow")
    await talk.say(session, stage.scenario.prompt("edit"))
    if not talk.peer.received("session/request_permission"):
        stage.judge.close("the prompt did not make the agent ask", failing=False)


async def with_least_client(stage: AgentStage) -> Talk:
    """Start the agent with a client that offers nothing, or all if the agent refuses that."""
    try:
        await stage.talk.initialize(capabilities={})
    except NotAsked:
        raise
    except NotReady:
        await (await stage.another()).initialize()
    return stage.talk


@check("D26-24", needs="link", version="draft")
async def nothing_outside_is_taken_for_granted(stage: AgentStage) -> None:
    talk = await with_least_client(stage)
    session = str((await talk.new_session())["sessionId"])
    talk.host.permission = choosing("reject")
    prompt, secret = stage.scenario.prompt("link") or "", stage.root / "secret.txt"
    # Its name begins with that of the working folder.
    beside = stage.root / f"{talk.folder.name}-secret.txt"
    beside.write_text(secret.read_text("utf-8"), "utf-8")
    up = f"../{secret.name}"
    for name in ("link.txt", up, str(secret), f"{talk.folder}/{up}", str(beside)):
        await talk.answered(session, prompt.replace("link.txt", name))
    ok = "what-is-outside" not in talk.came()
    outside = stage.scenario.prompt("outside")
    if outside is not None:
        for name in ("../outside.txt", str(stage.root / "outside.txt")):
            await talk.answered(session, outside.replace("../outside.txt", name))
        written = (stage.root / "outside.txt").exists()
        said = "a file outside was written without permission"
        if written:
            stage.judge.failed("D26-24", said, sent=outside)
    if ok and stage.scenario.tries and not calls_of(talk, 0):
        stage.judge.close("the prompts led to no tool call", failing=False)
        return
    stage.judge.judge("D26-24", ok, "a file outside was read without permission")


@check("D26-25", needs="read", version="draft")
async def relative_names_are_of_the_folder(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("read"))
    text = stage.scenario.files["notes.txt"].strip()
    ok = text in talk.came() or bool(talk.host.read)
    silent = not told(talk, "tool_call") and not talk.peer.received("fs/read_text_file")
    if not ok and stage.scenario.tries:
        # By its absolute path: an agent that reads only this does not know the working folder.
        path = str(talk.folder / "notes.txt")
        prompt = (stage.scenario.prompt("read") or "").replace("notes.txt", path)
        await talk.say(session, prompt)
        silent = text not in talk.came() and not talk.host.read
    if not ok and silent:
        stage.judge.close("the prompt did not make the agent read the file", failing=False)
        return
    stage.judge.judge("D26-25", ok, "a relative name was not found in the working folder")


@check("D26-28", needs="mcp", version="draft")
async def logins_of_servers_stay_hidden(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    server, log = stage.mcp_server()
    transport = {
        "type": "stdio",
        "command": server["command"],
        "args": server["args"],
        "env": {one["name"]: one["value"] for one in server["env"]},
    }
    made = await talk.new_session(mcpServers=[{"name": "accord-check", "transport": transport}])
    await talk.say(str(made["sessionId"]), stage.scenario.prompt("mcp"))
    if not await comes_true(talk, lambda: bool(asked_of(log))):
        raise TooLate("the server was not started")
    ok = "s3cr3t-of-the-server" not in talk.came()
    stage.judge.judge("D26-28", ok, "the server's token is in what the agent sent")
