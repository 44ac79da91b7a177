"""Checks of a v1 agent's stored sessions: load, resume, list, close, delete."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from accord.conformance.agent.check_environment import AgentStage, Talk
from accord.conformance.agent.fake_client import choosing
from accord.conformance.agent.turn import (
    OVER,
    at_work,
    call_of,
    end_by_cancel,
    ended_by_cancel,
    is_over,
    is_short,
)
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.v1.sessions import ROOTS, listed, more_sessions
from accord.conformance.checks.agent.v1.wire import OPENED_AGAIN
from accord.conformance.frames.error_codes import NOT_FOUND
from accord.conformance.frames.raw_peer import Message, NotReady, TooLate, Unanswered, as_json

PAGE_MAX = 100
# How long to wait for parts of an answer that are late.
LATE_SECONDS = 1.0
# The methods that reopen sessions, and their capabilities.
TAKING_UP = (("session/load", "loadSession"), ("session/resume", "sessionCapabilities.resume"))


def said_in(
    talk: Talk, since: int, until: int | None = None, *, by: tuple[str, ...] = ("user", "agent")
) -> str:
    """Return the text of both sides' messages in a range of updates, or of one side's."""
    kinds = tuple(f"{one}_message_chunk" for one in by)
    texts: list[str] = []
    for frame in talk.peer.frames[since:until]:
        update = frame.params.get("update") if not frame.sent else None
        if isinstance(update, dict) and str(update.get("sessionUpdate")) in kinds:
            content = update.get("content")
            texts.append(str(content.get("text", "")) if isinstance(content, dict) else "")
    return "".join(texts)


async def two_turns(stage: AgentStage, *more: str) -> tuple[str, list[str]]:
    """Run a session with two turns; return its id and the messages of both sides in order.

    Turns for `more` purposes follow, as far as they work.
    """
    talk = stage.talk
    session = await talk.session()
    said: list[str] = []
    for purpose in ("say", "say", *more):
        prompt = stage.scenario.prompt(purpose)
        if prompt is None:
            continue
        since = len(talk.peer.frames)
        try:
            await talk.say(session, prompt)
        except NotReady:
            if purpose in more:
                break
            raise
        said += [prompt, said_in(talk, since, by=("agent",))]
    return session, said


def old(stage: AgentStage, session: str) -> dict[str, Any]:
    """Return the params that reopen a session."""
    return {"sessionId": session, "cwd": str(stage.folder), "mcpServers": []}


def holds_in_order(text: str, parts: Sequence[str]) -> bool:
    """Whether a text has these parts in this order, among other text.

    Agents add reminders to what a user said, and break lines as they like.
    """
    whole, at = " ".join(text.split()), 0
    for part in (" ".join(one.split()) for one in parts):
        found = whole.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


@check("V1-LOAD-03", "V1-LOAD-04")
async def loading_replays_the_whole_conversation(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("loadSession"):
        stage.judge.skip_open("the agent has no loadSession")
        return
    session, said = await two_turns(stage, "tool", "plan")
    lived = talk.updates(session=session)
    try:
        talk = await taken_up(stage, session, "session/load")
    except NeverTakenUp as error:
        replayed = said_in(stage.talk, 0)
        if holds_in_order(replayed, said):
            stage.judge.passed("V1-LOAD-03")
        stage.judge.failed("V1-LOAD-04", f"there is no result: {error}", came=replayed)
        raise
    since = len(talk.peer.frames)
    sent = await talk.peer.ask("session/load", old(stage, session))
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    if "error" in answer and is_open(talk, session):
        stage.judge.close("a session that is open cannot be loaded here", failing=False)
        return
    until = talk.peer.place_of_answer(sent)
    replayed = said_in(talk, since, until)
    await talk.peer.settled()
    await talk.peer.quiet()
    late = said_in(talk, until)
    # Messages of the agent that are new at a load are not history.
    told = [one for one in said if one.strip()]
    again = bool(late.strip()) and (
        holds_in_order("".join(said), [late]) or any(holds_in_order(late, [one]) for one in told)
    )
    stage.judge.judge("V1-LOAD-04", not again, "history came after the result", came=late)
    replay = talk.updates(since=since, until=until, session=session)
    later = talk.updates(since=until, session=session)
    old_ones = [one for one in later if is_history(one, lived, replay)]
    stage.judge.judge("V1-LOAD-04", not old_ones, "history came after the result", came=old_ones)
    if any(map(call_of, lived)) and not any(map(call_of, replay)):
        stage.judge.failed("V1-LOAD-03", "the replay has no tool calls", came=replay)
    ok = holds_in_order(replayed, said)
    what = "the replay does not have the messages of both sides in order"
    if ok or not await _answers_late(stage):
        stage.judge.judge("V1-LOAD-03", ok, what, sent=said, came=replayed or answer)


async def _answers_late(stage: AgentStage) -> bool:
    """Whether parts of an answer follow the result of its turn, so that the order is unknown."""
    talk = stage.talk
    session = str((await talk.new_session())["sessionId"])
    sent = await talk.send_prompt(session, stage.scenario.prompt("say") or "")
    await talk.peer.answer_to(sent, timeout=talk.seconds)
    since = talk.peer.place_of_answer(sent)
    await talk.peer.quiet(LATE_SECONDS)
    return bool(talk.updates(since=since, kind="agent_message_chunk", session=session))


def is_history(update: Message, lived: Sequence[Message], replay: Sequence[Message]) -> bool:
    """Whether an update after a replay repeats a call, a thought or a plan.

    A plan that was replayed may be told again: it is what the session is at.
    """
    kind = update.get("sessionUpdate")
    before = [*lived, *replay]
    if call_of(update) is not None:
        titles = [one["title"] for one in before if one.get("title")]
        return call_of(update) in map(call_of, before) or update.get("title") in titles
    if kind == "plan":
        same = [one for one in lived if one.get("entries") == update.get("entries")]
        return bool(same) and not any(one.get("sessionUpdate") == kind for one in replay)
    if kind == "agent_thought_chunk":
        contents = [one.get("content") for one in before if one.get("sessionUpdate") == kind]
        return update.get("content") in contents
    return False


class NeverTakenUp(NotReady):
    """The request that reopens a session was not answered."""


async def taken_up(stage: AgentStage, session: str, method: str) -> Talk:
    """Return the agent that reopens a session: a new process, if it has stored the session.

    No rule demands that sessions outlive the process; where they do not, it is the old one.

    Raises:
        NeverTakenUp: the agent does not answer.
    """
    first = stage.talk
    talk = await stage.another()
    await talk.initialize()
    try:
        error = await talk.error_of(method, old(stage, session))
    except NotReady:
        raise
    except Unanswered as unanswered:
        raise NeverTakenUp(f"{method} does not work: {unanswered}") from None
    if not error:
        await stopped(first)
        await stopped(talk)
        talk = await stage.another()
        await talk.initialize()
        if first.logged_in:
            await talk.login(talk.login_method)
        return talk
    stage.talks.remove(first)
    stage.talks.append(first)
    if first.dialect.always_closes or first.can("sessionCapabilities.close"):
        await first.peer.call("session/close", {"sessionId": session})
    return first


def is_open(talk: Talk, session: str) -> bool:
    """Whether this process has the session and was not asked to close it."""
    named = [
        frame.method
        for frame in talk.peer.frames
        if frame.sent and frame.params.get("sessionId") == session
    ]
    return "session/prompt" in named and "session/close" not in named


async def stopped(talk: Talk) -> None:
    """End this process, so that a new one knows only what was stored."""
    await talk.program.close_input()
    await talk.program.ended(3)


@check("V1-LOAD-08")
async def resuming_replays_nothing(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("sessionCapabilities.resume"):
        stage.judge.skip_open("the agent has no session/resume")
        return
    session, _ = await two_turns(stage, "tool")
    lived = talk.updates(session=session)
    try:
        talk = await taken_up(stage, session, "session/resume")
    except NeverTakenUp as error:
        stage.judge.failed("V1-LOAD-08", str(error))
        return
    since = len(talk.peer.frames)
    sent = await talk.peer.ask("session/resume", old(stage, session))
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    if "error" in answer and is_open(talk, session):
        stage.judge.close("a session that is open cannot be resumed here", failing=False)
        return
    said = "a session cannot be resumed"
    if not stage.judge.judge("V1-LOAD-08", "result" in answer, said, came=answer):
        return
    until = talk.peer.place_of_answer(sent)
    came = said_in(talk, since, until)
    stage.judge.judge("V1-LOAD-08", not came, "history was replayed", came=came)
    told = talk.updates(since=since, until=until, session=session)
    calls = [one for one in told if call_of(one) and is_history(one, lived, [])]
    stage.judge.judge("V1-LOAD-08", not calls, "history was replayed", came=calls)
    sent = await talk.send_prompt(session, stage.scenario.prompt("say") or "")
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    ok = "result" in answer
    stage.judge.judge("V1-LOAD-08", ok, "a resumed session cannot be prompted", came=answer)


@check("V1-TOOL-02", needs="tool")
async def calls_of_a_loaded_session_are_new(stage: AgentStage) -> None:
    """A new process must not reuse ids of earlier calls."""
    talk = stage.talk
    session = await talk.session()
    if not talk.can("loadSession"):
        stage.judge.skip_open("the agent has no loadSession")
        return
    since = len(talk.peer.frames)
    await talk.say(session, stage.scenario.prompt("tool"))
    before = made_calls(talk, session, since)
    talk = await taken_up(stage, session, "session/load")
    await talk.prepare("session/load", old(stage, session))
    await talk.peer.settled()
    since = len(talk.peer.frames)
    await talk.say(session, stage.scenario.prompt("tool"))
    after = made_calls(talk, session, since)
    if before and after:
        twice = sorted(map(str, before & after))
        said = f"ids of calls are used again after a load: {', '.join(twice)}"
        stage.judge.judge("V1-TOOL-02", not twice, said)


def made_calls(talk: Talk, session: str, since: int) -> set[Any]:
    """Return the ids of a session's tool calls from a frame on."""
    told = talk.updates(since=since, kind="tool_call", session=session)
    return {one.get("toolCallId") for one in told}


