"""What only clients of the 2026-02 draft say of a server: its folder, and how long it may take."""

from __future__ import annotations

import sys
from pathlib import Path

from accord.mcp.server_spec import ServerSpec
from accord.mcp.servers import McpServers
from tests.mcp.conftest import connected, the_status

SILENT = "import os, sys, time; sys.stderr.write(os.getcwd()); sys.stderr.flush(); sys.exit(3)"


def error_of(servers: McpServers) -> str:
    """Why the only server cannot be used."""
    return the_status(servers).error or ""


async def test_a_server_starts_in_its_own_folder(tmp_path: Path) -> None:
    """The draft's table 8: `cwd`."""
    (tmp_path / "sub").mkdir()
    spec = ServerSpec(
        name="where",
        transport="stdio",
        command=sys.executable,
        args=("-c", SILENT),
        cwd=str(tmp_path / "sub"),
    )
    async with connected(spec, cwd=tmp_path) as servers:
        assert str(tmp_path / "sub") in error_of(servers)


async def test_a_server_may_take_as_long_as_the_client_says(tmp_path: Path) -> None:
    """The draft's table 8: `timeout`."""
    silent = ServerSpec(
        name="silent", transport="stdio", command="/bin/sleep", args=("60",), seconds=0.2
    )
    async with connected(silent, cwd=tmp_path) as servers:
        assert "within 0.2 seconds" in error_of(servers)
