"""Terminals that v1 agents tell of beside their tool calls."""

import json

import pytest

from accord.schema import v1
from accord.schema.struct import Raw
from accord.transcript import ExitStatus, Transcript


def tell(transcript: Transcript, raw_input: object = None, **meta: object) -> None:
    transcript.apply(
        v1.ToolCallUpdate(
            tool_call_id="c",
            raw_input=Raw(json.dumps(raw_input).encode()),
            meta={key: Raw(json.dumps(value).encode()) for key, value in meta.items()},
        )
    )


def test_output_that_is_told_beside_a_call_adds_up() -> None:
    """claude-agent-acp and codex-acp run commands themselves and tell of them in `_meta`."""
    transcript = Transcript()
    tell(transcript, {"command": "make"}, terminal_info={"terminal_id": "t", "cwd": "/w"})
    tell(transcript, terminal_output={"terminal_id": "t", "data": "one\n"})
    tell(transcript, terminal_output={"terminal_id": "t", "data": "two é\n"})
    tell(transcript, terminal_exit={"terminal_id": "t", "exit_code": 2, "signal": None})
    terminal = transcript.terminal("t")
    assert terminal is not None
    assert (terminal.command, terminal.cwd) == ("make", "/w")
    assert terminal.text == "one\ntwo é\n"
    assert terminal.exit_status == ExitStatus(2)


def test_a_command_may_be_a_list_of_words() -> None:
    """codex-acp gives its shell a list."""
    transcript = Transcript()
    tell(transcript, {"command": ["ls", "-l"]}, terminal_info={"terminal_id": "t"})
    terminal = transcript.terminal("t")
    assert terminal is not None
    assert terminal.command == "ls -l"


def test_nobody_writes_into_the_output_of_a_command_of_the_client() -> None:
    """Ours: what a person reads under their own command is what it printed."""
    transcript = Transcript()
    transcript.terminal_started("mine", "ls", "/w")
    tell(transcript, terminal_info={"terminal_id": "mine"})
    tell(transcript, terminal_output={"terminal_id": "mine", "data": "lies"})
    tell(transcript, terminal_exit={"terminal_id": "mine", "exit_code": 0})
    terminal = transcript.terminal("mine")
    assert terminal is not None
    assert terminal.text == ""
    assert terminal.exit_status is None


@pytest.mark.parametrize("told", [None, 7, [], {}, {"terminal_id": 7}, {"terminal_id": "unseen"}])
def test_what_is_told_badly_changes_nothing(told: object) -> None:
    """Ours: `_meta` has whatever it has."""
    transcript = Transcript()
    tell(transcript, terminal_output=told, terminal_exit=told)
    assert transcript.terminal("unseen") is None
    tell(transcript, [], terminal_info=told)
    tell(transcript, {"command": 7}, terminal_info={"terminal_id": "t", "cwd": 7})
    tell(transcript, terminal_output={"terminal_id": "t", "data": 7})
    tell(transcript, terminal_exit={"terminal_id": "t", "exit_code": True, "signal": 9})
    terminal = transcript.terminal("t")
    assert terminal is not None
    assert (terminal.command, terminal.cwd, terminal.text) == (None, None, "")
    assert terminal.exit_status == ExitStatus()
