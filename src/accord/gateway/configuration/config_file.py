"""The file of `accord serve --config FILE`.

What always holds
    * An invalid value is a `ConfigError` that names the file, the key and what is valid; an
      unknown key is one of `warnings`.
    * No credential is in what is read: API keys are given as hashes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from accord.configuration.toml_table import Table, read_toml
from accord.errors import ConfigError
from accord.gateway.configuration.agent_settings import AgentSettings, read_agents
from accord.gateway.configuration.limits import PrincipalLimits, read_limits
from accord.gateway.configuration.listener import ListenerSettings, read_listener
from accord.gateway.configuration.oauth import OauthSettings, read_oauth
from accord.gateway.configuration.users import User, read_users

GRACE_SECONDS: Final = 600
PARK_SECONDS: Final = 900
DRAIN_SECONDS: Final = 30
DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayConfig:
    """Everything that a gateway is told by its file.

    `grace_seconds`: how long a session whose clients are away keeps its process.  `park_seconds`:
    when the process of an idle session is ended until it is needed again, 0 for never.
    `drain_seconds`: how long running turns may take after SIGTERM.  `data` is the folder of the
    sessions, None for the one in the user's state folder.
    """

    agents: Mapping[str, AgentSettings] = field(default_factory=dict)
    users: Mapping[str, User] = field(default_factory=dict)
    oauth: OauthSettings | None = None
    limits: PrincipalLimits = field(default_factory=PrincipalLimits)
    listener: ListenerSettings = field(default_factory=ListenerSettings)
    grace_seconds: int = GRACE_SECONDS
    park_seconds: int = PARK_SECONDS
    drain_seconds: int = DRAIN_SECONDS
    data: Path | None = None
    # The file it was read from, for error messages.
    file: Path | None = field(default=None, compare=False)
    warnings: tuple[str, ...] = ()


def load_gateway_config(path: Path) -> GatewayConfig:
    """Read the file.

    Raises:
        ConfigError: it does not exist, cannot be read, or has an invalid value.
    """
    table = read_toml(path)
    if table is None:
        raise ConfigError(f"{path}: does not exist", file=str(path))
    folder = path.absolute().parent
    agents = read_agents(table, folder)
    if not agents:
        raise table.wrong("agents", "is missing; describe an agent in [agents.NAME]")
    data = table.text("data")
    users, oauth = read_users(table, agents), read_oauth(table, agents)
    if oauth is None:
        for user in users.values():
            if user.oauth_name is not None:
                raise table.wrong(f"users.{user.name}.oauth_name", "needs the table oauth")
    return GatewayConfig(
        agents=agents,
        users=users,
        oauth=oauth,
        limits=read_limits(table),
        listener=read_listener(table, folder),
        grace_seconds=_seconds(table, "grace_seconds", GRACE_SECONDS),
        park_seconds=_seconds(table, "park_seconds", PARK_SECONDS),
        drain_seconds=_seconds(table, "drain_seconds", DRAIN_SECONDS),
        data=None if data is None else folder / Path(data).expanduser(),
        file=path,
        warnings=tuple(table.unknown()),
    )


def _seconds(table: Table, name: str, default: int) -> int:
    said = table.whole(name, least=0)
    if said is not None and said > DAY_SECONDS:
        raise table.wrong(name, f"must be at most {DAY_SECONDS}, a day")
    return default if said is None else said


__all__ = ["GatewayConfig", "load_gateway_config"]
