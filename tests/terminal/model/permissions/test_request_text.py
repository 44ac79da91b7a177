"""Permissions in words: who asks, and what would happen."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.client.permissions.request import OWN_OPTIONS, PermissionRequest
from accord.client.permissions.tool_call_input import input_command, input_folder
from accord.machine.console.control_characters import visible
from accord.schema.struct import Raw
from accord.terminal.model.permissions import request_text
from accord.terminal.model.permissions.request_text import (
    asked_changes,
    described,
    exact,
    facts_of,
    names_path,
    path_words,
    who_asks,
)
from accord.transcript.items.tool_call import FileDiff, ToolCall
from tests.terminal.screen.harness.question_stage import FOLDER, a_call, a_request


def texts(**more: object) -> list[str]:
    return [f"{fact.label}|{fact.text}" for fact in facts_of(a_request(**more), FOLDER)]


def test_the_question_is_the_agents_or_ours_because_it_did_not_ask() -> None:
    """Brief: Accord asks because the agent did not."""
    assert who_asks(a_request(), "Claude\x1b[0m") == "Claude asks for permission."
    assert who_asks(a_request(), "") == "The agent asks for permission."
    for origin in ("read", "write", "terminal"):
        assert who_asks(a_request(origin=origin), "Claude").startswith("Accord asks because")


def test_all_that_is_known_is_said() -> None:
    """Issue: the exact command and folder, the path, hosts, the MCP tool and its arguments."""
    assert texts() == ["File|src/app.py"]
    assert texts(paths=(f"{FOLDER}/a", f"{FOLDER}/b")) == ["Files|a", "|b"]
    assert texts(paths=(), command="ls") == ["Command|ls", f"In|{FOLDER} (this project)"]
    assert texts(paths=(), command="ls", cwd="/etc")[1] == "In|/etc (outside the project)"
    assert texts(paths=(), hosts=("a.example",)) == ["Host|a.example"]
    call = a_call(given={"a": [1]})
    assert texts(paths=(), mcp_tool="s/t", tool_call=call) == [
        "MCP tool|t of s",
        'Arguments|{\n  "a": [\n    1\n  ]\n}',
    ]
    assert texts(paths=(), mcp_tool="odd") == ["MCP tool|odd"]


@pytest.mark.rule("V2-PERM-09")
def test_of_what_is_unknown_it_is_said_that_it_is() -> None:
    """Rules: generic prompt."""
    assert texts(paths=()) == ["|The agent does not say what exactly it would do."]
    assert texts(paths=(), tool_call=a_call(said="the plan")) == []
    assert texts(paths=(), tool_call=a_call(given={"x": 1})) == ['Arguments|{\n  "x": 1\n}']
    broken = a_call()
    broken.raw_input = Raw(b"1" * 5000)
    assert texts(paths=(), tool_call=broken) == ["Arguments|unreadable"]


def test_very_much_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Style: everything has a bound."""
    assert texts(paths=("a",) * 300)[-1] == "|and 44 more"
    monkeypatch.setattr(request_text, "SHOWN_CHARACTERS_MAX", 10)
    shown = ['Arguments|"xxxx\n⟨92 characters not shown⟩\nxxxx"']
    assert texts(paths=(), tool_call=a_call(given="x" * 100)) == shown


def test_paths_are_shown_from_the_folder_and_marked_outside(tmp_path: Path) -> None:
    """Brief: relative to the folder, marked when outside of the roots."""
    folder, other = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    other.mkdir()
    (folder / "link").symlink_to(other)
    here = str(folder)
    assert path_words(f"{folder}/a/../b", here) == "b"
    assert path_words("b", here) == "b"
    assert path_words(str(other), here) == f"{other} (outside the project)"
    assert path_words(str(other), here, [str(other)]) == str(other)
    assert path_words(f"{folder}/link/x", here) == (
        f"link/x (outside the project, actually {other}/x)"
    )
    assert "as far as Accord can tell" in path_words("a\0b", here)


@given(st.text())
def test_nothing_hides_in_what_is_shown(text: str) -> None:
    """Property: shown text is harmless, and every character of the original is told."""
    shown = exact(text)
    assert visible(shown) == shown
    assert shown == text or len(shown) > len(text)


def test_blanks_that_are_no_space_and_piles_of_accents_are_told() -> None:
    """Ours: `rm -rf a` with another blank is another command; accents cover the lines around."""
    assert exact("rm -rf\xa0/ \u3000x\u2003y") == "rm -rf⟨U+00A0⟩/ ⟨U+3000⟩x⟨U+2003⟩y"
    assert exact("e" + "\u0301" * 10) == "e" + "\u0301" * 8 + "⟨U+0301⟩⟨U+0301⟩"
    assert exact("a\U0001f3fdb\U000e0041") == "a⟨U+1F3FD⟩b⟨U+E0041⟩"
    assert exact("plain é 日本語 text\nand more") == "plain é 日本語 text\nand more"


def test_the_question_is_also_there_as_lines() -> None:
    """Contract: shared with the line mode."""
    lines = described(a_request(reason=" because\x07 "), "Claude", FOLDER)
    assert lines == (
        "Claude asks for permission.",
        "Edit src/app.py",
        "Why: because⟨U+0007⟩",
        "File: src/app.py",
    )
    assert described(a_request(paths=()), "", FOLDER)[-1].startswith("The agent does not say")


