"""The file of `accord serve --config`: what it says, and what it says wrongly."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from accord.errors import ConfigError
from accord.gateway.configuration.agent_settings import AgentSettings, SandboxSettings, StdioMcpRule
from accord.gateway.configuration.config_file import GatewayConfig, load_gateway_config
from accord.gateway.configuration.limits import PrincipalLimits
from accord.gateway.configuration.listener import ListenerSettings
from accord.gateway.configuration.oauth import DEFAULT_ALGORITHMS, OauthGrant, OauthSettings
from accord.gateway.configuration.users import User

HASH = "sha256:" + "0f" * 32
OTHER_HASH = "sha256:" + "1e" * 32
AGENT = '[agents.codex]\ncommand = "codex-acp"\n'
PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "gateway-config.md"

WHOLE = f"""
host = "0.0.0.0"
port = 8443
path = "/agents"
allow_hosts = ["agents.example.com"]
allow_origins = "https://app.example.com"
insecure_http = true
grace_seconds = 60
park_seconds = 0
drain_seconds = 5
data = "sessions"

[tls]
cert = "cert.pem"
key = "/etc/key.pem"

[agents.codex]
command = "codex-acp --fast 'two words'"
env = {{ OPENAI_API_KEY = "sk-secret" }}
cwd = "work"
root = "/srv/projects"
title = "Codex"
description = "Writes code"
icon = "https://example.com/codex.svg"
process = "connection"
accounts = "separate"
sandbox = {{ write = ["cache"], read = "/opt/tools", network = false }}
stdio_mcp_servers = ["mcp-server-git", "/opt/mcp --root 'a b'"]

[agents.other]
command = ["other"]
sandbox = true
stdio_mcp_servers = "*"

[users.ada]
name = "Ada Lovelace"
api_keys = "{HASH}"
agents = {{ codex = "admin", "*" = "viewer" }}

[users.bob]
oauth_name = "0815"
agents = {{ other = "editor" }}

[oauth]
issuer = "https://login.example.com"
audience = "accord"
jwks_url = "https://login.example.com/keys"
algorithms = ["ES256"]
name_claim = "email"
display_name_claim = "nick"
leeway_seconds = 0
agents = {{ codex = "viewer" }}

[[oauth.grant]]
value = "accord:codex"
agents = {{ codex = "editor" }}

[[oauth.grant]]
claim = ["realm_access", "roles"]
value = "staff"
agents = {{ "*" = "admin" }}

[limits]
connections = 1
sessions = 2
processes = 3
frames_per_second = 4
bytes_per_second = 0
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "gateway.toml"
    path.write_text(text)
    return path


def test_every_key_is_read(tmp_path: Path) -> None:
    """Issue 17: agents, users, identity provider, limits, and where to listen."""
    path = write(tmp_path, WHOLE)
    assert load_gateway_config(path) == GatewayConfig(
        agents={
            "codex": AgentSettings(
                name="codex",
                command=("codex-acp", "--fast", "two words"),
                env={"OPENAI_API_KEY": "sk-secret"},
                cwd=tmp_path / "work",
                root=Path("/srv/projects"),
                title="Codex",
                description="Writes code",
                icon="https://example.com/codex.svg",
                process="connection",
                accounts="separate",
                sandbox=SandboxSettings(
                    write=(tmp_path / "cache",), read=(Path("/opt/tools"),), network=False
                ),
                stdio_mcp=StdioMcpRule(
                    commands=frozenset({("mcp-server-git",), ("/opt/mcp", "--root", "a b")})
                ),
            ),
            "other": AgentSettings(
                name="other",
                command=("other",),
                sandbox=SandboxSettings(),
                stdio_mcp=StdioMcpRule(any=True),
            ),
        },
        users={
            "ada": User(
                name="ada",
                display_name="Ada Lovelace",
                rights={"codex": "admin", "*": "viewer"},
                keys=(b"\x0f" * 32,),
            ),
            "bob": User(
                name="bob", display_name="bob", rights={"other": "editor"}, oauth_name="0815"
            ),
        },
        oauth=OauthSettings(
            issuer="https://login.example.com",
            audience=("accord",),
            jwks_url="https://login.example.com/keys",
            algorithms=("ES256",),
            name_claim="email",
            display_name_claim="nick",
            leeway_seconds=0,
            rights={"codex": "viewer"},
            grants=(
                OauthGrant(claim=("scope",), value="accord:codex", rights={"codex": "editor"}),
                OauthGrant(claim=("realm_access", "roles"), value="staff", rights={"*": "admin"}),
            ),
        ),
        limits=PrincipalLimits(
            connections=1, sessions=2, processes=3, frames_per_second=4, bytes_per_second=0
        ),
        listener=ListenerSettings(
            host="0.0.0.0",
            port=8443,
            path="/agents",
            allow_hosts=("agents.example.com",),
            allow_origins=("https://app.example.com",),
            tls_cert=tmp_path / "cert.pem",
            tls_key=Path("/etc/key.pem"),
            insecure_http=True,
        ),
        grace_seconds=60,
        park_seconds=0,
        drain_seconds=5,
        data=tmp_path / "sessions",
    )


