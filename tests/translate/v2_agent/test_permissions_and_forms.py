"""Permissions and forms."""

from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Failure, Notification, Result
from tests.translate.v2_agent.scripted_peers import CWD, SESSION, World, X, started

YES = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
NO = {"optionId": "no", "name": "No", "kind": "reject_once"}


def _ask(world: World, subject: Any = None, **fields: Any) -> Any:
    params: dict[str, Any] = {
        "sessionId": SESSION,
        "title": "May I?",
        "options": [YES, NO],
        **fields,
    }
    if subject is not None:
        params["subject"] = subject
    return world.ask(AGENT, "session/request_permission", params)


def _call(**fields: Any) -> dict[str, Any]:
    return {"type": "tool_call", "toolCall": {"toolCallId": "t", **fields}}


def test_a_call_that_is_asked_about_is_announced_first_if_it_is_new() -> None:
    """V2: the subject is applied like an update; v1 announces calls."""
    world = started()
    _ask(world, _call(title="May I?", kind="edit"))
    [announced] = world.updates()
    assert announced == {
        "sessionUpdate": "tool_call",
        "toolCallId": "t",
        "title": "May I?",
        "kind": "edit",
    }
    assert world.last(CLIENT).params == {
        "sessionId": SESSION,
        "toolCall": {"toolCallId": "t", "title": "May I?", "kind": "edit"},
        "options": [YES, NO],
    }


def test_the_words_of_the_question_are_shown_where_the_call_shows_nothing() -> None:
    """translate 11: title and description differ from the tool's."""
    world = started()
    _ask(world, _call(title="Write a"), description="It is new.")
    params = world.last(CLIENT).params
    [item] = params["toolCall"]["content"]
    assert item["content"]["text"] == "May I?\nIt is new."
    assert params["_meta"][X] == {"title": "May I?", "description": "It is new."}
    assert world.losses == {}
    world.update({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "May I?"})
    _ask(world, _call())
    assert "_meta" not in world.last(CLIENT).params


def test_a_reason_that_the_call_says_already_is_not_said_twice() -> None:
    """Issue 13: translators of v1 put it in both places."""
    world = started()
    why = [{"type": "content", "content": {"type": "text", "text": "It is new."}}]
    _ask(world, _call(title="May I?", content=why), description="It is new.")
    params = world.last(CLIENT).params
    assert params["toolCall"]["content"] == why
    assert "_meta" not in params
    assert world.losses == {}


def test_a_command_is_shown_with_all_that_it_is() -> None:
    """translate 11."""
    world = started()
    command = {"type": "command", "command": "rm x", "cwd": CWD}
    _ask(world, command)
    call = world.last(CLIENT).params["toolCall"]
    assert call.pop("toolCallId").startswith("cmd-")
    assert call == {
        "title": "May I?",
        "kind": "execute",
        "rawInput": {"command": "rm x", "cwd": CWD},
    }
    _ask(world, {**command, "toolCallId": "t", "terminalId": "x"}, description="Because.")
    call = world.last(CLIENT).params["toolCall"]
    assert call["toolCallId"] == "t"
    assert call["content"][0]["content"]["text"] == "Because."
    assert call["_meta"] == {X: {"terminalId": "x"}}


def test_a_question_about_nothing_that_v1_knows_has_a_call_of_its_own() -> None:
    """translate 11: no subject, or one that nobody knows."""
    world = started()
    _ask(world, description="Because.")
    params = world.last(CLIENT).params
    call = params["toolCall"]
    assert call.pop("toolCallId").startswith("perm-")
    assert (call["title"], call["kind"]) == ("May I?", "other")
    assert call["content"][0]["content"]["text"] == "Because."
    odd = {"type": "_moon", "phase": 3}
    _ask(world, odd)
    assert world.last(CLIENT).params["_meta"][X] == {"raw": odd}
    assert world.losses == {"permission subject": 1}


