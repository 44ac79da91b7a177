"""Monitors of the states of v2 sessions: running, waiting, idle, and background work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from accord.conformance.check_definition import Findings, monitor
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.message_fold import fold, text_of
from accord.conformance.frames.raw_peer import Frame, as_json

STAYS_SECONDS = 2.0
FINAL = frozenset({"completed", "failed", "cancelled"})
# The member with the content of each type of block, except text.
CONTENT_OF = {
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri",),
    "resource": ("resource.uri", "resource.text", "resource.blob"),
}


def states(frames: Sequence[Frame]) -> list[tuple[int, Frame, str, dict[str, Any]]]:
    """Monitor the state updates in order."""
    return list(queries.updates(frames, "state_update"))


BUSY = ("running", "requires_action")


@monitor("V2-PROMPT-09", "V2-PROMPT-10", "V2-PROMPT-14", "V2-PROMPT-04", version="2")
def turns(frames: Sequence[Frame], judge: Findings) -> None:
    """A session is running between the insertion of a prompt and idle."""
    for asked, answered, frame, result in queries.answers(frames, "session/prompt"):
        session = str(frames[asked].params.get("sessionId"))
        ok = isinstance(result.get("messageId"), str)
        judge.judge("V2-PROMPT-04", ok, "the result has no messageId", came=frame)
        told = [
            (at, str(update.get("state")))
            for at, _, name, update in states(frames)
            if name == session
        ]
        mine = [(at, state) for at, state in told if at > asked]
        # A session that is running when the prompt arrives need not report that again.
        earlier = [state for at, state in told if at < asked]
        joins = bool(earlier) and earlier[-1] in BUSY
        began = [at for at, state in mine if state in BUSY]
        ended = [at for at, state in mine if state == "idle"]
        if ended:
            ok = joins or (bool(began) and began[0] < ended[-1])
            judge.judge("V2-PROMPT-09", ok, "idle without running before it", came=frame)
            judge.passed("V2-PROMPT-10", "V2-PROMPT-14")
            if not began and not joins:
                judge.failed("V2-PROMPT-14", "a turn without running and idle", came=frame)
        del answered


@monitor("V2-PROMPT-09", version="2")
def work_goes_on_running(frames: Sequence[Frame], judge: Findings) -> None:
    """After the user's answer the session is running before a tool works.

    What was on its way when the answer was sent is left alone: it fails when the session is idle
    without having run.  Only tools that work count; that they did not may be told at the end.
    """
    waits: dict[str, set[str]] = {}
    told: dict[str, Frame] = {}
    blocked: set[str] = set()
    for frame in frames:
        session, key = str(frame.params.get("sessionId")), repr(frame.object.get("id"))
        if frame.sent:
            for open_ids in waits.values() if frame.is_response else ():
                open_ids.discard(key)
        elif frame.is_request:
            waits.setdefault(session, set()).add(key)
        elif frame.method == "session/update":
            update = frame.params.get("update")
            update = update if isinstance(update, dict) else {}
            state = update.get("state")
            if state == "requires_action":
                blocked.add(session)
                told.pop(session, None)
            elif state == "idle" and session in told:
                said = "a tool works after the user's answer, but the session is not running"
                judge.failed("V2-PROMPT-09", said, came=told.pop(session))
            elif state == "running":
                told.pop(session, None)
            if state in ("idle", "running"):
                blocked.discard(session)
            if session in blocked and not waits.get(session) and _works(update):
                told.setdefault(session, frame)


def _works(update: dict[str, Any]) -> bool:
    """Whether an update reports a tool that works or has worked."""
    working = update.get("status") in ("in_progress", "completed")
    return working and update.get("sessionUpdate") == "tool_call_update"


@monitor("V2-PROMPT-04", version="2")
def idle_sessions_have_answered(frames: Sequence[Frame], judge: Findings) -> None:
    """A prompt has its result when its session is idle, unless it was stopped."""
    answered = {repr(one.object.get("id")) for one in queries.received(frames) if one.is_response}
    told = states(frames)
    for at, asked in enumerate(frames):
        session = asked.params.get("sessionId")
        if not asked.sent or asked.method != "session/prompt" or not asked.is_request:
            continue
        later = [one for one in frames[at:] if one.sent and one.is_notification]
        stops = any(one.sent and one.method == "session/close" for one in frames[at:])
        last = [one for place, one, name, _ in told if place > at and name == session]
        idle = bool(last) and queries.at(last[-1].params, "update.state") == "idle"
        if repr(asked.object.get("id")) in answered or later or stops or not idle:
            continue
        if frames[-1].at - last[-1].at >= STAYS_SECONDS:
            judge.failed("V2-PROMPT-04", "the session is idle, and the prompt has no result")


@monitor("V2-PROMPT-05", "V2-PROMPT-07", version="2")
def echoes(frames: Sequence[Frame], judge: Findings) -> None:
    """Each accepted prompt is echoed with its id, perhaps with additions; a refused one is not."""
    answered = list(queries.answers(frames, "session/prompt"))
    live = [
        update
        for at, _, _, update in queries.updates(frames, "user_message", "user_message_chunk")
        if not _within_resume(frames, at)
    ]
    whole = {name: text for (_, name), text in fold(live).items()}
    for asked, at, frame, result in answered:
        name = str(result.get("messageId"))
        if name not in whole:
            session = frames[asked].params.get("sessionId")
            over = any(
                update.get("state") == "idle" and place > at and of == session
                for place, _, of, update in states(frames)
            )
            if over:
                judge.failed("V2-PROMPT-05", "the prompt was not echoed", came=frame)
            continue
        blocks = frames[asked].params.get("prompt")
        said, sent = whole[name], text_of(blocks)
        judge.judge("V2-PROMPT-05", sent in said, f"the echo differs: {as_json(said)}", sent=sent)
        for lost in missing_blocks(blocks, echoed_blocks(live, name)):
            said = f"the echo lacks the {lost.get('type')} block of the prompt"
            judge.failed("V2-PROMPT-05", said, sent=lost, came=frame)
    known = {str(result.get("messageId")) for _, _, _, result in answered}
    extra = {name: text for name, text in whole.items() if name not in known}
    prompts = [at for at, one in enumerate(frames) if one.sent and one.method == "session/prompt"]
    _judge_second_echoes(frames, extra, prompts, judge)
    told = [place for place, _, _, _ in states(frames)]
    for asked, _, frame in queries.refusals(frames, "session/prompt"):
        sent = text_of(frames[asked].params.get("prompt"))
        # A prompt whose turn began was inserted; V2-PROMPT-06 judges an error after that.
        until = next((at for at in prompts if at > asked), len(frames))
        if any(asked < place < until for place in told):
            continue
        shown = [name for name, text in extra.items() if sent and sent in text]
        judge.judge(
            "V2-PROMPT-07", not shown, f"a refused prompt is echoed: {as_json(shown)}", came=frame
        )


def _judge_second_echoes(
    frames: Sequence[Frame], extra: dict[str, str], prompts: Sequence[int], judge: Findings
) -> None:
    """A user message whose id is in no answer must not repeat an echoed prompt.

    One of a prompt that was refused, or has no answer yet, is another matter.
    """
    results = [asked for asked, _, _, _ in queries.answers(frames, "session/prompt")]
    texts = [text_of(frames[at].params.get("prompt")) for at in prompts]
    if len(results) < len(prompts):
        return
    twice = sorted(name for name, text in extra.items() if text and text in texts)
    if twice:
        said = f"a prompt is echoed once more under another id: {as_json(twice)}"
        judge.failed("V2-PROMPT-05", said)


def echoed_blocks(updates: Sequence[dict[str, Any]], name: str) -> list[Any]:
    """Return the content blocks of every update of this message."""
    found: list[Any] = []
    for update in updates:
        if str(update.get("messageId")) == name:
            content = update.get("content")
            found += content if isinstance(content, list) else [content]
    return found


def missing_blocks(sent: Any, echoed: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the blocks of a prompt, except text, that an echo lacks.

    What a block may carry beside its content, such as annotations, need not come back.
    """
    blocks = [one for one in (sent if isinstance(sent, list) else []) if isinstance(one, dict)]
    return [
        block
        for block in blocks
        if block.get("type") in CONTENT_OF
        and not any(_is_same_block(block, one) for one in echoed if isinstance(one, dict))
    ]


