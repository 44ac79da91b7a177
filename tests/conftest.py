"""What every test shares: Hypothesis profiles, signals, garbage, a lifeline, node or none."""

import gc
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.idle_clock import use_idle_clocks
from tests.machine.lifeline import Lifeline

ROOT = Path(__file__).resolve().parent.parent
TYPESCRIPT_SDK = ROOT / "node_modules" / "@agentclientprotocol" / "sdk"

# `ci` gives the same examples in every run; `dev` looks for new ones.  Neither counts time: a
# busy machine must not fail a test.
_TIMELESS: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", derandomize=True, database=None, **_TIMELESS)
settings.register_profile("dev", **_TIMELESS)
settings.load_profile("dev")

use_idle_clocks()

# A shell lets what it starts in the background ignore these, and each program that a test starts
# would inherit that: `nohup make test &` must find what `make test` finds.
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(
            _number,
            signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL,
        )

# To look for garbage among all that is loaded, as often as Python does, is a fifth of the time.
gc.set_threshold(50_000, 20, 50)


def pytest_collection_finish() -> None:
    """What is loaded when tests begin stays."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Tests run on asyncio; a folder whose code must not care overrides this with both loops."""
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(autouse=True)
def fresh_lines() -> Iterator[None]:
    """Do not let an unfinished line of one test's output run into the next test's."""
    yield
    module = sys.modules.get("accord.machine.console.unfinished_lines")
    if module is not None:
        module.LINE_ENDS.forget()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that stays when its input is closed gets SIGTERM and then SIGKILL, at once."""
    from accord.machine.processes.child_process import GroupProcess
    from accord.transport import subprocess

    bounds = {**(GroupProcess.end.__kwdefaults__ or {})}
    bounds |= {"stdin_seconds": 0.05, "terminate_seconds": 0.05}
    monkeypatch.setattr(GroupProcess.end, "__kwdefaults__", bounds)
    monkeypatch.setattr(subprocess, "LEAVE_SECONDS_MAX", 0.05)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("node") is None:
        return
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if not TYPESCRIPT_SDK.is_dir():
        pytest.skip("the node packages are not installed; `make test` installs them")


@pytest.fixture
def lifeline(tmp_path: Path) -> Iterator[Lifeline]:
    """A pipe that processes hold open as long as they live."""
    line = Lifeline(tmp_path / "lifeline")
    yield line
    line.close()
