"""What the input of a tool call names: files, a command, a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from accord.client.permissions.request import OWN_OPTIONS, PermissionRequest
from accord.client.permissions.rule_matcher import Facts, ReadRule, rules_of
from accord.client.permissions.rules import Rule
from accord.client.permissions.tool_call_input import (
    brief_input,
    input_command,
    input_folder,
    input_paths,
)
from accord.proxy.permission_facts import brief, of_call
from accord.transcript.items.tool_call import FileDiff, ToolCall
from tests.client.deciders import also_changes

PATCH = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n+x\n*** End Patch"
DIFF = "--- a/src/a.py\t2026\n+++ b/src/b.py\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ c.py\n"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"relative_workspace_path": "a", "destination": "/b"}, ("a", "/b")),
        ({"path": "a", "fsPath": "b", "outfile": "c"}, ("a", "b", "c")),
        ({"path": "a", "workspace_path": "/w", "profile": "x"}, ("a",)),
        ({"path": "a", "cwd": "/w"}, ("/w/a",)),
        ({"path": "/b", "directory": "/w", "file": "a"}, ("/b", "/w/a")),
        ({"args": {"path": "a"}, "cwd": "sub"}, ("sub/a",)),
        ({"input": PATCH}, ("a.py", "b.py")),
        ({"patchText": PATCH}, ("a.py", "b.py")),
        ({"diff": DIFF}, ("src/a.py", "src/b.py", "c.py")),
        ({"deep": {"er": [[{"file": "a"}]]}}, ("a",)),
        ({"arguments": '{"path": "a"}'}, ("a",)),
        ({"arguments": "{no"}, ("\0",)),
        ({"input": ["/a"]}, ("/a",)),
        ({"path": "a", "content": PATCH, "old_string": "/x", "new_string": "--- a/b\n"}, ("a",)),
    ],
)
def test_files_are_found_by_the_names_that_agents_use(given: Any, expected: Any) -> None:
    """Issue 12: a file that is not looked at would be changed without permission."""
    assert input_paths(given, "edit") == expected
    # What guard remembers of a call says the same.
    assert input_paths(brief_input(given), "edit") == expected


def test_what_is_nested_too_deep_cannot_be_told() -> None:
    """Issue 12: what is not understood is never approval."""
    given: Any = {"path": ".git/config"}
    for _ in range(50):
        given = {"x": given}
    assert input_paths(given, "edit") == ("\0",)


@pytest.mark.parametrize("kind", ["read", "search", "think", "edit", "fetch", "switch_mode"])
def test_a_command_is_a_command_whatever_the_call_is_named(kind: str) -> None:
    """Issue 12: a command that calls itself reading was allowed without a question."""
    assert input_command({"command": "rm -rf ."}, kind) == "rm -rf ."
    assert input_command({"cmd": ["rm", "a b"]}, kind) == "rm 'a b'"
    # Some agents wrap the input, and as text.
    assert input_command({"args": {"command": "rm x"}}, kind) == "rm x"
    assert input_command({"input": {"arguments": '{"cmd": "rm x"}'}}, kind) == "rm x"
    assert input_command(brief_input({"params": {"command": "rm x"}}), kind) == "rm x"
    assert input_folder({"args": {"command": "rm x", "cwd": "/w"}}) == "/w"
    assert input_command({"args": "{no"}, kind) is None
    # Editing tools have a `command` that is a word of their own.
    assert input_command({"command": "str_replace", "path": "a"}, kind) is None
    assert input_command({"command": ["rm", 3]}, kind) == "rm 3"
    assert input_command({"command": "view"}, kind) is None
    assert input_command({"command": ""}, kind) is None
    call = {"kind": kind, "title": "t", "rawInput": {"command": "rm x", "cwd": "/w"}}
    asked = of_call("s", brief(call))
    assert (asked.kind, asked.command, asked.cwd) == ("execute", "rm x", "/w")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"Command": "rm x"}, "rm x"),
        ({"CommandLine": "rm x"}, "rm x"),
        ({"cmd_line": "rm x"}, "rm x"),
        ({"shell_command": "rm x"}, "rm x"),
        ({"argv": ["rm", "a b"]}, "rm 'a b'"),
        ({"command": "rm", "args": ["a b"]}, "rm 'a b'"),
        ({"command": "rm", "args": []}, "rm"),
        ({"command": "rm", "args": [1]}, "rm 1"),
        ({"commands": ["ls", "rm x"]}, "ls\nrm x"),
        ({"commands": "ls"}, "ls"),
        ({"commands": [{"command": "ls"}, ["rm", "a b"], 3]}, "ls\nrm 'a b'"),
        ({"arguments": {"command": "rm x"}}, "rm x"),
        ({"arguments": '{"command": "rm x"}'}, "rm x"),
        ({"input": {"params": {"cmd": "rm x"}}}, "rm x"),
        ({"command": "ls", "cmd": "rm x"}, "ls\nrm x"),
        ({"command": "ls", "cmd": "ls", "input": {"command": "rm x"}}, "ls\nrm x"),
        ({"tool": "bash", "params": {"command": "rm x"}}, "rm x"),
        ({"arguments": "{no"}, None),
        ({"arguments": "command"}, None),
        ({"description": "a command", "input": "rm x"}, None),
        # The arguments of a tool are the tool's; a rule names the tool.
        ({"server": "s", "tool": "t", "arguments": {"command": "rm x"}}, None),
    ],
)
def test_every_command_that_an_input_names_counts(given: Any, expected: str | None) -> None:
    """Issue 12: of two commands one was judged, and by other names none."""
    assert input_command(given, "execute") == expected
    # What guard remembers of a call says the same.
    assert input_command(brief_input(given), "execute") == expected
    asked = of_call("s", brief({"kind": "read", "title": "t", "rawInput": given}))
    assert asked.command == expected


def test_a_command_that_is_nested_too_deep_is_not_looked_for() -> None:
    given: Any = {"command": "rm x"}
    for _ in range(50):
        given = {"input": given}
    assert input_command(given, "execute") is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"command": "bash", "args": "-c 'rm x'"}, "bash -c 'rm x'"),
        ({"command": ["bash"], "args": ["-c", "rm x"]}, "bash -c 'rm x'"),
        ({"command": "rm", "argv": ["-n", 5]}, "rm -n 5"),
        ({"cmd": "rm", "arguments": ["a b"]}, "rm 'a b'"),
        ({"command": "rm", "args": [["x"]]}, "rm"),
        ({"command": "rm", "arguments": {"a": 1}}, "rm"),
    ],
)
def test_words_of_a_command_count_however_they_are_given(given: Any, expected: str) -> None:
    """Issue 12: words that were a text, or came with a list, were neither shown nor judged."""
    assert input_command(given, "execute") == expected
    assert of_call("s", brief({"kind": "execute", "rawInput": given})).command == expected


@pytest.mark.parametrize("name", ["env", "stdin", "input", "environment"])
def test_a_command_with_variables_or_input_is_another_act(name: str) -> None:
    """Issue 12: a remembered `ls` also allowed `ls` with LD_PRELOAD in its `env`."""
    allowed = ReadRule(Rule(effect="allow", command="ls", exact=True))
    for value, expected in (({"LD_PRELOAD": "x"}, False), ({}, True), (None, True)):
        call = {"kind": "execute", "rawInput": {"command": "ls", name: value}}
        facts = Facts.of(of_call("s", brief(call)), "/w")
        assert allowed.covers(facts) == expected
        assert bool(rules_of(facts, "allow", bind_cwd=True)) == expected
        assert rules_of(facts, "reject", bind_cwd=True)


def test_a_folder_has_many_names() -> None:
    """Issue 12: the folder is part of what is approved."""
    assert input_folder({"workdir": "/w"}) == "/w"
    assert input_folder({"cwd": 3}) is None


def test_a_change_without_a_kind_is_an_edit(tmp_path: Path) -> None:
    """Issue 12: agents that know no kinds are covered by a permission to edit, and bound by it."""
    edit = ReadRule(Rule(effect="allow", kind="edit"))
    for name, expected in (("a.py", True), (".envrc", False)):
        call = ToolCall("t")
        also_changes(call, FileDiff(str(tmp_path / name)))
        paths = (str(tmp_path / name),)
        request = PermissionRequest("s", "Write", OWN_OPTIONS, tool_call=call, paths=paths)
        facts = Facts.of(request, os.path.realpath(tmp_path))
        assert (facts.kind, edit.covers(facts)) == ("edit", expected)
