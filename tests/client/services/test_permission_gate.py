"""The gate that reads, writes and commands of every version pass."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from accord.client.permissions.permissions import Permissions
from accord.client.permissions.request import PermissionRequest
from accord.client.services.files import FileService
from accord.client.services.permission_gate import LINE_SHOWN_MAX, PermissionGate
from accord.client.services.services import Services
from accord.errors import RequestError
from tests.client.deciders import Decider


def gate(permissions: Any, files: Any = None) -> PermissionGate:
    options: Any = SimpleNamespace(
        permissions=permissions, files=files, terminals=None, elicitation=None
    )
    connection: Any = SimpleNamespace()
    return PermissionGate(Services(options, connection))


async def test_permissions_that_only_answer_requests_allow_no_writes_and_no_commands() -> None:
    """Ours: permissions that cannot decide about an operation do not allow it."""
    decides = gate(Decider(lambda request: "allow_once"))
    with pytest.raises(RequestError, match="writing /a is not allowed"):
        await decides.check_write("s", "/a", "")
    with pytest.raises(RequestError, match="running ls -l is not allowed"):
        await decides.check_command("s", "ls", ["-l"], "/", {})
    await decides.check_read("s", "/a")
    assert not decides.reads_freely("s")


async def test_a_link_that_is_swapped_while_the_user_is_asked_changes_nothing(
    tmp_path: Path,
) -> None:
    """Ours: the file is written at the place that the user was asked about, or not at all."""
    inside, other = tmp_path / "in", tmp_path / "other"
    inside.mkdir()
    other.mkdir()
    link = tmp_path / "link"
    link.symlink_to(inside)

    def swap(request: PermissionRequest) -> bool:
        link.unlink()
        link.symlink_to(other)
        return True

    files, permissions = FileService(), Permissions.ask(swap)
    files.add_session("s", [str(tmp_path)])
    permissions.add_session("s", str(tmp_path))
    passes = gate(permissions, files)
    try:
        # The services of a connection have sessions of their own.
        passes._services.files.add_session("s", [str(tmp_path)])
        with pytest.raises(RequestError):
            await passes.write_text("s", str(link / "a.txt"), "new")
    finally:
        files.remove_session("s")
        passes._services.files.remove_session("s")
    assert not list(other.iterdir())
    assert not list(inside.iterdir())


async def test_a_long_command_is_cut_in_the_refusal() -> None:
    """Ours: the agent knows its command."""
    with pytest.raises(RequestError) as refused:
        await gate(Permissions.deny_all()).check_command("s", "echo", ["x" * 9999], "/", {})
    assert len(str(refused.value)) < LINE_SHOWN_MAX + 100
