"""Checks of a v1 agent's turns: prompts, cancelling, permissions, modes, options, commands."""

from __future__ import annotations

from typing import Any

from accord.conformance.agent_stage import AgentStage, Refused, Talk, begun, went_well
from accord.conformance.check import check
from accord.conformance.checks.agent_v1_wire import INVALID_PARAMS
from accord.conformance.host import always, choosing, filling
from accord.conformance.wire import NotReady, Reply, Unanswered

STOP_REASONS = {"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"}
CANCEL_SECONDS = 5.0


@check("V1-PROMPT-06", "V1-PROMPT-08", "V1-PROMPT-03", basic=True)
async def a_turn_ends_with_a_stop_reason(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    result = await talk.prompt(session, stage.scenario.prompt("say") or "")
    reason = result.get("stopReason")
    stage.judge.judge("V1-PROMPT-06", isinstance(reason, str), "no stop reason", came=result)
    stage.judge.judge("V1-PROMPT-08", reason in STOP_REASONS, f"{reason!r}", came=result)
    link = {"type": "resource_link", "uri": (talk.folder / "notes.txt").as_uri(), "name": "notes"}
    text = {"type": "text", "text": stage.scenario.prompt("say") or ""}
    params = {"sessionId": session, "prompt": [text, link]}
    answer = await talk.peer.call("session/prompt", params, timeout=talk.seconds)
    said = "a prompt with a link is refused"
    stage.judge.judge("V1-PROMPT-03", "result" in answer, said, sent=params, came=answer)
    # What belongs to the turn has to be here already.
    await talk.peer.quiet(0.5)


@check("V1-PROMPT-11", needs="stream")
async def long_answers_are_streamed(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.prompt(session, stage.scenario.prompt("stream") or "")
    chunks = talk.updates(kind="agent_message_chunk")
    stage.judge.judge("V1-PROMPT-11", len(chunks) > 1, f"{len(chunks)} chunk")


@check("V1-PROMPT-10", "V1-TOOL-01", "V1-TOOL-02", "V1-TOOL-13", needs="tool")
async def tool_calls_are_reported(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    for _ in range(2):
        await talk.prompt(session, stage.scenario.prompt("tool") or "")
    calls = [one.get("toolCallId") for one in talk.updates(kind="tool_call")]
    if not calls:
        stage.judge.close("the prompt made no tool call", failing=False)
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
    sent = await talk.send_prompt(session, stage.scenario.prompt("fail") or "")
    answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    failed = [one for one in talk.updates() if one.get("status") == "failed"]
    if not failed and "result" in answer:
        stage.judge.close("no tool call failed", failing=False)
        return
    ok = "result" in answer
    stage.judge.judge("V1-PROMPT-12", ok, "a failing tool is an error of the prompt", came=answer)


async def cancelled(talk: Talk, stage: AgentStage, sent: Any) -> None:
    """Judge the end of a turn that was cancelled."""
    try:
        answer = await talk.peer.answer_to(sent, timeout=CANCEL_SECONDS)
        stage.judge.passed("V1-CANCEL-04")
    except Unanswered:
        stage.judge.failed("V1-CANCEL-04", f"not over {CANCEL_SECONDS:g} s after the cancel")
        raise NotReady("the cancelled turn does not end") from None
    for rule in ("V1-CANCEL-06", "V1-CANCEL-09"):
        stage.judge.judge(rule, "error" not in answer, "the cancel is an error", came=answer)
    reason = (answer.get("result") or {}).get("stopReason")
    if "error" not in answer:
        said = f"the stop reason is {reason!r}"
        stage.judge.judge("V1-CANCEL-05", reason == "cancelled", said, came=answer)
    await talk.peer.settled()


async def end_by_cancel(talk: Talk, session: str, sent: Any) -> None:
    """Cancel a turn on the way to what is checked: that it works is checked elsewhere."""
    await talk.peer.notify("session/cancel", {"sessionId": session})
    try:
        await talk.peer.answer_to(sent, timeout=talk.seconds)
    except Unanswered as error:
        raise NotReady(f"a cancel does not work: {error}") from None


@check("V1-CANCEL-05", "V1-CANCEL-04", "V1-CANCEL-06", "V1-CANCEL-09", needs="long")
async def a_cancelled_turn_ends_cancelled(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("long") or "")
    await begun(talk, since)
    await talk.peer.notify("session/cancel", {"sessionId": session})
    await cancelled(talk, stage, sent)
    result = await talk.prompt(session, stage.scenario.prompt("say") or "")
    ok = went_well(result)
    stage.judge.judge("V1-CANCEL-05", ok, "the turn after a cancel does not work", came=result)


@check("V1-CANCEL-05", "V1-CANCEL-04", "V1-CANCEL-06", "V1-CANCEL-09", needs="edit")
async def a_cancel_while_permission_is_asked(stage: AgentStage) -> None:
    talk = stage.talk
    talk.host.permission = always(None)
    session = await talk.session()
    sent = await talk.send_prompt(session, stage.scenario.prompt("edit") or "")
    frame = await talk.peer.expect(
        lambda one: one.method == "session/request_permission",
        "a permission request",
        timeout=talk.seconds,
    )
    await talk.peer.notify("session/cancel", {"sessionId": session})
    outcome = {"outcome": {"outcome": "cancelled"}}
    await talk.peer.send({"jsonrpc": "2.0", "id": frame.object["id"], "result": outcome})
    await cancelled(talk, stage, sent)


@check("V1-CREQ-02", "V1-CREQ-05", needs="long")
async def cancelled_requests_are_answered_once(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("long") or "")
    await begun(talk, since)
    await talk.peer.notify("$/cancel_request", {"requestId": sent})
    try:
        answer = await talk.peer.answer_to(sent, timeout=CANCEL_SECONDS)
    except Unanswered:
        # It need not listen to this one.
        await talk.peer.notify("session/cancel", {"sessionId": session})
        answer = await talk.peer.answer_to(sent, timeout=talk.seconds)
    code = (answer.get("error") or {}).get("code")
    ok = "result" in answer or code == -32800
    stage.judge.judge("V1-CREQ-02", ok, f"answered with {code}", came=answer)
    await talk.peer.notify("$/cancel_request", {"requestId": sent})
    late = [one for one in await talk.peer.settled() if one.is_response]
    stage.judge.judge("V1-CREQ-05", not late, "a second answer came", came=late)


@check("V1-PERM-06", "V1-GEN-11", needs="edit")
async def nothing_happens_without_permission(stage: AgentStage) -> None:
    talk = stage.talk
    before = stage.scenario.files[stage.scenario.target]
    session = await talk.session()
    strange = Reply.refused(-32077, "an error nobody knows")
    unoffered = Reply({"outcome": {"outcome": "selected", "optionId": "accord-check-no-option"}})
    for decide in (choosing("reject"), choosing("cancelled"), always(unoffered), always(strange)):
        talk.host.permission = decide
        sent = await talk.send_prompt(session, stage.scenario.prompt("edit") or "")
        await talk.peer.answer_to(sent, timeout=talk.seconds)
        asked = talk.peer.received("session/request_permission")
        if not asked:
            stage.judge.close("the prompt did not make the agent ask", failing=False)
            return
        now = (talk.folder / stage.scenario.target).read_text("utf-8")
        ok = now == before and not talk.host.written
        said = "the file was changed without an allowing choice"
        if not stage.judge.judge("V1-PERM-06", ok, said, came=asked[-1]):
            return
    talk.host.permission = choosing("allow")
    result = await talk.prompt(session, stage.scenario.prompt("say") or "")
    said = "after an unknown error code the session does not go on"
    stage.judge.judge("V1-GEN-11", went_well(result), said, came=result)


@check("V1-TOOL-03", "V1-TOOL-10", "V1-GEN-07", needs="edit")
async def allowed_edits_are_done(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.prompt(session, stage.scenario.prompt("edit") or "")
    now = (talk.folder / stage.scenario.target).read_text("utf-8")
    if now == stage.scenario.files[stage.scenario.target]:
        stage.judge.close("the prompt did not change the target", failing=False)
        return
    for frame in talk.peer.received("fs/read_text_file"):
        line = frame.params.get("line")
        ok = line is None or (type(line) is int and line >= 1)
        stage.judge.judge("V1-GEN-07", ok, f"line {line!r}", came=frame)
    for update in talk.updates():
        places = update.get("locations")
        for one in places if isinstance(places, list) else []:
            line = one.get("line") if isinstance(one, dict) else None
            ok = line is None or (type(line) is int and line >= 1)
            stage.judge.judge("V1-GEN-07", ok, f"a location has line {line!r}", came=update)


@check("V1-TERM-07", "V1-TOOL-09", needs="terminal")
async def terminals_are_released(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.prompt(session, stage.scenario.prompt("terminal") or "")
    if not talk.host.terminals:
        stage.judge.close("the prompt made no terminal of the client's", failing=False)


@check("V1-TERM-07", needs="long")
async def terminals_are_released_after_a_cancel(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    since = len(talk.peer.frames)
    sent = await talk.send_prompt(session, stage.scenario.prompt("long") or "")
    await begun(talk, since)
    await end_by_cancel(talk, session, sent)
    await talk.peer.settled()
    if not talk.host.terminals:
        stage.judge.close("the prompt made no terminal of the client's", failing=False)
        return
    left = [name for name, one in talk.host.terminals.items() if not one.released]
    stage.judge.judge("V1-TERM-07", not left, f"never released: {', '.join(left)}")


@check("V1-MODE-03", "V1-MODE-04", "V1-MODE-02")
async def modes_change(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    made = await talk.new_session()
    session, modes = str(made["sessionId"]), made.get("modes")
    if not isinstance(modes, dict):
        stage.judge.skip_open("the agent has no modes")
        return
    error = await talk.error_of(
        "session/set_mode", {"sessionId": session, "modeId": "accord-check-no-mode"}
    )
    stage.judge.judge("V1-MODE-02", bool(error), "a mode that does not exist is taken")
    prompt = stage.scenario.prompt("mode")
    if prompt is not None:
        since = len(talk.peer.frames)
        await talk.prompt(session, prompt)
        told = talk.updates(since=since, kind="current_mode_update")
        stage.judge.judge("V1-MODE-03", bool(told), "a mode change was not announced")
    long = stage.scenario.prompt("long")
    if long is not None:
        since = len(talk.peer.frames)
        sent = await talk.send_prompt(session, long)
        await begun(talk, since)
        other = [one["id"] for one in modes["availableModes"]][-1]
        params = {"sessionId": session, "modeId": other}
        answer = await talk.peer.call("session/set_mode", params)
        said = "the mode cannot be set while a turn runs"
        stage.judge.judge("V1-MODE-04", "result" in answer, said, came=answer)
        await end_by_cancel(talk, session, sent)


@check("V1-CFG-03", "V1-CFG-04", "V1-CFG-05", "V1-CFG-06", "V1-CFG-11")
async def options_change(stage: AgentStage) -> None:
    talk = stage.talk
    await talk.initialize()
    made = await talk.new_session()
    session, options = str(made["sessionId"]), made.get("configOptions")
    if not options:
        stage.judge.skip_open("the agent has no config options")
        return
    ok = all("currentValue" in one for one in options)
    stage.judge.judge("V1-CFG-04", ok, "an option has no current value", came=options)
    for name, value in (("accord-check-no-option", "x"), (options[0]["id"], "accord-no-value")):
        params = {"sessionId": session, "configId": name, "value": value}
        error = await talk.error_of("session/set_config_option", params)
        ok = error.get("code") == INVALID_PARAMS
        stage.judge.judge("V1-CFG-11", ok, "not refused with -32602", sent=params, came=error)
    await _set_options(stage, session, options)
    prompt = stage.scenario.prompt("config")
    if prompt is not None:
        await talk.prompt(session, prompt)
    names = {one["id"] for one in options}
    for update in talk.updates(kind="config_option_update"):
        full = {one.get("id") for one in update["configOptions"]} == names
        stage.judge.judge("V1-CFG-06", full, "an update has not all options", came=update)


async def _set_options(stage: AgentStage, session: str, options: list[dict[str, Any]]) -> None:
    talk = stage.talk
    selects = [one for one in options if one.get("type") == "select"]
    for option in selects[:2]:
        values = [one["value"] for one in option["options"] if "value" in one]
        other = next((one for one in values if one != option.get("currentValue")), None)
        if other is None:
            continue
        params = {"sessionId": session, "configId": option["id"], "value": other}
        since = len(talk.peer.frames)
        result = await talk.ask("session/set_config_option", params)
        full = {one.get("id") for one in result["configOptions"]} == {o["id"] for o in options}
        said = "the result has not all options"
        stage.judge.judge("V1-CFG-05", full, said, sent=params, came=result)
        if option.get("category") == "mode":
            await talk.peer.settled()
            told = talk.updates(since=since, kind="current_mode_update")
            ok = any(one.get("currentModeId") == other for one in told)
            said = "a mode set as an option is not told as a mode"
            stage.judge.judge("V1-CFG-03", ok, said, sent=params, came=told)


@check("V1-CMD-03", needs="command")
async def commands_are_run(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    prompt = stage.scenario.prompt("command") or ""
    link = {"type": "resource_link", "uri": (talk.folder / "notes.txt").as_uri(), "name": "notes"}
    params = {"sessionId": session, "prompt": [{"type": "text", "text": prompt}, link]}
    answer = await talk.peer.call("session/prompt", params, timeout=talk.seconds)
    lists = talk.updates(kind="available_commands_update")
    names = [one.get("name") for update in lists for one in update.get("availableCommands", [])]
    if prompt.split()[0].removeprefix("/") not in names:
        stage.judge.close("the command is not one of the agent's", failing=False)
        return
    ok = "result" in answer and went_well(answer["result"] or {})
    stage.judge.judge("V1-CMD-03", ok, "the command was not run", sent=params, came=answer)


@check("V1-ELIC-18", "V1-ELIC-20", needs="elicitation")
async def answers_to_forms_are_taken(stage: AgentStage) -> None:
    await forms_are_handled(stage)


async def forms_are_handled(stage: AgentStage) -> None:
    """Decline, cancel, failure and an accepted form all end in a turn that ends."""
    talk = stage.talk
    session = await talk.session()
    failing = always(Reply.refused(-32603, "the form could not be shown"))
    for decide in (filling("decline"), filling("cancel"), failing, filling("accept")):
        talk.host.elicitation = decide
        try:
            await talk.prompt(session, stage.scenario.prompt("elicitation") or "")
        except Refused:
            # To fail the prompt is to handle it too; to hang is not.
            pass
        if not talk.peer.received("elicitation/create"):
            stage.judge.close("the prompt made no form", failing=False)
            return
    stage.judge.passed("V1-ELIC-18")


@check("V1-PLAN-02", needs="plan")
async def plans_are_whole(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.prompt(session, stage.scenario.prompt("plan") or "")


@check("V1-USAGE-04", "V1-USAGE-02", needs="usage")
async def usage_is_reported(stage: AgentStage) -> None:
    talk = stage.talk
    session = await talk.session()
    await talk.prompt(session, stage.scenario.prompt("usage") or "")
