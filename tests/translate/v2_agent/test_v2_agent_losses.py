"""The lossy points from v2 to v1, by the numbers of the table, and what is kept of each.

Points 11 and 12 are losses of the other direction.
"""

from collections.abc import Callable
from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Failure, Result
from tests.translate.v2_agent.scripted_peers import CWD, SESSION, World, X, started


def _call(**fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "t", **fields}


def _message(*texts: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text} for text in texts]
    return {"sessionUpdate": "agent_message", "messageId": "a", "content": content}


def _asked(world: World, kind: str = "allow_once", **fields: Any) -> Any:
    world.ask(
        AGENT,
        "session/request_permission",
        {
            "sessionId": SESSION,
            "title": "May I?",
            "options": [{"optionId": "o", "name": "O", "kind": kind}],
            **fields,
        },
    )
    return world.last(CLIENT).params


# ---- 1


def test_1_a_sent_message_cannot_be_replaced_or_taken_back() -> None:
    """A new message names the old one; what is taken back is noted on the next chunk."""
    world = started()
    world.update(_message("one"))
    [replaced] = world.update(_message("two"))
    assert replaced["_meta"][X] == {"replaces": "a"}
    assert world.update(_message()) == []
    [next_one] = world.update({**_message("x"), "messageId": "b"})
    assert next_one["_meta"][X]["redacted"][0]["messageId"] == replaced["messageId"]
    assert world.losses == {"replaced message": 1, "redacted message": 1}


# ---- 2


@pytest.mark.parametrize(
    ("status", "told"), [("paused", "in_progress"), ("cancelled", "failed"), ("_x", "in_progress")]
)
def test_2_statuses_that_v1_has_not(status: str, told: str) -> None:
    """The nearest one, with its own kept."""
    world = started()
    [said] = world.update(_call(title="T", status=status))
    assert (said["status"], said["_meta"]) == (told, {X: {"status": status}})
    assert world.losses == {"tool status": 1}


def test_2_kinds_that_v1_has_not() -> None:
    """`other`, with its own kept."""
    world = started()
    [said] = world.update(_call(title="T", kind="_compile"))
    assert (said["kind"], said["_meta"]) == ("other", {X: {"kind": "_compile"}})
    assert world.losses == {"tool kind": 1}


# ---- 3


@pytest.mark.parametrize(
    "change",
    [
        {"operation": "move", "oldPath": "/a", "path": "/b"},
        {"operation": "copy", "oldPath": "/a", "path": "/b"},
        {"operation": "modify", "path": "/a", "fileType": "binary"},
    ],
)
def test_3_moves_copies_and_binaries_are_lines_of_text(change: dict[str, Any]) -> None:
    """With the diff kept whole."""
    diff = {"type": "diff", "changes": [change]}
    world = started()
    [said] = world.update(_call(title="T", content=[diff]))
    [item] = said["content"]
    assert item["content"]["type"] == "text"
    assert item["_meta"][X]["raw"] == diff
    assert world.losses == {"diff": 1}


def test_3_a_deleted_file_is_an_empty_text() -> None:
    """v1 cannot say that a file is gone."""
    diff = {"type": "diff", "changes": [{"operation": "delete", "path": "/a"}]}
    world = started(files={"/a": "x"})
    [said] = world.update(_call(title="T", content=[diff]))
    [item] = said["content"]
    assert (item["oldText"], item["newText"]) == ("x", "")
    assert item["_meta"][X] == {"changes": diff["changes"]}
    assert world.losses == {"deleted file": 1}


# ---- 4


def test_4_background_work_is_kept_on_the_answer() -> None:
    """v1 has no list of it."""
    world = started()
    key = world.prompt()
    background = [{"type": "terminal", "terminalId": "x"}]
    world.idle("end_turn", background=background)
    assert world.answer_to(key).result["_meta"] == {X: {"background": background}}
    assert world.losses == {"background": 1}


