"""What the messages of an agent of the 2026-02 draft show in any run."""

from __future__ import annotations

from collections.abc import Sequence

from accord.conformance.check_definition import Findings, monitor
from accord.conformance.checks.agent.wire_monitors import not_asked, responses, watching
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.error_codes import OFFICIAL_ONLY
from accord.conformance.frames.raw_peer import Frame, as_json
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
# Status -> what may follow it; a status that nothing follows is final.
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
# Work of a call that a client does for the agent.
WORK = frozenset({"fs/write_text_file", "terminal/create"})

draft_jsonrpc = watching("V1-GEN-01", "draft", queries.not_jsonrpc)
draft_asked = watching("V1-GEN-02", "draft", not_asked, needs=responses)
draft_responses = watching("V1-GEN-03", "draft", queries.bad_responses, needs=responses)
draft_lines = watching("TR-STDIO-02", "draft", queries.broken_lines)
draft_noise = watching("TR-STDIO-03", "draft", queries.noise)
draft_meta = watching("D26-19", "draft", queries.odd_meta)


@monitor("D26-20", version="draft")
def methods(frames: Sequence[Frame], judge: Findings) -> None:
    """What an agent calls is of the draft, or has an underscore."""
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
    """Statuses by the steps of the list; and asked about before the work begins."""
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
    """What fails after the first update of its turn is a result and not an error."""
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
