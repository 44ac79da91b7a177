"""Faults that a client must survive: noise, partial writes, long lines, wrong types.

Each check exists for v1 and v2.
"""

from __future__ import annotations

import json
from typing import Any

import anyio

from accord.conformance.check_definition import Check, check
from accord.conformance.checks.agent.faults import (
    BURST,
    LONG_LINE_BYTES,
    NOISE,
    WRONG_AT_ONCE,
    takes_a_long_line,
)
from accord.conformance.client.check_environment import ClientStage
from accord.conformance.client.fake_agent import SESSION, Conversation
from accord.conformance.frames.raw_peer import ALIVE_METHOD, Unanswered
from accord.conformance.frames.wrong_types import wrong_types_for_clients
from accord.conformance.rule_definition import Version


async def _answers(talk: Conversation) -> bool:
    try:
        return await talk.alive()
    except Unanswered:
        return False


async def _noise(stage: ClientStage) -> None:
    talk, prompt = await stage.to_prompt()
    for raw in NOISE:
        await talk.peer.send_raw(raw)
        ok = await _answers(talk)
        if not stage.judge.judge("FAULT-01", ok, "no answer after noise", sent=raw):
            return
    stranger = {"jsonrpc": "2.0", "id": "nobody-asked", "result": {}}
    await talk.peer.send(stranger)
    stage.judge.judge("FAULT-01", await _answers(talk), "no answer after a stray answer")
    await talk.end_turn(prompt)


async def _pieces(stage: ClientStage) -> None:
    talk, prompt = await stage.to_prompt()
    message = {"jsonrpc": "2.0", "id": "in-pieces", "method": "_accord_check/é€😀", "params": {}}
    raw = json.dumps(message, ensure_ascii=False).encode() + b"\n"
    for at in range(len(raw)):
        await talk.peer.writing.send(raw[at : at + 1])
        await anyio.lowlevel.checkpoint()
    await talk.peer.answer_to("in-pieces")
    many = [
        json.dumps({"jsonrpc": "2.0", "id": f"b{n}", "method": ALIVE_METHOD}).encode()
        for n in range(BURST)
    ]
    await talk.peer.writing.send(b"\n".join(many) + b"\n")
    for n in range(BURST):
        await talk.peer.answer_to(f"b{n}")
    stage.judge.passed("FAULT-02")
    await talk.end_turn(prompt)


async def _long_line(stage: ClientStage) -> None:
    talk, prompt = await stage.to_prompt()
    ok = await takes_a_long_line(talk.peer, lambda: _answers(talk))
    stage.judge.judge("FAULT-04", ok, f"a line of {LONG_LINE_BYTES} bytes hangs the client")
    await talk.end_turn(prompt)


async def _wrong_types(stage: ClientStage) -> None:
    """Malformed requests are answered, and malformed updates are survived."""
    talk, prompt = await stage.to_prompt()
    waiting: list[tuple[str, str, Any]] = []
    since = len(talk.peer.frames)
    made = wrong_types_for_clients(stage.version, SESSION, str(stage.folder))
    for number, (kind, method, params) in enumerate(made):
        if kind == "notification":
            await talk.peer.notify(method, params)
            continue
        waiting.append((f"w{number}", method, params))
        await talk.peer.ask(method, params, id=f"w{number}")
        if len(waiting) == WRONG_AT_ONCE:
            if not await _all_answered(stage, talk, waiting, since):
                return
            since = len(talk.peer.frames)
    if await _all_answered(stage, talk, waiting, since):
        stage.judge.judge("FAULT-05", await _answers(talk), "no answer after wrong types")
    await talk.end_turn(prompt)


async def _all_answered(
    stage: ClientStage, talk: Conversation, waiting: list[tuple[str, str, Any]], since: int
) -> bool:
    for name, method, params in waiting:
        try:
            await talk.peer.answer_to(name, since=since)
        except Unanswered as error:
            sent = {"method": method, "params": params}
            stage.judge.failed("FAULT-05", f"{method}: {error}", sent=sent)
            return False
    waiting.clear()
    return True


def _both(rule: str, run: Any) -> tuple[Check[ClientStage], Check[ClientStage]]:
    versions: tuple[Version, Version] = ("1", "2")
    first, second = (check(rule, role="client", version=one, faults=True)(run) for one in versions)
    return first, second


noise_1, noise_2 = _both("FAULT-01", _noise)
pieces_1, pieces_2 = _both("FAULT-02", _pieces)
long_1, long_2 = _both("FAULT-04", _long_line)
types_1, types_2 = _both("FAULT-05", _wrong_types)