@check("V1-LOAD-06")
async def old_roots_are_not_restored(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    methods = [method for method, path in TAKING_UP if talk.can(path)]
    if not (talk.can(ROOTS) and methods and talk.can("sessionCapabilities.list")):
        said = "the agent has no additional directories, has no list, or cannot reopen sessions"
        stage.judge.skip_open(said)
        return
    other, secret = stage.root / "other", stage.root / "secret.txt"
    other.mkdir()
    kept = other / "notes.txt"
    kept.write_text("of a former root\n", "utf-8")
    for number, method in enumerate(methods):
        session = str((await talk.new_session(additionalDirectories=[str(other)]))["sessionId"])
        await talk.say(session, stage.scenario.prompt("say"))
        if number == 0:
            talk = await taken_up(stage, session, method)
        elif talk.can("sessionCapabilities.close"):
            await talk.peer.call("session/close", {"sessionId": session})
        await talk.prepare(method, old(stage, session))
        entry = [one for one in await listed(talk) if one.get("sessionId") == session]
        roots = entry[0].get("additionalDirectories") if entry else None
        said = f"roots came back by themselves at {method}"
        stage.judge.judge("V1-LOAD-06", not roots, said, came=entry)
        still = await _reads(stage, session, kept, "of a former root")
        if still and not await _reads(stage, session, secret, "what-is-outside"):
            said = f"after {method} a file under a former root is read, but no other file outside"
            stage.judge.failed("V1-LOAD-06", said, sent=str(kept))


async def _reads(stage: AgentStage, session: str, path: Path, text: str) -> bool:
    """Whether the agent reads this file, or asks the client for it, without permission."""
    talk = stage.talk
    prompt = stage.scenario.prompt("read")
    if prompt is None:
        return False
    talk.host.permission = choosing("reject")
    since = len(talk.peer.frames)
    await talk.say(session, prompt.replace("notes.txt", str(path)))
    asked = [one for one in talk.peer.frames[since:] if one.method == "fs/read_text_file"]
    by_client = any(one.params.get("path") == str(path) for one in asked)
    return by_client or text in talk.came(since=since)


@check("V1-LOAD-10")
async def unknown_sessions_are_not_found(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("loadSession"):
        stage.judge.skip_open("the agent has no loadSession")
        return
    for method in [method for method, path in OPENED_AGAIN if talk.can(path)]:
        error = await talk.error_of(method, old(stage, "accord-check-nope"))
        ok = error.get("code") == NOT_FOUND
        said = f"{method}: an unknown session is not -32002"
        stage.judge.judge("V1-LOAD-10", ok, said, came=error)


@check("V1-CLOSE-02", needs="long")
async def closing_ends_the_work(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    if not talk.can("sessionCapabilities.close"):
        stage.judge.skip_open("the agent has no session/close")
        return
    prompt = await at_work(stage, session)
    stage.judge.brought_about()
    await talk.ask("session/close", {"sessionId": session}, timeout=talk.seconds)
    closed = len(talk.peer.frames) - 1
    answer = await talk.peer.answer_to(prompt, timeout=talk.seconds)
    ok = (answer.get("result") or {}).get("stopReason") == "cancelled"
    if not ok and "result" in answer and await is_short(talk, prompt, closed):
        raise TooLate("the turn was over before the session was closed")
    stage.judge.judge("V1-CLOSE-02", ok, "the prompt did not end cancelled", came=answer)
    params = {"sessionId": session, "prompt": [{"type": "text", "text": "hello"}]}
    error = await talk.error_of("session/prompt", params)
    stage.judge.judge("V1-CLOSE-02", bool(error), "a closed session can be prompted")


@check("V1-CLOSE-05", "V1-CLOSE-08", "V1-CLOSE-11", "V1-CLOSE-13")
async def sessions_are_listed(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("sessionCapabilities.list"):
        stage.judge.skip_open("the agent has no session/list")
        return
    empty = await talk.ask("session/list", {"cwd": unused(stage)})
    ok = empty.get("sessions") == []
    stage.judge.judge("V1-CLOSE-05", ok, "no empty list for an unused folder", came=empty)
    for cursor in ("accord-check-no-cursor", "zzz", 5):
        error = await talk.error_of("session/list", {"cursor": cursor})
        stage.judge.judge("V1-CLOSE-08", bool(error), "an invalid cursor is accepted", sent=cursor)
    # A session without a message, which the list may leave out.
    fresh = await talk.session()
    await talk.ask("session/list", {})
    answer = await talk.answered(fresh, stage.scenario.prompt("say"))
    session, _ = await two_turns(stage)
    # The two turns show that a plain prompt works.
    said = "a new session cannot be prompted after a list"
    stage.judge.judge("V1-CLOSE-13", "result" in answer, said, came=answer)
    before, after = await listed(talk), await listed(talk)
    stage.judge.passed("V1-CLOSE-11")
    ok = [one.get("sessionId") for one in before] == [one.get("sessionId") for one in after]
    stage.judge.judge("V1-CLOSE-13", ok, "listing twice differs", came=[before, after])
    # During a turn, if it lasts long enough.
    sent = await talk.send_prompt(session, stage.scenario.prompt("say") or "")
    await talk.peer.call("session/list", {}, timeout=talk.seconds)
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    result = answer.get("result")
    ok = isinstance(result, dict) and result.get("stopReason") != "cancelled"
    stage.judge.judge("V1-CLOSE-13", ok, "listing changed a session", came=answer)


@check("V1-CLOSE-13", needs="long")
async def listing_leaves_turns_alone(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    if not talk.can("sessionCapabilities.list"):
        stage.judge.skip_open("the agent has no session/list")
        return
    sent = await at_work(stage, session)
    await talk.peer.call("session/list", {}, timeout=talk.seconds)
    await talk.peer.settled()
    if is_over(talk, sent):
        raise TooLate(OVER)
    stopped = len(talk.peer.frames)
    try:
        answer = await end_by_cancel(talk, session, sent)
    except NotReady as error:
        await ended_by_cancel(stage)
        stage.judge.failed("V1-CLOSE-13", f"after a list the turn cannot be cancelled: {error}")
        return
    reason = (answer.get("result") or {}).get("stopReason")
    if reason != "cancelled" and await is_short(talk, sent, stopped):
        raise TooLate(OVER)
    if reason != "cancelled":
        # Another check judges whether a cancelled turn ends cancelled.
        other = await ended_by_cancel(stage)
        if (other.get("result") or {}).get("stopReason") != "cancelled":
            raise NotReady("a cancelled turn does not end cancelled, listed or not")
    said = f"a turn that was cancelled after a list ended with {as_json(reason)}"
    stage.judge.judge("V1-CLOSE-13", reason == "cancelled", said, came=answer)


def unused(stage: AgentStage) -> str:
    """Return an existing folder without sessions."""
    folder = stage.root / "nobody-worked-here"
    folder.mkdir(exist_ok=True)
    return str(folder)


@check("V1-CLOSE-09", "V1-CLOSE-10", "V1-CLOSE-11")
async def long_lists_come_in_pages(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("sessionCapabilities.list"):
        stage.judge.skip_open("the agent has no session/list")
        return
    await more_sessions(talk, PAGE_MAX + 20)
    page = await talk.prepare("session/list", {})
    count, cursor = len(page["sessions"]), page.get("nextCursor")
    if cursor is None and count <= PAGE_MAX:
        said = f"{count} sessions were listed, too few for a second page"
        stage.judge.close(said, failing=False)
        return
    stage.judge.judge("V1-CLOSE-09", count <= PAGE_MAX, f"{count} sessions on one page")
    if cursor is not None:
        ok = isinstance(cursor, str)
        stage.judge.judge("V1-CLOSE-10", ok, "the cursor is not a string", came=cursor)
        again = [await talk.prepare("session/list", {"cursor": cursor}) for _ in range(2)]
        ids = [[one.get("sessionId") for one in page["sessions"]] for page in again]
        stage.judge.judge("V1-CLOSE-11", ids[0] == ids[1], "a cursor twice differs", came=ids)


@check("V1-CLOSE-15", "V1-CLOSE-16")
async def deleted_sessions_are_gone(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    if not talk.can("sessionCapabilities.delete"):
        stage.judge.skip_open("the agent has no session/delete")
        return
    session, _ = await two_turns(stage)
    can_list = talk.can("sessionCapabilities.list")
    before = can_list and any(one.get("sessionId") == session for one in await listed(talk))
    await talk.ask("session/delete", {"sessionId": session})
    if before:
        other = await stage.another()
        await other.initialize()
        for where in (talk, other):
            left = [one for one in await listed(where) if one.get("sessionId") == session]
            stage.judge.judge("V1-CLOSE-15", not left, "a deleted session is listed", came=left)
    elif not can_list:
        stage.judge.skipped("V1-CLOSE-15", "the agent has no session/list")
    else:
        stage.judge.not_exercised("V1-CLOSE-15", "the session was not listed before either")
    for name in (session, "accord-check-nope"):
        answer = await talk.peer.call("session/delete", {"sessionId": name})
        ok = "result" in answer
        stage.judge.judge("V1-CLOSE-16", ok, f"deleting {name} fails", came=answer)
