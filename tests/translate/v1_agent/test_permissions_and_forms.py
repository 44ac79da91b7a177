"""Permissions and elicitations of a v1 agent (the translation's table 11)."""

from typing import Any

import pytest

from accord.jsonrpc.error_codes import INVALID_PARAMS, REQUEST_CANCELLED, RESOURCE_NOT_FOUND
from accord.translate.message import AGENT, CLIENT, Notification
from tests.translate.v1_agent.agent_messages import ALLOW, REJECT, SELECTED, permission, tool
from tests.translate.v1_agent.scripted_peers import Stage

X = "acp.translate"
CANCELLED = {"outcome": {"outcome": "cancelled"}}
REFUSED = {"outcome": {"outcome": "selected", "optionId": "no"}}


def asked(stage: Stage, **more: Any) -> Any:
    permission(stage, **more)
    return stage.opened("session/request_permission", CLIENT).params


def answered(outcome: Any, *, options: list[Any] | None = None, **more: Any) -> Any:
    """What the agent hears when the client answers this."""
    stage = Stage(check=False)
    stage.working()
    key = permission(stage, options=[ALLOW, REJECT] if options is None else options)
    stage.reply("session/request_permission", {"outcome": outcome, **more}, CLIENT)
    return stage.answer(key)


# ---- permissions


@pytest.mark.rule("V2-PERM-02")
def test_the_question_is_about_the_tool_call() -> None:
    stage = Stage()
    stage.working()
    call = {"toolCallId": "t1", "title": "Write", "kind": "edit", "status": None}
    said = asked(stage, toolCall=call, _meta={"k": 1})
    assert said == {
        "sessionId": "s1",
        "title": "Write",
        "subject": {
            "type": "tool_call",
            "toolCall": {"toolCallId": "t1", "title": "Write", "kind": "edit"},
        },
        "options": [ALLOW, REJECT],
        "_meta": {"k": 1},
    }


def test_the_title_is_the_calls_the_known_one_or_a_general_one() -> None:
    stage = Stage()
    stage.working()
    assert asked(stage)["title"] == "Permission required"
    stage.update(tool(title="Known"))
    assert asked(stage)["title"] == "Known"


def test_words_that_were_kept_stand_beside_the_call_again() -> None:
    stage = Stage()
    stage.working()
    text = {"type": "content", "content": {"type": "text", "text": "Sure?\nReally"}}
    call = {"toolCallId": "t1", "content": [{**text, "_meta": {X: {"prompt": True}}}]}
    kept = {"title": "Sure?", "description": "Really", "options": [ALLOW], "state": "x"}
    said = asked(stage, toolCall=call, options=[REJECT], _meta={X: kept})
    assert (said["title"], said["description"]) == ("Sure?", "Really")
    assert said["subject"]["toolCall"] == {"toolCallId": "t1"}
    # Nothing that is kept ever becomes an option.
    assert said["options"] == [REJECT]
    said = asked(stage, toolCall={"toolCallId": "t1", "content": [text]})
    assert said["subject"]["toolCall"]["content"] == [text]
    # Wherever they stand among what the call shows.
    other = {"type": "content", "content": {"type": "text", "text": "shown"}}
    call["content"] = [other, {**text, "_meta": {X: {"prompt": True}}}]
    said = asked(stage, toolCall=call, _meta={X: kept})
    assert said["description"] == "Really"
    assert said["subject"]["toolCall"]["content"] == [other]


@pytest.mark.rule("V2-PERM-02")
def test_options_that_are_missing_or_not_unique_are_made_so() -> None:
    stage = Stage()
    stage.working()
    assert asked(stage, options=[])["options"] == [
        {"optionId": "reject", "name": "Reject", "kind": "reject_once"}
    ]
    twice = [ALLOW, {**REJECT, "optionId": "yes"}, {**REJECT, "optionId": "yes-2"}]
    ids = [option["optionId"] for option in asked(stage, options=twice)["options"]]
    assert ids == ["yes", "yes-2", "yes-2-2"]
    chosen = {"outcome": "selected", "optionId": "yes-2"}
    assert answered(chosen, options=twice) == {
        "outcome": {"outcome": "selected", "optionId": "yes"}
    }


