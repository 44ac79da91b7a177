"""What a translator takes for covered by a yes of its client."""

from pathlib import Path
from typing import Any

import pytest

from accord.proxy.approved_calls import SessionApprovals

Json = dict[str, Any]


def shows(text: str) -> Json:
    return {"content": [{"type": "content", "content": {"type": "text", "text": text}}]}


def changes(path: str) -> Json:
    return {"content": [{"type": "diff", "path": path, "oldText": None, "newText": "x"}]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"title": "ls"}, {"title": "make"}),
        (shows("ls"), shows("make")),
        ({"rawInput": {"command": "ls"}}, {"rawInput": {"command": "make"}}),
    ],
)
@pytest.mark.parametrize("is_back", [False, True])
def test_a_call_that_changes_while_the_user_is_asked_covers_nothing(
    tmp_path: Path, before: Json, after: Json, is_back: bool
) -> None:
    """Issue 12: nobody can tell which of the two the user has seen."""
    calls = SessionApprovals(str(tmp_path))
    call = {"toolCallId": "c", "kind": "execute", "title": "Shell"}
    allowed = calls.asked({**call, **before})
    calls.told({"toolCallId": "c", **after})
    if is_back:
        calls.told({"toolCallId": "c", **before})
    allowed(True)
    for command in ("ls", "make"):
        params = {"sessionId": "s", "command": command, "cwd": str(tmp_path)}
        assert not calls.covers("terminal/create", params)


def test_a_call_that_only_goes_on_is_covered_once(tmp_path: Path) -> None:
    """Issue 12: one yes for one act."""
    calls = SessionApprovals(str(tmp_path))
    allowed = calls.asked({"toolCallId": "c", "kind": "execute", "title": "Shell", **shows("ls")})
    calls.told({"toolCallId": "c", "status": "in_progress"})
    allowed(True)
    calls.told({"toolCallId": "c", "rawInput": {"command": "ls"}})
    params = {"sessionId": "s", "command": "ls", "cwd": str(tmp_path)}
    assert calls.covers("terminal/create", params)
    assert not calls.covers("terminal/create", params)


def test_a_yes_to_a_command_covers_no_file_that_the_call_shows(tmp_path: Path) -> None:
    """Issue 12: a rule of the client's may have looked at the command alone."""
    calls = SessionApprovals(str(tmp_path))
    hook = str(tmp_path / ".git" / "hooks" / "pre-commit")
    call = {"toolCallId": "c", "kind": "execute", "title": "echo", "rawInput": {"command": "echo"}}
    calls.asked({**call, **changes(hook)})(True)
    params = {"sessionId": "s", "path": hook, "content": "x"}
    assert not calls.covers("fs/write_text_file", params)
