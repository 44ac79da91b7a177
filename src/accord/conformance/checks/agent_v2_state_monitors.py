"""What the states of a v2 session show in any run: running, waiting, idle, and behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.conformance import looking
from accord.conformance.check import Findings, monitor
from accord.conformance.wire import Frame

STAYS_SECONDS = 2.0
FINAL = frozenset({"completed", "failed", "cancelled"})


def states(frames: Sequence[Frame]) -> list[tuple[int, Frame, str, dict[str, Any]]]:
    """State updates in their order."""
    return list(looking.updates(frames, "state_update"))


@monitor("V2-PROMPT-09", "V2-PROMPT-10", "V2-PROMPT-14", "V2-PROMPT-04", version="2")
def turns(frames: Sequence[Frame], judge: Findings) -> None:
    """Between a prompt's insertion and idle the session runs."""
    for asked, answered, frame, result in looking.answers(frames, "session/prompt"):
        session = str(frames[asked].params.get("sessionId"))
        ok = isinstance(result.get("messageId"), str)
        judge.judge("V2-PROMPT-04", ok, "the result has no messageId", came=frame)
        mine = [
            (at, str(update.get("state")))
            for at, _, name, update in states(frames)
            if name == session and at > asked
        ]
        began = [at for at, state in mine if state in ("running", "requires_action")]
        ended = [at for at, state in mine if state == "idle"]
        if ended:
            ok = bool(began) and began[0] < ended[-1]
            judge.judge("V2-PROMPT-09", ok, "idle without running before it", came=frame)
            judge.passed("V2-PROMPT-10", "V2-PROMPT-14")
            if not began:
                judge.failed("V2-PROMPT-14", "a turn without running and idle", came=frame)
        del answered


@monitor("V2-PROMPT-05", "V2-PROMPT-07", version="2")
def echoes(frames: Sequence[Frame], judge: Findings) -> None:
    """Each accepted prompt is echoed once with its id; no other user message appears."""
    answered = list(looking.answers(frames, "session/prompt"))
    # A message may come whole, in chunks, or as chunks that a whole message replaces.
    whole: dict[str, list[Any]] = {}
    for at, _, _, update in looking.updates(frames, "user_message", "user_message_chunk"):
        if not _within_resume(frames, at):
            name, content = str(update.get("messageId")), update.get("content")
            if update["sessionUpdate"] == "user_message_chunk":
                whole.setdefault(name, []).append(content)
            elif isinstance(content, list):
                whole[name] = list(content)
    for asked, at, frame, result in answered:
        name = str(result.get("messageId"))
        if name not in whole:
            later = any(f.sent for f in frames[at:]) or any(s[0] > at for s in states(frames))
            if later:
                judge.failed("V2-PROMPT-05", "the prompt was not echoed", came=frame)
            continue
        said, sent = _text(whole[name]), _text(frames[asked].params.get("prompt"))
        judge.judge("V2-PROMPT-05", said == sent, f"the echo differs: {said!r}", sent=sent)
    if answered:
        known = {str(result.get("messageId")) for _, _, _, result in answered}
        asked_count = sum(1 for one in frames if one.sent and one.method == "session/prompt")
        extra = [name for name in whole if name not in known]
        if asked_count == len(answered):
            judge.judge("V2-PROMPT-07", not extra, f"user messages of nobody: {extra}")


def _text(blocks: Any) -> str:
    return "".join(
        str(one.get("text", "")) for one in (blocks if isinstance(blocks, list) else [])
        if isinstance(one, dict) and one.get("type") == "text"
    )  # fmt: skip


def _within_resume(frames: Sequence[Frame], at: int) -> bool:
    return any(
        first < at < last
        for method in ("session/resume", "session/fork")
        for first, last, _, _ in looking.answers(frames, method)
    )


@monitor("V2-PROMPT-11", "V2-PROMPT-18", "V2-PROMPT-12", version="2")
def idle_states(frames: Sequence[Frame], judge: Findings) -> None:
    before: dict[str, str] = {}
    since: dict[str, float] = {}
    for at, frame, session, update in states(frames):
        since[session] = frame.at
        state = str(update.get("state"))
        ends = state == "idle" and before.get(session) in ("running", "requires_action")
        if ends and not _within_resume(frames, at):
            ok = isinstance(update.get("stopReason"), str)
            judge.judge("V2-PROMPT-11", ok, "idle without a stop reason", came=frame)
        if update.get("stopReason") == "error":
            ok = isinstance(update.get("error"), dict)
            judge.judge("V2-PROMPT-18", ok, "an error stop without its error", came=frame)
        before[session] = state
    for session, state in before.items():
        # A conversation that the check ended early says nothing.
        over = frames[-1].at - since[session] < STAYS_SECONDS
        if state == "requires_action" and not over and not _waits(frames):
            judge.failed("V2-PROMPT-12", f"{session} stays in requires_action")
    for at, frame in enumerate(frames):
        if not frame.sent and frame.method == "session/request_permission":
            earlier = [
                str(update.get("state"))
                for position, _, name, update in states(frames)
                if name == frame.params.get("sessionId") and position < at
            ]
            near = [
                str(update.get("state"))
                for position, _, _, update in states(frames)
                if at < position < at + 4
            ]
            ok = earlier[-1:] == ["requires_action"] or "requires_action" in near
            judge.judge("V2-PROMPT-12", ok, "no requires_action while it waits", came=frame)


def _waits(frames: Sequence[Frame]) -> bool:
    """Whether a question of the agent's has no answer yet."""
    asked = {repr(one.object.get("id")) for one in frames if not one.sent and one.is_request}
    told = {repr(one.object.get("id")) for one in frames if one.sent and one.is_response}
    return bool(asked - told)


@monitor("V2-PROMPT-22", "V2-PROMPT-23", "V2-PROMPT-24", version="2")
def background(frames: Sequence[Frame], judge: Findings) -> None:
    """What is listed was announced, ends before it leaves the list, and is listed once."""
    reported = False
    listed: set[str] = set()
    ended: set[str] = set()
    known: set[str] = set()
    for _, frame, _, update in looking.updates(frames):
        name = update.get("terminalId") or update.get("toolCallId")
        if name is not None:
            known.add(str(name))
            if update.get("exitStatus") is not None or update.get("status") in FINAL:
                ended.add(str(name))
        if update.get("sessionUpdate") != "state_update":
            continue
        items = update.get("background")
        if reported:
            ok = "background" in update
            judge.judge("V2-PROMPT-22", ok, "background is not told any more", came=frame)
        if not isinstance(items, list):
            continue
        reported = True
        now = [
            str(one.get("terminalId") or one.get("toolCallId") or one.get("sessionId"))
            for one in items
            if isinstance(one, dict)
        ]
        for name in now:
            judge.judge("V2-PROMPT-23", name in known, f"{name} was not announced", came=frame)
        gone = listed - set(now)
        judge.judge("V2-PROMPT-23", gone <= ended, f"{gone - ended} left unfinished", came=frame)
        judge.judge("V2-PROMPT-24", len(set(now)) == len(now), "listed twice", came=frame)
        listed = set(now)
