"""The settings of the terminal client, from the configuration and the environment.

This module does not know any screen, and reads no file: the configuration has been read.

Invariants
    * There are settings without a configuration.
    * A key that cannot be is a `ConfigError` that names the file, the key and what may be; what
      only surprises (an action that is not known, or that has no key anymore) is a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from accord.configuration.config_file import QUIET_SECONDS, Config
from accord.errors import ConfigError
from accord.terminal.model.key_bindings import (
    ACTIONS,
    KeyBinding,
    actions_with,
    clashes_of,
    key_named,
    may_have,
)
from accord.terminal.model.theme_detection import ThemeName, theme_for

ImageSetting: TypeAlias = Literal["auto", "none", "kitty", "sixel"]

THEMES: dict[str, ThemeName] = {
    "dark": "accord-dark",
    "light": "accord-light",
    "contrast": "accord-contrast",
    "none": "accord-none",
}
_IMAGES: dict[str, ImageSetting] = {
    "auto": "auto",
    "none": "none",
    "kitty": "kitty",
    "sixel": "sixel",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The validated settings.  `actions` have the user's keys."""

    theme: ThemeName = "accord-dark"
    actions: tuple[KeyBinding, ...] = ACTIONS
    follow: bool = False
    side_by_side: bool = False
    images: ImageSetting = "auto"
    bell: bool = False
    editor: tuple[str, ...] | None = None
    quiet_seconds: int = QUIET_SECONDS
    # Folders beside the project's, named by the user for every agent.
    add_dirs: tuple[str, ...] = ()
    # Names of MCP servers of the configuration, named by the user for every agent.
    mcp_servers: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)

    def keys_of(self, action: str) -> tuple[str, ...]:
        """The keys of an action; none where there is no such."""
        return next((one.keys for one in self.actions if one.name == action), ())


def settings_of(config: Config, environ: Mapping[str, str]) -> Settings:
    """The settings of a configuration in this terminal.

    Raises:
        ConfigError: a key that cannot be, or that two actions have.
    """
    chat = config.chat
    file = str(config.file or "config.toml")
    changes, warnings = _keys(chat.keys, file)
    for clash in clashes_of(changes):
        if clash.is_last:
            warnings.append(
                f"{file}: chat.keys.{clash.given_to}: {clash.key} was the key of"
                f" {clash.taken_from}, which is now only in the command palette"
            )
    return Settings(
        theme=THEMES.get(chat.theme) or theme_for(environ),
        actions=actions_with(changes),
        follow=chat.follow,
        side_by_side=chat.side_by_side,
        images=_IMAGES[chat.images],
        bell=chat.bell,
        editor=chat.editor,
        quiet_seconds=chat.quiet_seconds,
        add_dirs=chat.add_dirs,
        mcp_servers=chat.mcp_servers,
        warnings=tuple(warnings),
    )


def _keys(
    written: Mapping[str, tuple[str, ...]], file: str
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    known = {action.name for action in ACTIONS}
    changes: dict[str, tuple[str, ...]] = {}
    warnings: list[str] = []
    owners: dict[str, str] = {}
    for name, texts in written.items():
        if name not in known:
            warnings.append(f"{file}: chat.keys.{name} is unknown and has no effect")
            continue
        # An empty text is how a key is taken away where a list looks odd.
        keys = tuple(_key(name, text, file) for text in texts if text)
        for key in keys:
            if owners.setdefault(key, name) != name:
                raise _wrong(name, f"{key} is already the key of {owners[key]}", file)
        changes[name] = tuple(dict.fromkeys(keys))
    return changes, warnings


def _key(action: str, text: str, file: str) -> str:
    key = key_named(text)
    if key is None:
        may_be = "a key is written like f2, ctrl+t, alt+left, shift+tab or escape"
        raise _wrong(action, f"unknown key; {may_be}", file)
    if not may_have(action, key):
        raise _wrong(action, f"{key} types a character; add ctrl+ or alt+", file)
    return key


def _wrong(action: str, reason: str, file: str) -> ConfigError:
    key = f"chat.keys.{action}"
    return ConfigError(f"{file}: {key}: {reason}", file=file, key=key)
