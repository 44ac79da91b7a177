"""The settings of the terminal client: what the configuration and the terminal make of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.configuration.config_file import Config, load_config
from accord.errors import ConfigError
from accord.terminal.model.key_bindings import ACTIONS
from accord.terminal.model.settings import Settings, settings_of

DOCS = Path(__file__).resolve().parents[3] / "docs" / "reference" / "configuration.md"


def _settings(folder: Path, text: str) -> Settings:
    (folder / "config.toml").write_text(text)
    return settings_of(load_config(folder), {})


def test_without_a_configuration_there_are_settings() -> None:
    """Contract."""
    assert settings_of(Config(), {}) == Settings()
    assert Settings().keys_of("stop") == ("escape",)
    assert Settings().keys_of("no such action") == ()


def test_what_the_configuration_says_is_taken(tmp_path: Path) -> None:
    """Issue: the config hands servers and roots to any agent, and changes keys and looks."""
    found = _settings(
        tmp_path,
        """
        [mcp_servers.files]
        command = "files"
        [chat]
        theme = "light"
        follow = true
        side_by_side = true
        images = "sixel"
        bell = true
        editor = ["vim", "-u", "NONE"]
        quiet_seconds = 3
        add_dirs = ["/srv"]
        mcp_servers = ["files"]
        """,
    )
    assert found == Settings(
        theme="accord-light",
        follow=True,
        side_by_side=True,
        images="sixel",
        bell=True,
        editor=("vim", "-u", "NONE"),
        quiet_seconds=3,
        add_dirs=("/srv",),
        mcp_servers=("files",),
    )
    assert found.warnings == ()


def test_keys_are_changed_by_the_names_of_their_actions(tmp_path: Path) -> None:
    """Issue: keys are changeable in the config."""
    found = _settings(
        tmp_path, '[chat.keys]\nstop = "Ctrl-X"\nnew_tab = ["F10", "alt+Left", "f10"]\nhelp = "?"'
    )
    assert found.keys_of("stop") == ("ctrl+x",)
    assert found.keys_of("new_tab") == ("f10", "alt+left")
    # Its other key is left to it, so there is nothing to warn of.
    assert found.keys_of("previous_tab") == ("ctrl+pageup",)
    assert found.keys_of("help") == ("question_mark",)
    assert found.warnings == ()


def test_an_action_that_lost_its_last_key_is_a_warning(tmp_path: Path) -> None:
    """Ours: the user looks for it otherwise."""
    found = _settings(tmp_path, '[chat.keys]\nnew_tab = "f4"\nquit = ""')
    assert found.keys_of("follow") == ()
    # There is no warning when the user takes the key away.
    assert found.keys_of("quit") == ()
    [warning] = found.warnings
    assert warning.endswith(
        "chat.keys.new_tab: f4 was the key of follow, which is now only in the command palette"
    )


def test_an_unknown_action_is_a_warning(tmp_path: Path) -> None:
    """Contract of the configuration: a newer version may know it."""
    found = _settings(tmp_path, '[chat.keys]\ndance = "f12"')
    assert found.actions == ACTIONS
    [warning] = found.warnings
    assert warning.endswith("chat.keys.dance is unknown and has no effect")


@pytest.mark.parametrize(
    ("keys", "key", "said"),
    [
        ('stop = "strg+x"', "chat.keys.stop", "unknown key; a key is written like"),
        ('stop = "x"', "chat.keys.stop", "x types a character"),
        ('stop = "space"', "chat.keys.stop", "space types a character"),
        ('stop = "f9"\nquit = "F9"', "chat.keys.quit", "f9 is already the key of stop"),
    ],
)
def test_a_key_that_cannot_be_is_an_error(tmp_path: Path, keys: str, key: str, said: str) -> None:
    """Contract: it names the file, the key and what may be."""
    with pytest.raises(ConfigError) as caught:
        _settings(tmp_path, f"[chat.keys]\n{keys}")
    assert caught.value.file == str(tmp_path / "config.toml")
    assert caught.value.key == key
    assert said in str(caught.value)


def test_the_documentation_has_every_action_with_its_keys() -> None:
    """docs/reference/configuration.md."""
    text = DOCS.read_text()
    for action in ACTIONS:
        keys = ", ".join(f"`{key}`" for key in action.keys)
        assert f"| `{action.name}` | {keys} | {action.text} |" in text
