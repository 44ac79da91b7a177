"""Checks of clients, v1: permissions, cancelling, forms, and updates of a turn."""

from __future__ import annotations

from typing import Any

from accord.conformance.check_definition import check
from accord.conformance.client.check_environment import ClientStage
from accord.conformance.client.fake_agent import SESSION, Conversation, error_code, modes
from accord.conformance.frames import frame_queries as queries
from accord.conformance.frames.raw_peer import Message, Unanswered, as_json

# The modes in which a client may ask its user.
MODES = ("form", "url")
LONG_TITLE = "a long title " * 800
# A backtracking engine practically never ends on this pattern.
EVIL_PATTERN = "^(([a-z])+.)+[A-Z]([a-z])+$"


def outcome(answer: Message) -> Any:
    """Return the outcome in the answer to a permission request."""
    result = answer.get("result")
    return result.get("outcome") if isinstance(result, dict) else None


def questions(talk: Conversation) -> list[Message]:
    """Return permission requests that every client accepts, from the shortest to the longest."""
    only_no = [{"optionId": "kit/ä no", "name": "No", "kind": "reject_once"}]
    kinds = ("reject_always", "reject_once", "allow_always", "allow_once")
    every = [{"optionId": f"{n}", "name": kind, "kind": kind} for n, kind in enumerate(kinds)]
    plain = talk.permission()
    if talk.version == "2":
        command = {"type": "command", "command": "true", "cwd": "/"}
        short = {"type": "tool_call", "toolCall": {"toolCallId": "call-2"}}
        bare = {key: value for key, value in plain.items() if key != "subject"}
        subjects = [bare, plain | {"subject": short}, plain | {"subject": command}]
        return [plain, *subjects, plain | {"options": only_no}, plain | {"options": every}]
    content = [
        {"type": "content", "content": {"type": "text", "text": "so"}},
        {"type": "diff", "path": "/tmp/a.txt", "oldText": None, "newText": "b"},
    ]
    long = plain["toolCall"] | {
        "status": "pending",
        "content": content,
        "locations": [{"path": "/tmp/a.txt", "line": 1}],
        "rawInput": {"path": ["/tmp/a.txt"]},
    }
    short = {"toolCallId": "call-2"}
    return [
        plain,
        plain | {"toolCall": short, "options": only_no},
        plain | {"toolCall": long, "options": every},
    ]


@check("V1-PERM-02", "V1-PERM-03", role="client")
async def answers_permission_requests(stage: ClientStage) -> None:
    """A permission request is answered with an offered option, or as cancelled."""
    talk, prompt = await stage.to_prompt()
    for params in questions(talk):
        answer = await talk.call("session/request_permission", **params)
        code = error_code(answer)
        said = f"refused with {as_json(code)}"
        stage.judge.judge("V1-PERM-02", code is None, said, sent=params, came=answer)
        got = outcome(answer)
        if isinstance(got, dict) and got.get("outcome") == "selected":
            ok = got.get("optionId") in [one["optionId"] for one in params["options"]]
        else:
            ok = isinstance(got, dict) and got.get("outcome") == "cancelled"
        ok = ok or code is not None
        stage.judge.judge("V1-PERM-03", ok, "no offered option", sent=params, came=answer)
    await talk.end_turn(prompt)


@check("V1-CANCEL-03", "V1-PERM-05", role="client")
async def settles_permissions_on_cancel(stage: ClientStage) -> None:
    """After `session/cancel` every open permission request is answered as cancelled."""
    talk, prompt = await stage.to_prompt("cancel")
    names = [
        await talk.ask("session/request_permission", **talk.permission(f"call-{n}")) for n in (1, 2)
    ]
    await talk.say("working")
    # A client that decides at once has done so by then.
    await talk.peer.settled()
    cancel = await stage.cancelled(talk)
    at = talk.peer.frames.index(cancel)
    early = [
        name for name in names for frame in talk.peer.frames[:at]
        if not frame.sent and frame.is_response and frame.object.get("id") == name
    ]  # fmt: skip
    if set(early) == set(names):
        stage.judge.skip_open("the client decides at once: no question is open at a cancel")
        return
    try:
        answers = [await talk.peer.answer_to(name) for name in names if name not in early]
    except Unanswered as error:
        for rule in ("V1-CANCEL-03", "V1-PERM-05"):
            stage.judge.failed(rule, f"a question stays open after the cancel: {error}")
        return
    await talk.end_turn(prompt, "cancelled")
    kinds = [got.get("outcome") if isinstance(got := outcome(o), dict) else None for o in answers]
    ok = set(kinds) == {"cancelled"}
    for rule in ("V1-CANCEL-03", "V1-PERM-05"):
        stage.judge.judge(rule, ok, f"the outcomes are {as_json(kinds)}", came=answers)


