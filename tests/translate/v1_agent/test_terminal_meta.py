"""Terminals that an agent runs by itself and tells of in `_meta` of its tool calls."""

from typing import Any

import pytest

from tests.translate.v1_agent.agent_messages import tool
from tests.translate.v1_agent.scripted_peers import Stage

SHOWN = {"type": "terminal", "terminalId": "x"}


def told(*updates: dict[str, Any]) -> list[Any]:
    stage = Stage()
    stage.working()
    for update in updates:
        stage.update(update)
    return stage.updates()


def begun(**more: Any) -> dict[str, Any]:
    info = {"terminal_id": "x", "cwd": "/elsewhere"}
    fields = {"title": "ls", "content": [SHOWN], "_meta": {"terminal_info": info}, **more}
    return tool(**fields)


def test_they_are_terminals_of_the_agents_own() -> None:
    """codex-acp tells of its commands so; its own v2 says the same."""
    output = {"terminal_output": {"terminal_id": "x", "data": "hé"}}
    ended = {"terminal_exit": {"terminal_id": "x", "exit_code": 3, "signal": None}}
    said = told(
        begun(),
        tool("tool_call_update", _meta=output),
        tool("tool_call_update", status="completed", _meta=ended),
    )
    assert [one for one in said if one["sessionUpdate"] != "tool_call_update"] == [
        {
            "sessionUpdate": "terminal_update",
            "terminalId": "x",
            "command": "ls",
            "cwd": "/elsewhere",
        },
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": "aMOp"},
        {"sessionUpdate": "terminal_update", "terminalId": "x", "exitStatus": {"exitCode": 3}},
    ]
    assert said[1]["content"] == [SHOWN]
    assert said[1]["_meta"] == {"terminal_info": {"terminal_id": "x", "cwd": "/elsewhere"}}


@pytest.mark.parametrize(
    ("raw_input", "command"),
    [({"command": ["ls", "-l"]}, "ls -l"), ({"command": "ls -a"}, "ls -a"), ({}, "ls"), (5, "ls")],
)
def test_the_command_is_what_the_tool_was_given_or_the_title(raw_input: Any, command: str) -> None:
    assert told(begun(rawInput=raw_input))[0]["command"] == command


def test_a_folder_that_is_none_is_the_sessions() -> None:
    info = {"terminal_info": {"terminal_id": "x", "cwd": "relative"}}
    assert told(begun(_meta=info))[0]["cwd"].startswith("/")


def test_a_signal_ends_one_too() -> None:
    ended = {"terminal_exit": {"terminal_id": "x", "exit_code": None, "signal": "SIGKILL"}}
    assert told(begun(), tool("tool_call_update", _meta=ended))[-2]["exitStatus"] == {
        "signal": "SIGKILL"
    }


@pytest.mark.parametrize(
    "meta",
    [
        {"terminal_output": {"terminal_id": "y", "data": "x"}},
        {"terminal_output": {"terminal_id": "x"}},
        {"terminal_exit": {"terminal_id": "y"}},
        {"terminal_info": {"terminal_id": 5}},
        {"terminal_info": "x"},
        {"terminal_info": {"terminal_id": ""}},
    ],
)
def test_what_is_no_word_about_a_terminal_stays_in_meta(meta: Any) -> None:
    said = told(begun(), tool("tool_call_update", _meta=meta))
    assert [one["sessionUpdate"] for one in said[2:]] == ["tool_call_update"]
    assert said[-1]["_meta"] == meta


def test_a_call_without_meta_shows_none() -> None:
    assert [one["sessionUpdate"] for one in told(tool(title="T", _meta=None))] == [
        "tool_call_update"
    ]
