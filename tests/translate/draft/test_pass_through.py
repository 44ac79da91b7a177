"""Two peers of the draft: everything passes, and the turns of an agent that died have an end."""

from typing import Any

import pytest

from accord.translate.draft.pass_through import SameDraft
from accord.translate.message import AGENT, CLIENT, Failure, Notification, Result
from accord.translate.meta_store import DRAFT
from tests.translate.draft.scripted_peers import Clock, Wire, both


def _wire() -> Wire:
    clock = Clock()
    return Wire(SameDraft(clock.surroundings()), both("draft", "draft"), clock)


def _prompt(wire: Wire, session_id: str = "s") -> tuple[int, int]:
    """Prompt; the keys of the prompt on both sides."""
    content = [{"type": "text", "text": "go"}]
    key = wire.ask(CLIENT, "session/prompt", {"sessionId": session_id, "content": content})
    return key, wire.request(AGENT, "session/prompt").key


def _says(wire: Wire, session_id: str = "s") -> list[Any]:
    data = {"content": "so"}
    params = {"sessionId": session_id, "type": "agent_message_chunk", "data": data}
    wire.tell(AGENT, "session/update", params)
    return wire.updates(CLIENT)


@pytest.mark.rule("D26-08")
def test_a_turn_that_had_begun_when_the_agent_died_ends_in_an_error() -> None:
    """The draft's table 3.5: a result, with what happened kept beside it."""
    wire = _wire()
    key, _ = _prompt(wire)
    assert _says(wire) == [
        {"sessionId": "s", "type": "agent_message_chunk", "data": {"content": "so"}}
    ]
    wire.agent_dies()
    gone = {"code": -32603, "message": "it crashed", "data": {"reason": "agent_gone"}}
    assert wire.result(CLIENT, key) == {"stopReason": "error", "_meta": {DRAFT: {"error": gone}}}
    assert wire.open == []


@pytest.mark.rule("D26-08")
def test_prompts_that_had_not_begun_fail() -> None:
    """The draft's table 3.5: before the turn began it is an error; so is any other request."""
    wire = _wire()
    begun, _ = _prompt(wire)
    behind, _ = _prompt(wire)
    elsewhere, _ = _prompt(wire, "other")
    asked = wire.ask(CLIENT, "_x/y", {})
    _says(wire)
    wire.agent_dies()
    said = {one.key: one for one in wire.took(CLIENT)}
    assert isinstance(said.pop(begun), Result)
    assert set(said) == {behind, elsewhere, asked}
    assert all(isinstance(one, Failure) and one.code == -32603 for one in said.values())


@pytest.mark.rule("D26-08")
@pytest.mark.parametrize("is_begun", [True, False])
def test_a_turn_that_was_being_cancelled_is_cancelled_when_the_agent_dies(is_begun: bool) -> None:
    """The draft's table 3.5: cancelling stays cancelled, never error."""
    wire = _wire()
    key, _ = _prompt(wire)
    if is_begun:
        _says(wire)
    cancel = {"sessionId": "s", "reason": "user_requested"}
    wire.tell(CLIENT, "session/cancel", cancel)
    assert wire.take() == [(AGENT, Notification("session/cancel", cancel))]
    wire.agent_dies()
    assert wire.result(CLIENT, key) == {"stopReason": "cancelled"}


def test_what_a_living_agent_answers_is_passed_on() -> None:
    """Ours: an error of its own too; and a turn that is over is not ended again."""
    wire = _wire()
    (first, asked), (second, also) = _prompt(wire), _prompt(wire)
    _says(wire)
    wire.answer(AGENT, asked, {"stopReason": "end_turn"})
    assert wire.result(CLIENT, first) == {"stopReason": "end_turn"}
    assert _says(wire) != []
    wire.fail(AGENT, also, -32008, "slowly")
    assert wire.error(CLIENT, second) == Failure(second, -32008, "slowly")
    wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    assert _says(wire) != []
    wire.agent_dies()
    assert wire.took(CLIENT) == []