@pytest.mark.rule("V2-PERM-08")
@pytest.mark.parametrize(
    ("outcome", "options", "expected"),
    [
        (SELECTED, None, {"outcome": SELECTED}),
        ({"outcome": "selected", "optionId": "other"}, None, CANCELLED),
        ({"outcome": "cancelled"}, None, REFUSED),
        ({"outcome": "_later", "optionId": "yes"}, None, REFUSED),
        ({"outcome": "cancelled"}, [ALLOW], CANCELLED),
        ({"outcome": "selected", "optionId": "reject"}, [], CANCELLED),
        ({"outcome": "cancelled"}, [], CANCELLED),
    ],
)
def test_what_the_agent_hears_of_an_answer(outcome: Any, options: Any, expected: Any) -> None:
    assert answered(outcome, options=options) == expected


def test_what_is_attached_to_an_answer_is_passed_on() -> None:
    said = answered({**SELECTED, "_meta": {"a": 1}}, _meta={"b": 1})
    assert said == {"outcome": {**SELECTED, "_meta": {"a": 1}}, "_meta": {"b": 1}}


def test_an_error_is_passed_on_unless_it_says_cancelled() -> None:
    stage = Stage()
    stage.working()
    key = permission(stage)
    stage.fail("session/request_permission", -32601, "what?", side=CLIENT)
    assert stage.error(key).code == -32601
    key = permission(stage)
    stage.fail("session/request_permission", REQUEST_CANCELLED, "", side=CLIENT)
    assert stage.answer(key) == REFUSED


def test_a_question_that_the_agent_takes_back_is_cancelled() -> None:
    stage = Stage()
    stage.working()
    key = permission(stage)
    request = stage.opened("session/request_permission", CLIENT)
    stage.updates()
    stage.tell("$/cancel_request", {"requestId": key}, AGENT)
    assert stage.to_client == [Notification("$/cancel_request", {"requestId": request.key})]
    stage.to_client.append(request)
    stage.reply("session/request_permission", CANCELLED, CLIENT)
    assert stage.answer(key) == CANCELLED
    stage.tell("$/cancel_request", {"requestId": 4711}, AGENT)


def test_a_question_about_a_session_that_nobody_knows_is_refused() -> None:
    stage = Stage()
    stage.start()
    assert stage.error(permission(stage)).code == RESOURCE_NOT_FOUND


# ---- elicitation


def form(**more: Any) -> dict[str, Any]:
    return {"mode": "form", "message": "Who?", "requestedSchema": {}, **more}


def elicit(stage: Stage, params: dict[str, Any]) -> tuple[int, Any]:
    key = stage.ask("elicitation/create", params, AGENT)
    found = [one for one in stage.to_client if getattr(one, "method", "") == "elicitation/create"]
    return key, found[-1].params if found else None  # type: ignore[union-attr]


def test_a_form_has_what_v2_wants_and_the_session_waits_for_it() -> None:
    stage = Stage()
    stage.working()
    key, said = elicit(stage, form(sessionId="s1", requestId=7))
    assert said == {
        "mode": "form",
        "message": "Who?",
        "requestedSchema": {"type": "object", "properties": {}},
        "sessionId": "s1",
    }
    assert stage.said() == ["requires_action"]
    stage.reply("elicitation/create", {"action": "accept", "content": {"a": 1}}, CLIENT)
    assert stage.answer(key) == {"action": "accept", "content": {"a": 1}}
    assert stage.said() == ["running"]


def test_choices_of_nothing_are_left_out_and_kept() -> None:
    stage = Stage()
    stage.working()
    empty = {"type": "array", "items": {"type": "string", "enum": []}}
    titled = {"type": "array", "items": {"anyOf": []}}
    properties = {
        "a": {"type": "string", "enum": [], "format": "email"},
        "b": empty,
        "c": titled,
        "d": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}},
        "e": {"type": "boolean"},
        "f": {"type": "string", "_meta": {X: {"format": "_iban"}}},
    }
    schema = {"type": "object", "properties": properties, "required": ["a", "b"]}
    _, said = elicit(stage, form(sessionId="s1", requestedSchema=schema))
    shown = said["requestedSchema"]
    assert set(shown["properties"]) == {"a", "d", "e", "f"}
    assert shown["properties"]["a"] == {
        "type": "string",
        "format": "email",
        "_meta": {X: {"enum": []}},
    }
    assert shown["properties"]["f"] == {"type": "string", "format": "_iban"}
    assert shown["required"] == ["a"]
    assert shown["_meta"] == {X: {"properties": {"b": empty, "c": titled}, "required": ["a", "b"]}}


