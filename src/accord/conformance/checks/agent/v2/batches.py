"""Checks of a v2 agent's answers to arrays of messages.

The sources differ: the pages of v2 have arrays processed, the newest official SDK refuses them.
Either way counts, if it is the way for every array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.conformance.agent.check_environment import AgentStage
from accord.conformance.check_definition import Findings, check, monitor
from accord.conformance.checks.agent.v1.wire import ARRAYS, alive, answers_to_array, null_error
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.error_codes import INVALID_REQUEST, NO_METHOD
from accord.conformance.frames.raw_peer import Frame, Message, same

BATCHES = ("TR-BATCH-02", "TR-BATCH-04", "TR-BATCH-05", "TR-BATCH-06")
REFUSES = "arrays are refused, as by the newest SDK; the v2 pages process them: the sources differ"


@check("V2-GEN-06", *BATCHES, version="2")
async def arrays_are_processed_or_refused(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    came: list[list[Frame]] = []
    for array in ARRAYS:
        since = len(talk.peer.frames)
        await talk.peer.send(array)
        await talk.peer.settled()
        await talk.peer.quiet()
        came.append(answers_to_array(talk.peer.frames[since:]))
    judge_arrays(stage.judge, ARRAYS, came)
    if not await alive(talk):
        stage.judge.failed("V2-GEN-06", "nothing is answered after the arrays")


def judge_arrays(
    judge: Findings, arrays: Sequence[list[Any]], came: Sequence[Sequence[Frame]]
) -> None:
    """Judge the answers to an empty array, a request, a notification, and a mixture.

    An agent and a client are judged alike.
    """
    empty, request, note, mixed = came
    refused = [[null_error(one) for one in frames] == [INVALID_REQUEST] for frames in came]
    if all(refused):
        judge.passed("V2-GEN-06")
        judge.skip_open(REFUSES)
        return
    asked = [one["id"] for one in arrays[1]]
    if not any(same(one.get("id", ""), name) for one in entries(request) for name in asked):
        said = "a request in an array is neither answered nor refused with one -32600 and id null"
        judge.failed("V2-GEN-06", said, sent=arrays[1], came=request)
        judge.skip_open("no array is processed")
        return
    said = "an empty array does not get one -32600 with id null"
    ok = judge.judge("TR-BATCH-02", refused[0], said, sent=arrays[0], came=empty)
    said = "an array of notifications is answered"
    ok = judge.judge("TR-BATCH-05", not note, said, sent=arrays[2], came=note) and ok
    found = entries(mixed)
    bad = [one for one in found if one.get("id", "") is None and code_of(one) == INVALID_REQUEST]
    good = [one for one in found if any(same(one.get("id", ""), name) for name in asked)]
    said = "a bad entry does not get a -32600 of its own, or the others do not run"
    whole = len(bad) == 1 and [code_of(one) for one in good] == [NO_METHOD]
    ok = judge.judge("TR-BATCH-06", whole, said, sent=arrays[3], came=mixed) and ok
    once = [len(frames) == 1 and isinstance(frames[0].message, list) for frames in (request, mixed)]
    said = "the answers do not come as one array, one for each request"
    exact = all(once) and len(entries(request)) == 1 and len(found) == len(bad) + 1
    judge.judge("TR-BATCH-04", exact, said, sent=arrays[3], came=mixed)
    said = "arrays are processed, but not by the rules of batches"
    judge.judge("V2-GEN-06", ok, said, came=[one for frames in came for one in frames])


def entries(frames: Sequence[Frame]) -> list[Message]:
    """Return the answers in these frames, in arrays or alone."""
    found: list[Message] = []
    for frame in frames:
        many = frame.message if isinstance(frame.message, list) else [frame.message]
        found += [one for one in many if isinstance(one, dict)]
    return found


def code_of(answer: Message) -> Any:
    """Return the code of an error."""
    error = answer.get("error")
    return error.get("code") if isinstance(error, dict) else None


# A request that begins something must be answered before others are sent.
BEGINNINGS = frozenset(
    {"initialize", "auth/login", "session/new", "session/resume", "session/prompt"}
)


def look_at_arrays(frames: Sequence[Frame], judge: Findings) -> None:
    """Judge the arrays that a program sends, which is optional."""
    sends = list(queries.arrays(frames))
    if not sends:
        judge.skip_open("no array was sent")
    for frame, calls in sends:
        if "TR-BATCH-07" in judge.rules:
            begun = sorted({str(one["method"]) for one in calls} & BEGINNINGS)
            judge.judge("TR-BATCH-07", not begun, f"{', '.join(begun)} in an array", came=frame)
            continue
        updates = [queries.at(one, "params.update") for one in calls]
        names = [queries.at(one, "terminalId") for one in updates]
        twice = sorted({str(one) for one in names if one is not None and names.count(one) > 1})
        said = f"several updates of {', '.join(twice)} in one array"
        judge.judge("TR-BATCH-08", not twice, said, came=frame)


sent_arrays = monitor("TR-BATCH-08", version="2")(look_at_arrays)
