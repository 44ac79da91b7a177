"""The configuration: what it says, and what it says wrongly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from accord.configuration.config_file import AgentEntry, Config, load_config
from accord.configuration.toml_table import FILE_BYTES_MAX
from accord.errors import ConfigError

WHOLE = """
agent = "codex"

[agents.codex]
command = "codex-acp --fast 'two words'"
env = { OPENAI_API_KEY = "sk-secret" }
cwd = "/tmp"

[agents.other]
command = ["other"]

[mcp_servers.files]
command = "npx"
args = ["-y", "server"]
env = { TOKEN = "hidden" }

[mcp_servers.web]
url = "https://example.org/mcp"
headers = { Authorization = "Bearer hidden" }

[mcp_servers.old]
type = "sse"
url = "https://example.org/sse"

[model]
name = "gpt"
provider = "openai"
base_url = "http://localhost:1/v1"
api_key_env = "MY_KEY"
thinking = "high"
max_tokens = 100
max_requests = 5
context_window = 1000

[permissions]
policy = "mine.toml"
audit = false
audit_bytes_max = 5000

[chat]
theme = "contrast"
follow = true
side_by_side = true
images = "kitty"
bell = true
editor = "code --wait"
quiet_seconds = 30
add_dirs = ["/srv/notes", "~/lib"]
mcp_servers = ["files", "web"]

[chat.keys]
stop = "ctrl+x"
new_tab = ["f9", "alt+t"]
"""


def _load(folder: Path, text: str) -> Config:
    (folder / "config.toml").write_text(text)
    return load_config(folder)


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    """Contract."""
    config = load_config(tmp_path)
    assert config == Config()
    assert config.permissions.audit


def test_the_folder_of_the_user_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contract."""
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path))
    (tmp_path / "config.toml").write_text('[model]\nname = "x"\n')
    assert load_config().model.name == "x"


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    """docs/reference/configuration.md."""
    config = _load(tmp_path, WHOLE)
    assert config.warnings == ()
    assert config.agent == "codex"
    assert config.agents["codex"].command == ("codex-acp", "--fast", "two words")
    assert config.agents["other"] == AgentEntry(command=("other",))
    assert [entry.type for entry in config.mcp_servers.values()] == ["stdio", "http", "sse"]
    assert config.mcp_servers["files"].args == ("-y", "server")
    assert config.model.max_tokens == 100
    assert config.model.thinking == "high"
    assert config.permissions.policy == tmp_path / "mine.toml"
    assert not config.permissions.audit
    assert config.file == tmp_path / "config.toml"
    chat = config.chat
    assert (chat.theme, chat.images, chat.quiet_seconds) == ("contrast", "kitty", 30)
    assert chat.follow
    assert chat.side_by_side
    assert chat.bell
    assert chat.editor == ("code", "--wait")
    assert chat.add_dirs == ("/srv/notes", str(Path.home() / "lib"))
    assert chat.mcp_servers == ("files", "web")
    assert chat.keys == {"stop": ("ctrl+x",), "new_tab": ("f9", "alt+t")}


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    """Ours: a configuration may end up in a log."""
    shown = repr(_load(tmp_path, WHOLE))
    assert "hidden" not in shown
    assert "sk-secret" not in shown