@check("V1-USAGE-08", "V1-USAGE-14", role="client")
async def takes_notices_as_such(stage: ClientStage) -> None:
    """A notice of severity `error` does not end the turn, and a very long title does no harm."""
    talk, prompt = await stage.to_prompt()
    await talk.update("notice", severity="error", title="Something is not well")
    alive = await talk.alive()
    came = talk.peer.received("session/cancel")
    ok = alive and not came and not talk.peer.closed.is_set()
    stage.judge.judge("V1-USAGE-08", ok, "the turn was stopped", came=came)
    await talk.update("session_info_update", title=LONG_TITLE)
    stage.judge.judge("V1-USAGE-14", await talk.alive(), "the client does not continue")
    await talk.end_turn(prompt)


def offers_nothing(talk: Conversation) -> list[str]:
    """Return the modes of forms that the client mentions but does not offer."""
    key = "capabilities" if talk.version == "2" else "clientCapabilities"
    offer = queries.at(talk.hello, f"{key}.elicitation")
    if not isinstance(offer, dict):
        return []
    nulls = [mode for mode in MODES if mode in offer and offer[mode] is None]
    return nulls if any(talk.can("elicitation", mode) for mode in MODES) else list(MODES)


@check("V1-ELIC-02", "V1-ELIC-03", "V1-ELIC-17", role="client")
async def refuses_modes_that_it_has_not(stage: ClientStage) -> None:
    """A form or URL that the client did not offer is -32602; unknown completions are ignored."""
    talk, prompt = await stage.to_prompt()
    wanted = {"type": "object", "properties": {"name": {"type": "string"}}}
    asked: dict[str, Message] = {
        "form": {"requestedSchema": wanted},
        "url": {"elicitationId": "e1", "url": "https://example.org/"},
    }
    for mode, params in asked.items():
        if talk.can("elicitation", mode):
            continue
        answer = await talk.call("elicitation/create", mode=mode, message="Who?", **params)
        # A client without any mode has no such method.
        codes = (-32602,) if talk.can("elicitation") else (-32602, -32601)
        code = error_code(answer)
        ok = code in codes
        stage.judge.judge("V1-ELIC-02", ok, f"the mode {mode} got {as_json(code)}", came=answer)
        if mode in offers_nothing(talk):
            said = f"the mode {mode} was not offered, and got {as_json(code)}"
            stage.judge.judge("V1-ELIC-03", code is not None, said, came=answer)
    if "V1-ELIC-02" not in stage.judge.found:
        stage.judge.skipped("V1-ELIC-02", "the client has every mode")
    if "V1-ELIC-03" not in stage.judge.found:
        stage.judge.skipped("V1-ELIC-03", "the client has no empty offer")
    start = len(talk.peer.frames)
    for _ in range(2):
        await talk.peer.notify("elicitation/complete", {"elicitationId": "nobody"})
    alive = await talk.alive()
    strays = [f for f in talk.peer.frames[start:] if not f.sent and f.object.get("id", 0) is None]
    stage.judge.judge("V1-ELIC-17", alive and not strays, "it is not ignored", came=strays)
    await talk.end_turn(prompt)