def test_what_was_not_required_need_not_be_taken_out() -> None:
    stage = Stage()
    stage.working()
    properties = {"a": {"type": "array", "items": {"type": "string", "enum": []}}}
    _, said = elicit(stage, form(sessionId="s1", requestedSchema={"properties": properties}))
    assert said["requestedSchema"]["_meta"] == {X: {"properties": properties}}


def test_a_url_is_passed_on_as_it_is() -> None:
    stage = Stage()
    stage.working()
    params = {"mode": "url", "message": "Go", "elicitationId": "e", "url": "https://a"}
    _, said = elicit(stage, {**params, "sessionId": "s1"})
    assert said == {**params, "sessionId": "s1"}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"action": "decline"}, {"action": "decline"}),
        ({"action": "accept", "content": None}, {"action": "accept", "content": None}),
        (
            {"action": "_later"},
            {"action": "cancel", "_meta": {X: {"raw": {"action": "_later"}}}},
        ),
        (
            {"action": "accept", "content": {"a": ["x"], "b": {"y": 1}, "c": None, "d": [1]}},
            {
                "action": "accept",
                "content": {"a": ["x"]},
                "_meta": {X: {"content": {"b": {"y": 1}, "c": None, "d": [1]}}},
            },
        ),
    ],
)
def test_what_the_user_did_is_said_as_v1_can(result: Any, expected: Any) -> None:
    stage = Stage()
    stage.working()
    key, _ = elicit(stage, form(sessionId="s1"))
    stage.reply("elicitation/create", result, CLIENT)
    assert stage.answer(key) == expected


def test_a_form_for_a_request_names_the_clients_own() -> None:
    stage = Stage()
    stage.start()
    login = stage.ask("auth/login", {"methodId": "x"})
    inner = stage.opened("authenticate")
    key, said = elicit(stage, form(requestId=inner.key))
    assert said["requestId"] == login
    stage.fail("elicitation/create", -32602, "no forms", side=CLIENT)
    assert stage.error(key).code == -32602
    key, _ = elicit(stage, form(requestId=4711))
    assert stage.error(key).code == INVALID_PARAMS


def test_a_form_for_the_prompt_is_for_its_session() -> None:
    """The prompt is answered already, so that it cannot be named outside."""
    stage = Stage()
    stage.start()
    stage.new("idle")
    stage.new()
    stage.prompt()
    inner = stage.opened("session/prompt")
    _, said = elicit(stage, form(requestId=inner.key))
    assert said["sessionId"] == "s1"
    assert "requestId" not in said


def test_forms_of_sessions_that_are_unknown_or_closed() -> None:
    stage = Stage()
    stage.start({})
    key, _ = elicit(stage, form(sessionId="nope"))
    assert stage.error(key).code == RESOURCE_NOT_FOUND
    stage.new()
    stage.ask("session/close", {"sessionId": "s1"})
    key, _ = elicit(stage, form(sessionId="s1"))
    assert stage.answer(key) == {"action": "cancel"}


def test_a_form_of_a_cancelled_turn_is_closed() -> None:
    stage = Stage()
    stage.working()
    key, _ = elicit(stage, form(sessionId="s1"))
    stage.tell("session/cancel", {"sessionId": "s1"})
    assert stage.answer(key) == {"action": "cancel"}


def test_the_text_of_the_call_is_the_reason() -> None:
    """Issue 13: as it is for clients of v1."""
    stage = Stage()
    stage.working()
    diff = {"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}
    why = {"type": "content", "content": {"type": "text", "text": "It is old."}}
    permission(stage, toolCall={"toolCallId": "t1", "title": "Edit", "content": [diff, why]})
    asked = stage.decide("yes").params
    assert asked["description"] == "It is old."
    assert asked["subject"]["toolCall"]["content"][1] == why
    permission(stage, toolCall={"toolCallId": "t1", "title": "Edit", "content": [diff]})
    assert "description" not in stage.decide("yes").params
