"""The course of an agent's turn as its client sees it: its start, requests, end and tool calls.

Must not know: any rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.conformance.agent.check_environment import AgentStage, Talk
from accord.conformance.frames.raw_peer import Frame, Message, NotReady, TooLate, Unanswered, same
from accord.conformance.time_limits import (
    FIRST_WORD_SECONDS,
    INSTANT_SECONDS,
    INSTANT_TRIES,
    LATER_SECONDS,
    MOMENT_SECONDS,
    TOOL_SECONDS,
)

PROMPT = "session/prompt"
ASKING = "session/request_permission"
# The prompts for long turns, in the order in which they are tried.
LONG_PURPOSES = ("long", "long_command")
OVER = "the turn was over before anything could be done in it"
# Calls of these kinds change nothing.
HARMLESS_KINDS = ("read", "search", "think", "fetch", "switch_mode")


async def begun(talk: Talk, since: int, *, command: bool = False) -> bool:
    """Wait for the first sign of work, and return whether the turn still runs.

    Work is a tool that runs, or an answer that is still being said a moment after its first word,
    or one that nothing follows; with `command` it is a tool in any case.
    """
    asked = last_prompt(talk)

    def look(frame: Frame) -> Message:
        return talk.update_in(frame, asked.params.get("sessionId")) if asked else {}

    def says(frame: Frame) -> bool:
        kind = str(look(frame).get("sessionUpdate"))
        return not command and kind.startswith(("agent_message", "agent_thought"))

    def runs(frame: Frame) -> bool:
        return look(frame).get("status") == "in_progress" or turn_is_over(talk, since)

    def works(frame: Frame) -> bool:
        return says(frame) or call_of(look(frame)) is not None or runs(frame)

    def goes_on(frame: Frame) -> bool:
        return runs(frame) or (says(frame) and frame.at >= first.at + MOMENT_SECONDS)

    wait = talk.seconds if command else FIRST_WORD_SECONDS
    try:
        first = await talk.peer.expect(works, "the first word", since=since, timeout=wait)
        await talk.peer.expect(goes_on, "a tool that runs", since=since, timeout=TOOL_SECONDS)
        await talk.peer.quiet(MOMENT_SECONDS)
    except Unanswered:
        pass
    return not turn_is_over(talk, since)


async def long_turn(
    stage: AgentStage, session: str, purposes: Sequence[str] = LONG_PURPOSES
) -> Any:
    """Begin a long turn, and return the id of its prompt; None if it ends at once.

    An agent that does not talk for long may still run a command that takes long.
    """
    talk = stage.talk
    for purpose in purposes:
        prompt = stage.scenario.prompt(purpose)
        if prompt is None or (purpose != "long" and prompt == stage.scenario.prompt("long")):
            continue
        since = len(talk.peer.frames)
        sent = await talk.send_prompt(session, prompt)
        if await begun(talk, since, command=purpose != "long"):
            return sent
    return None


async def is_short(talk: Talk, sent: Any, stopped: int) -> bool:
    """Whether the turn of this prompt, which is over, would have ended by then anyway.

    A cancel may come when a turn has just done its work.  The same prompt, not cancelled, shows it;
    not so for a turn that went on long after it was stopped, at frame number `stopped`.
    """
    frames = talk.peer.frames
    asked = next(one for one in frames if one.sent and one.object.get("id") == sent)
    end = next((one for one in frames[stopped:] if ends_turn(talk, one, sent)), frames[-1])
    if end.at - frames[min(stopped, len(frames) - 1)].at > LATER_SECONDS:
        return False
    took = frames[-1].at - asked.at
    session = str((await talk.new_session())["sessionId"])
    since = len(talk.peer.frames)
    await talk.peer.ask(PROMPT, asked.params | {"sessionId": session})
    try:
        await talk.peer.expect(
            lambda frame: turn_is_over(talk, since),
            "the end of the turn",
            since=since,
            timeout=took + LATER_SECONDS,
        )
    except Unanswered:
        await talk.peer.notify("session/cancel", {"sessionId": session})
    return turn_is_over(talk, since)


async def is_instant(talk: Talk, session: str) -> bool:
    """Whether a plain prompt ends at once, so that many can be sent."""
    for _ in range(INSTANT_TRIES):
        since = len(talk.peer.frames)
        await talk.say(session, talk.plain)
        if talk.peer.frames[-1].at - talk.peer.frames[since].at < INSTANT_SECONDS:
            return True
    return False


def turn_is_over(talk: Talk, since: int) -> bool:
    """Whether the last prompt has its final answer; in v2, whether the session is idle again."""
    asked = last_prompt(talk)
    if asked is None:
        return True
    session = asked.params.get("sessionId")
    taken = False
    for frame in talk.peer.frames[since:]:
        if frame.sent:
            continue
        if frame.is_response and same(frame.object.get("id"), asked.object["id"]):
            if not talk.dialect.ends_idle or "error" in frame.object:
                return True
            taken = True
        # A session may report idle before it has inserted the prompt.
        state = talk.update_in(frame, session).get("state") if talk.dialect.ends_idle else None
        if taken and state == "idle":
            return True
        taken = taken or state == "running"
    return False


def last_prompt(talk: Talk) -> Frame | None:
    """Return the last prompt that was sent to any session."""
    prompts = (one for one in reversed(talk.peer.frames) if one.sent and one.method == PROMPT)
    return next(prompts, None)


async def at_work(stage: AgentStage, session: str, purposes: Sequence[str] = LONG_PURPOSES) -> Any:
    """Begin a long turn, and return the id of its prompt.

    Raises:
        TooLate: it is over at once, so that it can neither be cancelled nor disturbed.
    """
    sent = await long_turn(stage, session, purposes)
    if sent is None:
        raise TooLate(OVER)
    return sent


async def at_work_before_another(stage: AgentStage) -> tuple[Talk, str, Any, Any]:
    """Begin a long turn, and send another prompt; return the session and both ids.

    A long answer may be over meanwhile.  Then it is tried again by a command, in a process where
    nothing else goes on.

    Raises:
        TooLate: it is over all the same.
    """
    talk = stage.talk
    for purposes in (LONG_PURPOSES, LONG_PURPOSES[1:]):
        session = await talk.session()
        first = await at_work(stage, session, purposes)
        held = await talk.send_prompt(session, stage.scenario.prompt("say") or "")
        await talk.peer.settled()
        if not is_over(talk, first):
            return talk, session, first, held
        talk = await stage.another()
    raise TooLate(OVER)


async def end_by_cancel(talk: Talk, session: str, sent: Any) -> Message:
    """Cancel a turn to prepare the check; another check judges whether that works."""
    await talk.peer.notify("session/cancel", {"sessionId": session})
    try:
        return await talk.peer.answer_to(sent, timeout=talk.seconds)
    except Unanswered as error:
        talk.peer.note_unanswered(sent, error)
        raise NotReady(f"a cancel does not work: {error}") from None


async def ended_by_cancel(stage: AgentStage) -> Message:
    """Cancel the turn of another session, and return its answer, for comparison.

    Raises:
        NotReady: it does not end the turn either.
    """
    talk = stage.talk
    session = str((await talk.new_session())["sessionId"])
    sent = await at_work(stage, session)
    return await end_by_cancel(talk, session, sent)


def is_over(talk: Talk, sent: Any) -> bool:
    """Whether the turn of this prompt has ended."""
    frames = talk.peer.frames
    asked = [at for at, one in enumerate(frames) if one.sent and one.object.get("id") == sent]
    return any(ends_turn(talk, frame, sent) for frame in frames[asked[0] :])


def ends_turn(talk: Talk, frame: Frame, sent: Any) -> bool:
    """Whether a frame ends the turn of a prompt: its answer; in v2 an idle state or a refusal."""
    if frame.sent:
        return False
    idles = talk.dialect.ends_idle
    if idles and talk.dialect.update_of(frame).get("state") == "idle":
        return bool(frame.params.get("sessionId") == talk.session_of(sent))
    answered = frame.is_response and same(frame.object.get("id"), sent)
    return answered and (not idles or "error" in frame.object)


async def asked_in(talk: Talk, method: str, sent: Any, since: int) -> Frame | None:
    """Return the first request of this method in a turn; None if the turn ends without one."""

    def fits(frame: Frame) -> bool:
        return frame.method == method or ends_turn(talk, frame, sent)

    try:
        frame = await talk.peer.expect(fits, method, since=since, timeout=talk.seconds)
    except Unanswered as error:
        talk.note_hanging(sent, since, error)
        return None
    return frame if frame.method == method else None


async def asked_to_edit(stage: AgentStage, session: str) -> tuple[int, Any, Frame]:
    """Prompt for an edit; return where its turn begins, the prompt's id, and the first request.

    Raises:
        NotReady: the agent does not ask.
    """
    talk = stage.talk
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("edit") or "")
    frame = await asked_in(talk, ASKING, sent, since)
    if frame is None:
        raise NotReady("the agent did not ask for permission")
    return since, sent, frame


def tool_calls(talk: Talk, since: int = 0) -> list[Message]:
    """Return the updates of tool calls."""
    kinds = ("tool_call", "tool_call_update")
    return [one for one in talk.updates(since=since) if one.get("sessionUpdate") in kinds]


def calls_of(talk: Talk, since: int) -> dict[str, Message]:
    """Return the reported tool calls, each with the newest value of its fields."""
    found: dict[str, Message] = {}
    for update in talk.updates(since=since):
        name = call_of(update)
        if name is not None:
            told = {key: value for key, value in update.items() if value is not None}
            found[name] = found.get(name, {}) | told
    return found


def call_of(update: Message) -> str | None:
    """Return the id of the call of an update, which has another key in the draft."""
    draft = str(update.get("sessionUpdate")).startswith("tool_call")
    name = update.get("toolCallId", update.get("id") if draft else None)
    return name if isinstance(name, str) else None


def done_otherwise(talk: Talk, since: int) -> bool:
    """Whether a call without a permission request may have done what another was denied.

    A model that was told no may take another tool, one that needs no permission.
    """
    asked = {
        named(one.params, "toolCallId")
        for one in talk.peer.frames[since:]
        if not one.sent and one.method == ASKING
    }
    calls = calls_of(talk, since)
    if any(calls[name].get("status") == "completed" for name in asked if name in calls):
        return False
    return any(
        one.get("kind") not in HARMLESS_KINDS for name, one in calls.items() if name not in asked
    )


def named(value: Any, key: str) -> Any:
    """Return the first value of a key anywhere in an object."""
    if not isinstance(value, dict):
        return None
    if key in value:
        return value[key]
    return next((found for one in value.values() if (found := named(one, key)) is not None), None)
