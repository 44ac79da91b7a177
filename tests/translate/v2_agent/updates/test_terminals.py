"""Terminals of the agent, shown as text."""

from base64 import b64encode
from typing import Any

import pytest

from accord.translate.v2_agent.updates import terminals as terminals_module
from accord.translate.v2_agent.updates import tool_calls as tool_calls_module
from accord.translate.v2_agent.updates.terminals import plain
from tests.translate.v2_agent.scripted_peers import World, X, started


def _data(data: bytes) -> str:
    return b64encode(data).decode()


def _terminal(**fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "terminal_update", "terminalId": "x", **fields}


def _printed(data: bytes, terminal_id: str = "x") -> dict[str, Any]:
    return {
        "sessionUpdate": "terminal_output_chunk",
        "terminalId": terminal_id,
        "data": _data(data),
    }


def _call(call_id: str = "t", **fields: Any) -> dict[str, Any]:
    return {
        "sessionUpdate": "tool_call_update",
        "toolCallId": call_id,
        "content": [{"type": "terminal", "terminalId": "x"}],
        **fields,
    }


def _shown(update: dict[str, Any]) -> str:
    [item] = update["content"]
    assert item["_meta"][X]["terminalId"] == "x"
    text: str = item["content"]["text"]
    return text


def _started() -> World:
    world = started()
    world.update(_call(title="T"))
    return world


def test_output_is_text_of_the_calls_that_show_the_terminal_at_most_every_200_ms() -> None:
    """translate 10."""
    world = _started()
    world.update(_call("u", title="U"))
    assert world.update(_printed(b"one ")) == []
    assert world.update(_terminal(command="make")) == []
    assert world.pass_time(0.1) == []
    outs = world.pass_time(0.11)
    assert len(outs) == 2
    assert [_shown(update) for update in world.updates()[-2:]] == ["$ make\none ", "$ make\none "]
    world.pass_time(1)
    both = world.update(_printed("zwei\u00e4".encode()))
    assert [_shown(update) for update in both] == ["$ make\none zwei\u00e4"] * 2


def test_the_end_is_told_at_once_with_an_exit_line_and_few_bytes_as_they_were() -> None:
    """translate 10: exit line at the end; raw bytes if small."""
    world = _started()
    world.update(_printed(b"\x1b[31mred\x1b[0m\xff\n"))
    [said] = world.update(_terminal(exitStatus={"exitCode": 2}))
    assert _shown(said) == "red\ufffd\n[exit code 2]"
    assert said["content"][0]["_meta"][X] == {
        "terminalId": "x",
        "exitStatus": {"exitCode": 2},
        "output": {"data": _data(b"\x1b[31mred\x1b[0m\xff\n")},
    }


@pytest.mark.parametrize(
    ("status", "line"), [({"signal": "SIGKILL"}, "[ended by SIGKILL]"), ({}, "[ended]")]
)
def test_an_end_without_a_code_is_an_end(status: dict[str, Any], line: str) -> None:
    """V2: an object means that it has ended."""
    world = _started()
    [said] = world.update(_terminal(exitStatus=status))
    assert _shown(said) == line


def test_a_snapshot_replaces_what_was_printed() -> None:
    """V2: all bytes to keep."""
    world = _started()
    world.update(_printed(b"old"))
    world.pass_time(1)
    world.pass_time(1)
    [said] = world.update(_terminal(output={"data": _data(b"new")}))
    assert _shown(said) == "new"
    world.pass_time(1)
    [said] = world.update(_terminal(output=None, exitStatus=None))
    assert _shown(said) == ""


def test_a_terminal_that_is_shown_before_or_never_told_of_is_empty() -> None:
    """V2: reference and updates come in any order."""
    world = started()
    [said] = world.update(_call(title="T"))
    assert _shown(said) == ""
    assert world.update(_printed(b"?", "other")) == []
    world.update({"sessionUpdate": "terminal_update", "terminalId": "x", "command": "c"})
    world.update(_call(content=[]))
    world.pass_time(1)
    assert world.update(_printed(b"!")) == []


def test_only_the_tail_is_kept_and_no_character_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """translate 10: tail-limited; then the bytes do not go along."""
    monkeypatch.setattr(terminals_module, "TERMINAL_BYTES_KEPT", 5)
    world = _started()
    world.update(_printed("ab\u00e4\u00e4x".encode()))
    world.update(_printed(b"y"))
    [said] = world.update(_terminal(exitStatus={"exitCode": 0}))
    assert _shown(said) == "…\n\u00e4xy\n[exit code 0]"
    assert "output" not in said["content"][0]["_meta"][X]


def test_many_bytes_do_not_go_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """translate 10: only if small."""
    monkeypatch.setattr(terminals_module, "RAW_BYTES_MAX", 2)
    world = _started()
    world.update(_printed(b"abc"))
    [said] = world.update(_terminal(exitStatus={"exitCode": 0}))
    assert "output" not in said["content"][0]["_meta"][X]


def test_only_so_many_terminals_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: memory is bounded."""
    monkeypatch.setattr(terminals_module, "TERMINALS_KEPT", 1)
    monkeypatch.setattr(tool_calls_module, "TERMINALS_KEPT", 1)
    world = _started()
    world.update(_printed(b"1"))
    world.update(_printed(b"2", "y"))
    world.update(_call("u", title="U", content=[{"type": "terminal", "terminalId": "y"}]))
    world.pass_time(1)
    assert world.update(_printed(b"3")) == []
    [said] = world.update(_printed(b"4", "y"))
    assert said["content"][0]["content"]["text"] == "4"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("a\r\nb", "a\nb"),
        ("10%\r50%\r100%\n", "100%\n"),
        ("done\r", "done"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://l\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never ended", ""),
        ("\x1b[2K\x1b[1;32mok\x1b[m\x1b(B\x1b7", "ok"),
        ("a\x08\x00\x7f\tb\x9b31mc", "a\tbc"),
    ],
)
def test_control_sequences_are_gone(raw: str, text: str) -> None:
    """translate 10: stripped; lines that are written over say what they say now."""
    assert plain(raw) == text
