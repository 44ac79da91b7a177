"""What every test shares: Hypothesis profiles, the event loop, and the skip of node tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
TYPESCRIPT_SDK = ROOT / "node_modules" / "@agentclientprotocol" / "sdk"

# `ci` gives the same examples in every run; `dev` looks for new ones.  Neither counts time: a
# busy machine must not fail a test.
settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("dev")


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Tests run on asyncio; a folder whose code must not care overrides this with both loops."""
    assert isinstance(request.param, str)
    return request.param


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("node") is None:
        return
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if not TYPESCRIPT_SDK.is_dir():
        pytest.skip("the node packages are not installed; `make test` installs them")
