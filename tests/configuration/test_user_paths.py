"""Where the user's files lie."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from accord.configuration import user_paths
from accord.configuration.grants_file import grants_path
from accord.configuration.policy_file import policy_path
from accord.errors import ConfigError


def test_the_variables_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contract: ACCORD_CONFIG_DIR and ACCORD_STATE_DIR."""
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "c"))
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "s"))
    assert user_paths.config_folder() == tmp_path / "c"
    assert user_paths.credentials_file() == tmp_path / "c" / "credentials.json"
    assert policy_path() == tmp_path / "c" / "permissions.toml"
    assert user_paths.store_file() == tmp_path / "s" / "sessions.sqlite3"
    assert grants_path() == tmp_path / "s" / "grants.toml"
    assert user_paths.audit_file() == tmp_path / "s" / "audit.jsonl"
    assert list(tmp_path.iterdir()) == []


def test_without_them_the_system_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 3: location by platformdirs."""
    for name in ("ACCORD_CONFIG_DIR", "ACCORD_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    if sys.platform == "linux":
        assert user_paths.config_folder() == tmp_path / "config" / "accord"
        assert user_paths.state_folder() == tmp_path / "state" / "accord"
    assert user_paths.config_folder().is_absolute()


def test_a_relative_place_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: it would mean another folder in every directory."""
    monkeypatch.setenv("ACCORD_STATE_DIR", "here")
    with pytest.raises(ConfigError, match="ACCORD_STATE_DIR must be an absolute path"):
        user_paths.state_folder()


@pytest.mark.parametrize("what", ["config", "state"])
def test_a_place_of_the_system_is_never_in_the_project(
    monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Issue 12: what lies in a project cannot configure us, whatever a variable says."""
    monkeypatch.delenv(f"ACCORD_{what.upper()}_DIR", raising=False)
    monkeypatch.setattr(f"platformdirs.user_{what}_path", lambda *_, **__: Path("accord"))
    with pytest.raises(
        ConfigError, match=f"XDG_{what.upper()}_HOME and HOME must be absolute paths"
    ):
        user_paths.config_folder() if what == "config" else user_paths.state_folder()


def test_without_platformdirs_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: it is an extra."""
    monkeypatch.delenv("ACCORD_STATE_DIR", raising=False)
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    with pytest.raises(ConfigError, match=r"accord\[agent\]"):
        user_paths.state_folder()


def test_what_is_written_is_the_users_alone(tmp_path: Path) -> None:
    """Issue 3: 0700 and 0600, whatever the mask of the process."""
    before = os.umask(0)
    try:
        path = tmp_path / "deep" / "er" / "file.toml"
        user_paths.replace_file(path, "one")
    finally:
        os.umask(before)
    assert path.read_text() == "one"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.chmod(0o644)
    user_paths.replace_file(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["file.toml"]


def test_a_file_that_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the old file stays, and no half of the new one."""
    path = tmp_path / "file.toml"
    user_paths.replace_file(path, "old")

    def fail(descriptor: int) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space"):
        user_paths.replace_file(path, "new")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["file.toml"]