def test_the_form_of_the_first_drafts_names_the_call() -> None:
    """V2, differences of the drafts: `toolCall` at the top."""
    world = started()
    world.ask(
        AGENT,
        "session/request_permission",
        {"sessionId": SESSION, "toolCall": {"toolCallId": "t", "title": "T"}, "options": [YES]},
    )
    assert world.last(CLIENT).params["toolCall"] == {"toolCallId": "t", "title": "T"}


def test_that_the_agent_waits_is_noted_on_the_question() -> None:
    """translate 5: `requires_action` has no message in v1."""
    world = started()
    world.prompt()
    world.update({"sessionUpdate": "state_update", "state": "requires_action"})
    _ask(world)
    assert world.last(CLIENT).params["_meta"][X]["state"] == "requires_action"


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ({"outcome": "selected", "optionId": "yes"}, {"outcome": "selected", "optionId": "yes"}),
        ({"outcome": "cancelled"}, {"outcome": "cancelled"}),
        ({"outcome": "selected", "optionId": "mine"}, {"outcome": "cancelled"}),
        ({"outcome": "_maybe"}, {"outcome": "cancelled"}),
    ],
)
def test_only_what_was_offered_is_an_answer(outcome: Any, told: Any) -> None:
    """translate 11 and V2: an option that was not offered is not approval."""
    world = started()
    key = _ask(world)
    world.answer(CLIENT, world.last(CLIENT).key, {"outcome": outcome, "_meta": {"k": 1}})
    assert world.agent[-1] == Result(key, {"outcome": told, "_meta": {"k": 1}})


@pytest.mark.parametrize("code", [-32800, -32603])
def test_a_withdrawn_question_is_cancelled_and_a_failure_is_a_failure(code: int) -> None:
    """translate 11: -32800 is read as `cancelled`."""
    world = started()
    key = _ask(world)
    world.tell(AGENT, "$/cancel_request", {"requestId": key})
    asked = world.last(CLIENT)
    assert world.client[-1] == Notification("$/cancel_request", {"requestId": asked.key})
    world.fail(CLIENT, asked.key, code)
    cancelled = Result(key, {"outcome": {"outcome": "cancelled"}})
    assert world.agent[-1] == (cancelled if code == -32800 else Failure(key, code, "no", None))


# ---- forms


def _form(world: World, **fields: Any) -> Any:
    properties = fields.pop("properties", {"a": {"type": "string"}})
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        **fields.pop("schema", {}),
    }
    params = {"mode": "form", "message": "m", "requestedSchema": schema, **fields}
    if "requestId" not in params:
        params["sessionId"] = SESSION
    return world.ask(AGENT, "elicitation/create", params)


def test_a_form_and_its_answer_pass() -> None:
    """translate 11: copied."""
    world = started()
    key = _form(world)
    asked = world.last(CLIENT)
    assert asked.params["requestedSchema"] == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
    }
    world.answer(CLIENT, asked.key, {"action": "accept", "content": {"a": "x"}})
    assert world.agent[-1] == Result(key, {"action": "accept", "content": {"a": "x"}})
    world.tell(AGENT, "elicitation/complete", {"elicitationId": "e"})
    assert world.client[-1] == Notification("elicitation/complete", {"elicitationId": "e"})


def test_an_answer_that_nobody_knows_is_none() -> None:
    """translate 11: sent as `cancel`; errors are copied."""
    world = started()
    key = _form(world)
    world.answer(CLIENT, world.last(CLIENT).key, {"action": "_shrug"})
    assert world.agent[-1] == Result(key, {"action": "cancel"})
    key = _form(world)
    world.fail(CLIENT, world.last(CLIENT).key, -32603)
    assert world.agent[-1] == Failure(key, -32603, "no", None)


