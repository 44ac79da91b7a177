"""Checks of clients of the 2026-02 draft: start, gates, permissions, files, terminals, the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio

from accord.conformance.check_definition import Findings, check, monitor
from accord.conformance.checks.client.v1 import wire as v1
from accord.conformance.checks.client.v1.files_and_terminals import put, result
from accord.conformance.checks.client.v1.initialize import LEAVE_SECONDS, gated, without
from accord.conformance.client.check_environment import ClientStage, is_draft
from accord.conformance.client.fake_agent import MODES, SESSION, Conversation, Offer, error_code
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.error_codes import NO_METHOD, OFFICIAL_ONLY
from accord.conformance.frames.raw_peer import Frame, Message, Unanswered, as_json

NOT_FOUND, DENIED, ACCESS_DENIED = -32004, -32002, -32005
SCOPES = frozenset({"once", "session", "workspace", "always"})
METHODS = frozenset({
    "initialize", "authenticate", "session/new", "session/load", "session/prompt",
    "session/cancel", "session/set_mode", "session/set_config_option", "terminal/output",
})  # fmt: skip
# A capability that no client has: an agent that requires it cannot be used.
UNHEARD_OF: Message = {"_custom": {"accordCheckNobodyHasThis": True}, "fs": {"watch": True}}

lines = monitor("V1-GEN-01", "TR-STDIO-02", "TR-STDIO-04", role="client", version="draft")(
    v1.lines.look
)


@monitor("V1-GEN-02", "V1-GEN-03", role="client", version="draft")
def outcomes(frames: Sequence[Frame], judge: Findings) -> None:
    """A response has the id of an open request, and either a result or an error."""
    for frame, said in queries.unasked_responses(frames):
        judge.failed("V1-GEN-02", said, came=frame)
    for frame, said in queries.bad_responses(frames):
        judge.failed("V1-GEN-03", said, came=frame)
    if any(frame.is_response for frame in queries.received(frames)):
        judge.passed("V1-GEN-02", "V1-GEN-03")


@monitor("D26-20", "D26-33", role="client", version="draft")
def words(frames: Sequence[Frame], judge: Findings) -> None:
    """Methods are in the draft or begin with an underscore; codes are the draft's."""
    for frame in queries.received(frames):
        if frame.method is not None and not frame.method.startswith("$/"):
            ok = frame.method in METHODS or frame.method.startswith("_")
            judge.judge("D26-20", ok, f"{frame.method} is not a method of the draft", came=frame)
    for frame, error in queries.errors(frames):
        ok = error.get("code") not in OFFICIAL_ONLY
        judge.judge("D26-33", ok, f"{error.get('code')} is not of the draft", came=frame)


@check("D26-04", role="client", version="draft", basic=True)
async def introduces_itself(stage: ClientStage) -> None:
    """`initialize` has a version, the client's name and version, and its capabilities."""
    _, frame = await stage.hello()
    params, judge = frame.params, stage.judge
    official = bool(params.keys() & {"clientCapabilities", "info"})
    stage.need(not official, "the client speaks another version")
    number = params.get("protocolVersion")
    ok = type(number) is int and number >= 1
    judge.judge("D26-04", ok, f"protocolVersion is {as_json(number)}", came=frame)
    info = params.get("clientInfo")
    named = isinstance(info, dict) and all(info.get(key) for key in ("name", "version"))
    judge.judge("D26-04", named, "neither name nor version in clientInfo", came=frame)
    judge.judge("D26-04", is_draft(frame), "there are no capabilities", came=frame)


@check("D26-18", role="client", version="draft")
async def leaves_agents_that_need_more(stage: ClientStage) -> None:
    """A client disconnects from an agent that requires more, before it opens a session."""
    talk = await stage.begin(offer=Offer(more={"requiredClientCapabilities": UNHEARD_OF}))
    came: list[Frame] = []
    try:
        came.append(await talk.request("session/new", "session/load", timeout=LEAVE_SECONDS))
    except Unanswered:
        pass
    stage.judge.judge(
        "D26-18", not came, "the client continues without a required capability", came=came
    )


@check("D26-17", role="client", version="draft")
async def uses_only_what_is_offered(stage: ClientStage) -> None:
    """No session is loaded and no mode set where the agent has neither."""
    ways = {"load": "session/load", "mode": "session/set_mode"}
    able = [way for way in ways if stage.scenario.get(way)]
    if not able:
        stage.leave_open("no scenario says how to make the client load or set a mode")
    nothing: Message = {"loadSession": False, "sessionCapabilities": {"modes": []}}
    both: Message = {"loadSession": True, "sessionCapabilities": {"modes": list(MODES)}}
    gates = {"load": "loadSession", "mode": "sessionCapabilities.modes"}
    for way in able:
        for capabilities in (nothing, without(both, gates[way])):
            came = await gated(stage, way, Offer(capabilities=capabilities), ways[way])
            said = f"{ways[way]} was not offered"
            stage.judge.judge("D26-17", not came, said, came=came)


def permission(**more: Any) -> Message:
    """Return the params of a permission request."""
    wanted = {"operation": "file_write", "resource": "notes.txt", "reason": "to change it"}
    return {"sessionId": SESSION, **wanted, "toolCallId": "call-1", **more}