def test_what_is_missing_has_its_default(tmp_path: Path) -> None:
    """Ours: one agent is a configuration."""
    config = load_gateway_config(write(tmp_path, AGENT))
    assert config == GatewayConfig(
        agents={"codex": AgentSettings(name="codex", command=("codex-acp",))}
    )
    assert config.listener == ListenerSettings()
    assert config.agents["codex"].sandbox is None
    assert config.warnings == ()
    assert config.oauth is None


def test_defaults_of_an_issuer(tmp_path: Path) -> None:
    """Issue 17: asymmetric algorithms only."""
    text = AGENT + '[oauth]\nissuer = "https://i.example"\naudience = ["a", "b"]\n'
    oauth = load_gateway_config(write(tmp_path, text)).oauth
    assert oauth == OauthSettings(issuer="https://i.example", audience=("a", "b"))
    assert not [name for name in DEFAULT_ALGORITHMS if name.startswith("HS") or name == "none"]


def test_users_with_keys_alone_need_no_identity_provider(tmp_path: Path) -> None:
    """Ours."""
    assert set(load_gateway_config(write(tmp_path, AGENT + USER)).users) == {"ada"}


def test_unknown_keys_are_warnings(tmp_path: Path) -> None:
    """As in config.toml: a newer version may know them."""
    path = write(tmp_path, f"later = 1\n{AGENT}soon = true\n[limits]\nmemory = 5\n")
    assert load_gateway_config(path).warnings == (
        f"{path}: later is unknown and has no effect",
        f"{path}: agents.codex.soon is unknown and has no effect",
        f"{path}: limits.memory is unknown and has no effect",
    )


