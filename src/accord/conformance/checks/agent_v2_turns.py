"""Checks of a v2 agent's turns: insertion, echo, states, cancelling, permissions, tool calls."""

from __future__ import annotations

from typing import Any

from accord.conformance.agent_stage import AgentStage, Talk, begun, update_of, went_well
from accord.conformance.check import check
from accord.conformance.checks.agent_v1_turns import CANCEL_SECONDS, forms_are_handled
from accord.conformance.checks.agent_v1_wire import INVALID_PARAMS
from accord.conformance.checks.agent_v2_sessions import CANCELLED
from accord.conformance.host import always, choosing, filling
from accord.conformance.wire import Frame, Reply, Unanswered

FINAL = ("completed", "failed", "cancelled")


@check("V2-PROMPT-10", "V2-PROMPT-05", "V2-PROMPT-04", "V2-PROMPT-11", version="2", basic=True)
async def a_turn_ends_idle(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("say") or "")
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
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


@check("V2-PROMPT-04", needs="long", version="2")
async def the_result_comes_at_insertion(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    sent = await talk.send_prompt(session, stage.scenario.prompt("long") or "")
    try:
        answer = await talk.peer.answer_to(sent, timeout=10)
    except Unanswered:
        stage.judge.failed("V2-PROMPT-04", "no result while the turn runs")
        return
    ok = isinstance((answer.get("result") or {}).get("messageId"), str)
    stage.judge.judge("V2-PROMPT-04", ok, "no messageId", came=answer)


@check(
    "V2-CANCEL-03", "V2-CANCEL-02", "V2-CANCEL-04", "V2-CANCEL-05", "V2-PROMPT-17", "V1-CANCEL-09",
    needs="long", version="2",
)  # fmt: skip
async def a_cancelled_turn_ends_idle_cancelled(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    first = await talk.send_prompt(session, stage.scenario.prompt("long") or "")
    await begun(talk, since)
    held = await talk.send_prompt(session, stage.scenario.prompt("say") or "")
    await talk.peer.settled()
    early = [f for f in talk.peer.received() if f.is_response and f.object.get("id") == held]
    since = len(talk.peer.frames)
    await talk.peer.notify("session/cancel", {"sessionId": session})
    try:
        state = await talk.idle(session, since=since, timeout=CANCEL_SECONDS)
        stage.judge.passed("V2-CANCEL-02")
    except Unanswered:
        stage.judge.failed("V2-CANCEL-02", f"not idle {CANCEL_SECONDS:g} s after the cancel")
        return
    end = since + talk.peer.frames[since:].index(stopped_at(talk, since))
    for rule in ("V2-CANCEL-03", "V2-CANCEL-04", "V2-PROMPT-17"):
        ok = state.get("stopReason") == "cancelled"
        stage.judge.judge(rule, ok, "idle, but not cancelled", came=state)
    answer = await talk.peer.answer_to(first)
    stage.judge.judge("V1-CANCEL-09", "error" not in answer, "an error", came=answer)
    if not early:
        answer = await talk.peer.answer_to(held, timeout=5)
        ok = (answer.get("error") or {}).get("code") == CANCELLED
        stage.judge.judge("V2-CANCEL-05", ok, "a held prompt is not -32800", came=answer)
    await talk.peer.settled()
    await talk.peer.quiet()
    late = [u for u in talk.updates(since=end) if "toolCallId" in u or "messageId" in u]
    stage.judge.judge("V2-CANCEL-03", not late, "updates of the work after idle", came=late)
    result = await talk.prompt(session, stage.scenario.prompt("say") or "")
    ok = went_well(result)
    stage.judge.judge("V2-CANCEL-05", ok, "a later prompt does not work", came=result)


def stopped_at(talk: Talk, since: int) -> Frame:
    """The first idle state from there on, which has come."""
    return next(one for one in talk.peer.frames[since:] if update_of(one).get("state") == "idle")


@check("V2-CANCEL-06", "V2-PROMPT-26", needs="edit", version="2")
async def a_cancel_does_not_wait_for_permission(stage: AgentStage) -> None:
    talk = stage.talk
    talk.host.permission = always(None)
    session = await talk.session()
    since = len(talk.peer.frames)
    await talk.send_prompt(session, stage.scenario.prompt("edit") or "")
    frame = await talk.peer.expect(
        lambda one: one.method == "session/request_permission",
        "a permission request",
        timeout=talk.seconds,
    )
    await talk.peer.notify("session/cancel", {"sessionId": session})
    state = await talk.idle(session, since=since, timeout=CANCEL_SECONDS)
    ok = state.get("stopReason") == "cancelled"
    stage.judge.judge("V2-CANCEL-06", ok, "idle, but not cancelled", came=state)
    options: list[Any] = frame.params.get("options") or [{}]
    late = {"outcome": {"outcome": "selected", "optionId": options[0].get("optionId")}}
    await talk.peer.send({"jsonrpc": "2.0", "id": frame.object["id"], "result": late})
    await talk.peer.settled()
    await talk.peer.quiet()
    same = (talk.folder / stage.scenario.target).read_text("utf-8") == stage.scenario.files[
        stage.scenario.target
    ]
    stage.judge.judge("V2-PROMPT-26", same, "a late permission was taken")
    stage.judge.judge("V2-CANCEL-06", same, "what was cancelled was done")


@check("V2-CANCEL-13", "V2-CANCEL-14", "V2-CANCEL-15", needs="long", version="2")
async def cancelled_requests_are_answered_once(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    await talk.send_prompt(session, stage.scenario.prompt("long") or "")
    await begun(talk, since)
    held = await talk.send_prompt(session, stage.scenario.prompt("say") or "")
    await talk.peer.settled()
    for _ in range(2):
        await talk.peer.notify("$/cancel_request", {"requestId": held})
    try:
        answer = await talk.peer.answer_to(held, timeout=3)
    except Unanswered:
        await talk.peer.notify("session/cancel", {"sessionId": session})
        answer = await talk.peer.answer_to(held, timeout=talk.seconds)
    code = (answer.get("error") or {}).get("code")
    ok = "result" in answer or code == CANCELLED
    stage.judge.judge("V2-CANCEL-14", ok, f"answered with {code}", came=answer)
    await talk.peer.notify("$/cancel_request", {"requestId": held})
    await talk.peer.settled()
    count = sum(1 for f in talk.peer.received() if f.is_response and f.object.get("id") == held)
    stage.judge.judge("V2-CANCEL-15", count == 1, f"{count} answers")
    asked = [one for one in talk.peer.received() if one.is_request]
    if asked:
        # An id of the agent's own: nothing of ours has it.
        await talk.peer.notify("$/cancel_request", {"requestId": asked[0].object["id"]})
        came = [one for one in await talk.peer.settled() if one.is_response]
        stage.judge.judge("V2-CANCEL-13", not came, "an id of its own was taken", came=came)


@check("V2-PROMPT-20", needs="long", version="2")
async def held_prompts_keep_their_order(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    say = stage.scenario.prompt("say") or ""
    await talk.send_prompt(session, say)
    ids = [await talk.send_prompt(session, f"{say}{' ' * n}") for n in range(1, 4)]
    answers = [await talk.peer.answer_to(one, timeout=talk.seconds) for one in ids]
    names = [(one.get("result") or {}).get("messageId") for one in answers]
    if None in names:
        stage.judge.failed("V2-PROMPT-20", "a held prompt was not inserted", came=answers)
        return
    if len(set(map(str, names))) < len(names):
        stage.judge.close("the messages have no names to tell them apart by", failing=False)
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
    before = stage.scenario.files[stage.scenario.target]
    outcomes: list[Any] = [
        {"outcome": "cancelled"},
        {"outcome": "_accord_check", "optionId": "allow_once"},
        {"outcome": "selected", "optionId": "accord-check-no-option"},
    ]
    decides = [always(Reply({"outcome": one})) for one in outcomes]
    for decide in (choosing("reject"), *decides):
        talk.host.permission = decide
        await talk.prompt(session, stage.scenario.prompt("edit") or "")
        asked = talk.peer.received("session/request_permission")
        if not asked:
            stage.judge.close("the prompt did not make the agent ask", failing=False)
            return
        ok = (talk.folder / stage.scenario.target).read_text("utf-8") == before
        said = "the file was changed without an allowing choice"
        if not stage.judge.judge("V2-PERM-08", ok, said, came=asked[-1]):
            return


@check("V2-UPS-18", "V2-UPS-06", "V2-UPS-11", needs="edit", version="2")
async def allowed_edits_are_done(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.prompt(session, stage.scenario.prompt("edit") or "")
    now = (talk.folder / stage.scenario.target).read_text("utf-8")
    if now == stage.scenario.files[stage.scenario.target]:
        stage.judge.close("the prompt did not change the target", failing=False)


@check("V2-UPS-21", needs="rename", version="2")
async def renames_say_both_names(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.prompt(session, stage.scenario.prompt("rename") or "")


@check("V2-UPS-16", "V2-UPS-12", "V2-PERM-06", needs="terminal", version="2")
async def commands_are_shown_in_terminals(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    for _ in range(2):
        await talk.prompt(session, stage.scenario.prompt("terminal") or "")


@check("V2-CANCEL-17", "V2-CANCEL-18", "V2-CANCEL-19", needs="long", version="2")
async def single_calls_can_be_cancelled(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    await talk.send_prompt(session, stage.scenario.prompt("long") or "")
    await begun(talk, since)
    able = [
        one for one in talk.updates(since=since)
        if (one.get("capabilities") or {}).get("cancel") is not None and "toolCallId" in one
    ]  # fmt: skip
    if not able:
        stage.judge.close("no tool call offers to be cancelled", failing=False)
        return
    call = {"sessionId": session, "toolCallId": able[-1]["toolCallId"]}
    await talk.ask("tool_call/cancel", call)

    def ended(frame: Frame) -> bool:
        update = frame.params.get("update") or {}
        same = update.get("toolCallId") == call["toolCallId"]
        return same and update.get("status") in FINAL

    await talk.peer.expect(ended, "a final status of the cancelled call", since=since)
    stage.judge.passed("V2-CANCEL-17")
    for params in (call, {"sessionId": session, "toolCallId": "accord-nope"}):
        error = await talk.error_of("tool_call/cancel", params)
        ok = error.get("code") == INVALID_PARAMS
        stage.judge.judge("V2-CANCEL-18", ok, "not -32602", sent=params, came=error)


@check("V2-PROMPT-21", "V2-PROMPT-23", "V2-CANCEL-09", needs="background", version="2")
async def background_work_goes_on(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    state = await talk.prompt(session, stage.scenario.prompt("background") or "")
    if not state.get("background"):
        stage.judge.close("nothing is listed as running in the background", failing=False)
        return
    since = len(talk.peer.frames)
    await talk.peer.notify("session/cancel", {"sessionId": session})
    await talk.peer.settled()
    await talk.peer.quiet()
    ended = [one for one in talk.updates(since=since) if one.get("exitStatus") is not None]
    stage.judge.judge("V2-CANCEL-09", not ended, "a cancel ended it", came=ended)
    states = [one.get("state") for one in talk.updates(since=since, kind="state_update")]
    ok = all(one == "idle" for one in states)
    stage.judge.judge("V2-PROMPT-21", ok, f"the states {states} behind an idle session")


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
    said: list[str] = []
    for action in ("cancel", "_accord_check"):
        talk.host.elicitation = filling(action)
        since = len(talk.peer.frames)
        await talk.prompt(session, stage.scenario.prompt("elicitation") or "")
        said.append(talk.said(since=since))
    if not talk.peer.received("elicitation/create"):
        stage.judge.close("the prompt made no form", failing=False)
        return
    stage.judge.judge("V2-ELIC-04", said[0] == said[1], "another outcome than cancel", came=said)


@check("V2-CFG-08", needs="plan", version="2")
async def plans_have_ids(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.prompt(session, stage.scenario.prompt("plan") or "")


@check("V2-PROMPT-18", "V2-PROMPT-19", "V2-PROMPT-06", needs="crash", version="2")
async def failures_after_insertion_end_idle(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("crash") or "")
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    echoed = talk.updates(since=since, kind="user_message")
    if not echoed and "error" in answer:
        stage.judge.passed("V2-PROMPT-19")
        stage.judge.close("it failed before the prompt was inserted", failing=False)
        return
    for rule in ("V2-PROMPT-06", "V2-PROMPT-19"):
        stage.judge.judge(rule, "result" in answer, "an error after insertion", came=answer)
    state = await talk.idle(session, since=since)
    ok = state.get("stopReason") == "error" and isinstance(state.get("error"), dict)
    stage.judge.judge("V2-PROMPT-18", ok, "the failure is not told", came=state)


@check("V2-CANCEL-21", needs="elicitation", version="2")
async def questions_are_withdrawn_by_a_cancel(stage: AgentStage) -> None:
    talk = stage.talk
    talk.host.elicitation = always(None)
    session = await talk.session()
    await talk.send_prompt(session, stage.scenario.prompt("elicitation") or "")
    frame = await talk.peer.expect(
        lambda one: one.method == "elicitation/create", "a form", timeout=talk.seconds
    )
    since = len(talk.peer.frames)
    await talk.peer.notify("session/cancel", {"sessionId": session})
    await talk.idle(session, since=since, timeout=CANCEL_SECONDS)
    await talk.peer.settled()
    withdrawn = [one.params.get("requestId") for one in talk.peer.received("$/cancel_request")]
    ok = frame.object.get("id") in withdrawn
    stage.judge.judge("V2-CANCEL-21", ok, "the form stays open", came=frame)


@check("TR-STDIO-07", version="2")
async def each_message_comes_at_once(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    for _ in range(3):
        await talk.peer.call("_accord_check/none", {})
    stage.judge.passed("TR-STDIO-07")