@check("V1-ELIC-21", "V1-ELIC-19", "V1-ELIC-23", "V1-ELIC-27", role="client")
async def fills_in_forms_safely(stage: ClientStage) -> None:
    """A pattern that would never end is stopped in time, and an unknown format is accepted."""
    talk, prompt = await stage.to_prompt()
    stage.need(talk.can("elicitation", "form"), "the client has no forms")
    field = {"type": "string", "format": "_x", "default": "a"}
    wanted = {"type": "object", "properties": {"name": field}}
    params: Message = {"mode": "form", "message": "Who?", "requestedSchema": wanted}
    try:
        answer = await talk.call("elicitation/create", **params)
    except Unanswered:
        # A client that still runs waits for a user to fill it in.
        if not await talk.alive():
            raise
        stage.leave_open("the client leaves forms to a person")
    code = error_code(answer)
    stage.judge.judge("V1-ELIC-23", code is None, f"refused with {as_json(code)}", came=answer)
    result = answer.get("result")
    action = result.get("action") if isinstance(result, dict) else None
    if code is None:
        known = action in ("accept", "decline", "cancel") or str(action).startswith("_")
        stage.judge.judge("V1-ELIC-27", known, f"the action is {as_json(action)}", came=answer)
        await _judge_values(stage, talk)
    evil = {"type": "string", "pattern": EVIL_PATTERN, "default": "a" * 60}
    params["requestedSchema"] = {"type": "object", "properties": {"name": evil}}
    await talk.ask("elicitation/create", **params)
    stage.judge.judge("V1-ELIC-21", await talk.alive(), "the client hangs")
    await talk.end_turn(prompt)


async def _judge_values(stage: ClientStage, talk: Conversation) -> None:
    """An accepted form has every required value, each valid for its field.

    The first can be filled in with what it proposes, the second cannot.
    """
    accepted = False
    for count in (2, 9):
        field = {"type": "integer", "minimum": 1, "maximum": 3, "default": count}
        colour = {"type": "string", "enum": ["red", "green"], "default": "red"}
        wanted = {"type": "object", "properties": {"count": field, "colour": colour}}
        params: Message = {"mode": "form", "message": "How many?"}
        params["requestedSchema"] = wanted | {"required": ["count", "colour"]}
        try:
            answer = await talk.call("elicitation/create", **params)
        except Unanswered:
            return
        if queries.at(answer, "result.action") == "accept":
            accepted = True
            given = queries.at(answer, "result.content.count")
            ok = type(given) is int and 1 <= given <= 3
            ok = ok and queries.at(answer, "result.content.colour") in colour["enum"]
            said = "a form is accepted with values that its fields do not take"
            stage.judge.judge("V1-ELIC-19", ok, said, sent=params, came=answer)
    if not accepted:
        stage.judge.not_exercised("V1-ELIC-19", "the client accepts no form")


@check("V1-SESS-23", role="client")
async def prompts_in_its_session(stage: ClientStage) -> None:
    """The prompt names the session that was opened."""
    talk, prompt = await stage.to_prompt()
    name = prompt.params.get("sessionId")
    stage.judge.judge("V1-SESS-23", name == SESSION, f"sessionId is {as_json(name)}", came=prompt)
    await talk.end_turn(prompt)


@check("V1-GEN-13", role="client")
async def drops_malformed_entries_where_it_may(stage: ClientStage) -> None:
    """Malformed entries are dropped from an agent's updates, but not from its requests."""
    # Other modes than elsewhere: a client that sets one unasked must read them.
    modes_of: Message = modes(stage.version, ("plan", "build"))["modes"]
    available = [5, *modes_of["availableModes"], {"name": "no id"}]
    option = modes("2")["configOptions"][0]
    option = {"id": option["configId"], **{k: v for k, v in option.items() if k != "configId"}}
    fields = {
        "modes": modes_of | {"availableModes": available},
        "configOptions": [5, option, {"id": "half"}],
    }
    talk, prompt = await stage.to_prompt("prompt", None, **fields)
    entry = {"content": "Look", "priority": "low", "status": "pending"}
    command = {"name": "look", "description": "Looks around"}
    await talk.update("plan", entries=[5, entry, {"content": "half"}])
    await talk.update("available_commands_update", availableCommands=[5, command, {}])
    await talk.update("tool_call", toolCallId="call-1", title="Look", content=[5], locations=[5])
    ok = await talk.alive()
    stage.judge.judge("V1-GEN-13", ok, "it does not continue after a malformed entry", sent=fields)
    params = talk.permission()
    params |= {"options": [*params["options"], {"name": "no id", "kind": "allow_once"}]}
    answer = await talk.call("session/request_permission", **params)
    ok = queries.at(outcome(answer), "outcome") != "selected"
    said = "a malformed option of a permission request is dropped"
    stage.judge.judge("V1-GEN-13", ok, said, sent=params, came=answer)
    await talk.end_turn(prompt)