USER = f'[users.ada]\napi_keys = "{HASH}"\nagents = {{ codex = "editor" }}\n'
OTHER_USER = USER.replace("ada", "bob").replace(HASH, OTHER_HASH)
OAUTH = '[oauth]\nissuer = "https://i.example"\naudience = "a"\n'
WRONG: dict[str, tuple[str, str, str]] = {
    "no agent": ("port = 1", "agents", "describe an agent"),
    "an agent's name": ('[agents.Codex]\ncommand = "x"', "agents.Codex", "lower-case"),
    "an agent's name in a URL": ('[agents."a/b"]\ncommand = "x"', "agents.a/b", "lower-case"),
    "no command": ('[agents.codex]\ntitle = "x"', "agents.codex.command", "is missing"),
    "an icon": (f'{AGENT}icon = "file:///x"', "agents.codex.icon", "https://"),
    "a process": (f'{AGENT}process = "user"', "agents.codex.process", "session, connection"),
    "accounts": (f'{AGENT}accounts = "mine"', "agents.codex.accounts", "shared, separate"),
    "a sandbox": (f'{AGENT}sandbox = "yes"', "agents.codex.sandbox", "true or false"),
    "an MCP server beside a path": (
        f'{AGENT}stdio_mcp_servers = ["./mcp"]',
        "agents.codex.stdio_mcp_servers",
        "absolute path",
    ),
    "every MCP server and one": (
        f'{AGENT}stdio_mcp_servers = ["*", "mcp"]',
        "agents.codex.stdio_mcp_servers",
        '"*" alone',
    ),
    "an MCP server with a quote": (
        f'{AGENT}stdio_mcp_servers = ["it\'s"]',
        "agents.codex.stdio_mcp_servers",
        "split into words",
    ),
    "an empty MCP server": (
        f'{AGENT}stdio_mcp_servers = [""]',
        "agents.codex.stdio_mcp_servers",
        "must not be empty",
    ),
    "a user's name": (
        f'{AGENT}[users."oauth:x"]\nagents = {{ codex = "admin" }}',
        "users.oauth:x",
        "letters, digits",
    ),
    "the name of the token's user": (f"{AGENT}[users.user]", "users.user", "--token"),
    "no agents of a user": (
        f'{AGENT}[users.ada]\napi_keys = "{HASH}"',
        "users.ada.agents",
        "is missing",
    ),
    "an unknown agent": (
        f'{AGENT}[users.ada]\nagents = {{ other = "admin" }}',
        "users.ada.agents.other",
        "(codex), or *",
    ),
    "an unknown role": (
        f'{AGENT}[users.ada]\nagents = {{ codex = "owner" }}',
        "users.ada.agents.codex",
        "viewer, editor, admin",
    ),
    "a role that is a number": (
        f"{AGENT}[users.ada]\nagents = {{ codex = 1 }}",
        "users.ada.agents.codex",
        "text",
    ),
    "no key": (
        f'{AGENT}[users.ada]\nagents = {{ codex = "admin" }}',
        "users.ada.api_keys",
        "is missing",
    ),
    "a key instead of its hash": (
        f'{AGENT}[users.ada]\nagents = {{ codex = "admin" }}\napi_keys = "accord_s3cret"',
        "users.ada.api_keys",
        "must be hashes",
    ),
    "too many keys": (
        f'{AGENT}[users.ada]\nagents = {{ codex = "admin" }}\napi_keys = {[HASH] * 11}',
        "users.ada.api_keys",
        "more than 10",
    ),
    "a key of two users": (
        f"{AGENT}{USER}{USER.replace('ada', 'bob')}",
        "users.bob.api_keys",
        "a key of ada",
    ),
    "a name with an escape": (
        f'{AGENT}[users.ada]\nname = "a\\u001b[31m"\nagents = {{ codex = "admin" }}',
        "users.ada.name",
        "visible characters",
    ),
    "a provider's name of two users": (
        f'{AGENT}{USER}oauth_name = "x"\n{OTHER_USER}oauth_name = "x"\n{OAUTH}',
        "users.bob.oauth_name",
        "the one of ada",
    ),
    "a provider's name without a provider": (
        f'{AGENT}{USER}oauth_name = "x"',
        "users.ada.oauth_name",
        "needs the table oauth",
    ),
    "no issuer": (f'{AGENT}[oauth]\naudience = "a"', "oauth.issuer", "is missing"),
    "no audience": (
        f'{AGENT}[oauth]\nissuer = "https://i.example"',
        "oauth.audience",
        "is missing",
    ),
    "an empty audience": (
        f'{AGENT}[oauth]\nissuer = "https://i.example"\naudience = []',
        "oauth.audience",
        "is missing",
    ),
    "an issuer without TLS": (
        f'{AGENT}[oauth]\nissuer = "http://i.example"\naudience = "a"',
        "oauth.issuer",
        "https://",
    ),
    "keys without TLS": (f'{AGENT}{OAUTH}jwks_url = "http://i.example"', "oauth.jwks_url", "https"),
    "keys over a WebSocket": (
        f'{AGENT}{OAUTH}jwks_url = "wss://i.example"',
        "oauth.jwks_url",
        "https",
    ),
    "keys in a file": (f'{AGENT}{OAUTH}jwks_url = "file:///k"', "oauth.jwks_url", "https"),
    "a symmetric algorithm": (
        f'{AGENT}{OAUTH}algorithms = ["RS256", "HS256"]',
        "oauth.algorithms",
        "must be among RS256",
    ),
    "the algorithm none": (f'{AGENT}{OAUTH}algorithms = ["none"]', "oauth.algorithms", "among"),
    "no algorithm": (f"{AGENT}{OAUTH}algorithms = []", "oauth.algorithms", "among"),
    "too much leeway": (
        f"{AGENT}{OAUTH}leeway_seconds = 301",
        "oauth.leeway_seconds",
        "at most 300",
    ),
    "a grant without a value": (
        f'{AGENT}{OAUTH}[[oauth.grant]]\nagents = {{ codex = "admin" }}',
        "oauth.grant[0].value",
        "is missing",
    ),
    "a grant of nothing": (
        f'{AGENT}{OAUTH}[[oauth.grant]]\nvalue = "x"',
        "oauth.grant[0].agents",
        "is missing",
    ),
    "too many grants": (
        f"{AGENT}{OAUTH}" + "[[oauth.grant]]\n" * 101,
        "oauth.grant",
        "more than 100",
    ),
    "a limit below zero": (f"{AGENT}[limits]\nsessions = -1", "limits.sessions", "0 or more"),
    "a limit that is a fraction": (
        f"{AGENT}[limits]\nsessions = 1.5",
        "limits.sessions",
        "number",
    ),
    "a port": (f"port = 65536\n{AGENT}", "port", "at most 65535"),
    "a path": (f'path = "acp"\n{AGENT}', "path", "/acp"),
    "a path with a query": (f'path = "/acp?x"\n{AGENT}', "path", "/acp"),
    "a host with a path": (f'allow_hosts = ["a/b"]\n{AGENT}', "allow_hosts", "a/b"),
    "an origin without a scheme": (f'allow_origins = ["a"]\n{AGENT}', "allow_origins", "https://"),
    "a certificate without its key": (f'{AGENT}[tls]\ncert = "c"', "tls.key", "together"),
    "a key without its certificate": (f'{AGENT}[tls]\nkey = "k"', "tls.cert", "together"),
    "a time of more than a day": (f"grace_seconds = 86401\n{AGENT}", "grace_seconds", "a day"),
    "too many users": (
        AGENT
        + "".join(
            f'[users.u{n}]\noauth_name = "{n}"\nagents = {{ codex = "viewer" }}\n'
            for n in range(1001)
        ),
        "users",
        "more than 1000",
    ),
}


