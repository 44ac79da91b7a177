"""Checks of clients, v2: the state that upserts lead to, if the client shows it."""

from __future__ import annotations

import base64
from typing import Any

from accord.conformance.check_definition import check
from accord.conformance.checks.client.v1.session_state import begun, by_id, content, shown, text
from accord.conformance.client.check_environment import ClientStage
from accord.conformance.client.fake_agent import SESSION, Conversation, error_code, modes
from accord.conformance.frames.raw_peer import Message, as_json


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


@check("V2-UPS-02", "V2-UPS-04", "V2-UPS-05", role="client", version="2")
async def folds_messages(stage: ClientStage) -> None:
    """Arrays replace, chunks append and may interleave; each kind has its own ids."""
    talk, prompt = await begun(stage)

    async def message(name: str, role: str = "agent") -> Any:
        found = [one for one in (await shown(stage, talk))["messages"] if one["id"] == name]
        return next((one["text"] for one in found if one["role"] == role), None)

    await talk.update("agent_message", messageId="x1", content=[text("A")])
    await talk.say("B", "x1")
    first = await message("x1")
    await talk.update("agent_message", messageId="x1")
    kept = await message("x1")
    await talk.update("agent_message", messageId="x1", content=[text("C")])
    last = await message("x1")
    ok = (first, kept, last) == ("AB", "AB", "C")
    stage.judge.judge("V2-UPS-02", ok, f"it was {as_json(first)}, {as_json(kept)}, {as_json(last)}")
    await talk.update("agent_thought", messageId="x1", content=[text("T")])
    both = (await message("x1"), await message("x1", "thought"))
    stage.judge.judge("V2-UPS-04", both == (last, "T"), f"they are {both}")
    for name, word in (("a", "1"), ("b", "2"), ("a", "3"), ("b", "4")):
        await talk.say(word, name)
    mixed = (await message("a"), await message("b"))
    stage.judge.judge("V2-UPS-05", mixed == ("13", "24"), f"they are {mixed}")
    await talk.end_turn(prompt)


async def call_of(stage: ClientStage, talk: Conversation, name: str) -> Message:
    return by_id((await shown(stage, talk))["toolCalls"], name)


@check("V2-UPS-07", "V2-UPS-08", "V2-UPS-10", "V2-GEN-12", role="client", version="2")
async def folds_tool_calls(stage: ClientStage) -> None:
    """Creation, three states per field, chunks of content, unknown values, metadata by key."""
    talk, prompt = await begun(stage)
    judge = stage.judge

    async def after(**fields: Any) -> Message:
        await talk.update("tool_call_update", toolCallId="c1", **fields)
        return await call_of(stage, talk, "c1")

    made = await after()
    ok = made.get("kind") == "other" and made.get("status") == "pending"
    set_to = await after(title="T", kind="edit")
    cleared = await after(kind=None)
    ok = ok and set_to.get("title") == cleared.get("title") == "T"
    ok = ok and set_to.get("kind") == "edit" and cleared.get("kind") == "other"
    judge.judge("V2-UPS-07", ok, "not as the updates say", came=[made, set_to, cleared])
    await after(content=content("A"))
    item = content("B")[0]
    await talk.update("tool_call_content_chunk", toolCallId="c1", content=item)
    appended = await call_of(stage, talk, "c1")
    replaced = await after(content=content("C"))
    ok = (appended.get("content"), replaced.get("content")) == (["A", "B"], ["C"])
    judge.judge("V2-UPS-08", ok, "chunks and lists", came=[appended, replaced])
    strange = await after(kind="_wonder", status="_soon")
    ok = strange.get("kind") == "other" and strange.get("status") == "in_progress"
    judge.judge("V2-UPS-10", ok, "unknown words are not read as they should", came=strange)
    await after(_meta={"a": 1, "b": {"x": 1}})
    patched = await after(_meta={"a": None, "b": {"y": 2}})
    ok = patched.get("meta") == {"b": {"y": 2}}
    judge.judge("V2-GEN-12", ok, "metadata is not patched by key", came=patched)
    await talk.end_turn(prompt)