def test_a_form_that_belongs_to_a_request_names_the_clients_own() -> None:
    """translate 11: `requestId` is mapped; unknown is -32602."""
    world = World()
    world.initialize(auth=[{"type": "agent", "methodId": "m", "name": "M"}])
    world.new()
    key = world.ask(CLIENT, "authenticate", {"methodId": "m"})
    _form(world, requestId=world.last(AGENT).key)
    assert world.last(CLIENT).params["requestId"] == key
    _form(world, requestId=99)
    assert world.last(AGENT, Failure).code == -32602
    refused = world.ask(
        AGENT, "elicitation/create", {"mode": "_dance", "message": "m", "sessionId": SESSION}
    )
    assert world.last(AGENT, Failure) == Failure(
        refused, -32602, "the client does not support the elicitation mode '_dance'", None
    )


def test_a_url_passes() -> None:
    """translate 11."""
    world = started()
    params = {
        "mode": "url",
        "message": "m",
        "sessionId": SESSION,
        "elicitationId": "e",
        "url": "https://u",
    }
    world.ask(AGENT, "elicitation/create", params)
    assert world.last(CLIENT).params == params


def test_formats_that_v1_has_not_are_kept() -> None:
    """V1: a closed set."""
    world = started()
    fields = {
        "a": {"type": "string", "format": "email"},
        "b": {"type": "string", "format": "_iban"},
        "c": {"type": "boolean"},
    }
    _form(world, properties=fields)
    assert world.last(CLIENT).params["requestedSchema"]["properties"] == {
        **fields,
        "b": {"type": "string", "_meta": {X: {"format": "_iban"}}},
    }
    assert world.losses == {"string format": 1}


def test_choices_without_values_come_back() -> None:
    """V1 allows them; kept on the way to v2."""
    world = started()
    many = {"type": "array", "items": {"anyOf": []}}
    _form(
        world,
        properties={"a": {"type": "string", "_meta": {X: {"enum": [], "oneOf": [1]}}}},
        schema={"_meta": {X: {"properties": {"z": many}}}},
    )
    assert world.last(CLIENT).params["requestedSchema"] == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "enum": [], "_meta": {X: {"oneOf": [1]}}},
            "z": many,
        },
    }
    _form(world, schema={"_meta": {X: {"properties": {"z": many}, "required": ["z"]}}})
    assert world.last(CLIENT).params["requestedSchema"]["required"] == ["z"]
    odd = {X: {"properties": {"z": 5}}}
    _form(world, schema={"_meta": odd})
    assert world.last(CLIENT).params["requestedSchema"]["_meta"] == odd


def test_a_change_comes_before_the_words_of_the_question() -> None:
    """Editors show a change before consent only where it is the first item (issue 14)."""
    world = started()
    text = {"type": "content", "content": {"type": "text", "text": "shown"}}
    diff = {"type": "diff", "changes": [{"operation": "add", "path": "/a"}]}
    world.update(
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "t",
            "title": "May I?",
            "content": [text, {**diff, "_meta": {X: {"oldText": "", "newText": "x"}}}],
        }
    )
    _ask(world, _call(), description="It is new.")
    content = world.last(CLIENT).params["toolCall"]["content"]
    assert len(content) == 3
    words = [one.get("content", {}).get("text") for one in content]
    assert words.index("It is new.") < words.index("shown")
    _ask(world, _call(content=[text]))
    assert world.last(CLIENT).params["toolCall"]["content"] == [text]


def test_the_reason_for_a_command_takes_nothing_from_its_call() -> None:
    """v1's clients take the contents of a question for all that the call shows."""
    world = started()
    text = {"type": "content", "content": {"type": "text", "text": "shown"}}
    world.update({"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [text]})
    subject = {"type": "command", "command": "ls", "cwd": CWD, "toolCallId": "t"}
    _ask(world, subject, description="To look.")
    content = world.last(CLIENT).params["toolCall"]["content"]
    assert [one["content"]["text"] for one in content] == ["To look.", "shown"]
