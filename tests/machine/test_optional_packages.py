"""Packages that a checkout installs when they are first asked for."""

import shutil
import sys
from pathlib import Path

import anyio
import pytest

from accord.errors import ConfigError
from accord.machine import optional_packages
from tests.machine.lifeline import Lifeline

ROOT = Path(__file__).resolve().parent.parent.parent
LOCKS = ("run.lock", "mcp.lock", "dev.lock")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout in whose environment this process runs, with what the demo needs."""
    for folder in ("requirements", "scripts", ".venv"):
        (tmp_path / folder).mkdir()
    for name in LOCKS:
        shutil.copy(ROOT / "requirements" / name, tmp_path / "requirements" / name)
    shutil.copy(ROOT / "requirements.lock", tmp_path / "requirements.lock")
    shutil.copy(tmp_path / "requirements" / "run.lock", tmp_path / ".venv" / "installed-run.lock")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    return tmp_path


def set_up(checkout: Path, *lines: str) -> None:
    """What stands in for the checkout's set-up."""
    (checkout / "scripts" / "environment.py").write_text("\n".join(lines) + "\n")


def test_a_set_is_missing_until_a_stamp_equals_a_lock_that_holds_it(checkout: Path) -> None:
    """Issue 14: models come when a model is asked for; a half-made set is never taken for whole."""
    here = str(checkout)
    assert optional_packages.is_missing("mcp", here)
    assert optional_packages.is_missing("models", here)
    stamp = checkout / ".venv" / "installed-mcp.lock"
    stamp.write_text("anyio==1.0\n")
    assert optional_packages.is_missing("mcp", here)
    shutil.copy(checkout / "requirements" / "mcp.lock", stamp)
    assert not optional_packages.is_missing("mcp", here)
    assert optional_packages.is_missing("models", here)
    shutil.copy(checkout / "requirements" / "dev.lock", stamp.with_name("installed-dev.lock"))
    assert not optional_packages.is_missing("models", here)


def test_an_environment_of_somebody_elses_making_is_left_alone(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: who installed Accord by pip chose its extras."""
    (checkout / ".venv" / "installed-run.lock").unlink()
    assert not optional_packages.is_missing("models", str(checkout))
    monkeypatch.setattr(sys, "prefix", "/usr")
    assert not optional_packages.is_missing("models", str(checkout))


async def test_each_package_is_told_as_it_comes(checkout: Path) -> None:
    """Issue 14: it is said."""
    set_up(
        checkout,
        "import sys",
        "assert sys.argv[1:] == ['models'] and sys.stdin.read() == ''",
        "print('on stdout, which is the wire of an agent')",
        "print('accord: setting up .venv, once', file=sys.stderr)",
        "print('accord:   openai 3.0', file=sys.stderr)",
        "print('accord:   jiter 0.1', file=sys.stderr)",
    )
    told: list[str] = []

    async def tell(name: str) -> None:
        told.append(name)

    await optional_packages.install("models", tell, str(checkout))
    assert told == ["openai 3.0", "jiter 0.1"]


async def test_a_failure_says_what_the_set_up_said_last(checkout: Path) -> None:
    """Issue 14: errors say what to do."""
    set_up(checkout, "import sys", "sys.exit('accord: no index; check the network.')")
    with pytest.raises(ConfigError) as raised:
        await optional_packages.install("mcp", checkout=str(checkout))
    assert str(raised.value) == (
        "the packages for MCP servers could not be installed: no index; check the network"
    )


async def test_a_cancelled_installation_ends_its_processes(
    checkout: Path, lifeline: Lifeline, impatient: None
) -> None:
    """Ours: a turn that is cancelled leaves nothing running."""
    set_up(
        checkout,
        "import os, signal",
        f"os.write(os.open({str(lifeline.path)!r}, os.O_WRONLY), b'here\\n')",
        "signal.pause()",
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(optional_packages.install, "models", None, str(checkout))
        assert await lifeline.word() == "here"
        tasks.cancel_scope.cancel()
    await lifeline.all_dead()
