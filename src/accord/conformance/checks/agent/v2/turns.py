"""Checks of a v2 agent's turns: insertion, echo, states, cancelling, permissions, tool calls."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from accord.conformance.agent.check_environment import KNOWN_METHOD, AgentStage, Talk
from accord.conformance.agent.fake_client import always, choosing, filling
from accord.conformance.agent.turn import (
    OVER,
    asked_in,
    asked_to_edit,
    at_work,
    at_work_before_another,
    begun,
    calls_of,
    done_otherwise,
    ends_turn,
    is_short,
)
from accord.conformance.check_definition import check
from accord.conformance.checks.agent.v1.session_history import old, taken_up
from accord.conformance.checks.agent.v1.turns import (
    CANCEL_SECONDS_MAX,
    forms_are_handled,
    patience_for_cancels,
    prompted_with_image,
)
from accord.conformance.checks.agent.v2.initialize_and_wire import is_user_message
from accord.conformance.frames.error_codes import CANCELLED, INVALID_PARAMS
from accord.conformance.frames.raw_peer import (
    Frame,
    Message,
    NotReady,
    Reply,
    TooLate,
    Unanswered,
    as_json,
)

FINAL = ("completed", "failed", "cancelled")


@check("V2-PROMPT-10", "V2-PROMPT-05", "V2-PROMPT-04", "V2-PROMPT-11", version="2", basic=True)
async def a_turn_ends_idle(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("say") or "")
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    if "error" in answer:
        raise talk.refusal(answer)
    name = (answer.get("result") or {}).get("messageId")
    stage.judge.judge("V2-PROMPT-04", isinstance(name, str), "no messageId", came=answer)
    await talk.idle(session, since=since)
    stage.judge.passed("V2-PROMPT-10")
    await talk.peer.quiet(0.3)
    echoed = [
        one for one in talk.updates(since=since)
        if str(one.get("sessionUpdate")).startswith("user_message") and one.get("messageId") == name
    ]  # fmt: skip
    stage.judge.judge("V2-PROMPT-05", bool(echoed), "no echo with the id", came=answer)


@check("V2-PROMPT-04", "V2-PROMPT-10", version="2")
async def images_are_taken_where_advertised(stage: AgentStage) -> None:
    taken = await prompted_with_image(stage, "session.prompt.image", "V2-PROMPT-04")
    if taken is not None:
        session, since, _ = taken
        await stage.talk.idle(session, since=since)
        stage.judge.passed("V2-PROMPT-10")


@check("V2-PROMPT-04", needs="long", version="2")
async def the_result_comes_at_insertion(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("long") or "")

    def is_answer(frame: Frame) -> bool:
        return frame.is_response and frame.object.get("id") == sent

    def ends(frame: Frame) -> bool:
        return is_answer(frame) or ends_turn(talk, frame, sent)

    try:
        frame = await talk.peer.expect(ends, "a result", since=since, timeout=talk.seconds)
    except Unanswered:
        stage.judge.failed("V2-PROMPT-04", "no result while the turn runs")
        return
    if not is_answer(frame):
        stage.judge.failed("V2-PROMPT-04", "the turn ended before its result", came=frame)
        return
    answer = frame.object
    ok = isinstance((answer.get("result") or {}).get("messageId"), str)
    stage.judge.judge("V2-PROMPT-04", ok, "no messageId", came=answer)


@check(
    "V2-CANCEL-03", "V2-CANCEL-02", "V2-CANCEL-04", "V2-CANCEL-05", "V2-PROMPT-17", "V1-CANCEL-09",
    needs="long", version="2",
)  # fmt: skip
async def a_cancelled_turn_ends_idle_cancelled(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    limit = await patience_for_cancels(talk)
    talk, session, first, held = await at_work_before_another(stage)
    early = [f for f in talk.peer.received() if f.is_response and f.object.get("id") == held]
    since = len(talk.peer.frames)
    await talk.peer.notify("session/cancel", {"sessionId": session})
    state = await _cancelled(stage, session, since, limit)
    if state.get("stopReason") != "cancelled" and await is_short(talk, first, since):
        raise TooLate(OVER)
    end = since + talk.peer.frames[since:].index(stopped_at(talk, session, since))
    for rule in ("V2-CANCEL-03", "V2-CANCEL-04", "V2-PROMPT-17"):
        ok = state.get("stopReason") == "cancelled"
        stage.judge.judge(rule, ok, "idle, but not cancelled", came=state)
    try:
        answer = await talk.peer.answer_to(first)
        stage.judge.judge("V1-CANCEL-09", "error" not in answer, "an error", came=answer)
    except Unanswered:
        stage.judge.not_exercised("V1-CANCEL-09", "the prompt has no answer, cancelled or not")
    if not early:
        try:
            answer = await talk.peer.answer_to(held, timeout=talk.seconds)
        except Unanswered:
            answer = {}
        ok = (answer.get("error") or {}).get("code") == CANCELLED
        stage.judge.judge("V2-CANCEL-05", ok, "a held prompt is not -32800", came=answer)
        await talk.peer.settled()
        await talk.peer.quiet()
        late = work_in(talk.updates(since=end, session=session), state)
        stage.judge.judge("V2-CANCEL-03", not late, "updates of the work after idle", came=late)
    result = await talk.say(session, stage.scenario.prompt("say"))
    ok = result.get("stopReason") != "cancelled"
    stage.judge.judge("V2-CANCEL-05", ok, "a later prompt is cancelled too", came=result)


async def _cancelled(stage: AgentStage, session: str, since: int, limit: float) -> Message:
    """Wait for the idle state that ends a turn which was just cancelled."""
    began = time.monotonic()
    try:
        state = await stage.talk.idle(session, since=since, timeout=2 * CANCEL_SECONDS_MAX)
    except Unanswered as error:
        stage.judge.failed("V2-CANCEL-02", f"not idle {limit:g} s after the cancel")
        stage.judge.failed("V2-CANCEL-03", f"the cancelled turn does not end: {error}")
        raise NotReady("the cancelled turn does not end") from None
    took = time.monotonic() - began
    said = f"the session was idle only {took:.1f} s after the cancel"
    stage.judge.judge("V2-CANCEL-02", took <= limit, said)
    return state


def work_in(updates: Sequence[Message], state: Message) -> list[Message]:
    """Return the updates of messages and tool calls, except the background work of this state."""
    listed = state.get("background")
    behind = [one.get("toolCallId") for one in listed or [] if isinstance(one, dict)]
    return [
        one
        for one in updates
        if "messageId" in one or ("toolCallId" in one and one["toolCallId"] not in behind)
    ]


@check("V2-CANCEL-03", "V2-CANCEL-04", "V2-PROMPT-17", needs="long_command", version="2")
async def a_cancelled_command_ends_cancelled(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    await talk.send_prompt(session, stage.scenario.prompt("long_command") or "")
    if not await begun(talk, since, command=True) or not calls_of(talk, since):
        stage.judge.close("no command was running", failing=False)
        return
    stage.judge.brought_about()
    since = len(talk.peer.frames)
    await talk.peer.notify("session/cancel", {"sessionId": session})
    state = await talk.idle(session, since=since)
    for rule in ("V2-CANCEL-03", "V2-CANCEL-04", "V2-PROMPT-17"):
        ok = state.get("stopReason") == "cancelled"
        stage.judge.judge(rule, ok, "idle, but not cancelled", came=state)


def stopped_at(talk: Talk, session: str, since: int) -> Frame:
    """Return the first idle state of a session from a frame on, which has arrived."""
    frames = talk.peer.frames[since:]
    return next(one for one in frames if talk.update_in(one, session).get("state") == "idle")


@check("V2-CANCEL-06", "V2-PROMPT-26", needs="edit", version="2")
async def a_cancel_does_not_wait_for_permission(stage: AgentStage) -> None:
    talk = stage.talk
    talk.host.permission = always(None)
    session = await talk.session()
    since, _, frame = await asked_to_edit(stage, session)
    stage.judge.brought_about()
    await talk.peer.notify("session/cancel", {"sessionId": session})
    state = await talk.idle(session, since=since)
    ok = state.get("stopReason") == "cancelled"
    stage.judge.judge("V2-CANCEL-06", ok, "idle, but not cancelled", came=state)
    late = {"outcome": {"outcome": "selected", "optionId": allowing(frame.params)}}
    await talk.peer.send({"jsonrpc": "2.0", "id": frame.object["id"], "result": late})
    await talk.peer.settled()
    await talk.peer.quiet()
    same = stage.target() == stage.target_before
    stage.judge.judge("V2-PROMPT-26", same, "a late permission was accepted")
    stage.judge.judge("V2-CANCEL-06", same, "what was cancelled was done")


def allowing(params: Message) -> Any:
    """Return the first allowing option of a permission request, or else the first option."""
    options = [one for one in params.get("options") or [] if isinstance(one, dict)]
    allow = [one for one in options if str(one.get("kind", "")).startswith("allow")]
    return (allow or options or [{}])[0].get("optionId")


@check("V2-CANCEL-13", "V2-CANCEL-14", "V2-CANCEL-15", needs="long", version="2")
async def cancelled_requests_are_answered_once(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    going_on = await at_work(stage, session)
    if "result" in await talk.peer.answer_to(going_on, timeout=talk.seconds):
        # The prompt was answered when it was inserted, and its turn is not a request.
        await talk.peer.notify("$/cancel_request", {"requestId": going_on})
        await talk.peer.settled()
        told = talk.updates(since=since, session=session)
        ended = [one for one in told if one.get("stopReason") == "cancelled"]
        said = "a prompt that was answered is withdrawn, and its turn is cancelled"
        stage.judge.judge("V2-CANCEL-15", not ended, said, came=ended)
    held = await talk.send_prompt(session, stage.scenario.prompt("say") or "")
    await talk.peer.settled()
    for _ in range(2):
        await talk.peer.notify("$/cancel_request", {"requestId": held})
    try:
        answer = await talk.peer.answer_to(held, timeout=3)
    except Unanswered:
        await talk.peer.notify("session/cancel", {"sessionId": session})
        try:
            answer = await talk.peer.answer_to(held, timeout=talk.seconds)
        except Unanswered as error:
            stage.judge.failed("V2-CANCEL-14", f"it is never answered: {error}")
            return
    code = (answer.get("error") or {}).get("code")
    ok = "result" in answer or code == CANCELLED
    stage.judge.judge("V2-CANCEL-14", ok, f"answered with {as_json(code)}", came=answer)
    await talk.peer.notify("$/cancel_request", {"requestId": held})
    await talk.peer.settled()
    count = sum(1 for f in talk.peer.received() if f.is_response and f.object.get("id") == held)
    stage.judge.judge("V2-CANCEL-15", count == 1, f"{count} answers")
    asked = [one for one in talk.peer.received() if one.is_request]
    if asked:
        # An id of the agent, which no request of the kit has.
        await talk.peer.notify("$/cancel_request", {"requestId": asked[0].object["id"]})
        came = [one for one in await talk.peer.settled() if one.is_response]
        said = "a withdrawal that named one of the agent's own requests was acted on"
        stage.judge.judge("V2-CANCEL-13", not came, said, came=came)


@check("V2-PROMPT-20", version="2")
async def held_prompts_keep_their_order(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    say = stage.scenario.prompt("say") or ""
    await talk.send_prompt(session, say)
    ids = [await talk.send_prompt(session, f"{say}{' ' * n}") for n in range(1, 4)]
    answers = [await talk.peer.answer_to(one, timeout=talk.seconds) for one in ids]
    names = [(one.get("result") or {}).get("messageId") for one in answers]
    if any("error" in one for one in answers):
        stage.judge.close("the agent does not hold prompts while it works", failing=False)
        return
    if None in names:
        stage.judge.failed("V2-PROMPT-20", "a held prompt was not inserted", came=answers)
        return
    if len(set(map(str, names))) < len(names):
        stage.judge.close("the messages cannot be told apart", failing=False)
        return
    await talk.idle(session, since=since)
    await talk.peer.quiet(0.3)
    order = [
        one.get("messageId") for one in talk.updates(since=since)
        if str(one.get("sessionUpdate")).startswith("user_message")
    ]  # fmt: skip
    mine = list(dict.fromkeys(one for one in order if one in names))
    stage.judge.judge("V2-PROMPT-20", mine == names, "another order", sent=names, came=mine)


@check("V2-PERM-08", "V2-PROMPT-12", needs="edit", version="2")
async def nothing_happens_without_permission(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()

    async def unknown(params: Message) -> Reply:
        return Reply({"outcome": {"outcome": "_accord_check", "optionId": allowing(params)}})

    outcomes: list[Any] = [
        {"outcome": "cancelled"},
        {"outcome": "selected", "optionId": "accord-check-no-option"},
    ]
    decides = [always(Reply({"outcome": one})) for one in outcomes]
    for decide in (choosing("reject"), unknown, *decides):
        talk.host.permission = decide
        since = len(talk.peer.frames)
        await talk.say(session, stage.scenario.prompt("edit"))
        asked = talk.peer.received("session/request_permission")
        if not asked:
            stage.judge.close("the prompt did not make the agent ask", failing=False)
            return
        ok = stage.target() == stage.target_before
        if not ok and done_otherwise(talk, since):
            stage.judge.close("the agent did it in another way, without asking", failing=False)
            return
        said = "the file was changed without an allowing choice"
        if not stage.judge.judge("V2-PERM-08", ok, said, came=asked[-1]):
            return


@check("V2-PERM-08", needs="copy", version="2")
async def commands_wait_for_permission(stage: AgentStage) -> None:
    """A rejected command does not run; an allowed one does, which the monitors judge."""
    talk = stage.talk
    session = await talk.session()
    for answer in ("reject", "allow"):
        talk.host.permission = choosing(answer)
        since = len(talk.peer.frames)
        await talk.prompt(session, stage.scenario.prompt("copy") or "")
        asked = talk.peer.received("session/request_permission")
        if not asked or (answer == "reject" and done_otherwise(talk, since)):
            stage.judge.close("the prompt did not make the agent ask", failing=False)
            return
        if answer == "reject":
            ok = not (talk.folder / "copied.txt").exists()
            said = "the command was run without an allowing choice"
            if not stage.judge.judge("V2-PERM-08", ok, said, came=asked[-1]):
                return


@check("V2-UPS-18", "V2-UPS-06", "V2-UPS-11", needs="edit", version="2")
async def allowed_edits_are_done(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("edit"))
    if stage.target() == stage.target_before:
        stage.judge.close("the prompt did not change the target", failing=False)


@check("V2-UPS-21", needs="rename", version="2")
async def renames_say_both_names(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("rename"))


@check("V2-UPS-16", "V2-UPS-12", "V2-PERM-06", needs="terminal", version="2")
async def commands_are_shown_in_terminals(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    for _ in range(2):
        await talk.say(session, stage.scenario.prompt("terminal"))


@check("V2-UPS-12", needs="terminal", version="2")
async def terminals_of_a_resumed_session_are_new(stage: AgentStage) -> None:
    """A new process must not reuse ids of earlier terminals."""
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    await talk.say(session, stage.scenario.prompt("terminal"))
    before = terminals_in(talk, since)
    if not before:
        stage.judge.close("the prompt showed no terminal", failing=False)
        return
    talk = await taken_up(stage, session, "session/resume")
    await talk.prepare("session/resume", old(stage, session))
    await talk.peer.settled()
    since = len(talk.peer.frames)
    await talk.say(session, stage.scenario.prompt("terminal"))
    twice = sorted(before & terminals_in(talk, since))
    said = f"ids of terminals are used again after a resume: {', '.join(twice)}"
    stage.judge.judge("V2-UPS-12", not twice, said)


def terminals_in(talk: Talk, since: int) -> set[str]:
    """Return the terminals that the agent reported."""
    told = talk.updates(since=since, kind="terminal_update")
    return {str(one.get("terminalId")) for one in told}


@check("V2-CANCEL-17", "V2-CANCEL-18", "V2-CANCEL-19", needs="cancellable", version="2")
async def single_calls_can_be_cancelled(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    await talk.send_prompt(session, stage.scenario.prompt("cancellable") or "")
    await begun(talk, since, command=True)
    able = [
        one for one in talk.updates(since=since)
        if (one.get("capabilities") or {}).get("cancel") is not None and "toolCallId" in one
    ]  # fmt: skip
    if not able:
        for name, call in calls_of(talk, since).items():
            if call.get("status") == "in_progress":
                params = {"sessionId": session, "toolCallId": name}
                error = await talk.error_of("tool_call/cancel", params)
                ok = error.get("code") == INVALID_PARAMS
                stage.judge.judge("V2-CANCEL-18", ok, "not -32602", sent=params, came=error)
        stage.judge.close("no tool call offers to be cancelled", failing=False)
        return
    stage.judge.brought_about()
    call = {"sessionId": session, "toolCallId": able[-1]["toolCallId"]}
    await talk.ask("tool_call/cancel", call)

    def ended(frame: Frame) -> bool:
        update = talk.update_in(frame, session)
        same = update.get("toolCallId") == call["toolCallId"]
        return same and update.get("status") in FINAL

    what = "a final status of the cancelled call"
    await talk.peer.expect(ended, what, since=since, timeout=talk.seconds)
    stage.judge.passed("V2-CANCEL-17")
    error = await talk.error_of("tool_call/cancel", call)
    ok = error.get("code") == INVALID_PARAMS
    stage.judge.judge("V2-CANCEL-18", ok, "not -32602", sent=call, came=error)


@check("V2-CANCEL-18", version="2")
async def unknown_calls_cannot_be_cancelled(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    for kind, key in (("tool_call", "toolCallId"), ("terminal", "terminalId")):
        params = {"sessionId": session, key: "accord-nope"}
        error = await talk.error_of(f"{kind}/cancel", params)
        ok = error.get("code") == INVALID_PARAMS
        said = f"{kind}/cancel: not -32602"
        stage.judge.judge("V2-CANCEL-18", ok, said, sent=params, came=error)


@check("V1-ELIC-18", "V2-ELIC-03", "V2-ELIC-05", needs="elicitation", version="2")
async def answers_to_forms_are_taken(stage: AgentStage) -> None:
    await forms_are_handled(stage)
    asked = stage.talk.peer.received("elicitation/create")
    if asked and "sessionId" in asked[0].params:
        waited = any(
            one.get("state") == "requires_action" for one in stage.talk.updates(kind="state_update")
        )
        stage.judge.judge("V2-ELIC-05", waited, "no requires_action while a form is open")


@check("V2-ELIC-04", needs="elicitation", version="2")
async def unknown_actions_are_a_cancel(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    outcomes: list[tuple[Any, str]] = []
    for action in ("cancel", "cancel", "_accord_check"):
        talk.host.elicitation = filling(action)
        since = len(talk.peer.frames)
        state = await talk.say(session, stage.scenario.prompt("elicitation"))
        # Some agents name the action in their messages.
        said = talk.said(since=since).replace(action, "cancel")
        outcomes.append((state.get("stopReason"), said))
    if not talk.peer.received("elicitation/create"):
        stage.judge.close("the prompt led to no form", failing=False)
        return
    # An agent that has two texts for a cancel is judged by how its turns end.
    words = 2 if outcomes[0] == outcomes[1] else 1
    ok = outcomes[2][:words] == outcomes[0][:words]
    stage.judge.judge("V2-ELIC-04", ok, "another outcome than cancel", came=outcomes)


@check("V2-CFG-08", needs="plan", version="2")
async def plans_have_ids(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.say(session, stage.scenario.prompt("plan"))


@check(
    "V2-PROMPT-18", "V2-PROMPT-19", "V2-PROMPT-06", "V2-PROMPT-17", needs="crash", version="2"
)  # fmt: skip
async def failures_after_insertion_end_idle(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("crash") or "")
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    echoed = [one for one in talk.updates(since=since) if is_user_message(one)]
    if not echoed and "error" in answer:
        stage.judge.passed("V2-PROMPT-19")
        stage.judge.close("it failed before the prompt was inserted", failing=False)
        return
    for rule in ("V2-PROMPT-06", "V2-PROMPT-19"):
        stage.judge.judge(rule, "result" in answer, "an error after insertion", came=answer)
    state = await talk.idle(session, since=since)
    reason = state.get("stopReason")
    said = "a failure of the agent's own is called cancelled"
    stage.judge.judge("V2-PROMPT-17", reason != "cancelled", said, came=state)
    if reason == "error":
        ok = isinstance(state.get("error"), dict)
        stage.judge.judge("V2-PROMPT-18", ok, "the failure is not told", came=state)


@check("V2-PROMPT-06", needs="fail", version="2")
async def failing_tools_do_not_fail_the_prompt(stage: AgentStage) -> None:
    """A failing tool and a link to a missing file do not fail the prompt."""
    talk = stage.talk
    session = await talk.session()
    fail, say = stage.scenario.prompt("fail"), stage.scenario.prompt("say")
    nowhere = {"type": "resource_link", "uri": (talk.folder / "gone").as_uri(), "name": "gone"}
    for text, more in ((fail, []), (say, [nowhere])):
        since = len(talk.peer.frames)
        params = {"sessionId": session, "prompt": [{"type": "text", "text": text}, *more]}
        try:
            answer = await talk.peer.call("session/prompt", params, timeout=talk.seconds)
            if "result" in answer:
                await talk.idle(session, since=since)
        except Unanswered as error:
            raise NotReady(f"the prompt {as_json(text)} does not work: {error}") from None
        if "result" in answer and any(one.get("status") == "failed" for one in talk.updates()):
            stage.judge.passed("V2-PROMPT-06")
    stage.judge.close("no tool call failed", failing=False)


@check("V2-CANCEL-21", needs="elicitation", version="2")
async def questions_are_withdrawn_by_a_cancel(stage: AgentStage) -> None:
    talk = stage.talk
    talk.host.elicitation = always(None)
    session = await talk.session()
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("elicitation") or "")
    frame = await asked_in(talk, "elicitation/create", sent, since)
    if frame is None:
        stage.judge.close("the prompt led to no form", failing=False)
        return
    stage.judge.brought_about()
    since = len(talk.peer.frames)
    await talk.peer.notify("session/cancel", {"sessionId": session})
    await talk.idle(session, since=since)
    await talk.peer.settled()
    withdrawn = [one.params.get("requestId") for one in talk.peer.received("$/cancel_request")]
    ok = frame.object.get("id") in withdrawn
    stage.judge.judge("V2-CANCEL-21", ok, "the form stays open", came=frame)


@check("TR-STDIO-07", version="2")
async def each_message_comes_at_once(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    for _ in range(3):
        await talk.peer.call(KNOWN_METHOD, {})
    stage.judge.passed("TR-STDIO-07")