@check("D26-12", "D26-10", role="client", version="draft")
async def answers_permission_requests(stage: ClientStage) -> None:
    """A permission says whether it is granted, and for how long."""
    talk, prompt = await stage.to_prompt()
    data = {"id": "call-1", "tool": "fs/write_text_file", "input": {}, "status": "pending"}
    await talk.update("tool_call", **data)
    answer = await talk.peer.call("session/request_permission", permission())
    known = error_code(answer) != NO_METHOD
    if stage.judge.judge(
        "D26-12", known, "the client does not know permission requests", came=answer
    ):
        granted, scope = result(answer).get("granted"), result(answer).get("scope")
        ok = isinstance(granted, bool)
        stage.judge.judge("D26-10", ok, f"granted is {as_json(granted)}", came=answer)
        ok = scope in SCOPES or scope is None
        stage.judge.judge("D26-10", ok, f"the scope is {as_json(scope)}", came=answer)
    await talk.end_turn(prompt)


async def read(talk: Conversation, path: str, **more: Any) -> Message:
    return await talk.peer.call("fs/read_text_file", {"path": path, **more})


@check("D26-11", "D26-25", "D26-33", role="client", version="draft")
async def files_come_with_their_fields(stage: ClientStage) -> None:
    """Contents have an encoding, relative names are of the working folder, codes are its own."""
    await put(stage.folder / "notes.txt", "one apple\n")
    talk, prompt = await stage.to_prompt()
    stage.need(talk.can("fs", "read"), "the client reads no files")
    whole = await read(talk, str(stage.folder / "notes.txt"))
    found = result(whole)
    ok = found.get("content") == "one apple\n" and isinstance(found.get("encoding"), str)
    stage.judge.judge("D26-11", ok, "no content, or no encoding", came=whole)
    near = await read(talk, "notes.txt")
    ok = result(near).get("content") == "one apple\n"
    stage.judge.judge("D26-25", ok, "a relative name is not of the working folder", came=near)
    missing = await read(talk, str(stage.folder / "nothing.txt"))
    code = error_code(missing)
    stage.judge.judge(
        "D26-33", code == NOT_FOUND, f"a missing file is {as_json(code)}", came=missing
    )
    if talk.can("fs", "write"):
        params = {"path": str(stage.folder / "new.txt"), "content": "é\n"}
        answer = await talk.peer.call("fs/write_text_file", params)
        if error_code(answer) is None:
            count, new = result(answer).get("bytesWritten"), result(answer).get("created")
            ok = type(count) is int and count == len("é\n".encode()) and new is True
            stage.judge.judge("D26-11", ok, "not what was written", sent=params, came=answer)
    await talk.end_turn(prompt)


@check("D26-23", "D26-33", role="client", version="draft")
async def files_stay_in_the_working_folder(stage: ClientStage) -> None:
    """Neither another folder, nor `..`, nor a link leads out of it."""
    outside = stage.folder.parent / "secret.txt"
    await put(outside, "secret")
    await anyio.Path(stage.folder / "link.txt").symlink_to(outside)
    talk, prompt = await stage.to_prompt()
    stage.need(talk.can("fs", "read"), "the client reads no files")
    for path in (str(outside), "../secret.txt", str(stage.folder / "link.txt")):
        answer = await read(talk, path)
        code = error_code(answer)
        stage.judge.judge("D26-23", code is not None, f"{path} can be read", came=answer)
        if code is not None:
            ok = code in (ACCESS_DENIED, DENIED)
            stage.judge.judge("D26-33", ok, f"a refused path is {as_json(code)}", came=answer)
    await talk.end_turn(prompt)


@check("D26-11", role="client", version="draft")
async def terminals_come_with_their_fields(stage: ClientStage) -> None:
    """Terminals have ids, ends have codes, and what was killed or released is said to be."""
    talk, prompt = await stage.to_prompt()
    stage.need(talk.can("terminal", "create"), "the client offers no terminals")
    call = talk.peer.call
    shell: Message = {"command": "/bin/sh", "args": ["-c", "exit 3"], "cwd": str(stage.folder)}
    made = await call("terminal/create", shell)
    name = result(made).get("terminalId")
    if not isinstance(name, str):
        stage.leave_open("the client does not run the command; start it so that it may")
    there = {"terminalId": name}
    waited = await call("terminal/wait_for_exit", there)
    killed = await call("terminal/kill", there)
    freed = await call("terminal/release", there)
    code = result(waited).get("exitCode")
    stage.judge.judge("D26-11", type(code) is int, "no exitCode", came=waited)
    ok = isinstance(result(killed).get("killed"), bool)
    stage.judge.judge("D26-11", ok or "error" in killed, "kill does not say killed", came=killed)
    ok = isinstance(result(freed).get("released"), bool)
    stage.judge.judge("D26-11", ok, "release does not say released", came=freed)
    await talk.end_turn(prompt)


@check("D26-20", "D26-19", role="client", version="draft")
async def what_is_foreign_does_no_harm(stage: ClientStage) -> None:
    """Unknown methods get -32601; metadata of any type does not end the connection."""
    offer = Offer(more={"_meta": {"x.example/y": [1]}})
    talk, prompt = await stage.to_prompt("prompt", offer)
    answer = await talk.peer.call("_accord_check/none", {})
    code = error_code(answer)
    stage.judge.judge("D26-20", code == NO_METHOD, f"the code is {as_json(code)}", came=answer)
    for meta in ({"x.example/y": {"z": None}}, 5):
        params = {"sessionId": SESSION, "type": "agent_message_chunk", "data": {"content": "x"}}
        await talk.peer.notify("session/update", params | {"_meta": meta})
        stage.judge.judge("D26-19", await talk.alive(), "the client does not continue", sent=meta)
    await talk.end_turn(prompt)