def _is_same_block(sent: dict[str, Any], echoed: dict[str, Any]) -> bool:
    keys = ("type", *CONTENT_OF[str(sent["type"])])
    return all(queries.at(sent, key) == queries.at(echoed, key) for key in keys)


def _within_resume(frames: Sequence[Frame], at: int) -> bool:
    return any(first < at < last for first, last in _resumes(frames))


def _resumes(frames: Sequence[Frame]) -> list[tuple[int, int]]:
    """Find where sessions are reopened: from a request to its answer."""
    return [
        (first, last)
        for method in ("session/resume", "session/fork")
        for first, last, _, _ in queries.answers(frames, method)
    ]


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
            judge.judge("V2-PROMPT-18", ok, "a stop by an error without the error", came=frame)
        before[session] = state
    for session, state in before.items():
        # A conversation that the check ended early shows nothing.
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
    """Whether a request of the agent has no answer yet."""
    asked = {repr(one.object.get("id")) for one in frames if not one.sent and one.is_request}
    told = {repr(one.object.get("id")) for one in frames if one.sent and one.is_response}
    return bool(asked - told)


@dataclass(slots=True)
class _Background:
    """The background work that one session has reported so far."""

    reported: bool = False
    listed: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)
    # The terminals that tool calls show.
    shown: dict[str, set[str]] = field(default_factory=dict)


