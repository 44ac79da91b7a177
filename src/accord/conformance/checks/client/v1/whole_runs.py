"""Checks of clients, v1: whole runs, from the start until the client ends.

A client that lists, closes or takes up sessions on its own does so here, and monitors see it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from accord.conformance.check_definition import check
from accord.conformance.checks.client.v1.initialize import (
    ALL,
    BLOCKS,
    GATES,
    OFF,
    OPENING,
    ROOTS,
    SYSTEM_PROMPT,
    UNSTABLE_GATES,
    block_types,
    without,
)
from accord.conformance.client.check_environment import ClientStage
from accord.conformance.client.fake_agent import Offer, modes
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Frame, Message, as_json

# Capabilities that an agent may offer besides `ALL`.
FULL: Message = ALL | {
    "sessionCapabilities": ALL["sessionCapabilities"]
    | {name: {} for name in ("fork", "archive", "status", "title")},
    "providers": {},
}
# After this time no further run is begun.
RUNS_SECONDS_MAX = 25.0

# By the path of a capability: the rule that it is not used if it is off.
Need = tuple[str, str]


def needs_of(frame: Frame) -> Iterator[Need]:
    """Return the capabilities of the agent that a message of the client needs."""
    params = frame.params
    if frame.method in GATES:
        yield GATES[frame.method]
    if frame.method in UNSTABLE_GATES:
        yield UNSTABLE_GATES[frame.method], "V1-CAP-09"
    if frame.method == "session/prompt":
        yield from ((BLOCKS[one], "V1-PROMPT-02") for one in block_types(frame) if one in BLOCKS)
    if frame.method in OPENING:
        if params.get("additionalDirectories") is not None:
            yield ROOTS, "V1-SESS-09"
        if params.get("systemPrompt") is not None:
            yield SYSTEM_PROMPT, "V1-SESS-26"
        servers = params.get("mcpServers")
        for one in servers if isinstance(servers, list) else []:
            if isinstance(one, dict) and one.get("type") in ("http", "sse"):
                yield f"mcpCapabilities.{one['type']}", "V1-MCP-03"


def used(frames: Sequence[Frame], needs: Callable[[Frame], Iterator[Need]]) -> dict[Need, Frame]:
    """Return the capabilities that a client used, each with its first message."""
    found: dict[Need, Frame] = {}
    for frame in frames:
        for need in needs(frame) if not frame.sent else ():
            found.setdefault(need, frame)
    return found


def mode_option() -> Message:
    """Make an option of v1 that sets the mode."""
    option: Message = dict(modes("2")["configOptions"][0])
    return {"id": option.pop("configId"), **option}


@check("V1-CAP-02", role="client")
async def works_with_an_agent_that_has_nothing(stage: ClientStage) -> None:
    """A turn works with an agent that offers nothing, everything, a part, or switches all off."""
    some = {name: ALL[name] for name in ("loadSession", "promptCapabilities")}
    rest = {name: value for name, value in FULL.items() if name not in some}
    crashes: list[str] = []
    for capabilities in ({}, ALL, OFF, some, rest):
        begun = len(stage.stderr())
        talk = await stage.whole_run(Offer(capabilities=capabilities), status="_warm")
        came = talk.peer.received()
        ok = any(one.method == "session/prompt" for one in came)
        said = "there is no prompt to an agent that offers this"
        stage.judge.judge("V1-CAP-02", ok, said, sent=capabilities, came=came[-1:])
        told = stage.stderr()[begun:]
        crashes += [told if queries.TRACE.search(told) else ""]
    # A message in every case does not depend on the agent's capabilities.
    crashed = next(filter(None, crashes), "") if not all(crashes) else ""
    stage.judge.judge("V1-CAP-02", not crashed, "the client crashes in some cases", came=crashed)


@check("V1-CANCEL-03", "V1-PERM-05", role="client")
async def settles_permissions_when_it_cancels_on_its_own(stage: ClientStage) -> None:
    """A client that cancels a turn unasked answers open requests as cancelled."""
    talk = await stage.whole_run(Offer(capabilities=FULL), asks=True)
    found = queries.open_at_cancel(talk.peer.frames, "session/request_permission")
    for request, answer in found:
        result = None if answer is None else answer.object.get("result")
        outcome = queries.at(result, "outcome.outcome")
        said = f"a permission that was open at the cancel got the outcome {as_json(outcome)}"
        for rule in stage.judge.rules:
            stage.judge.judge(rule, outcome == "cancelled", said, sent=request, came=answer or "")
    if not found:
        # Another check judges whether it cancels on demand.
        stage.judge.skip_open("the client cancels no turn of its own while a permission is open")


@check(
    *dict.fromkeys(rule for _, rule in GATES.values() if rule != "V1-PROV-02"),
    "V1-CAP-01", "V1-CAP-09", "V1-PROMPT-02", "V1-SESS-09", "V1-SESS-26", "V1-MCP-03",
    role="client",
)  # fmt: skip
async def uses_on_its_own_only_what_is_offered(stage: ClientStage) -> None:
    """A capability that a client uses unasked is not used if only that one is off."""
    fields: dict[str, Any] = {**modes("1"), "configOptions": [mode_option()]}
    end = time.monotonic() + RUNS_SECONDS_MAX
    talk = await stage.whole_run(Offer(capabilities=FULL), fields=fields)
    found = used(talk.peer.frames, needs_of)
    for path, rule in found:
        # Providers have a check of their own.
        if rule not in stage.judge.rules:
            continue
        if time.monotonic() > end:
            break
        other = await stage.whole_run(Offer(capabilities=without(FULL, path)), status="_warm")
        came = used(other.peer.frames, needs_of).get((path, rule))
        said = f"{path} was not offered"
        for broken in (rule, "V1-CAP-01"):
            stage.judge.judge(broken, came is None, said, came=[came] if came else [])
    stage.leave_open("the client does not use this on its own")
