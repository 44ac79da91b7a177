"""What a permission request would change: as the agent tells it, or as a write would."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accord.client.permissions.request import OWN_OPTIONS, PermissionRequest
from accord.terminal.model.permissions import requested_changes
from accord.terminal.model.permissions.requested_changes import asked_changes
from accord.transcript.items.tool_call import FileDiff, ToolCall


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
    """Ours: a pipe, bytes that are no text, and a file without end stop nobody."""
    monkeypatch.setattr(requested_changes, "READ_BYTES_MAX", 8)
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