@pytest.mark.parametrize(("text", "key", "reason"), WRONG.values(), ids=WRONG)
def test_a_wrong_value_is_named_with_what_is_valid(
    tmp_path: Path, text: str, key: str, reason: str
) -> None:
    """Issue 17: with the file and the key; without the value, which may be a secret."""
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        load_gateway_config(path)
    assert refused.value.key == key
    assert str(refused.value).startswith(f"{path}: {key}: ")
    assert reason in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_a_file_that_does_not_exist_is_said(tmp_path: Path) -> None:
    """Ours: to serve without the users that were asked for would be wrong."""
    with pytest.raises(ConfigError, match="does not exist"):
        load_gateway_config(tmp_path / "none.toml")


def test_secrets_are_in_no_repr(tmp_path: Path) -> None:
    """Issue 12."""
    shown = repr(load_gateway_config(write(tmp_path, WHOLE)))
    assert "sk-secret" not in shown
    assert "\\x0f" not in shown


def test_the_page_describes_every_key(tmp_path: Path) -> None:
    """Style: its example is a whole file, which is read without a warning."""
    text = PAGE.read_text()
    example = re.search(r"^```toml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert example is not None
    config = load_gateway_config(write(tmp_path, example[1]))
    assert config.warnings == ()

    def keys(table: dict[str, object]) -> set[str]:
        found = set(table)
        for name, value in table.items():
            inner = value if isinstance(value, list) else [value]
            if name not in ("env", "agents"):
                found |= {key for one in inner if isinstance(one, dict) for key in keys(one)}
        return found

    used = keys(tomllib.loads(WHOLE)) - {"codex", "other", "ada", "bob"}
    assert used <= set(re.findall(r"[a-z_]+", text))
