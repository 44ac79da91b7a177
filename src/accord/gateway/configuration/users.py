"""The users of a gateway that its configuration names, with the hashes of their API keys."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from accord.configuration.toml_table import Table
from accord.gateway.configuration.rights import Rights, read_rights
from accord.machine.console.control_characters import visible_line

USERS_MAX: Final = 1000
KEYS_MAX: Final = 10
"""Per user.  Each request compares its key with all of them."""

DISPLAY_NAME_CHARS_MAX: Final = 100
TOKEN_USER: Final = "user"
"""The user of `--token`, who has every right."""

# Without ':', which names from an identity provider have.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}\Z")
_KEY_HASH: Final = re.compile(r"sha256:([0-9a-f]{64})\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """One user.  `keys` are SHA-256 digests of API keys.

    `oauth_name` is the name by which the identity provider knows the user.
    """

    name: str
    display_name: str
    rights: Rights
    keys: tuple[bytes, ...] = field(default=(), repr=False)
    oauth_name: str | None = None


def is_user_name(name: str) -> bool:
    """Whether a user may have this name."""
    return name != TOKEN_USER and _NAME.match(name) is not None


def read_users(table: Table, agents: Collection[str]) -> dict[str, User]:
    """Read the table `users`.

    Raises:
        ConfigError: a user is not described correctly, or two of them have a key or a name of the
            identity provider in common.
    """
    users: dict[str, User] = {}
    for name, one in table.tables("users").items():
        if not _NAME.match(name):
            raise table.wrong(
                f"users.{name}",
                "must begin with a letter or digit, and have letters, digits and ._@- only",
            )
        if name == TOKEN_USER:
            reason = "is the name of the user of --token; choose another one"
            raise table.wrong(f"users.{name}", reason)
        user = _user(name, one, agents)
        for other in users.values():
            if set(user.keys) & set(other.keys):
                raise one.wrong("api_keys", f"has a key of {other.name}")
            if user.oauth_name is not None and user.oauth_name == other.oauth_name:
                raise one.wrong("oauth_name", f"is the one of {other.name}")
        users[name] = user
    if len(users) > USERS_MAX:
        raise table.wrong("users", f"there are more than {USERS_MAX}; use an identity provider")
    return users


def _user(name: str, table: Table, agents: Collection[str]) -> User:
    shown = table.text("name") or name
    if len(shown) > DISPLAY_NAME_CHARS_MAX or visible_line(shown) != shown:
        raise table.wrong("name", f"must be at most {DISPLAY_NAME_CHARS_MAX} visible characters")
    rights = read_rights(table, "agents", agents)
    if not rights:
        raise table.wrong("agents", 'is missing; name agents and roles, as { codex = "editor" }')
    keys = _keys(table)
    oauth_name = table.text("oauth_name")
    if not keys and oauth_name is None:
        raise table.wrong("api_keys", "is missing; give the hash of a key, or an oauth_name")
    return User(name=name, display_name=shown, rights=rights, keys=keys, oauth_name=oauth_name)


def _keys(table: Table) -> tuple[bytes, ...]:
    said = table.one_or_more("api_keys") or ()
    if len(said) > KEYS_MAX:
        raise table.wrong("api_keys", f"has more than {KEYS_MAX} keys")
    found = [_KEY_HASH.match(one) for one in said]
    keys = tuple(bytes.fromhex(one[1]) for one in found if one is not None)
    if len(keys) < len(said):
        # It may be a key, by mistake, and is not shown.
        raise table.wrong(
            "api_keys", "must be hashes of keys: sha256: and 64 hexadecimal digits, in lower case"
        )
    return keys


__all__ = ["TOKEN_USER", "User", "is_user_name", "read_users"]
