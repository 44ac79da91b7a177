"""Monitors of a v1 agent's turns: order, tool calls, terminals, forms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from accord.conformance.check_definition import Findings, monitor
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Frame, as_json

WORK = frozenset(
    {
        "agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "tool_call",
        "tool_call_update", "plan",
    }
)  # fmt: skip
FINAL = frozenset({"completed", "failed"})
# The end of a field's name says what it is: a limit of tokens is not a token.
STOP_REASONS = frozenset({"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"})
SECRETS = re.compile(
    r"\b(pass(word|wd| ?phrase)|secret|token|credentials?|(api|private|access|secret|ssh) ?keys?|"
    r"pin (code|number)|cvv|cvc|card number|otp|one[ -]time code)( (for|again|at)\b.*| ?\(.*)?$",
    re.IGNORECASE,
)
# A message that asks for one.
ASKING_A_SECRET = re.compile(
    r"\b(enter|paste|type|provide|what is|i need|give me)( in)? (your|the|an?) (\S+ ){0,2}?"
    r"(password|passphrase|(api|private|access|secret)[ -]key|access token)\b"
    r"(?! (name|policy|length|manager|file|format|type))",
    re.IGNORECASE,
)
FIELD_TYPES = frozenset({"string", "number", "integer", "boolean", "array"})
IN_URL = re.compile(
    r"[?&#;][\w-]*(token|password|secret|signature|sig|api_?key)=|\?.*[\w.]+(%40|@)[\w-]+\.|//[^/]*@",
    re.IGNORECASE,
)


@monitor("V1-PROMPT-09")
def updates_come_before_the_result(frames: Sequence[Frame], judge: Findings) -> None:
    """No update of a turn follows its result, unless other work of its session continues."""
    asked: dict[str, str] = {}
    # Sessions whose last turn has ended, without a request since then.
    over: set[str] = set()
    for frame in frames:
        key, session = repr(frame.object.get("id")), str(frame.params.get("sessionId"))
        if frame.sent and frame.is_request:
            over.discard(session)
            if frame.method == "session/prompt":
                asked[key] = session
        elif not frame.sent and frame.is_response and key in asked:
            session = asked.pop(key)
            if session not in asked.values():
                over.add(session)
            if "result" in frame.object:
                judge.passed("V1-PROMPT-09")
        elif not frame.sent and frame.method == "session/update" and session in over:
            kind = queries.at(frame.params, "update.sessionUpdate")
            if kind in WORK:
                judge.failed("V1-PROMPT-09", f"{kind} after the result of the turn", came=frame)


@monitor("V1-PROMPT-17")
def chunks_have_ids(frames: Sequence[Frame], judge: Findings) -> None:
    for _, frame, _, update in queries.updates(
        frames, "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"
    ):
        ok = isinstance(update.get("messageId"), str)
        judge.judge("V1-PROMPT-17", ok, "a chunk has no messageId", came=frame)


@monitor("V1-TOOL-01", "V1-TOOL-02", "V1-TOOL-11", "V1-TOOL-13")
def tool_calls(frames: Sequence[Frame], judge: Findings) -> None:
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    loading = _replays(frames)
    turns: dict[tuple[str, str], int] = {}
    ends = [
        (at, str(frames[asked].params.get("sessionId")))
        for asked, at, _, _ in queries.answers(frames, "session/prompt")
    ]
    for at, frame, session, update in queries.updates(frames, "tool_call", "tool_call_update"):
        if any(first < at < last for first, last in loading):
            continue
        key = session, str(update.get("toolCallId"))
        turn = sum(1 for end, of in ends if end < at and of == session)
        known = seen.get(key)
        if known is None:
            ok = update["sessionUpdate"] == "tool_call" and bool(update.get("title"))
            judge.judge("V1-TOOL-01", ok, "a call is not reported by tool_call first", came=frame)
            judge.passed("V1-TOOL-02")
        # Reporting an open call again reports the same call.
        elif update["sessionUpdate"] == "tool_call" and (
            known.get("status") in FINAL or turns[key] != turn
        ):
            judge.failed("V1-TOOL-02", f"the id {key[1]} is used twice", came=frame)
            continue
        turns.setdefault(key, turn)
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


def _replays(frames: Sequence[Frame]) -> list[tuple[int, int]]:
    """Find replays: from a request until the next request for its session.

    That nothing of it follows the answer is a rule of its own.
    """
    methods = ("session/load", "session/fork", "session/resume")
    found: list[tuple[int, int]] = []
    for method in methods:
        for first, last, _, _ in queries.answers(frames, method):
            session = frames[first].params.get("sessionId")
            asked = (
                at
                for at, one in enumerate(frames)
                if at > last and one.sent and one.params.get("sessionId") == session
            )
            found.append((first, next(asked, len(frames))))
    return found


@monitor("V1-TOOL-03")
def allowed_calls_run(frames: Sequence[Frame], judge: Findings) -> None:
    """After an allowing answer: `in_progress`, then a final status, unless cancelled."""
    if any(frame.sent and frame.method == "session/cancel" for frame in frames):
        return
    asked: dict[str, Frame] = {}
    statuses: dict[tuple[str, str], list[str]] = {}
    prompts: dict[str, str] = {}
    for frame in frames:
        key, session = repr(frame.object.get("id")), str(frame.params.get("sessionId"))
        if frame.sent and frame.method == "session/prompt":
            prompts[key] = session
        elif not frame.sent and frame.method == "session/request_permission":
            asked[key] = frame
        elif frame.sent and frame.is_response and key in asked:
            request = asked.pop(key)
            if _allows(request, frame):
                call = str(queries.at(request.params, "toolCall.toolCallId"))
                statuses[str(request.params.get("sessionId")), call] = []
        elif not frame.sent and frame.is_response and key in prompts:
            session = prompts.pop(key)
            # While another prompt is open, the turn may be that one's.
            if session not in prompts.values():
                _judge_allowed(statuses, session, judge)
        update = frame.params.get("update") if not frame.sent else None
        status = queries.at(update, "status")
        if isinstance(status, str):
            statuses.get((session, str(queries.at(update, "toolCallId"))), []).append(status)


def _allows(request: Frame, answer: Frame) -> bool:
    """Whether the chosen option allows the call."""
    chosen = queries.at(answer.object, "result.outcome.optionId")
    options = request.params.get("options")
    kinds = [
        str(one.get("kind"))
        for one in (options if isinstance(options, list) else [])
        if isinstance(one, dict) and chosen is not None and one.get("optionId") == chosen
    ]
    return bool(kinds) and kinds[0].startswith("allow")


def _judge_allowed(
    statuses: dict[tuple[str, str], list[str]], session: str, judge: Findings
) -> None:
    """At the end of a turn, judge the calls that were allowed in it."""
    for key in [one for one in statuses if one[0] == session]:
        found = statuses.pop(key)
        ok = "in_progress" in found[:1] and bool(FINAL & set(found[-1:]))
        judge.judge("V1-TOOL-03", ok, f"call {key[1]} went {found} after it was allowed")


@monitor("V1-TOOL-14")
def calls_are_over_with_their_turn(frames: Sequence[Frame], judge: Findings) -> None:
    """At the answer of a turn that was not cancelled, each of its calls has a final status."""
    for first, last, answer, result in queries.answers(frames, "session/prompt"):
        if result.get("stopReason") == "cancelled":
            continue
        session = str(frames[first].params.get("sessionId"))
        last_status: dict[str, Any] = {}
        for _, _, name, update in queries.updates(
            frames[first:last], "tool_call", "tool_call_update"
        ):
            call = str(update.get("toolCallId"))
            new = update["sessionUpdate"] == "tool_call"
            if name == session and (new or call in last_status):
                status = update.get("status") or last_status.get(call) or "pending"
                last_status[call] = status
        left = {call: status for call, status in last_status.items() if status not in FINAL}
        if last_status:
            said = f"at the end of the turn calls are not over: {as_json(left)}"
            judge.judge("V1-TOOL-14", not left, said, came=answer)


@monitor("V1-TERM-07", "V1-TOOL-09")
def terminals(frames: Sequence[Frame], judge: Findings) -> None:
    made: dict[str, int] = {}
    released: dict[str, int] = {}
    shown: dict[str, int] = {}
    creating: set[str] = set()
    replays = _replays(frames)
    for at, frame in enumerate(frames):
        key = repr(frame.object.get("id"))
        if not frame.sent and frame.method == "terminal/create":
            creating.add(key)
        elif frame.sent and frame.is_response and key in creating:
            creating.discard(key)
            name = queries.at(frame.object, "result.terminalId")
            if isinstance(name, str):
                made[name] = at
        elif not frame.sent and frame.method == "terminal/release":
            released.setdefault(str(frame.params.get("terminalId")), at)
        elif not any(first < at < last for first, last in replays):
            for name in _shown(frame):
                shown.setdefault(name, at)
    for name in [one for one in shown if one in made]:
        ok = name not in released or shown[name] < released[name]
        said = f"{name} was released before it was shown"
        judge.judge("V1-TOOL-09", ok, said, came=frames[shown[name]])
    if made and len(released.keys() & made.keys()) == len(made):
        judge.passed("V1-TERM-07")
    # After a later turn: a terminal that is still not released never will be.
    turns = _later_turns(frames)
    left = [one for one, at in made.items() if one not in released and at < max(turns, default=0)]
    if left:
        judge.failed("V1-TERM-07", f"never released: {', '.join(left)}")


def _later_turns(frames: Sequence[Frame]) -> list[int]:
    """Find answered prompts that were sent while no other was open."""
    turns = [(first, last) for first, last, _, _ in queries.answers(frames, "session/prompt")]
    asked = [at for at, one in enumerate(frames) if one.sent and one.method == "session/prompt"]
    ends = dict(turns)
    return [
        first for first, _ in turns
        if all(ends.get(at, len(frames)) < first for at in asked if at < first)
    ]  # fmt: skip


def _shown(frame: Frame) -> list[str]:
    """Return the terminals that a tool call shows in this frame."""
    holder = frame.params.get("toolCall") or frame.params.get("update")
    content = queries.at(holder, "content") if not frame.sent else None
    return [
        str(one.get("terminalId"))
        for one in (content if isinstance(content, list) else [])
        if isinstance(one, dict) and one.get("type") == "terminal"
    ]


@monitor(
    "V1-ELIC-10", "V1-ELIC-11", "V1-ELIC-12", "V1-ELIC-16", "V1-ELIC-20", "V1-ELIC-24",
    "V1-ELIC-27",
)  # fmt: skip
def questions(frames: Sequence[Frame], judge: Findings) -> None:
    look_at_questions(frames, judge)


def look_at_questions(frames: Sequence[Frame], judge: Findings) -> None:
    """Judge forms and URLs of an agent; the same in v2."""
    known: set[str] = set()
    open_ids: set[str] = set()
    asked: dict[str, str] = {}
    for frame in frames:
        if frame.sent:
            # A URL that was not accepted is not open any more.
            name = asked.pop(repr(frame.object.get("id")), "") if frame.is_response else ""
            if queries.at(frame.object, "result.action") != "accept":
                open_ids.discard(name)
            continue
        if frame.method == "elicitation/complete":
            name = str(frame.params.get("elicitationId"))
            judge.judge("V1-ELIC-16", name in known, "complete for an unknown id", came=frame)
            open_ids.discard(name)
        if frame.method != "elicitation/create":
            continue
        mode, schema = str(frame.params.get("mode")), frame.params.get("requestedSchema")
        own = mode in ("form", "url") or mode.startswith("_")
        judge.judge("V1-ELIC-27", own, f"the mode {as_json(mode)} has no underscore", came=frame)
        if mode == "form":
            ok = isinstance(schema, dict) and schema.get("type") == "object"
            ok = ok and isinstance(queries.at(schema, "properties"), dict)
            judge.judge("V1-ELIC-20", ok, "a schema without type and properties", came=frame)
            secrets = _secrets(schema) or _asked_in_words(frame.params.get("message"), schema)
            judge.judge("V1-ELIC-10", not secrets, "a form asks for a secret", came=frame)
            if secrets:
                judge.failed("V1-ELIC-11", "a secret is asked for by a form", came=frame)
            for kind in _own_types(schema):
                judge.failed(
                    "V1-ELIC-27", f"the type {as_json(kind)} has no underscore", came=frame
                )
        elif mode == "url":
            name = str(frame.params.get("elicitationId"))
            judge.judge("V1-ELIC-16", name not in open_ids, f"{name} is open", came=frame)
            open_ids.add(name)
            known.add(name)
            asked[repr(frame.object.get("id"))] = name
            _url(frame, judge)


def _own_types(schema: Any) -> list[str]:
    """Return the types of fields that are neither in the protocol nor marked as custom."""
    fields = queries.at(schema, "properties")
    kinds = [queries.at(one, "type") for one in fields.values()] if isinstance(fields, dict) else []
    odd = [one for one in kinds if isinstance(one, str) and one not in FIELD_TYPES]
    return [one for one in odd if not one.startswith("_")]


def _secrets(schema: Any) -> list[str]:
    """Return the fields of a form whose names or titles are those of secrets."""
    fields = queries.at(schema, "properties")
    found: list[str] = []
    for name, field in fields.items() if isinstance(fields, dict) else ():
        words = [str(name), str(queries.at(field, "title") or "")]
        plain = [re.sub(r"(?<=[a-z])(?=[A-Z])|[_\-.:?]+", " ", one).strip() for one in words]
        if queries.at(field, "format") == "password" or any(SECRETS.search(one) for one in plain):
            found.append(str(name))
    return found


def _asked_in_words(message: Any, schema: Any) -> bool:
    """Whether the message of a form with one free text asks for a secret by its name."""
    fields = queries.at(schema, "properties")
    only = list(fields.values()) if isinstance(fields, dict) else []
    free = len(only) == 1 and queries.at(only[0], "type") == "string"
    chosen = free and any(key in only[0] for key in ("enum", "oneOf"))
    return free and not chosen and bool(ASKING_A_SECRET.search(str(message)))


def _url(frame: Frame, judge: Findings) -> None:
    url = str(frame.params.get("url"))
    try:
        parts = urlsplit(url)
        ok = bool(parts.scheme and parts.netloc)
    except ValueError:
        ok = False
    judge.judge("V1-ELIC-24", ok, f"{as_json(url)} is not a URL", came=frame)
    judge.judge("V1-ELIC-12", not IN_URL.search(url), "the URL has credentials", came=frame)


@monitor("V1-PROMPT-06", "V1-CANCEL-05")
def turns_end(frames: Sequence[Frame], judge: Findings) -> None:
    """Every prompt is answered with a stop reason, also a cancelled one."""
    for _, _, frame, result in queries.answers(frames, "session/prompt"):
        reason = result.get("stopReason")
        said = f"the turn ends with the reason {as_json(reason)}"
        judge.judge("V1-PROMPT-06", reason in STOP_REASONS, said, came=frame)
    for frame in queries.unended_turns(frames):
        judge.failed("V1-PROMPT-06", f"the turn has no end: {frame.unanswered}", sent=frame)
    for frame in queries.unanswered_cancels(frames):
        said = f"the cancelled prompt has no result: {frame.unanswered}"
        judge.failed("V1-CANCEL-05", said, sent=frame)
