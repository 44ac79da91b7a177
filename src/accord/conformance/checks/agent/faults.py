"""Faults that an agent must survive: noise, partial writes, slow readers, long lines, wrong types.

Each check exists for v1, v2 and the draft; the limits, which are ours, for the official ones.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

import anyio

from accord.conformance.agent.check_environment import AgentStage, Talk
from accord.conformance.agent.turn import begun
from accord.conformance.check_definition import Check, check
from accord.conformance.frames.raw_peer import Frame, Gone, NotAsked, RawPeer, Unanswered
from accord.conformance.frames.wrong_types import wrong_types
from accord.conformance.rule_definition import Version
from accord.conformance.time_limits import STARTING

AgentCheck: TypeAlias = Check[AgentStage]
NOISE = (b"\n", b"  \n", b"\x00\x01\n", b"{}\n", b'"text"\n', b"null\n", b"{\n", b"\xf0\x9f\n")
LONG_LINE_BYTES = 8 * 1024 * 1024
# A line of forty of these is over the limit.
PIECE_BYTES = 1024 * 1024
TOO_LONG_PIECES = 40
# How many faulty requests are open at a time, and how long the agent may outlive its client.
WRONG_AT_ONCE = 200
DEATH_SECONDS = 8.0
BURST = 300
# More answers than pipes and buffers between the two can hold.
SLOW_BURST = 2_500
# How long a write may take before the agent counts as waiting for its reader.
BLOCKED_SECONDS = 1.0
# How long the agent may send nothing before missing answers count as lost.
STALLED_SECONDS = 3.0


async def _alive(talk: Talk) -> bool:
    answer = await talk.peer.call("_accord_check/alive", {})
    return "error" in answer or "result" in answer


async def _noise(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    for raw in NOISE:
        await talk.peer.send_raw(raw)
        try:
            ok = await _alive(talk)
        except Unanswered:
            ok = False
        if not stage.judge.judge("FAULT-01", ok, "no answer after noise", sent=raw):
            return
    stranger = {"jsonrpc": "2.0", "id": "nobody-asked", "result": {}}
    await talk.peer.send(stranger)
    stage.judge.judge("FAULT-01", await _alive(talk), "no answer after a stray answer")


async def _pieces(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    message = {"jsonrpc": "2.0", "id": "in-pieces", "method": "_accord_check/é€😀", "params": {}}
    raw = json.dumps(message, ensure_ascii=False).encode() + b"\n"
    for at in range(len(raw)):
        await talk.program.peer.writing.send(raw[at : at + 1])
        await anyio.lowlevel.checkpoint()
    await talk.peer.answer_to("in-pieces")
    many = [
        json.dumps({"jsonrpc": "2.0", "id": f"b{n}", "method": "_accord_check/none"}).encode()
        for n in range(BURST)
    ]
    await talk.program.peer.writing.send(b"\n".join(many) + b"\n")
    for n in range(BURST):
        await talk.peer.answer_to(f"b{n}")
    stage.judge.passed("FAULT-02")


async def _slow_reader(stage: AgentStage) -> None:
    """The kit stops reading while it sends many requests; all answers arrive afterwards."""
    talk = stage.talk
    await talk.initialize()
    talk.peer.hold_reading()
    for n in range(SLOW_BURST):
        with anyio.move_on_after(BLOCKED_SECONDS) as blocked:
            await talk.peer.ask("_accord_check/none", {}, id=f"s{n}")
        if blocked.cancelled_caught:
            # The agent waits until it can write, as it should: it reads nothing more.
            break
    talk.peer.go_on_reading()
    sent = [str(one.object.get("id")) for one in talk.peer.frames if one.sent and one.is_request]
    # The last request may have been cut off.
    wanted = [one for one in sent if one.startswith("s")][:-1]
    lost = set(wanted)

    def is_last(frame: Frame) -> bool:
        # In any order: a proxy may answer some requests itself meanwhile.
        if frame.is_response:
            lost.discard(str(frame.object.get("id")))
        return not lost

    left = 0
    while lost and left != len(lost):
        left = len(lost)
        try:
            await talk.peer.expect(is_last, "every answer", timeout=STALLED_SECONDS)
        except Unanswered:
            continue
    stage.judge.judge("FAULT-03", not lost, f"{len(lost)} of {len(wanted)} answers are lost")


async def takes_a_long_line(peer: RawPeer, alive: Callable[[], Awaitable[bool]]) -> bool:
    """Whether a program answers after a long line, or has ended the connection."""
    try:
        await peer.call("_accord_check/none", {"_meta": {"padding": "x" * LONG_LINE_BYTES}})
        return await alive()
    except Gone:
        # Ending the connection is a valid answer to a line over the limit.
        return True
    except Unanswered:
        return False


async def _long_line(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    talk.peer.patience = 20
    ok = await takes_a_long_line(talk.peer, lambda: _alive(talk))
    stage.judge.judge("FAULT-04", ok, f"a line of {LONG_LINE_BYTES} bytes hangs the agent")


async def _too_long_line(stage: AgentStage) -> None:
    if stage.transport == "http":
        raise NotAsked("HTTP has a status for it, which is judged with the other requests")
    talk = stage.talk
    await talk.initialize()
    talk.peer.patience = 20
    since = len(talk.peer.frames)
    head = b'{"jsonrpc":"2.0","id":"huge","method":"_x","params":{"a":"'
    if not await talk.peer.send_long(head, b"x" * PIECE_BYTES, TOO_LONG_PIECES, b'"}}\n'):
        stage.judge.passed("LIM-03")
        return
    await talk.peer.ask("_accord_check/after", {})
    came: list[Frame] = []
    try:
        came.append(await talk.peer.expect(lambda one: one.is_response, "the end", since=since))
    except Unanswered:
        pass
    ok = talk.peer.closed.is_set() and not came
    stage.judge.judge("LIM-03", ok, "a line of 40 MiB does not end the connection", came=came)


async def _wrong_types(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    waiting: list[tuple[str, str, Any]] = []
    since = len(talk.peer.frames)
    for number, (method, params) in enumerate(
        wrong_types(stage.version, session, str(talk.folder))
    ):
        name = f"w{number}"
        await talk.peer.ask(method, params, id=name)
        waiting.append((name, method, params))
        if len(waiting) == WRONG_AT_ONCE:
            if not await _all_answered(stage, talk, waiting, since):
                return
            since = len(talk.peer.frames)
    if await _all_answered(stage, talk, waiting, since):
        stage.judge.judge("FAULT-05", await _alive(talk), "no answer after wrong types")


async def _all_answered(
    stage: AgentStage, talk: Talk, waiting: list[tuple[str, str, Any]], since: int
) -> bool:
    for name, method, params in waiting:
        try:
            await talk.peer.answer_to(name, timeout=talk.seconds, since=since)
        except Unanswered as error:
            sent = {"method": method, "params": params}
            stage.judge.failed("FAULT-05", f"{method}: {error}", sent=sent)
            return False
    waiting.clear()
    return True


async def _death(stage: AgentStage) -> None:
    """The client disappears after each step; the agent must end."""
    stage.need_own_process("a server runs on when a client leaves")
    say = stage.scenario.prompt("long") or stage.scenario.prompt("say") or ""
    for steps in range(4):
        talk = stage.talk if steps == 0 else await stage.another()
        if steps >= 1:
            await talk.initialize()
        if steps >= 2:
            session = str((await talk.new_session())["sessionId"])
            if steps >= 3:
                since = len(talk.peer.frames)
                await talk.send_prompt(session, say)
                await begun(talk, since)
        await talk.program.close_input()
        # An agent that is still starting sees the end of its input later.
        seconds = DEATH_SECONDS if steps else max(DEATH_SECONDS, STARTING * talk.peer.patience)
        ended = await talk.program.ended(seconds)
        names = ("the start", "initialize", "session/new", "a prompt")
        said = f"the agent still runs {seconds:g} s after its input ended, after {names[steps]}"
        if not stage.judge.judge("FAULT-06", ended is not None, said):
            return


OFFICIAL: tuple[Version, ...] = ("1", "2")
EVERY: tuple[Version, ...] = (*OFFICIAL, "draft")


def _each(rule: str, run: Any, versions: tuple[Version, ...] = EVERY) -> Sequence[AgentCheck]:
    return [check(rule, version=one, faults=True)(run) for one in versions]


noise_1, noise_2, noise_draft = _each("FAULT-01", _noise)
pieces_1, pieces_2, pieces_draft = _each("FAULT-02", _pieces)
slow_1, slow_2, slow_draft = _each("FAULT-03", _slow_reader)
long_1, long_2, long_draft = _each("FAULT-04", _long_line)
# A limit, not a fault: every run of one version checks it, which is enough.
huge_1, huge_2 = [
    check("LIM-03", version=one, faults=one == "2")(_too_long_line) for one in OFFICIAL
]
types_1, types_2, types_draft = _each("FAULT-05", _wrong_types)
death_1, death_2, death_draft = _each("FAULT-06", _death)