def test_4_that_one_call_could_be_cancelled_is_kept() -> None:
    """v1's clients cannot ask for it."""
    world = started()
    [said] = world.update(_call(title="T", capabilities={"cancel": {}}))
    assert "capabilities" not in said
    assert said["_meta"] == {X: {"capabilities": {"cancel": {}}}}


# ---- 5


@pytest.mark.parametrize("name", ["name", "rawInput", "rawOutput"])
def test_5_what_a_call_says_no_more_cannot_be_cleared(name: str) -> None:
    """Null is not a change in v1."""
    world = started()
    world.update(_call(title="T", **{name: "x"}))
    [said] = world.update(_call(**{name: None}))
    assert name not in said
    assert said["_meta"] == {X: {name: None}}
    assert world.losses == {f"cleared {name}": 1}


def test_5_the_cost_cannot_be_cleared() -> None:
    """Null is not a change in v1."""
    world = started()
    [said] = world.update({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": None})
    assert "cost" not in said
    assert said["_meta"] == {X: {"cost": None}}
    assert world.losses == {"cleared cost": 1}


# ---- 6


def test_6_a_terminal_is_text() -> None:
    """Its bytes go along when it has ended and they are few."""
    world = started()
    world.update(
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": "G1szMW1oaQ=="}
    )
    [said] = world.update(_call(title="T", content=[{"type": "terminal", "terminalId": "x"}]))
    [item] = said["content"]
    assert item["content"] == {"type": "text", "text": "hi"}
    assert item["_meta"] == {X: {"terminalId": "x"}}
    assert world.losses == {"terminal": 1}


# ---- 7


def test_7_the_words_of_a_question_do_not_clobber_what_a_call_shows() -> None:
    """They stand beside it, and are kept on the question as well."""
    world = started()
    shown = {"type": "content", "content": {"type": "text", "text": "x"}}
    world.update(_call(title="T", content=[shown]))
    params = _asked(world, subject={"type": "tool_call", "toolCall": {"toolCallId": "t"}})
    [asked, left] = params["toolCall"]["content"]
    assert asked["content"] == {"type": "text", "text": "May I?"}
    assert left == shown
    assert params["_meta"] == {X: {"title": "May I?"}}
    assert world.losses == {}


def test_7_an_option_of_an_unknown_kind_is_never_consent() -> None:
    """v1 has no neutral kind, and rules that approve must not fire."""
    world = started()
    [option] = _asked(world, "_ask_my_boss")["options"]
    assert option == {
        "optionId": "o",
        "name": "O",
        "kind": "reject_once",
        "_meta": {X: {"kind": "_ask_my_boss"}},
    }
    assert world.losses == {"permission option kind": 1}


# ---- 8


def test_8_an_error_that_stops_the_work_is_the_prompts_error() -> None:
    """With its code, message and data."""
    world = started()
    key = world.prompt()
    world.idle("error", error={"code": -32058, "message": "slow down", "data": {"retryAfter": 1}})
    assert world.answer_to(key) == Failure(key, -32058, "slow down", {"retryAfter": 1})


@pytest.mark.parametrize("reason", ["_bored", None])
def test_8_other_reasons_and_none_are_the_end_of_the_turn(reason: str | None) -> None:
    """`end_turn`, with its own kept."""
    world = started()
    key = world.prompt()
    world.idle(reason)
    assert world.answer_to(key) == Result(
        key, {"stopReason": "end_turn", "_meta": {X: {"stopReason": reason}}}
    )
    assert world.losses == {"stop reason": 1}


# ---- 9


def test_9_several_plans_are_one_list() -> None:
    """In plan order, with their ids kept."""
    world = started()
    entry = {"content": "1", "status": "pending", "priority": "low"}
    for name in ("p", "q"):
        plan = {"type": "items", "planId": name, "entries": [entry]}
        [said] = world.update({"sessionUpdate": "plan_update", "plan": plan})
    assert said["entries"] == [entry, entry]
    assert said["_meta"][X] == {
        "planId": "q",
        "plans": [{"planId": "p", "count": 1}, {"planId": "q", "count": 1}],
    }
    assert world.losses == {"several plans": 1}


@pytest.mark.parametrize("client", [{}, {"plan": {}}])
@pytest.mark.parametrize(("status", "told"), [("cancelled", "pending"), ("_x", "pending")])
def test_9_entries_of_other_statuses_and_priorities(status: str, told: str, client: Any) -> None:
    """The nearest ones, with their own kept."""
    world = started(client)
    entry = {"content": "1", "status": status, "priority": "_urgent"}
    plan = {"type": "items", "planId": "p", "entries": [entry]}
    [said] = world.update({"sessionUpdate": "plan_update", "plan": plan})
    entries = said["plan"]["entries"] if client else said["entries"]
    assert entries == [
        {
            "content": "1",
            "status": told,
            "priority": "medium",
            "_meta": {X: {"status": status, "priority": "_urgent"}},
        }
    ]
    assert world.losses == {"plan entry status": 1, "plan entry priority": 1}


# ---- 10


def test_10_that_there_are_no_stdio_servers_cannot_be_said() -> None:
    """Such servers are refused."""
    world = World()
    result = world.initialize(agent={"session": {"mcp": {"http": {}}}})
    assert result["_meta"] == {X: {"mcpCapabilities": {"stdio": False}}}
    assert world.losses == {"no stdio servers": 1}
    key = world.ask(
        CLIENT,
        "session/new",
        {"cwd": CWD, "mcpServers": [{"name": "a", "command": "/a", "args": [], "env": []}]},
    )
    assert world.answer_to(key).code == -32602


# ---- 13


def test_13_icons_and_blocks_that_v1_has_not() -> None:
    """Kept on the block, or on a line of text in its place."""
    world = started()
    icons = [{"src": "https://i"}]
    link = {"type": "resource_link", "name": "n", "uri": "file:///a", "icons": icons}
    odd = {"type": "_chart"}
    content = [link, odd]
    [first, second] = world.update({**_message(), "content": content})
    assert first["content"]["_meta"] == {X: {"icons": icons}}
    assert second["content"]["_meta"] == {X: {"raw": odd}}
    assert world.losses == {"icons": 1, "content block": 1}


# ---- strictly


STRICT: list[Callable[[World], Any]] = [
    lambda world: world.update(_call(title="T", status="paused")),
    lambda world: world.update(_call(title="T", kind="_compile")),
    lambda world: world.update({**_message(), "content": [{"type": "_chart"}]}),
    lambda world: world.update(
        {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": None}
    ),
    lambda world: world.update({"sessionUpdate": "notice", "severity": "info", "title": "T"}),
]


@pytest.mark.parametrize("lose", STRICT)
def test_strictly_a_loss_is_an_error_and_nothing_is_sent(lose: Callable[[World], Any]) -> None:
    """translate 14, keep rule."""
    world = started(strict=True)
    assert lose(world) == []
    assert world.updates() == []
    assert len(world.logged) == 1
    assert sum(world.losses.values()) == 1


def test_strictly_a_question_that_cannot_be_asked_is_refused_and_a_turn_still_ends() -> None:
    """translate 14: each request is answered all the same."""
    world = started(strict=True)
    key = world.prompt()
    asked = world.ask(
        AGENT,
        "session/request_permission",
        {
            "sessionId": SESSION,
            "title": "May I?",
            "options": [{"optionId": "o", "name": "O", "kind": "_odd"}],
        },
    )
    answer = world.last(AGENT, Failure)
    assert (answer.key, answer.code) == (asked, -32603)
    world.idle("_bored")
    assert world.answer_to(key).result["stopReason"] == "end_turn"
    assert len(world.logged) == 1


def test_strictly_a_call_that_was_not_told_of_is_new_when_it_can_be() -> None:
    """Ours: v1 is told of a call before it is told anything about it."""
    world = started(strict=True)
    assert world.update(_call(title="T", kind="_compile")) == []
    [said] = world.update(_call(title="T"))
    assert said["sessionUpdate"] == "tool_call"
