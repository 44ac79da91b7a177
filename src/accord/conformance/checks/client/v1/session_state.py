"""Checks of clients, v1: the state that updates lead to, if the client shows it.

The state is asked for by `_accord.dev/state`, an optional method of the client that
docs/how-to/test-with-the-kit.md describes.  A client without it is not judged here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.conformance.check_definition import check
from accord.conformance.client.check_environment import ClientStage
from accord.conformance.client.fake_agent import Conversation, error_code
from accord.conformance.frames.raw_peer import Frame, Message, as_json

STATE_METHOD = "_accord.dev/state"


async def shown(stage: ClientStage, talk: Conversation) -> Message:
    """Return the state of the session in the client.

    Raises:
        NotAsked: the client does not show it; noted for every open rule.
    """
    answer = await talk.call(STATE_METHOD)
    state = answer.get("result")
    # A client that answers every request has no state to show either.
    if error_code(answer) is not None or not isinstance(state, dict) or "messages" not in state:
        stage.leave_open("the client does not show its state")
    return state


def text(value: str) -> Message:
    return {"type": "text", "text": value}


def content(*values: str) -> list[Message]:
    return [{"type": "content", "content": text(value)} for value in values]


async def begun(stage: ClientStage, purpose: str = "prompt") -> tuple[Conversation, Frame]:
    """Begin a turn of a client that shows its state."""
    talk, prompt = await stage.to_prompt(purpose)
    await shown(stage, talk)
    return talk, prompt


def by_id(entries: Sequence[Message], name: str) -> Message:
    """Return the entry with this id, or an empty one."""
    return next((one for one in entries if one.get("id") == name), {})


@check("V1-PROMPT-19", "V1-PROMPT-18", role="client")
async def groups_chunks_by_message(stage: ClientStage) -> None:
    """Chunks with the same id are one message; ids are opaque."""
    talk, prompt = await begun(stage)
    for name, word in (("x1", "1"), ("x2", "2"), ("x1", "3")):
        await talk.say(word, name)
    state = await shown(stage, talk)
    texts = [by_id(state["messages"], name).get("text") for name in ("x1", "x2")]
    ok = texts == ["13", "2"]
    stage.judge.judge("V1-PROMPT-19", ok, f"they are {texts}", came=state["messages"])
    before = len(state["messages"])
    odd = ("a/ä", "A/Ä", " a/ä ")
    for name in odd:
        await talk.say("x", name)
    state = await shown(stage, talk)
    ok = len(state["messages"]) - before == len(odd)
    stage.judge.judge("V1-PROMPT-18", ok, "not three messages", came=state["messages"])
    await talk.end_turn(prompt)


@check("V1-TOOL-05", "V1-TOOL-06", "V1-TOOL-07", "V1-TOOL-08", "V1-TOOL-13", role="client")
async def folds_tool_calls(stage: ClientStage) -> None:
    """Defaults, whole lists, null as omission, unseen ids, and a final status that stays."""
    talk, prompt = await begun(stage)
    judge = stage.judge

    async def call(name: str) -> Message:
        return by_id((await shown(stage, talk))["toolCalls"], name)

    await talk.update("tool_call", toolCallId="c1", title="T")
    first = await call("c1")
    ok = first.get("kind") == "other" and first.get("status") == "pending"
    judge.judge("V1-TOOL-05", ok, "not other and pending", came=first)
    await talk.update("tool_call_update", toolCallId="c1", content=content("A", "B"))
    await talk.update("tool_call_update", toolCallId="c1", content=content("C"))
    second = await call("c1")
    judge.judge("V1-TOOL-06", second.get("content") == ["C"], "not replaced", came=second)
    await talk.update("tool_call_update", toolCallId="c1", title=None, content=None)
    third = await call("c1")
    kept = third.get("title") == "T" and third.get("content") == second.get("content")
    judge.judge("V1-TOOL-07", kept, "null changed something", came=third)
    await talk.update("tool_call_update", toolCallId="c2", title="New", status="in_progress")
    made = await call("c2")
    judge.judge("V1-TOOL-08", made.get("title") == "New", "the call is not made", came=made)
    await talk.update("tool_call_update", toolCallId="c1", status="completed")
    await talk.update("tool_call_update", toolCallId="c1", status="in_progress")
    last = await call("c1")
    judge.judge("V1-TOOL-13", last.get("status") == "completed", "it went back", came=last)
    await talk.end_turn(prompt)


@check("V1-PLAN-03", "V1-CMD-02", "V1-USAGE-13", role="client")
async def replaces_whole_lists(stage: ClientStage) -> None:
    """A plan and a list of commands replace the former; a title is kept, cleared, replaced."""
    talk, prompt = await begun(stage)
    entries = [{"content": word, "priority": "low", "status": "pending"} for word in "ABC"]
    await talk.update("plan", entries=entries)
    await talk.update("plan", entries=entries[1:2])
    for names in (("one", "two"), ("two",)):
        commands = [{"name": name, "description": name} for name in names]
        await talk.update("available_commands_update", availableCommands=commands)
    state = await shown(stage, talk)
    plan = state["plans"][0]["entries"] if state["plans"] else []
    stage.judge.judge("V1-PLAN-03", plan == ["B"], f"the plan is {plan}", came=state["plans"])
    names = state["commands"]
    stage.judge.judge("V1-CMD-02", names == ["two"], f"the commands are {as_json(names)}")
    titles = []
    for change in ({"title": "A"}, {"updatedAt": "2026-01-01T00:00:00Z"}, {"title": None}):
        await talk.update("session_info_update", **change)
        titles.append((await shown(stage, talk))["title"])
    ok = titles == ["A", "A", None]
    stage.judge.judge("V1-USAGE-13", ok, f"the titles were {titles}")
    await talk.end_turn(prompt)


@check("V1-USAGE-12", role="client")
async def folds_compactions(stage: ClientStage) -> None:
    """The first update fixes the place; null clears the summary, chunks append."""
    talk, prompt = await begun(stage)
    stage.need(talk.can("session", "compaction"), "the client does not accept compactions")
    name = {"compactionId": "k1"}
    await talk.update("compaction_update", **name, status="in_progress")
    await talk.say("later", "m9")
    await talk.update("compaction_update", **name, status="completed", summary=[text("A")])
    await talk.update("compaction_update", **name, status="in_progress", summary=None)
    await talk.update("compaction_summary_chunk", **name, content=text("B"))
    state = await shown(stage, talk)
    found: Any = by_id(state["compactions"], "k1")
    message = by_id(state["messages"], "m9")
    ok = found.get("summary") == ["B"] and found.get("at", 9) < message.get("at", 0)
    stage.judge.judge("V1-USAGE-12", ok, "not the chunk alone in its place", came=state)
    await talk.end_turn(prompt)


@check("V1-CANCEL-02", "V1-CANCEL-08", role="client")
async def shows_cancelled_calls(stage: ClientStage) -> None:
    """Open calls are cancelled with the turn, and late updates of them are applied."""
    talk, prompt = await begun(stage, "cancel")
    await talk.update("tool_call", toolCallId="c1", title="T", status="in_progress")
    await talk.say("working")
    await stage.cancelled(talk)
    call = by_id((await shown(stage, talk))["toolCalls"], "c1")
    ok = call.get("status") == "cancelled"
    stage.judge.judge("V1-CANCEL-02", ok, "the call is not cancelled", came=call)
    await talk.update("tool_call_update", toolCallId="c1", content=content("late"))
    call = by_id((await shown(stage, talk))["toolCalls"], "c1")
    ok = call.get("content") == ["late"]
    stage.judge.judge("V1-CANCEL-08", ok, "what came late is lost", came=call)
    await talk.end_turn(prompt, "cancelled")
