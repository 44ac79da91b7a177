"""Updates: one class per kind, so that the kind tells what the item is, at run time and before."""

from typing import get_args

import pytest

from accord.transcript import KINDS, Transcript, Update
from tests.transcript.wire_updates import folding_v1, text


def described(update: Update) -> str:
    """What a program does with an update.  The type checkers read this too: nothing is asserted."""
    if update.kind == "tool_call":
        return f"{update.item.title} {update.item.status}"
    if update.kind == "plan":
        return " ".join(entry.content for entry in update.item.entries)
    if update.kind == "message" or update.kind == "thought":
        return f"{update.item.role} {update.item.text}"
    if update.kind == "commands":
        return " ".join(command.name for command in update.item)
    if update.kind == "terminal":
        return f"{update.item.command} {update.text}"
    return repr(update.item)


def test_every_kind_has_one_class_and_every_class_one_kind() -> None:
    """Ours: the family and the list of words are the same thing twice."""
    assert sorted(member.kind for member in get_args(Update)) == sorted(KINDS)


def test_the_kind_says_what_the_item_is() -> None:
    """Ours: `if update.kind == "tool_call": update.item.title` is right for a type checker."""
    fold = folding_v1()
    call = fold("tool_call", toolCallId="c", title="Look", status="completed")
    assert described(call) == "Look completed"
    entry = {"content": "step", "priority": "high", "status": "pending"}
    assert described(fold("plan", entries=[entry])) == "step"
    assert described(fold("agent_message_chunk", content=text("hi"))) == "agent hi"
    commands = [{"name": "go", "description": "Go"}]
    assert described(fold("available_commands_update", availableCommands=commands)) == "go"
    assert described(fold.transcript.terminal_output("t", b"x")) == "None x"
    assert "UnknownVariant" in described(fold("_odd"))


@pytest.mark.parametrize(("value", "is_one"), [("message", True), (None, False)])
def test_an_update_is_recognised_by_its_name(value: str | None, is_one: bool) -> None:
    """Ours: `isinstance(found, Update)` works although it names a family."""
    found: object = value
    if value is not None:
        found = folding_v1()("agent_message_chunk", content=text(value))
    assert isinstance(found, Update) is is_one


def test_what_the_client_itself_knew_came_in_no_struct() -> None:
    """Ours."""
    assert Transcript().terminal_started("t", "ls").wire is None
