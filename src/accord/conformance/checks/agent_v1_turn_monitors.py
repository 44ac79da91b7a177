"""What the course of a turn shows in any run of a v1 agent: order, tool calls, terminals, forms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from accord.conformance import looking
from accord.conformance.check import Findings, monitor
from accord.conformance.wire import Frame

WORK = frozenset(
    {
        "agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "tool_call",
        "tool_call_update", "plan",
    }
)  # fmt: skip
# While one of these is open, work or history may be told.
TELLING = ("session/prompt", "session/load", "session/fork", "session/resume")
FINAL = frozenset({"completed", "failed"})
SECRETS = re.compile(r"password|passwd|api[ _-]?key|secret|token|credential|private[ _-]?key", re.I)
IN_URL = re.compile(r"(token|password|secret|signature|sig|api_?key)=|[\w.]+%40|//[^/]*@", re.I)


@monitor("V1-PROMPT-09")
def updates_come_before_the_result(frames: Sequence[Frame], judge: Findings) -> None:
    open_prompts = 0
    ended: Frame | None = None
    asked: set[str] = set()
    for frame in frames:
        key = repr(frame.object.get("id"))
        if frame.sent and frame.method in TELLING:
            open_prompts += 1
            asked.add(key)
            ended = None
        elif not frame.sent and frame.is_response and key in asked:
            asked.discard(key)
            open_prompts -= 1
            ended = frame if open_prompts == 0 else None
            if ended is not None and "result" in frame.object:
                judge.passed("V1-PROMPT-09")
        elif ended is not None and not frame.sent and frame.method == "session/update":
            kind = looking.at(frame.params, "update.sessionUpdate")
            if kind in WORK:
                judge.failed("V1-PROMPT-09", f"{kind} after the result of the turn", came=frame)


@monitor("V1-PROMPT-17")
def chunks_have_ids(frames: Sequence[Frame], judge: Findings) -> None:
    for _, frame, _, update in looking.updates(
        frames, "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"
    ):
        ok = isinstance(update.get("messageId"), str)
        judge.judge("V1-PROMPT-17", ok, "a chunk has no messageId", came=frame)


@monitor("V1-TOOL-01", "V1-TOOL-02", "V1-TOOL-11", "V1-TOOL-13")
def tool_calls(frames: Sequence[Frame], judge: Findings) -> None:
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    loading = {
        (first, last) for method in ("session/load", "session/fork")
        for first, last, _, _ in looking.answers(frames, method)
    }  # fmt: skip
    for at, frame, session, update in looking.updates(frames, "tool_call", "tool_call_update"):
        if any(first < at < last for first, last in loading):
            continue
        key = session, str(update.get("toolCallId"))
        known = seen.get(key)
        if known is None:
            ok = update["sessionUpdate"] == "tool_call" and bool(update.get("title"))
            judge.judge("V1-TOOL-01", ok, "a call is not reported by tool_call first", came=frame)
            judge.passed("V1-TOOL-02")
        elif update["sessionUpdate"] == "tool_call":
            judge.failed("V1-TOOL-02", f"the id {key[1]} is used twice", came=frame)
            continue
        known = known or {}
        _later(known, update, frame, judge)
        seen[key] = known | {name: value for name, value in update.items() if value is not None}


def _later(known: dict[str, Any], update: dict[str, Any], frame: Frame, judge: Findings) -> None:
    status, before = update.get("status"), known.get("status")
    if before in FINAL:
        ok = status in (None, before)
        judge.judge("V1-TOOL-13", ok, f"{status} after {before}", came=frame)
    elif status in FINAL:
        judge.passed("V1-TOOL-13")
    if update.get("name") is not None:
        ok = not known or known.get("name") == update["name"]
        judge.judge("V1-TOOL-11", ok, "the name came later or changed", came=frame)


@monitor("V1-TOOL-03")
def allowed_calls_run(frames: Sequence[Frame], judge: Findings) -> None:
    """After an allowing answer: `in_progress`, then a final status, unless cancelled."""
    if any(frame.sent and frame.method == "session/cancel" for frame in frames):
        return
    asked: dict[str, str] = {}
    statuses: dict[str, list[str]] = {}
    for frame in frames:
        key = repr(frame.object.get("id"))
        if not frame.sent and frame.method == "session/request_permission":
            asked[key] = str(looking.at(frame.params, "toolCall.toolCallId"))
        elif frame.sent and frame.is_response and key in asked:
            option = str(looking.at(frame.object, "result.outcome.optionId"))
            if option.startswith("allow"):
                statuses[asked[key]] = []
        update = frame.params.get("update") if not frame.sent else None
        call = update.get("toolCallId") if isinstance(update, dict) else None
        if call in statuses and isinstance(looking.at(update, "status"), str):
            statuses[str(call)].append(looking.at(update, "status"))
    if not any(looking.answers(frames, "session/prompt")):
        return
    for call, found in statuses.items():
        ok = "in_progress" in found[:1] and bool(FINAL & set(found[-1:]))
        judge.judge("V1-TOOL-03", ok, f"call {call} went {found} after it was allowed")


@monitor("V1-TERM-07", "V1-TOOL-09")
def terminals(frames: Sequence[Frame], judge: Findings) -> None:
    made: list[str] = []
    released: dict[str, int] = {}
    creating: set[str] = set()
    for at, frame in enumerate(frames):
        key = repr(frame.object.get("id"))
        if not frame.sent and frame.method == "terminal/create":
            creating.add(key)
        elif frame.sent and frame.is_response and key in creating:
            creating.discard(key)
            name = looking.at(frame.object, "result.terminalId")
            if isinstance(name, str):
                made.append(name)
        elif not frame.sent and frame.method == "terminal/release":
            released.setdefault(str(frame.params.get("terminalId")), at)
    replays = list(looking.answers(frames, "session/load"))
    for at, frame, _, update in looking.updates(frames, "tool_call", "tool_call_update"):
        if any(first < at < last for first, last, _, _ in replays):
            continue
        for name in _shown(update):
            ok = name not in released or at < released[name]
            judge.judge("V1-TOOL-09", ok, f"{name} was released before it was shown", came=frame)
    sent = sum(1 for one in frames if one.sent and one.method == "session/prompt")
    if made and sent == len(list(looking.answers(frames, "session/prompt"))):
        left = [name for name in made if name not in released]
        judge.judge("V1-TERM-07", not left, f"never released: {', '.join(left)}")


def _shown(update: dict[str, Any]) -> list[str]:
    content = update.get("content")
    return [
        str(one.get("terminalId"))
        for one in (content if isinstance(content, list) else [])
        if isinstance(one, dict) and one.get("type") == "terminal"
    ]


@monitor("V1-ELIC-10", "V1-ELIC-12", "V1-ELIC-16", "V1-ELIC-20", "V1-ELIC-24", "V1-ELIC-27")
def questions(frames: Sequence[Frame], judge: Findings) -> None:
    look_at_questions(frames, judge)


def look_at_questions(frames: Sequence[Frame], judge: Findings) -> None:
    """Forms and URLs that an agent asks with; the same in v2."""
    open_ids: set[str] = set()
    for frame in looking.received(frames):
        if frame.method == "elicitation/complete":
            known = str(frame.params.get("elicitationId")) in open_ids
            judge.judge("V1-ELIC-16", known, "complete for an id that is not open", came=frame)
        if frame.method != "elicitation/create":
            continue
        mode, schema = str(frame.params.get("mode")), frame.params.get("requestedSchema")
        own = mode in ("form", "url") or mode.startswith("_")
        judge.judge("V1-ELIC-27", own, f"the mode {mode!r} has no underscore", came=frame)
        if mode == "form":
            ok = isinstance(schema, dict) and schema.get("type") == "object"
            ok = ok and isinstance(looking.at(schema, "properties"), dict)
            judge.judge("V1-ELIC-20", ok, "a schema without type and properties", came=frame)
            names = looking.at(schema, "properties")
            text = " ".join(names) if isinstance(names, dict) else ""
            judge.judge("V1-ELIC-10", not SECRETS.search(text), "a form asks a secret", came=frame)
        elif mode == "url":
            name = str(frame.params.get("elicitationId"))
            judge.judge("V1-ELIC-16", name not in open_ids, f"{name} is open", came=frame)
            open_ids.add(name)
            _url(frame, judge)


def _url(frame: Frame, judge: Findings) -> None:
    url = str(frame.params.get("url"))
    try:
        parts = urlsplit(url)
        ok = bool(parts.scheme and parts.netloc)
    except ValueError:
        ok = False
    judge.judge("V1-ELIC-24", ok, f"{url!r} is no URL", came=frame)
    judge.judge("V1-ELIC-12", not IN_URL.search(url), "the URL has credentials", came=frame)
