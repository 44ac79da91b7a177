"""The user's configuration: agents, MCP servers, the model, permissions, sandbox and the chat.

Must not know how any of them is used.

What always holds
    * Without a file, every setting has its default.
    * An invalid value is a `ConfigError` that names the file, the key and the valid values; an
      unknown key is one of `warnings`.
    * Values of `env` and `headers` are never shown: `repr` leaves them out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from accord.configuration.toml_table import Table, read_toml
from accord.configuration.user_paths import config_folder
from accord.errors import LocalProtocolError

SERVER_TYPES = ("stdio", "http", "sse")
PROVIDERS = ("openai", "anthropic", "google", "ollama")
THINKING_LEVELS = ("auto", "off", "low", "medium", "high")
THEMES = ("auto", "dark", "light", "contrast", "none")
IMAGES = ("auto", "none", "kitty", "sixel")
QUIET_SECONDS = 10
"""The default time after which a working agent without output is called quiet."""
AUDIT_BYTES_MAX = 8 << 20
"""The default size at which the audit log is rotated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntry:
    """An agent that can be started by a name.

    `api_key_env` is the name of the variable with the key for the agent's login; keys are not
    stored here.  `url` is the address of a remote agent, which `command` connects to.
    """

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    api_key_env: str | None = None
    url: str | None = None


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
    """The user's settings for the model of the built-in agent; None means auto-detected.

    `api_key_env` is the name of the variable with the key; keys are not stored here.
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
    """The file of the rules, and whether decisions and operations are logged."""

    policy: Path | None = None
    audit: bool = True
    audit_bytes_max: int = AUDIT_BYTES_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """What agents in a sandbox may read and write beside the session's folders.

    Paths are absolute or begin with `~`; other `writable` ones are in each of those folders.
    """

    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings:
    """The look and behaviour of the terminal client, and what it passes to every agent.

    `keys` maps the name of an action to its keys; the client knows the names.
    """

    theme: str = "auto"
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    follow: bool = False
    side_by_side: bool = False
    images: str = "auto"
    bell: bool = False
    editor: tuple[str, ...] | None = None
    quiet_seconds: int = QUIET_SECONDS
    # Folders besides the project's that agents may work in.
    add_dirs: tuple[str, ...] = ()
    # Names of `mcp_servers`.
    mcp_servers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that the user has configured."""

    agent: str | None = None
    agents: Mapping[str, AgentEntry] = field(default_factory=dict)
    mcp_servers: Mapping[str, McpEntry] = field(default_factory=dict)
    model: ModelSettings = field(default_factory=ModelSettings)
    permissions: PermissionSettings = field(default_factory=PermissionSettings)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    # The file it was read from, for error messages; None if there is no file.
    file: Path | None = field(default=None, compare=False)
    warnings: tuple[str, ...] = ()


def load_config(folder: Path | None = None) -> Config:
    """Read `config.toml` in a folder, by default in the user's configuration folder.

    Raises:
        ConfigError: the file cannot be read, or has an invalid value.
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
    sandbox = _sandbox(table.table("sandbox"))
    chat = _chat(table.table("chat"), servers)
    return Config(
        agent=chosen,
        agents=agents,
        mcp_servers=servers,
        model=model,
        permissions=permissions,
        sandbox=sandbox,
        chat=chat,
        file=folder / "config.toml",
        warnings=tuple(table.unknown()),
    )


def _agent(table: Table) -> AgentEntry:
    command = table.words("command")
    url = table.text("url")
    if url is not None:
        if command is not None:
            raise table.wrong("command", "cannot be given together with a url")
        command = _remote_command(table, url)
    if command is None:
        raise table.wrong(
            "command", "is missing; give the command that starts the agent, or its url"
        )
    return AgentEntry(
        command=command,
        env=table.text_map("env"),
        cwd=table.text("cwd"),
        api_key_env=table.text("api_key_env"),
        url=url,
    )


def _remote_command(table: Table, url: str) -> tuple[str, ...]:
    """Return the command that connects to a remote agent; its token is in a variable."""
    from accord.machine.own_command_line import own_command
    from accord.transport.remote_transport import remote_address

    insecure = table.flag("insecure", default=False)
    try:
        remote_address(url, insecure=insecure)
    except LocalProtocolError as error:
        raise table.wrong("url", f"cannot be used: {error}") from None
    token_env = table.text("token_env")
    return own_command(
        "connect",
        url,
        *(() if token_env is None else ("--token-env", token_env)),
        *(("--insecure",) if insecure else ()),
    )


def mcp_entry(table: Table) -> McpEntry:
    """Read an MCP server from a table of the configuration or of a project's file."""
    command, url = table.text("command"), table.text("url")
    kind = table.text("type", among=SERVER_TYPES)
    if (command is None) == (url is None):
        raise table.wrong("command", "an MCP server needs either a command or a url")
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
        # Relative to the file that names it.
        policy=None if policy is None else folder / Path(policy).expanduser(),
        audit=table.flag("audit", True),
        audit_bytes_max=table.whole("audit_bytes_max", least=4096) or AUDIT_BYTES_MAX,
    )


def _sandbox(table: Table) -> SandboxSettings:
    writable, readable = table.texts("writable") or (), table.texts("readable") or ()
    if not all(Path(one).expanduser().is_absolute() for one in readable):
        raise table.wrong("readable", "must be absolute paths, or begin with ~")
    if not all(one and ".." not in Path(one).parts for one in writable):
        raise table.wrong("writable", "must be paths without `..`")
    return SandboxSettings(writable=writable, readable=readable)


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
