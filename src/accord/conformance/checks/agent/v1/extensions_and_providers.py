"""Monitors of a v1 agent's extensions, and checks of its roots, MCP servers and providers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from accord.conformance.agent.check_environment import AgentStage
from accord.conformance.check_definition import Findings, check, monitor
from accord.conformance.checks.agent.v1.sessions import ROOTS, listed
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.error_codes import TAKEN
from accord.conformance.frames.raw_peer import Frame

TRACEPARENT = re.compile(r"^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")
# The unknown code with which the kit fails requests: it may be passed on.
NOBODYS = -32077
NO_DENIALS = TAKEN | {NOBODYS}
# An address that only the kit uses.
OWN_URL = "http://127.0.0.1:9/accord-check/"
# Replaces the capabilities of a program that has not sent them.
UNKNOWN = object()
# A list of members as `tracestate` and `baggage` have them; either may be empty.
MEMBERS = re.compile(r"^$|^[^=,]+=[^,]*(,[^=,]+=[^,]*)*$")


@monitor("V1-EXT-01", "V1-EXT-06", "V1-EXT-08", "V1-AUTH-17")
def extensions(frames: Sequence[Frame], judge: Findings) -> None:
    announced: Any = UNKNOWN
    for _, _, _, result in queries.answers(frames, "initialize"):
        # Asked for a later version, an agent answers in the form of that version.
        is_v1 = queries.at(result, "protocolVersion") == 1
        announced = queries.at(result, "agentCapabilities._meta") if is_v1 else UNKNOWN
    last: Any = None
    for frame in queries.received(frames):
        judge_extension(frame, announced, judge)
        if frame.method == "auth/status_update":
            judge.judge("V1-AUTH-17", frame.params != last, "reported without a change", came=frame)
            last = frame.params
    judge_denials(frames, judge)


def judge_extension(frame: Frame, announced: Any, judge: Findings) -> None:
    """Judge the extensions in one frame; `announced` is `_meta` of its sender's capabilities.

    It is UNKNOWN while the sender has not told its capabilities, as when `initialize` is refused.
    """
    for meta in _metas(frame):
        trace = meta.get("traceparent")
        if trace is not None:
            ok = isinstance(trace, str) and bool(TRACEPARENT.match(trace))
            judge.judge("V1-EXT-01", ok, "traceparent is not valid", came=frame)
        for key in ("tracestate", "baggage"):
            if meta.get(key) is not None:
                ok = isinstance(meta[key], str) and bool(MEMBERS.match(meta[key]))
                judge.judge("V1-EXT-01", ok, f"{key} has no members", came=frame)
    if (frame.method or "").startswith("_") and announced is not UNKNOWN:
        ok = isinstance(announced, dict)
        judge.judge("V1-EXT-06", ok, "an extension that was not announced", came=frame)


def _metas(frame: Frame) -> list[dict[str, Any]]:
    """Return the metadata of a message: of its params or result, and of their members."""
    parts = [frame.params, frame.object.get("result")]
    inner = [one for part in parts if isinstance(part, dict) for one in part.values()]
    found = [queries.at(one, "_meta") for one in (*parts, *inner)]
    return [one for one in found if isinstance(one, dict)]


def judge_denials(frames: Sequence[Frame], judge: Findings) -> None:
    """Errors in the range for implementations have a reason."""
    for frame, error in queries.errors(frames):
        code = error.get("code")
        if isinstance(code, int) and -32099 <= code <= -32001 and code not in NO_DENIALS:
            ok = isinstance(queries.at(error, "data.reason"), str)
            judge.judge("V1-EXT-08", ok, f"{code} without a reason in its data", came=frame)


@check("V1-SESS-11")
async def roots_are_not_dropped_in_silence(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can(ROOTS):
        stage.judge.skip_open("the agent has no additional directories")
        return
    nowhere = str(stage.root / "nowhere")
    params = {"cwd": str(talk.folder), "mcpServers": [], "additionalDirectories": [nowhere]}
    answer = await talk.call("session/new", params)
    if "error" in answer:
        stage.judge.passed("V1-SESS-11")
        return
    if not talk.can("sessionCapabilities.list"):
        stage.judge.close("it is accepted, but no list shows the result", failing=False)
        return
    session = answer["result"]["sessionId"]
    entry = [one for one in await listed(talk) if one.get("sessionId") == session]
    if not entry:
        stage.judge.close("the list does not have the session yet", failing=False)
        return
    ok = entry[0].get("additionalDirectories") == [nowhere]
    stage.judge.judge("V1-SESS-11", ok, "the root was dropped", sent=params, came=entry)


@check("V1-MCP-07")
async def servers_inside_the_connection_have_their_own_ids(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("mcpCapabilities.acp"):
        stage.judge.skip_open("the agent does not accept MCP servers over ACP")
        return
    twice = [{"type": "acp", "name": name, "serverId": "same"} for name in ("one", "two")]
    params = {"cwd": str(talk.folder), "mcpServers": twice}
    error = await talk.error_of("session/new", params)
    stage.judge.judge("V1-MCP-07", bool(error), "an id is accepted twice", sent=params)


@check("V1-PROV-09", "V1-PROV-06")
async def headers_of_providers_do_not_come_back(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("providers"):
        stage.judge.skip_open("the agent has no providers")
        return
    known = (await talk.ask("providers/list", {})).get("providers") or []
    for one in known[:1]:
        supported = one.get("supported")
        for kind in ("_accord_check", *(supported if isinstance(supported, list) else [])[:1]):
            await _judge_headers(stage, one.get("providerId"), kind)


async def _judge_headers(stage: AgentStage, provider: Any, kind: Any) -> None:
    """Set a provider with a secret: it is not sent back, and a new process does not have it."""
    talk = stage.talk
    params = {"providerId": provider, "apiType": kind, "baseUrl": OWN_URL}
    params |= {"headers": {"authorization": "accord-check-secret"}}
    answer = await talk.peer.call("providers/set", params)
    again = await talk.ask("providers/list", {})
    stage.judge.passed("V1-PROV-09")
    if "result" not in answer:
        return
    ok = "accord-check-secret" not in str(again)
    stage.judge.judge("V1-PROV-06", ok, "headers come back", came=again)
    talk = await stage.another()
    await talk.initialize()
    kept = await talk.prepare("providers/list", {})
    said = "a new process has what a client has set"
    stage.judge.judge("V1-PROV-06", OWN_URL not in str(kept), said, came=kept)