@check("V2-UPS-14", "V2-UPS-15", "V2-UPS-17", "V2-UPS-13", role="client", version="2")
async def folds_terminals(stage: ClientStage) -> None:
    """Chunks are decoded one by one, snapshots replace, an exit shows, in either order."""
    talk, prompt = await begun(stage)

    async def terminal(name: str = "t1") -> Message:
        return by_id((await shown(stage, talk))["terminals"], name)

    await talk.update("terminal_update", terminalId="t1", command="x")
    euro = "€".encode()
    for piece in (b"a", euro[:1], euro[1:]):
        await talk.update("terminal_output_chunk", terminalId="t1", data=coded(piece))
    one = await terminal()
    stage.judge.judge("V2-UPS-15", one.get("text") == "a€", "chunks are mangled", came=one)
    await talk.update("terminal_update", terminalId="t1", output={"data": coded(b"new")})
    two = await terminal()
    stage.judge.judge("V2-UPS-14", two.get("text") == "new", "not replaced", came=two)
    before = two.get("exited")
    await talk.update("terminal_update", terminalId="t1", exitStatus={})
    three = await terminal()
    ok = before is False and three.get("exited") is True
    stage.judge.judge("V2-UPS-17", ok, "an empty status is not an exit", came=three)
    shown_in = [{"type": "terminal", "terminalId": "t2"}]
    await talk.update("tool_call_update", toolCallId="c2", title="T", content=shown_in)
    await talk.update("terminal_update", terminalId="t2", output={"data": coded(b"late")})
    late = await terminal("t2")
    stage.judge.judge("V2-UPS-13", late.get("text") == "late", "it is lost", came=late)
    await talk.end_turn(prompt)


@check("V2-PROMPT-13", "V2-PROMPT-15", "V2-PROMPT-16", "V2-PROMPT-25", role="client", version="2")
async def reads_states(stage: ClientStage) -> None:
    """Unknown states are not idle, repeats change nothing, absent reasons are not reported."""
    # Before the prompt: an idle state during a turn would end it, and maybe the client.
    talk, _ = await stage.to_session()
    judge = stage.judge
    for _ in range(2):
        await talk.update("state_update", state="idle", stopReason=5)
    state = await shown(stage, talk)
    judge.judge("V2-PROMPT-15", state["state"] == "idle", f"it is {as_json(state['state'])}")
    reason = state["stopReason"]
    judge.judge("V2-PROMPT-16", reason is None, f"the reason is {as_json(reason)}")
    prompt = await talk.prompt()
    await talk.update("state_update", state="_thinking")
    state = await shown(stage, talk)
    judge.judge("V2-PROMPT-13", state["state"] != "idle", f"it is {as_json(state['state'])}")
    await talk.update("terminal_update", terminalId="t1", command="x")
    work = [{"type": "terminal", "terminalId": "t1"}]
    await talk.update("state_update", state="running", background=work)
    told = (await shown(stage, talk))["background"]
    await talk.update("state_update", state="running")
    unknown = (await shown(stage, talk))["background"]
    ok = told == ["t1"] and unknown is None
    judge.judge("V2-PROMPT-25", ok, f"it was {as_json(told)}, then {as_json(unknown)}")
    await talk.end_turn(prompt)


@check("V2-PERM-04", "V2-PERM-05", role="client", version="2")
async def applies_what_is_asked_about(stage: ClientStage) -> None:
    """The subject of a permission request is an update; its title is not."""
    talk, prompt = await begun(stage)
    answer = await talk.call("session/request_permission", **talk.permission("asked"))
    stage.need(error_code(answer) is None, "the client does not accept permission requests")
    call = await call_of(stage, talk, "asked")
    stage.judge.judge("V2-PERM-04", bool(call), "the call is not there", came=call)
    if call:
        title = call.get("title")
        stage.judge.judge(
            "V2-PERM-05", title == "Look around", f"it is {as_json(title)}", came=call
        )
    await talk.end_turn(prompt)


