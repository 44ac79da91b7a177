"""Checks of a v1 agent's turns: prompts, cancelling, permissions, files, terminals, forms."""

from __future__ import annotations

import time
from typing import Any

import anyio

from accord.conformance.agent.check_environment import AgentStage, Refused, Talk, went_well
from accord.conformance.agent.fake_client import always, choosing, filling
from accord.conformance.agent.scenario import IMAGE
from accord.conformance.agent.turn import (
    ASKING,
    HARMLESS_KINDS,
    OVER,
    asked_in,
    at_work,
    begun,
    calls_of,
    done_otherwise,
    end_by_cancel,
    ended_by_cancel,
    is_short,
    tool_calls,
)
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.v1.extensions_and_providers import NOBODYS
from accord.conformance.checks.agent.v1.sessions import comes_true
from accord.conformance.checks.agent.v1.turn_monitors import STOP_REASONS
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import (
    Gone,
    Message,
    NotReady,
    Reply,
    TooLate,
    Unanswered,
    as_json,
)

CANCEL_SECONDS = 5.0
CANCEL_SECONDS_MAX = 10.0
# On a busy machine everything takes longer: this many times the time of an answer is added.
SLOWNESS = 20
CANCELS = ("V1-CANCEL-05", "V1-CANCEL-04", "V1-CANCEL-06", "V1-CANCEL-09", "V1-CAP-05")
# A turn that continues unchanged for this long was not cancelled.
UNHEARD_SECONDS = 3.0
# How long to watch for updates after the result of a turn.
LATE_SECONDS = 2.0
READING = "fs/read_text_file"
# A text of this many characters is long enough to be streamed.
LONG_CHARACTERS = 200