def test_what_a_tool_is_given_beside_the_command_or_the_file_is_said() -> None:
    """Ours: `stdin` of a command and the text of a file without a diff were not shown."""
    call = a_call(given={"command": "sh", "stdin": "rm x", "timeout": 5, "description": "List"})
    assert texts(paths=(), command="sh", tool_call=call) == [
        *("Command|sh", f"In|{FOLDER} (this project)", 'Arguments|{\n  "stdin": "rm x"\n}')
    ]
    path = f"{FOLDER}/a"
    call = a_call(given={"path": path, "content": "evil"})
    assert texts(paths=(path,), tool_call=call) == [
        *("File|a", 'Arguments|{\n  "content": "evil"\n}')
    ]


NAMES = (
    *("args", "arguments", "argv", "cmd", "command", "cwd", "directory", "env", "file", "paths"),
    *("stdin", "text", "url", "workdir"),
)


@pytest.mark.parametrize("shape", ["text", "list", "mixed list", "object"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("also", [{}, {"command": "ls"}, {"cmd": ["ls"]}, {"url": "http://a.b/"}])
def test_every_text_of_an_input_is_shown(name: str, shape: str, also: Any) -> None:
    """Issue 12: `{"command": "bash", "args": "-c ..."}` was shown as `bash`, a URL as its host."""
    values = {
        "text": "canary",
        "list": ["canary"],
        "mixed list": ["canary", 7],
        "object": {"a": "canary"},
    }
    members = {**also, name: values[shape]}
    command, call = input_command(members, "other"), a_call(given=members)
    folder = input_folder(members) or FOLDER
    shown = texts(paths=(), command=command, cwd=folder, hosts=("a.b",), tool_call=call)
    assert "canary" in "\n".join(shown)


@pytest.mark.parametrize("given", ["canary", ["canary"], {"deep": [{"a": "canary"}]}])
def test_an_input_is_shown_beside_the_files_of_a_call(given: Any) -> None:
    """Issue 12: an input that is not an object was not shown where the call named a file."""
    shown = texts(paths=(f"{FOLDER}/a",), tool_call=a_call(given=given))
    assert "canary" in "\n".join(shown)


def test_two_commands_and_two_folders_are_both_shown() -> None:
    """Issue 12: only the first of the names was; the agent may go by the other."""
    given = {"command": "ls", "cwd": FOLDER, "workdir": "/etc", "cmd": "rm x"}
    call = a_call(given=given)
    shown = "\n".join(texts(paths=(), command="ls", tool_call=call))
    assert '"workdir": "/etc"' in shown
    assert '"cmd": "rm x"' in shown
    # What the request itself says that it runs is not what the call is given.
    shown = "\n".join(texts(paths=(), command="make", tool_call=call))
    assert '"command": "ls"' in shown


@pytest.mark.parametrize("flag", ["sudo", "recursive", "dangerouslyDisableSandbox"])
def test_flags_of_a_tool_are_shown_and_its_time_is_not(flag: str) -> None:
    """Issue 12: what is switched on or off may be all that matters."""
    call = a_call(given={"command": "ls", flag: True, "timeout_ms": 5000})
    shown = "\n".join(texts(paths=(), command="ls", tool_call=call))
    assert f'"{flag}": true' in shown
    assert "timeout" not in shown


def test_a_title_names_a_path_as_a_word_of_its_own() -> None:
    """Ours: `Delete src/old.txt` does not say that all of `src` is deleted."""
    assert names_path("Delete src", "src")
    assert names_path("Delete `src`, then build", "src")
    assert not names_path("Delete src/old.txt", "src")
    assert not names_path("Edit my/notes.txt", "notes.txt")


def a_write(path: Path, text: str | None = "new\n") -> PermissionRequest:
    """A question of ours about a write."""
    return PermissionRequest(
        session_id="s",
        title="Write",
        options=OWN_OPTIONS,
        paths=(str(path),),
        origin="write",
        new_text=text,
    )


def test_a_write_is_compared_with_the_file_as_it_is(tmp_path: Path) -> None:
    """Issue 6: what will happen, the diff."""
    path = tmp_path / "a.txt"
    assert asked_changes(a_write(path)) == (FileDiff(str(path), new_text="new\n"),)
    path.write_text("old\n")
    (diff,) = asked_changes(a_write(path))
    assert (diff.old_text, diff.new_text) == ("old\n", "new\n")
    assert asked_changes(a_write(path, None)) == ()


def test_what_cannot_be_compared_is_shown_as_new_and_nothing_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a pipe, bytes that are not text, and a file without end stop nobody."""
    monkeypatch.setattr(request_text, "READ_BYTES_MAX", 8)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    (tmp_path / "long").write_text("x" * 9)
    for name in ("pipe", "bytes", "long", "no\0path"):
        (diff,) = asked_changes(a_write(tmp_path / name))
        assert diff.old_text is None


def test_what_the_agent_tells_of_counts() -> None:
    """Ours: its own diffs are what it asks for."""
    call = ToolCall("c")
    diff = FileDiff("/w/a", old_text="a", new_text="b")
    call.replace_content([None], lambda _: [diff])
    request = PermissionRequest(session_id="s", title="t", options=(), tool_call=call)
    assert asked_changes(request) == [diff]