def test_unknown_keys_are_warnings(tmp_path: Path) -> None:
    """Contract: a newer version may know them."""
    config = _load(tmp_path, 'colour = "red"\n[agents.a]\ncommand = "a"\nspeed = 5\n[model]\nx = 1')
    assert [warning.split(": ")[1].split()[0] for warning in config.warnings] == [
        "colour",
        "agents.a.speed",
        "model.x",
    ]


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("agent = 5", "agent", "must be text"),
        ('agent = "x"', "agent", "must be the name of one of the agents (none)"),
        ("agents = 5", "agents", "must be a table"),
        ('[chat]\ntheme = "pink"', "chat.theme", "one of auto, dark, light, contrast, none"),
        ('[chat]\nimages = "big"', "chat.images", "one of auto, none, kitty, sixel"),
        ("[chat]\nquiet_seconds = 0", "chat.quiet_seconds", "a whole number, 1 or more"),
        ('[chat]\nadd_dirs = ["lib"]', "chat.add_dirs", "must be absolute paths"),
        ('[chat]\nmcp_servers = ["x"]', "chat.mcp_servers", "names of mcp_servers (none)"),
        ("[chat]\nkeys = 5", "chat.keys", "must be a table"),
        ("[chat.keys]\nstop = 5", "chat.keys.stop", "must be text, or a list of texts"),
        ("[chat.keys]\nstop = [5]", "chat.keys.stop", "must be text, or a list of texts"),
        ("[agents.a]", "agents.a.command", "is missing"),
        ('[agents.a]\ncommand = ""', "agents.a.command", "at least the name of a program"),
        ("[agents.a]\ncommand = []", "agents.a.command", "at least the name of a program"),
        ("[agents.a]\ncommand = [5]", "agents.a.command", "must be a list of texts"),
        ('[agents.a]\ncommand = "\'"', "agents.a.command", "cannot be split"),
        ("[agents.a]\ncommand='a'\nenv.K = 5", "agents.a.env.K", "must be text"),
        ("[mcp_servers.a]", "mcp_servers.a.command", "either a command or a url"),
        (
            "[mcp_servers.a]\ncommand='a'\nurl='b'",
            "mcp_servers.a.command",
            "either a command or a url",
        ),
        ("[mcp_servers.a]\ncommand='a'\ntype='http'", "mcp_servers.a.type", "has a command"),
        ("[mcp_servers.a]\nurl='a'\ntype='stdio'", "mcp_servers.a.type", "has a url"),
        ("[mcp_servers.a]\nurl='a'\ntype='x'", "mcp_servers.a.type", "one of stdio, http, sse"),
        ("[model]\nname = ' '", "model.name", "must not be empty"),
        ("[model]\nmax_tokens = 0", "model.max_tokens", "1 or more"),
        ("[model]\nmax_tokens = true", "model.max_tokens", "1 or more"),
        ("[model]\nthinking = 'wild'", "model.thinking", "off, low, medium, high"),
        ("[permissions]\naudit = 'no'", "permissions.audit", "true or false"),
        ("[permissions]\naudit_bytes_max = 1", "permissions.audit_bytes_max", "4096 or more"),
    ],
)
def test_a_wrong_value_names_file_key_and_what_may_be(
    tmp_path: Path, text: str, key: str, said: str
) -> None:
    """Contract: ConfigError."""
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text)
    assert caught.value.key == key
    assert caught.value.file == str(tmp_path / "config.toml")
    assert str(caught.value).startswith(f"{tmp_path / 'config.toml'}: {key}: ")
    assert said in str(caught.value)


@pytest.mark.parametrize("data", [b"a = ", b"\xff", b"a = 1\n" + b"#" * FILE_BYTES_MAX])
def test_what_is_no_toml_is_said_so(tmp_path: Path, data: bytes) -> None:
    """Contract: the file is named."""
    (tmp_path / "config.toml").write_bytes(data)
    with pytest.raises(ConfigError, match=r"config\.toml: (not valid TOML|larger)"):
        load_config(tmp_path)


def test_a_file_that_cannot_be_read_is_said_so(tmp_path: Path) -> None:
    """Ours."""
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError, match=r"config\.toml: Is a directory"):
        load_config(tmp_path)


def test_paths_of_the_sandbox_are_read(tmp_path: Path) -> None:
    """Issue 17: what agents in a sandbox may read and write."""
    (tmp_path / "config.toml").write_text(
        '[sandbox]\nwritable = ["~/.cache/pip", ".venv"]\nreadable = ["/srv/data"]\n'
    )
    sandbox = load_config(tmp_path).sandbox
    assert sandbox.writable == ("~/.cache/pip", ".venv")
    assert sandbox.readable == ("/srv/data",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('readable = ["data"]', "sandbox.readable: must be absolute paths, or begin with ~"),
        ('writable = ["../x"]', "sandbox.writable: must be paths without `..`"),
        ('writable = [""]', "sandbox.writable: must be paths without `..`"),
    ],
)
def test_wrong_paths_of_the_sandbox_are_errors(tmp_path: Path, line: str, said: str) -> None:
    """Ours: a path that means something else in each folder is a mistake."""
    (tmp_path / "config.toml").write_text(f"[sandbox]\n{line}\n")
    with pytest.raises(ConfigError, match=re.escape(said)):
        load_config(tmp_path)
