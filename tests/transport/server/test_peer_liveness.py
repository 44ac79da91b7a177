"""A client whose network goes is found, as the kernel sees it: with no proxy in between.

The server and its client have a network of their own, for which the kernel must allow user
namespaces.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys

import pytest

from tests.hang_limit import HANG_SECONDS
from tests.transport.server.serve_process import ROOT

UNSHARE = ["unshare", "--map-root-user", "--net"]


@functools.cache
def has_networks() -> bool:
    """Whether a program may have a network of its own here."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    tried = [*UNSHARE, "ip", "link", "set", "lo", "up"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("client", ["websocket", "http/1.1", "http/2"])
def test_a_client_whose_network_goes_is_found(client: str) -> None:
    """Issue 16: half-open connections are found; the kernel alone needs 15 minutes."""
    if not has_networks():
        pytest.skip("unshare and ip cannot make a network of its own here")
    program = [sys.executable, "-m", "tests.transport.server.half_open_program", client]
    subprocess.run([*UNSHARE, *program], cwd=ROOT, check=True, timeout=HANG_SECONDS)
