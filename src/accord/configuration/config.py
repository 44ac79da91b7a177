"""The configuration: agents, MCP servers, the model, the permissions and the chat of the user.

Must not know how any of them is used.

What always holds
    * Without a file there is a configuration, with every default.
    * A value that cannot be is a `ConfigError` that names the file, the key and what may be; a key
      that we do not know is one of `warnings`.
    * Values of `env` and `headers` are never shown: `repr` leaves them out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from accord.configuration.toml_table import Table, read_toml
from accord.configuration.user_paths import config_folder

SERVER_TYPES = ("stdio", "http", "sse")
PROVIDERS = ("openai", "anthropic", "google", "ollama")
THINKING_LEVELS = ("auto", "off", "low", "medium", "high")
THEMES = ("auto", "dark", "light", "contrast", "none")
IMAGES = ("auto", "none", "kitty", "sixel")
QUIET_SECONDS = 10
"""After this long a working agent that says nothing is called quiet, if the user says nothing."""
AUDIT_BYTES_MAX = 8 << 20
"""How large the audit log may grow before it is rotated, if the user says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntry:
    """An agent that can be started by a name.

    `api_key_env` is the name of the variable that has the key for an agent that wants one in a
    login; keys are not written here.
    """

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    api_key_env: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpEntry:
    """An MCP server: a program (`type` stdio), or an address (http, sse)."""

    type: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """The model of the built-in agent, as far as the user chose; None means: found by itself.

    `api_key_env` is the name of the variable that has the key; keys are not written here.
    """

    name: str | None = None
    provider: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    thinking: str | None = None
    max_tokens: int | None = None
    max_requests: int | None = None
    context_window: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionSettings:
    """Where the rules are, and whether decisions and operations are written down."""

    policy: Path | None = None
    audit: bool = True
    audit_bytes_max: int = AUDIT_BYTES_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings:
    """How the terminal client looks and works, and what it hands to every agent.

    `keys` has the keys of an action by its name; which names there are is the client's business.
    """

    theme: str = "auto"
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    follow: bool = False
    side_by_side: bool = False
    images: str = "auto"
    bell: bool = False
    editor: tuple[str, ...] | None = None
    quiet_seconds: int = QUIET_SECONDS
    # Folders beside the project's that agents may work in.
    add_dirs: tuple[str, ...] = ()
    # Names of `mcp_servers`.
    mcp_servers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All that the user set up."""

    agent: str | None = None
    agents: Mapping[str, AgentEntry] = field(default_factory=dict)
    mcp_servers: Mapping[str, McpEntry] = field(default_factory=dict)
    model: ModelSettings = field(default_factory=ModelSettings)
    permissions: PermissionSettings = field(default_factory=PermissionSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    # Where it was read, for complaints about it; None where there is no file.
    file: Path | None = field(default=None, compare=False)
    warnings: tuple[str, ...] = ()


def load_config(folder: Path | None = None) -> Config:
    """Read `config.toml` of the folder, by default of the user's.

    Raises:
        ConfigError: the file cannot be read, or a value in it cannot be.
    """
    folder = config_folder() if folder is None else folder
    table = read_toml(folder / "config.toml")
    if table is None:
        return Config()
    agents = {name: _agent(one) for name, one in table.tables("agents").items()}
    chosen = table.text("agent")
    if chosen is not None and chosen not in agents:
        known = ", ".join(sorted(agents)) or "none"
        raise table.wrong("agent", f"must be the name of one of the agents ({known})")
    servers = {name: mcp_entry(one) for name, one in table.tables("mcp_servers").items()}
    model = _model(table.table("model"))
    permissions = _permissions(table.table("permissions"), folder)
    chat = _chat(table.table("chat"), servers)
    return Config(
        agent=chosen,
        agents=agents,
        mcp_servers=servers,
        model=model,
        permissions=permissions,
        chat=chat,
        file=folder / "config.toml",
        warnings=tuple(table.unknown()),
    )


def _agent(table: Table) -> AgentEntry:
    command = table.words("command")
    if command is None:
        raise table.wrong("command", "is missing; it is the command that starts the agent")
    return AgentEntry(
        command=command,
        env=table.text_map("env"),
        cwd=table.text("cwd"),
        api_key_env=table.text("api_key_env"),
    )


def mcp_entry(table: Table) -> McpEntry:
    """One MCP server of a table, here or in a file of the project's."""
    command, url = table.text("command"), table.text("url")
    kind = table.text("type", among=SERVER_TYPES)
    if (command is None) == (url is None):
        raise table.wrong("command", "an MCP server has a command or a url, one of both")
    if kind is None:
        kind = "stdio" if url is None else "http"
    if (kind == "stdio") is (url is not None):
        has = "a url" if url is not None else "a command"
        raise table.wrong("type", f"cannot be {kind} for a server that has {has}")
    return McpEntry(
        type=kind,
        command=command,
        args=table.texts("args") or (),
        env=table.text_map("env"),
        url=url,
        headers=table.text_map("headers"),
    )


def _model(table: Table) -> ModelSettings:
    return ModelSettings(
        name=table.text("name"),
        provider=table.text("provider", among=PROVIDERS),
        base_url=table.text("base_url"),
        api_key_env=table.text("api_key_env"),
        thinking=table.text("thinking", among=THINKING_LEVELS),
        max_tokens=table.whole("max_tokens"),
        max_requests=table.whole("max_requests"),
        context_window=table.whole("context_window"),
    )


def _permissions(table: Table, folder: Path) -> PermissionSettings:
    policy = table.text("policy")
    return PermissionSettings(
        # Relative to the file that names it, as everybody expects.
        policy=None if policy is None else folder / Path(policy).expanduser(),
        audit=table.flag("audit", True),
        audit_bytes_max=table.whole("audit_bytes_max", least=4096) or AUDIT_BYTES_MAX,
    )


def _chat(table: Table, servers: Collection[str]) -> ChatSettings:
    names = table.texts("mcp_servers") or ()
    for name in names:
        if name not in servers:
            known = ", ".join(sorted(servers)) or "none"
            raise table.wrong("mcp_servers", f"must be names of mcp_servers ({known})")
    folders = tuple(str(Path(one).expanduser()) for one in table.texts("add_dirs") or ())
    if not all(Path(one).is_absolute() for one in folders):
        raise table.wrong("add_dirs", "must be absolute paths, or begin with ~")
    return ChatSettings(
        theme=table.text("theme", among=THEMES) or "auto",
        keys=table.text_lists("keys"),
        follow=table.flag("follow", False),
        side_by_side=table.flag("side_by_side", False),
        images=table.text("images", among=IMAGES) or "auto",
        bell=table.flag("bell", False),
        editor=table.words("editor"),
        quiet_seconds=table.whole("quiet_seconds") or QUIET_SECONDS,
        add_dirs=folders,
        mcp_servers=names,
    )


__all__ = [
    "AUDIT_BYTES_MAX",
    "IMAGES",
    "PROVIDERS",
    "QUIET_SECONDS",
    "SERVER_TYPES",
    "THEMES",
    "THINKING_LEVELS",
    "AgentEntry",
    "ChatSettings",
    "Config",
    "McpEntry",
    "ModelSettings",
    "PermissionSettings",
    "load_config",
    "mcp_entry",
]