@check("V1-PROMPT-06", "V1-PROMPT-08", "V1-PROMPT-03", basic=True)
async def a_turn_ends_with_a_stop_reason(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    result = await talk.prompt(session, stage.scenario.prompt("say") or "")
    reason = result.get("stopReason")
    stage.judge.judge("V1-PROMPT-06", isinstance(reason, str), "no stop reason", came=result)
    stage.judge.judge("V1-PROMPT-08", reason in STOP_REASONS, f"{as_json(reason)}", came=result)
    link = {"type": "resource_link", "uri": (talk.folder / "notes.txt").as_uri(), "name": "notes"}
    text = {"type": "text", "text": stage.scenario.prompt("say") or ""}
    params = {"sessionId": session, "prompt": [text, link]}
    answer = await talk.peer.call("session/prompt", params, timeout=talk.seconds)
    said = "a prompt with a link is refused"
    stage.judge.judge("V1-PROMPT-03", "result" in answer, said, sent=params, came=answer)
    if stage.scenario.tries:
        # An agent that knows only its author's prompts need not know this one.
        more = {"mimeType": "text/plain", "size": 10, "title": "Notes", "description": "mine"}
        params = {"sessionId": session, "prompt": [link | more]}
        answer = await talk.peer.call("session/prompt", params, timeout=talk.seconds)
        said = "a prompt with nothing but a link is refused"
        stage.judge.judge("V1-PROMPT-03", "result" in answer, said, sent=params, came=answer)
    # All updates of the turn must have arrived already.
    await talk.peer.quiet(LATE_SECONDS)


@check("V1-CAP-04", "V1-PROMPT-08")
async def images_are_taken_where_advertised(stage: AgentStage) -> None:
    taken = await prompted_with_image(stage, "promptCapabilities.image", "V1-CAP-04")
    if taken is not None:
        _, _, answer = taken
        reason = (answer["result"] or {}).get("stopReason")
        stage.judge.judge("V1-PROMPT-08", reason in STOP_REASONS, f"{as_json(reason)}", came=answer)


async def prompted_with_image(
    stage: AgentStage, capability: str, rule: str
) -> tuple[str, int, Message] | None:
    """Send an image if images are advertised, and judge whether it is accepted.

    Returns the session, where the turn begins, and the answer; None where it was not taken.
    """
    talk = stage.talk
    session = await talk.session()
    if not talk.can(capability):
        stage.judge.skip_open("the agent does not accept images")
        return None
    # A prompt that is also refused without an image shows nothing about images.
    await talk.say(session, stage.scenario.prompt("say"))
    since = len(talk.peer.frames)
    text = {"type": "text", "text": stage.scenario.prompt("say") or ""}
    params = {"sessionId": session, "prompt": [text, IMAGE]}
    answer = await talk.peer.call("session/prompt", params, timeout=talk.seconds)
    said = "an image is refused, and images are advertised"
    is_taken = stage.judge.judge(rule, "result" in answer, said, sent=params, came=answer)
    return (session, since, answer) if is_taken else None


@check("V1-PROMPT-11", needs="stream")
async def long_answers_are_streamed(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("stream"))
    chunks = talk.updates(kind="agent_message_chunk")
    if len(chunks) < 2 and len(talk.said()) < LONG_CHARACTERS:
        stage.judge.close("the answer is too short to be streamed", failing=False)
        return
    stage.judge.judge("V1-PROMPT-11", len(chunks) > 1, "a long answer came in one piece")


@check("V1-PROMPT-10", "V1-TOOL-01", "V1-TOOL-02", "V1-TOOL-13", "V1-TOOL-14", needs="tool")
async def tool_calls_are_reported(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    for _ in range(2):
        await talk.say(session, stage.scenario.prompt("tool"))
    calls = [one.get("toolCallId") for one in talk.updates(kind="tool_call")]
    if not calls:
        stage.judge.close("the prompt led to no tool call", failing=False)
        return
    first = next(
        f for f in talk.peer.received() if '"tool_call' in f.raw.decode("utf-8", "replace")
    )
    asked = [
        f for f in talk.peer.received() if f.method and f.method.startswith(("fs/write", "term"))
    ]
    ok = not asked or asked[0].at >= first.at
    stage.judge.judge("V1-PROMPT-10", ok, "the work began before the call was reported")


@check("V1-PROMPT-12", needs="fail")
async def failing_tools_do_not_fail_the_prompt(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    answer = await talk.answered(session, stage.scenario.prompt("fail"))
    failed = [one for one in talk.updates() if one.get("status") == "failed"]
    calls = tool_calls(talk)
    if "error" in answer and not failed and stage.scenario.tries:
        # A prompt may be refused; one of the same kind whose tool succeeds shows that it is not.
        since = len(talk.peer.frames)
        other = await talk.answered(session, stage.scenario.prompt("tool"))
        calls = tool_calls(talk, since) if "result" in other else []
    if not failed and ("result" in answer or not calls):
        stage.judge.close("no tool call failed", failing=False)
        return
    ok = "result" in answer
    stage.judge.judge("V1-PROMPT-12", ok, "a failing tool is an error of the prompt", came=answer)


async def cancelled(
    talk: Talk, stage: AgentStage, sent: Any, limit: float, *, waited: bool = False
) -> None:
    """Judge the end of a turn that was just cancelled, which must come within this limit.

    One that `waited` for its client was not over when it was cancelled.

    Raises:
        TooLate: it had already ended.
    """
    began, stopped = time.monotonic(), len(talk.peer.frames) - 1
    try:
        answer = await talk.peer.answer_to(sent, timeout=2 * CANCEL_SECONDS_MAX)
    except Unanswered as error:
        stage.judge.failed("V1-CANCEL-04", f"not over {limit:g} s after the cancel")
        stage.judge.failed("V1-CANCEL-05", f"the cancelled prompt has no result: {error}")
        stage.judge.failed("V1-CAP-05", "a cancel does nothing")
        raise NotReady("the cancelled turn does not end") from None
    took = time.monotonic() - began
    reason = queries.at(answer, "result.stopReason")
    done = "result" in answer and reason != "cancelled" and not waited
    if done and await is_short(talk, sent, stopped):
        raise TooLate(OVER)
    said = f"the turn ended only {took:.1f} s after the cancel"
    stage.judge.judge("V1-CANCEL-04", took <= limit, said)
    for rule in ("V1-CANCEL-06", "V1-CANCEL-09"):
        stage.judge.judge(rule, "error" not in answer, "the cancel is an error", came=answer)
    said = (
        "the result is an error" if "error" in answer else f"the stop reason is {as_json(reason)}"
    )
    stage.judge.judge("V1-CANCEL-05", reason == "cancelled", said, came=answer)
    heard = "error" in answer or reason == "cancelled" or took <= UNHEARD_SECONDS
    stage.judge.judge("V1-CAP-05", heard, "a cancel does nothing", came=answer)
    await talk.peer.settled()


async def patience_for_cancels(talk: Talk) -> float:
    """Return the time limit of a cancel, which is longer if every answer is slow."""
    began = time.monotonic()
    await talk.peer.settled()
    slower = SLOWNESS * (time.monotonic() - began)
    return min(CANCEL_SECONDS + slower, CANCEL_SECONDS_MAX)


@check(*CANCELS, needs="long")
async def a_cancelled_turn_ends_cancelled(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    limit = await patience_for_cancels(talk)
    sent = await at_work(stage, session)
    await talk.peer.notify("session/cancel", {"sessionId": session})
    await cancelled(talk, stage, sent, limit)
    result = await talk.say(session, stage.scenario.prompt("say"))
    ok = result.get("stopReason") != "cancelled"
    stage.judge.judge("V1-CANCEL-05", ok, "the turn after it is cancelled too", came=result)


@check(*CANCELS, needs="long_command")
async def a_cancelled_command_ends_cancelled(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    limit = await patience_for_cancels(talk)
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("long_command") or "")
    if not await begun(talk, since, command=True) or not calls_of(talk, since):
        stage.judge.close("no command was running", failing=False)
        await end_by_cancel(talk, session, sent)
        return
    await talk.peer.notify("session/cancel", {"sessionId": session})
    await cancelled(talk, stage, sent, limit)


@check(*CANCELS, needs="edit")
async def a_cancel_while_permission_is_asked(stage: AgentStage) -> None:
    talk = stage.talk
    talk.host.permission = always(None)
    session = await talk.session()
    limit = await patience_for_cancels(talk)
    for purpose in ("edit", "copy"):
        since = len(talk.peer.frames)
        sent = await talk.send_prompt(session, stage.scenario.prompt(purpose) or "")
        frame = await asked_in(talk, ASKING, sent, since)
        if frame is not None or stage.scenario.prompt("copy") is None:
            break
    if frame is None:
        stage.judge.close("the agent did not ask for permission", failing=False)
        return
    await talk.peer.notify("session/cancel", {"sessionId": session})
    outcome = {"outcome": {"outcome": "cancelled"}}
    await talk.peer.send({"jsonrpc": "2.0", "id": frame.object["id"], "result": outcome})
    await cancelled(talk, stage, sent, limit)


@check(*CANCELS, "V1-GEN-11", needs="read")
async def files_that_come_too_late_or_not_at_all(stage: AgentStage) -> None:
    """The client sends a file after the turn was cancelled, and then an error."""
    talk = stage.talk
    session = await talk.session()
    limit = await patience_for_cancels(talk)
    let_go = anyio.Event()
    read = talk.peer.responders[READING]

    async def later(params: Message) -> Reply | None:
        await let_go.wait()
        return await read(params)

    talk.peer.responders[READING] = later
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("read") or "")
    frame = await asked_in(talk, READING, sent, since)
    if frame is None:
        stage.judge.close("the agent did not ask its client for the file", failing=False)
        return
    await talk.peer.notify("session/cancel", {"sessionId": session})
    let_go.set()
    await cancelled(talk, stage, sent, limit, waited=True)
    talk.peer.responders[READING] = always(Reply.refused(NOBODYS, "an unknown error"))
    await talk.answered(session, stage.scenario.prompt("read"))
    result = await talk.prompt(session, stage.scenario.prompt("say") or "")
    said = "the session does not continue after an unknown error code"
    stage.judge.judge("V1-GEN-11", went_well(result), said, came=result)


@check("V1-CREQ-02", "V1-CREQ-05", needs="long")
async def cancelled_requests_are_answered_once(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    sent = await at_work(stage, session)
    await talk.peer.notify("$/cancel_request", {"requestId": sent})
    try:
        answer = await talk.peer.answer_to(sent, timeout=CANCEL_SECONDS)
    except Gone:
        raise
    except Unanswered:
        try:
            await end_by_cancel(talk, session, sent)
        except NotReady as error:
            # If a cancel works otherwise, the prompt was lost when its request was cancelled.
            await ended_by_cancel(stage)
            stage.judge.failed("V1-CREQ-02", f"a withdrawn prompt has no answer: {error}")
            return
        stage.judge.skipped("V1-CREQ-02", "the agent ignores it, which is allowed")
    else:
        code = (answer.get("error") or {}).get("code")
        ok = "result" in answer or code == -32800
        stage.judge.judge("V1-CREQ-02", ok, f"answered with {as_json(code)}", came=answer)
    await talk.peer.notify("$/cancel_request", {"requestId": sent})
    late = [one for one in await talk.peer.settled() if one.is_response]
    stage.judge.judge("V1-CREQ-05", not late, "a second answer came", came=late)


@check("V1-PERM-06", "V1-GEN-11", needs="edit")
async def nothing_happens_without_permission(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    strange = Reply.refused(NOBODYS, "an unknown error")
    unoffered = Reply({"outcome": {"outcome": "selected", "optionId": "accord-check-no-option"}})
    last = always(strange)
    for decide in (choosing("reject"), choosing("cancelled"), always(unoffered), last):
        talk.host.permission = decide
        since = len(talk.peer.frames)
        try:
            await talk.answered(session, stage.scenario.prompt("edit"))
        except NotReady:
            if talk.peer.closed.is_set() and decide is last:
                stage.judge.failed("V1-GEN-11", "an unknown error code ends the agent")
            raise
        asked = talk.peer.received("session/request_permission")
        if not asked:
            stage.judge.close("the prompt did not make the agent ask", failing=False)
            return
        ok = stage.target() == stage.target_before and not talk.host.written
        if not ok and done_otherwise(talk, since):
            stage.judge.close("the agent did it in another way, without asking", failing=False)
            return
        said = "the file was changed without an allowing choice"
        if not stage.judge.judge("V1-PERM-06", ok, said, came=asked[-1]):
            return
    talk.host.permission = choosing("allow")
    result = await talk.prompt(session, stage.scenario.prompt("say") or "")
    said = "the session does not continue after an unknown error code"
    stage.judge.judge("V1-GEN-11", went_well(result), said, came=result)


@check("V1-PERM-06", "V1-TOOL-03", needs="copy")
async def commands_wait_for_permission(stage: AgentStage) -> None:
    """A rejected command does not run; an allowed one does, which the monitors judge."""
    talk = stage.talk
    session = await talk.session()
    copied = talk.folder / "copied.txt"
    for answer in ("reject", "allow"):
        talk.host.permission = choosing(answer)
        since = len(talk.peer.frames)
        await talk.prompt(session, stage.scenario.prompt("copy") or "")
        asked = talk.peer.received("session/request_permission")
        if not asked:
            stage.judge.close("the prompt did not make the agent ask", failing=False)
            return
        if answer == "allow":
            return
        ok = not copied.exists()
        if not ok and done_otherwise(talk, since):
            stage.judge.close("the agent did it in another way, without asking", failing=False)
            return
        said = "the command was run without an allowing choice"
        if not stage.judge.judge("V1-PERM-06", ok, said, came=asked[-1]):
            return


@check("V1-TOOL-03", "V1-TOOL-10", needs="edit")
async def allowed_edits_are_done(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("edit"))
    if stage.target() == stage.target_before:
        stage.judge.close("the prompt did not change the target", failing=False)


@check("V1-TERM-07", "V1-TOOL-09", needs="terminal")
async def terminals_are_released(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("terminal"))
    await judge_releases(stage)


@check("V1-TERM-07", needs="long_command")
async def terminals_are_released_after_a_cancel(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("long_command") or "")
    await begun(talk, since, command=True)
    await end_by_cancel(talk, session, sent)
    await judge_releases(stage)


async def judge_releases(stage: AgentStage) -> None:
    """After a turn every terminal is released; no rule says how soon."""
    talk = stage.talk

    def left() -> list[str]:
        return [name for name, one in talk.host.terminals.items() if not one.released]

    if not talk.host.terminals:
        stage.judge.close(
            "the prompt did not make the agent use a terminal of the client", failing=False
        )
        return
    await comes_true(talk, lambda: not left())
    stage.judge.judge("V1-TERM-07", not left(), f"never released: {', '.join(left())}")


@check("V1-ELIC-18", "V1-ELIC-20", needs="elicitation")
async def answers_to_forms_are_taken(stage: AgentStage) -> None:
    await forms_are_handled(stage)


async def forms_are_handled(stage: AgentStage) -> None:
    """After decline, cancel, failure and an accepted form the turn ends."""
    talk = stage.talk
    session = await talk.session()
    failing = always(Reply.refused(-32603, "the form could not be shown"))
    for decide in (filling("decline"), filling("cancel"), failing, filling("accept")):
        talk.host.elicitation = decide
        await prompt_with_form(stage, session)
    stage.judge.passed("V1-ELIC-18")
    await _judge_consent(stage)


async def prompt_with_form(stage: AgentStage, session: str) -> None:
    """Send the prompt that leads to a form, and wait for the end of its turn.

    Raises:
        NotReady: the agent asked nothing.
        Unanswered: the turn does not end.
    """
    talk = stage.talk
    try:
        await talk.prompt(session, stage.scenario.prompt("elicitation") or "")
    except Refused:
        # Failing the prompt is a valid reaction; hanging is not.
        pass
    except Unanswered:
        if talk.peer.received("elicitation/create"):
            stage.judge.brought_about()
            raise
    if not talk.peer.received("elicitation/create"):
        raise NotReady("the prompt made no form")


async def _judge_consent(stage: AgentStage) -> None:
    """A declined or cancelled form must not have the effect of an accepted one.

    It shows where a form asks for nothing but yes or no, and the work depends on that.
    """
    done: list[list[tuple[Any, Any]]] = []
    for answer in ("yes", "no", "decline", "cancel"):
        found = await _done_after(stage, answer)
        if found is None or (answer == "yes" and not found) or (answer == "no" and found in done):
            return
        done.append(found)
        if answer in ("decline", "cancel"):
            said = f"after {answer} the agent acts as if the form was accepted"
            stage.judge.judge("V1-ELIC-18", found != done[0], said, came=found)


async def _done_after(stage: AgentStage, answer: str) -> list[tuple[Any, Any]] | None:
    """Return the calls that changed something in a turn with this answer; None if unknown."""
    stage.restore_files()
    talk = await stage.another()
    asked: list[Message] = []

    async def decide(params: Message) -> Reply:
        asked.append(params)
        fields = queries.at(params, "requestedSchema.properties")
        content = dict.fromkeys(fields if isinstance(fields, dict) else {}, answer == "yes")
        accepted = {"action": "accept", "content": content}
        return Reply(accepted if answer in ("yes", "no") else {"action": answer})

    talk.host.elicitation = decide
    session = await talk.session()
    since = len(talk.peer.frames)
    try:
        await talk.say(session, stage.scenario.prompt("elicitation"))
    except NotReady:
        return None
    fields = queries.at(asked[0], "requestedSchema.properties") if asked else None
    kinds = {queries.at(one, "type") for one in (fields or {}).values()}
    if kinds != {"boolean"}:
        return None
    calls = calls_of(talk, since).values()
    return [
        (one.get("kind"), one.get("title"))
        for one in calls
        if one.get("status") == "completed" and one.get("kind") not in HARMLESS_KINDS
    ]


@check("V1-PLAN-02", needs="plan")
async def plans_are_whole(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("plan"))


@check("V1-USAGE-04", "V1-USAGE-02", needs="usage")
async def usage_is_reported(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("usage"))