@monitor("V2-PROMPT-22", "V2-PROMPT-23", "V2-PROMPT-24", version="2")
def background(frames: Sequence[Frame], judge: Findings) -> None:
    """Listed work was announced, ends before it leaves the list, and is listed once."""
    sessions: dict[str, _Background] = {}
    for _, frame, session, update in queries.updates(frames):
        of = sessions.setdefault(session, _Background())
        if update.get("sessionUpdate") == "state_update":
            _judge_list(of, frame, update, judge)
            continue
        name = update.get("terminalId") or update.get("toolCallId") or update.get("sessionId")
        if name is not None:
            of.known.add(str(name))
            if update.get("exitStatus") is not None or update.get("status") in FINAL:
                of.ended.add(str(name))
            if update.get("sessionUpdate") == "subagent_update":
                # The states of a child session show its end.
                of.ended.add(str(name))
        content = update.get("content")
        for one in content if isinstance(content, list) else [content]:
            if isinstance(one, dict) and one.get("type") == "terminal":
                of.shown.setdefault(str(name), set()).add(str(one.get("terminalId")))


def _judge_list(of: _Background, frame: Frame, update: dict[str, Any], judge: Findings) -> None:
    items = update.get("background")
    if of.reported:
        ok = "background" in update
        judge.judge("V2-PROMPT-22", ok, "background work is no longer reported", came=frame)
    if not isinstance(items, list):
        return
    of.reported = True
    now = [
        str(one.get("terminalId") or one.get("toolCallId") or one.get("sessionId"))
        for one in items
        if isinstance(one, dict)
    ]
    for name in now:
        judge.judge("V2-PROMPT-23", name in of.known, f"{name} was not announced", came=frame)
    if gone := of.listed - set(now) - of.ended:
        judge.failed("V2-PROMPT-23", f"{gone} left unfinished", came=frame)
    if now:
        judge.judge("V2-PROMPT-24", len(set(now)) == len(now), "listed twice", came=frame)
    if both := [name for name in now if of.shown.get(name, set()) & set(now)]:
        said = f"listed as a call and as its terminal: {both}"
        judge.failed("V2-PROMPT-24", said, came=frame)
    of.listed = set(now)


@dataclass(slots=True)
class _Front:
    """The foreground work of one session, as far as it is seen."""

    # Prompts without an answer, and whether one was sent since the session was idle.
    prompts: set[str] = field(default_factory=set)
    asked: bool = True
    # The calls and terminals reported during prompts, and those of its background list.
    known: set[str] = field(default_factory=set)
    listed: bool = False
    # The state in which the session runs without a prompt, and its work then.
    runs: Frame | None = None
    works: bool = False
    behind: bool = False


@monitor("V2-PROMPT-21", version="2")
def background_stays_behind(frames: Sequence[Frame], judge: Findings) -> None:
    """Background work does not make an idle session running.

    To go on unasked, as when what it waited for is done, is work in front: it says something
    then, asks, or calls a tool.
    """
    sessions: dict[str, _Front] = {}
    resumes = _resumes(frames)
    for at, frame in enumerate(frames):
        of = sessions.setdefault(str(frame.params.get("sessionId")), _Front())
        key = repr(frame.object.get("id"))
        if frame.sent and frame.method == "session/prompt":
            of.prompts.add(key)
            of.asked, of.runs = True, None
        elif not frame.sent and frame.is_response:
            for one in sessions.values():
                one.prompts.discard(key)
        elif not frame.sent and frame.is_request:
            of.works = True
        elif not frame.sent and not any(first < at < last for first, last in resumes):
            _judge_front(of, frame, judge)


def _judge_front(of: _Front, frame: Frame, judge: Findings) -> None:
    update = frame.params.get("update")
    update = update if isinstance(update, dict) else {}
    state, name = update.get("state"), update.get("terminalId") or update.get("toolCallId")
    if state == "idle":
        if of.runs is not None and not of.works and (of.listed or of.behind):
            said = "an idle session ran and was idle again, for background work only"
            judge.failed("V2-PROMPT-21", said, came=of.runs)
        of.asked, of.runs = bool(of.prompts), None
        of.listed = bool(update.get("background"))
    elif state in BUSY and not of.asked and of.runs is None:
        of.runs, of.works, of.behind = frame, False, False
    elif name is not None:
        of.behind = of.behind or name in of.known
        of.works = of.works or name not in of.known
        of.known.add(str(name))
        if of.listed and not of.asked and of.runs is None:
            judge.passed("V2-PROMPT-21")
    elif "messageId" in update or "plan" in update:
        of.works = True


@monitor("V2-PROMPT-10", version="2")
def turns_end(frames: Sequence[Frame], judge: Findings) -> None:
    """Every turn ends with idle."""
    for frame in queries.unended_turns(frames, answer_ends=False):
        judge.failed("V2-PROMPT-10", f"the turn has no end: {frame.unanswered}", sent=frame)
