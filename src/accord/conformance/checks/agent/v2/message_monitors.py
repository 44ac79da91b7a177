"""Monitors of a v2 agent's messages: types, messages, tool calls, terminals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from accord.conformance.check_definition import Findings, monitor
from accord.conformance.checks.agent.v1.message_monitors import (
    error_responses,
    look_at_plans,
    look_at_updates_of_options,
    requests,
    responses,
    watching,
)
from accord.conformance.checks.agent.v1.turn_monitors import look_at_questions
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Frame, as_json
from accord.conformance.frames.schema_validation import Flaw, flaws

v2_jsonrpc = watching("V1-GEN-01", "2", queries.not_jsonrpc)
v2_asked = watching("V1-GEN-02", "2", queries.unasked_responses, needs=responses)
v2_responses = watching("V1-GEN-03", "2", queries.bad_responses, needs=responses)
v2_nulls = watching("V2-GEN-03", "2", queries.null_answers, needs=error_responses)
v2_ids = watching("V2-GEN-01", "2", queries.odd_ids, needs=requests)
v2_reused = watching("V2-GEN-02", "2", queries.reused_ids, needs=queries.open_together)
v2_names = watching("V1-GEN-08", "2", queries.odd_names)
v2_lines = watching("TR-STDIO-02", "2", queries.broken_lines)
v2_noise = watching("TR-STDIO-03", "2", queries.noise)
v2_children = watching("V1-PROXY-08", "2", queries.unannounced_children, needs=queries.children)

ECHOES = ("user_message", "user_message_chunk")
FINAL = frozenset({"completed", "failed", "cancelled"})
ABSOLUTE = re.compile(r"^(/|[A-Za-z]:[\\/]|\\\\)")
# The default form of file names in a git patch.
PREFIXED = re.compile(r"^(diff --git a/|--- a/.*\n\+\+\+ |--- .*\n\+\+\+ b/)", re.M)
MAIL = re.compile(r"^(From [0-9a-f]{40} |From: |Subject: )", re.M)
MESSAGES = (
    "user_message", "agent_message", "agent_thought", "user_message_chunk", "agent_message_chunk",
    "agent_thought_chunk",
)  # fmt: skip


# Keys with a rule of their own.
PARTICULAR = {
    "planId": "V2-CFG-08",
    "entries": "V2-CFG-08",
    "oldPath": "V2-UPS-21",
    "line": "V2-UPS-22",
    "currentValue": "V2-CFG-04",
}


def rule_of(flaw: Flaw) -> str:
    """Return the rule that a wrong type breaks: the most specific one."""
    # A name of the early drafts stands for its successor.
    last = queries.quoted(flaw.why, "read as") or flaw.where.rpartition(".")[2]
    if "unknown variant" in flaw.why or "unknown value" in flaw.why:
        return "V2-UPS-11" if last in ("kind", "status", "stopReason") else "V2-GEN-08"
    if flaw.method == "initialize":
        by_key = {"info": "V2-INIT-01"}
        return "V2-AUTH-03" if "authMethods" in flaw.where else by_key.get(last, "V2-GEN-04")
    if flaw.method == "session/request_permission" and last in ("title", "options"):
        return "V2-PERM-02"
    if last == "messageId":
        return "V2-UPS-01" if flaw.part == "params" else "V2-PROMPT-04"
    if last in PARTICULAR:
        return PARTICULAR[last]
    if flaw.where.startswith("$.requestedSchema"):
        return "V2-ELIC-03"
    if last == "changes":
        return "V2-UPS-18"
    return "V1-GEN-09" if flaw.why == "unknown key" else "V2-GEN-04"


def is_bad_marker(flaw: Flaw) -> bool:
    """Whether the value of a capability is not an object, such as true."""
    in_capabilities = flaw.method == "initialize" and flaw.where.startswith("$.capabilities")
    return in_capabilities and flaw.why != "unknown key"


@monitor(
    "V2-GEN-04", "V1-GEN-09", "V2-GEN-08", "V2-UPS-11", "V2-INIT-01", "V2-AUTH-03", "V2-PERM-02",
    "V2-UPS-01", "V2-PROMPT-04", "V2-CFG-04", "V2-CFG-08", "V2-UPS-21", "V2-UPS-22", "V2-UPS-18",
    "V2-ELIC-03", "V2-INIT-09", version="2",
)  # fmt: skip
def shapes(frames: Sequence[Frame], judge: Findings) -> None:
    for flaw in flaws(frames, "2", of_agent=True):
        if flaw.is_own:
            continue
        judge.failed(rule_of(flaw), str(flaw), came=flaw.frame)
        if queries.quoted(flaw.why, "read as"):
            judge.failed("V2-GEN-04", str(flaw), came=flaw.frame)
        if is_bad_marker(flaw):
            judge.failed("V2-INIT-09", str(flaw), came=flaw.frame)
    for _, _, _, result in queries.answers(frames, "initialize"):
        judge.passed("V2-GEN-04", "V1-GEN-09")
        if result.get("protocolVersion") == 2:
            judge.passed("V2-INIT-01")
        if result.get("authMethods"):
            judge.passed("V2-AUTH-03")
    for _, _, _, update in queries.updates(frames):
        kind = update.get("sessionUpdate")
        judge.passed("V2-GEN-08")
        if kind in MESSAGES:
            judge.passed("V2-UPS-01")
        if kind == "tool_call_update":
            judge.passed("V2-UPS-11")
        if kind == "plan_update":
            judge.passed("V2-CFG-08")
        if update.get("locations"):
            judge.passed("V2-UPS-22")


@monitor("V2-PERM-02", "V2-PERM-06", version="2")
def permissions(frames: Sequence[Frame], judge: Findings) -> None:
    for frame in queries.received(frames):
        if frame.method != "session/request_permission":
            continue
        options = frame.params.get("options")
        ids = [one.get("optionId") for one in options if isinstance(one, dict)] if options else []
        ok = bool(ids) and len(set(ids)) == len(ids) and bool(frame.params.get("title"))
        judge.judge("V2-PERM-02", ok, "no title, no option, or an id twice", came=frame)
        subject = frame.params.get("subject")
        if isinstance(subject, dict) and subject.get("type") == "command":
            ok = bool(subject.get("command")) and bool(ABSOLUTE.match(str(subject.get("cwd"))))
            judge.judge("V2-PERM-06", ok, "no command or no absolute cwd", came=frame)


@monitor("V2-UPS-06", "V2-CANCEL-19", "V1-TOOL-13", version="2")
def tool_calls(frames: Sequence[Frame], judge: Findings) -> None:
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    offered: set[tuple[str, str]] = set()
    for _, frame, session, update in queries.updates(frames, "tool_call_update"):
        key = session, str(update.get("toolCallId"))
        known = seen.get(key)
        if known is None:
            judge.judge("V2-UPS-06", bool(update.get("title")), "a call without title", came=frame)
        known = known or {}
        before, status = known.get("status"), update.get("status")
        if before in FINAL and key[1] not in _replayed(frames):
            judge.judge("V1-TOOL-13", status in (None, before), f"{status} after {before}")
        now = known | update
        if queries.at(now, "capabilities.cancel") is not None:
            offered.add(key)
        if now.get("status") in FINAL:
            judge.passed("V1-TOOL-13")
            can = queries.at(now, "capabilities.cancel")
            if key in offered:
                judge.judge("V2-CANCEL-19", can is None, "cancel is offered on an ended call")
        seen[key] = now


def _replayed(frames: Sequence[Frame]) -> set[str]:
    """Return the ids of calls in replays, which are reported again."""
    found: set[str] = set()
    for first, last, _, _ in queries.answers(frames, "session/resume"):
        for _, _, _, update in queries.updates(frames[first:last], "tool_call_update"):
            found.add(str(update.get("toolCallId")))
    return found


@dataclass(slots=True)
class _Terminal:
    """The updates of one terminal so far."""

    command: Any = None
    ended: bool = False
    # Whether a call started or showed it again after its end.
    again: bool = False
    calls: set[str] = field(default_factory=set)


@monitor("V2-UPS-12", "V2-UPS-16", version="2")
def terminals(frames: Sequence[Frame], judge: Findings) -> None:
    seen: dict[tuple[str, str], _Terminal] = {}
    replayed = _replayed_terminals(frames)
    for _, frame, session, update in queries.updates(frames):
        for name in _shown_terminals(update):
            call = str(update.get("toolCallId"))
            shown = seen.setdefault((session, name), _Terminal())
            shown.again = shown.again or (shown.ended and call not in shown.calls)
            shown.calls.add(call)
        if update.get("sessionUpdate") not in ("terminal_update", "terminal_output_chunk"):
            continue
        if update.get("cwd") is not None:
            ok = bool(ABSOLUTE.match(str(update["cwd"])))
            judge.judge("V2-UPS-16", ok, "the cwd is not absolute", came=frame)
        name = str(update.get("terminalId"))
        flaw = _second_life(seen.setdefault((session, name), _Terminal()), update)
        if name not in replayed:
            judge.judge("V2-UPS-12", not flaw, f"{name} has ended, and {flaw}", came=frame)


def _second_life(of: _Terminal, update: dict[str, Any]) -> str:
    """Return why an update shows that the id of an ended terminal is used again.

    To tell once more what was told is not harm, and neither is output that comes late.
    """
    command, ends = update.get("command"), update.get("exitStatus") is not None
    other = command not in (None, of.command)
    flaw = ""
    if of.ended and other:
        flaw = "it runs another command now"
    elif of.ended and of.again and update.get("sessionUpdate") == "terminal_output_chunk":
        flaw = "it runs once more"
    elif of.ended and of.again and ends and of.command is not None:
        flaw = "it ends once more"
    of.again = of.again or (of.ended and command is not None and not ends)
    of.command = of.command if command is None else command
    of.ended = of.ended or ends
    return flaw


def _shown_terminals(update: dict[str, Any]) -> list[str]:
    """Return the terminals that an update of a tool call shows."""
    content = update.get("content") if "toolCallId" in update else None
    entries = content if isinstance(content, list) else [content]
    return [
        str(one.get("terminalId"))
        for one in entries
        if isinstance(one, dict) and one.get("type") == "terminal"
    ]


def _replayed_terminals(frames: Sequence[Frame]) -> set[str]:
    found: set[str] = set()
    for first, last, _, _ in queries.answers(frames, "session/resume"):
        for _, _, _, update in queries.updates(frames[first:last], "terminal_update"):
            found.add(str(update.get("terminalId")))
    return found


@monitor("V2-UPS-18", "V2-UPS-19", "V2-UPS-21", version="2")
def diffs(frames: Sequence[Frame], judge: Findings) -> None:
    for frame, diff in _diffs(frames):
        changes = diff.get("changes")
        if not isinstance(changes, list) or not changes:
            judge.failed("V2-UPS-18", "a diff has no changes", came=frame)
            continue
        paths = [str(one.get("path")) for one in changes if isinstance(one, dict)]
        text = str(queries.at(diff, "patch.text") or "")
        ok = all(ABSOLUTE.match(path) for path in paths) and not MAIL.search(text)
        ok = ok and not PREFIXED.search(text)
        named = not text or all(path.lstrip("/") in text for path in paths)
        said = "paths are not absolute, or the patch names others"
        judge.judge("V2-UPS-18", ok and named, said, came=frame)
        judge.judge("V2-UPS-19", bool(text), "a diff has no patch", came=frame)
        for one in changes:
            if isinstance(one, dict) and one.get("operation") in ("move", "copy"):
                ok = isinstance(one.get("oldPath"), str)
                judge.judge("V2-UPS-21", ok, "a move without oldPath", came=frame)


def _diffs(frames: Sequence[Frame]) -> Iterator[tuple[Frame, dict[str, Any]]]:
    for _, frame, _, update in queries.updates(
        frames, "tool_call_update", "tool_call_content_chunk"
    ):
        content = update.get("content")
        for one in content if isinstance(content, list) else [content]:
            if isinstance(one, dict) and one.get("type") == "diff":
                yield frame, one


@monitor("V2-CFG-03", "V2-CFG-06", "V2-SESS-03", version="2")
def options_and_commands(frames: Sequence[Frame], judge: Findings) -> None:
    for frame in queries.received(frames):
        for holder in (frame.object.get("result"), frame.params.get("update")):
            if not isinstance(holder, dict):
                continue
            for key in ("configOptions", "availableCommands"):
                if key in holder and isinstance(frame.object.get("result"), dict):
                    ok = isinstance(holder[key], list)
                    judge.judge("V2-SESS-03", ok, f"{key} is not a list", came=frame)
            for option in _list(holder.get("configOptions")):
                if option.get("type") == "select":
                    values = _values(option)
                    ok = bool(values) and len(set(values)) == len(values)
                    ok = ok and option.get("currentValue") in values
                    judge.judge("V2-CFG-03", ok, "values repeat or lack the current", came=option)
            commands = _list(holder.get("availableCommands"))
            if commands:
                for said in _flaws_of_commands(commands) or [""]:
                    judge.judge("V2-CFG-06", not said, said, came=frame)


@monitor("V2-CFG-04", version="2")
def whole_options(frames: Sequence[Frame], judge: Findings) -> None:
    look_at_updates_of_options(frames, judge, "V2-CFG-04", "configId")


@monitor("V2-CFG-08", version="2")
def plans(frames: Sequence[Frame], judge: Findings) -> None:
    told = [
        (at, frame, f"{session} {queries.at(update, 'plan.planId')}", update["plan"])
        for at, frame, session, update in queries.updates(frames, "plan_update")
        if queries.at(update, "plan.type") == "items"
    ]
    look_at_plans(frames, judge, "V2-CFG-08", told)


@monitor("V2-PROMPT-06", version="2")
def taken_prompts(frames: Sequence[Frame], judge: Findings) -> None:
    """An echoed prompt is not answered with an error."""
    told = list(queries.updates(frames, *ECHOES))
    for asked, answered, frame in queries.refusals(frames, "session/prompt"):
        session = frames[asked].params.get("sessionId")
        echoes = [update for at, _, of, update in told if asked <= at < answered and of == session]
        if echoes and queries.is_alone(frames, asked, answered):
            judge.failed("V2-PROMPT-06", "an error after the echo", sent=echoes[0], came=frame)


def _flaws_of_commands(commands: list[dict[str, Any]]) -> list[str]:
    """Find the faults in a list of commands."""
    names = [str(one.get("name")) for one in commands]
    kinds = [str(one.get("type", "")) for one in commands]
    odd = [one for one in names if "/" in one or re.search(r"\s", one)]
    found = [f"the name {as_json(one)} has a slash or a space" for one in odd]
    found += ["a name occurs twice"] if len(set(names)) < len(names) else []
    wrong = [one for one in kinds if one != "command" and not one.startswith("_")]
    return found + [
        f"a command has {f'the type {as_json(one)}' if one else 'no type'}" for one in wrong
    ]


def _list(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _values(option: dict[str, Any]) -> list[Any]:
    entries = _list(option.get("options"))
    plain = [one["value"] for one in entries if "value" in one]
    return plain + [
        inner["value"] for one in entries for inner in _list(one.get("options")) if "value" in inner
    ]


@monitor("V2-AUTH-04", version="2")
def logins(frames: Sequence[Frame], judge: Findings) -> None:
    for asked, _, frame, result in queries.answers(frames, "initialize"):
        terminal = [o for o in _list(result.get("authMethods")) if o.get("type") == "terminal"]
        offered = queries.at(frames[asked].params, "capabilities.auth.terminal") is not None
        judge.judge(
            "V2-AUTH-04",
            offered or not terminal,
            "a terminal login for a client that runs none",
            came=frame,
        )
        for one in terminal:
            names = [env.get("name") for env in _list(one.get("env"))]
            judge.judge("V2-AUTH-04", len(set(names)) == len(names), "env repeats", came=frame)


@monitor(
    "V1-ELIC-10", "V1-ELIC-11", "V1-ELIC-12", "V1-ELIC-16", "V1-ELIC-20", "V1-ELIC-24",
    "V1-ELIC-27", "V2-ELIC-01", "V2-ELIC-02", "V2-ELIC-03", "V1-ELIC-01", version="2",
)  # fmt: skip
def questions(frames: Sequence[Frame], judge: Findings) -> None:
    look_at_questions(frames, judge)
    open_ids: set[str] = set()
    offered = queries.hello(frames).get("capabilities")
    for frame in frames:
        key = repr(frame.object.get("id"))
        if frame.sent and frame.is_request:
            open_ids.add(key)
        elif not frame.sent and frame.is_response:
            open_ids.discard(key)
        if frame.sent or frame.method != "elicitation/create":
            continue
        scopes = [one for one in ("sessionId", "requestId") if frame.params.get(one) is not None]
        judge.judge("V2-ELIC-01", len(scopes) == 1, f"the scopes {scopes}", came=frame)
        if "requestId" in scopes:
            ok = repr(frame.params["requestId"]) in open_ids
            judge.judge("V2-ELIC-02", ok, "a request that is not open", came=frame)
        mode = str(frame.params.get("mode"))
        can = isinstance(queries.at(offered, f"elicitation.{mode}"), dict)
        judge.judge("V1-ELIC-01", can or mode.startswith("_"), f"{mode} unasked", came=frame)
        if mode == "form":
            schema = frame.params.get("requestedSchema")
            ok = queries.at(schema, "type") == "object"
            ok = ok and isinstance(queries.at(schema, "properties"), dict)
            judge.judge("V2-ELIC-03", ok, "no type or no properties", came=frame)
