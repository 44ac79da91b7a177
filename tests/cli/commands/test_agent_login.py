"""`accord agent --login` as a person meets it: in a terminal that an editor has opened."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.terminal import CTRL_C, in_terminal

KEY = "sk-ant-not-a-real-key-0815"


def test_a_key_is_pasted_unseen_and_kept_for_the_user_alone(tmp_path: Path) -> None:
    """Issue 3: terminal login for pasting a key, stored with 0600; logout."""
    env = {"ACCORD_CONFIG_DIR": str(tmp_path / "config")}
    with in_terminal("agent", "--login", "anthropic", env=env) as login:
        login.wait_for("Paste the key for Anthropic (it is not shown): ")
        login.press(f"{KEY}\n")
        assert login.exit_code() == 0
        assert KEY not in login.text
    kept = tmp_path / "config" / "credentials.json"
    assert json.loads(kept.read_text()) == {"anthropic": KEY}
    assert kept.stat().st_mode & 0o777 == 0o600
    with in_terminal("agent", "--logout", "anthropic", env=env) as logout:
        assert logout.exit_code() == 0
        assert "was deleted" in logout.text
    assert json.loads(kept.read_text()) == {}


def test_an_aborted_login_leaves_nothing_behind(tmp_path: Path) -> None:
    """Ours: Ctrl-C is not a key."""
    env = {"ACCORD_CONFIG_DIR": str(tmp_path / "config")}
    with in_terminal("agent", "--login", "anthropic", env=env) as login:
        login.wait_for("it is not shown")
        login.press(CTRL_C)
        assert login.exit_code() != 0
        assert "Traceback" not in login.text
    assert not (tmp_path / "config").exists()
