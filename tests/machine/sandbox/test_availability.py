"""What is said where a kind of sandbox does not work, and that it is really tried."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from accord.machine.sandbox import availability, landlock, seccomp
from accord.machine.sandbox.availability import Sandbox, find_sandbox
from accord.machine.sandbox.options import SandboxUnavailable
from tests.machine.sandbox.world import sandbox_of


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Let each test try again."""
    availability._tried.cache_clear()
    yield
    availability._tried.cache_clear()


def without_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a kernel that is too old."""
    monkeypatch.setattr(landlock, "abi", lambda: 4)


def fake_bwrap(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """A program called bwrap, which is the only one in PATH."""
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return program


def test_bubblewrap_is_preferred() -> None:
    """Issue 17: bubblewrap where present, Landlock otherwise."""
    expected = sandbox_of("bubblewrap")
    assert find_sandbox() == expected


def test_without_bubblewrap_landlock_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 17: the same."""
    sandbox_of("landlock")
    monkeypatch.setenv("PATH", "/nowhere")
    availability._tried.cache_clear()
    assert find_sandbox() == Sandbox("landlock")


def test_a_bubblewrap_that_fails_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: in many containers it is there and may not do anything."""
    without_landlock(monkeypatch)
    program = fake_bwrap(tmp_path, monkeypatch, "echo 'setting up uid map: denied' >&2; exit 1")
    with pytest.raises(SandboxUnavailable) as caught:
        find_sandbox()
    said = str(caught.value)
    assert f"{program} does not work here (setting up uid map: denied)" in said
    assert "this kernel has version 4; signals are kept inside from version 6 on" in said
    assert "apt install bubblewrap" in said


def test_a_bubblewrap_that_does_nothing_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the probe sees what a sandbox keeps from it, not that a program ran."""
    without_landlock(monkeypatch)
    passes = 'while [ "$1" != -- ]; do shift; done; shift; PATH=/usr/bin:/bin; exec "$@"'
    fake_bwrap(tmp_path, monkeypatch, passes)
    with pytest.raises(SandboxUnavailable, match="did not keep a command from what is outside"):
        find_sandbox()


def test_relative_folders_of_path_are_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Security: a project must not bring the sandbox that it runs in."""
    without_landlock(monkeypatch)
    fake_bwrap(tmp_path, monkeypatch, "exit 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".:")
    with pytest.raises(SandboxUnavailable, match="bubblewrap \\(bwrap\\) is not installed"):
        find_sandbox()


@pytest.mark.parametrize(
    ("abi", "known", "said"),
    [
        (0, True, "does not have it"),
        (5, True, "version 5"),
        (7, False, "no filter"),
    ],
)
def test_landlock_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, abi: int, known: bool, said: str
) -> None:
    """Issue 17: refused where the kernel cannot do what is promised."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(landlock, "abi", lambda: abi)
    monkeypatch.setattr(seccomp, "is_known", lambda: known)
    with pytest.raises(SandboxUnavailable, match=said):
        find_sandbox()


def test_other_systems_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 17: macOS and Windows get the same sentence."""
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxUnavailable) as caught:
        find_sandbox()
    assert "bubblewrap needs Linux; Landlock needs Linux" in str(caught.value)
    assert "Nothing was started" in str(caught.value)