@check("V2-CFG-09", "V2-CFG-11", role="client", version="2")
async def keeps_plans_and_costs_apart(stage: ClientStage) -> None:
    """A plan replaces only itself; a cost is kept, cleared, replaced."""
    talk, prompt = await begun(stage)
    for name, words in (("one", "AB"), ("two", "C"), ("one", "D")):
        entries = [{"content": w, "priority": "low", "status": "pending"} for w in words]
        plan = {"type": "items", "planId": name, "entries": entries}
        await talk.update("plan_update", plan=plan)
    plans = {one["id"]: one["entries"] for one in (await shown(stage, talk))["plans"]}
    ok = plans == {"one": ["D"], "two": ["C"]}
    stage.judge.judge("V2-CFG-09", ok, f"the plans are {plans}")
    costs: list[Any] = []
    for change in ({"cost": {"amount": 1, "currency": "EUR"}}, {}, {"cost": None}):
        await talk.update("usage_update", used=1, size=9, **change)
        cost = (await shown(stage, talk))["usage"].get("cost")
        costs.append(cost.get("amount") if isinstance(cost, dict) else cost)
    stage.judge.judge("V2-CFG-11", costs == [1, 1, None], f"the costs were {costs}")
    await talk.end_turn(prompt)


@check("V2-CANCEL-12", role="client", version="2")
async def shows_cancelled_calls(stage: ClientStage) -> None:
    """Open calls are cancelled with the turn in the client's view, and late content is applied."""
    talk, prompt = await begun(stage, "cancel")
    await talk.update("tool_call_update", toolCallId="c1", title="T", status="in_progress")
    await talk.say("working")
    await stage.cancelled(talk)
    call = await call_of(stage, talk, "c1")
    ok = call.get("status") == "cancelled"
    stage.judge.judge("V2-CANCEL-12", ok, "the call is not cancelled", came=call)
    await talk.update("tool_call_update", toolCallId="c1", content=content("late"))
    call = await call_of(stage, talk, "c1")
    ok = call.get("content") == ["late"]
    stage.judge.judge("V2-CANCEL-12", ok, "what came late is lost", came=call)
    await talk.end_turn(prompt, "cancelled")


@check("V2-SESS-04", "V2-PROMPT-08", role="client", version="2")
async def takes_updates_before_answers(stage: ClientStage) -> None:
    """A result does not undo updates before it: a state, and the prompt's own message."""
    talk = await stage.begin()
    made = await talk.request("session/new")
    await talk.update("state_update", state="running")
    await talk.reply(made, {"sessionId": SESSION} | modes("2"))
    prompt = await talk.request("session/prompt")
    state = (await shown(stage, talk))["state"]
    stage.judge.judge("V2-SESS-04", state == "running", f"the state is {as_json(state)}")
    blocks = prompt.params.get("prompt")
    await talk.update("user_message", messageId="early", content=blocks)
    await talk.reply(prompt, {"messageId": "early"})
    found = [one for one in (await shown(stage, talk))["messages"] if one["id"] == "early"]
    said = "".join(one.get("text", "") for one in blocks or [] if isinstance(one, dict))
    ok = [one["text"] for one in found] == [said]
    stage.judge.judge("V2-PROMPT-08", ok, "the message is lost or doubled", came=found)
    await talk.update("state_update", state="idle", stopReason="end_turn")


@check("V2-UPS-20", role="client", version="2")
async def takes_diffs_without_a_patch(stage: ClientStage) -> None:
    """A diff that only names the changed files is shown."""
    talk, prompt = await begun(stage)
    diff = {"type": "diff", "changes": [{"operation": "modify", "path": "/tmp/a.txt"}]}
    await talk.update("tool_call_update", toolCallId="c1", title="T", content=[diff])
    call = await call_of(stage, talk, "c1")
    stage.judge.judge("V2-UPS-20", call.get("content") == ["diff"], "it is lost", came=call)
    await talk.end_turn(prompt)
