"""Real agents, each set up in a fresh home with a model that is none.

`scripts/install_agents.py` installs them; one that is not there is skipped with a sentence.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
AGENTS = ROOT / ".venvs" / "agents"


@dataclass(frozen=True)
class Peer:
    """One agent.

    `makes` is what its model is told so that a file `made.txt` comes to be, `allow` the kinds that
    this needs; without them it is denied.  `mcp_tool` is its model's name for the tool `echo` of an
    MCP server `everything`.
    """

    name: str
    program: Path
    args: tuple[str, ...] = ()
    env: Callable[[str, Path], dict[str, str]] = field(default=lambda url, home: {})
    makes: str = ""
    allow: str = ""
    mcp_tool: str = ""
    cancelled_in_seconds: float = 20.0

    @property
    def missing(self) -> str | None:
        """Why it cannot be run, if it cannot."""
        if self.program.is_file():
            return None
        return f"{self.name} is not installed; `python scripts/install_agents.py {self.name}` does"


class Bench:
    """A home and a project for one agent, and `accord run` over it."""

    def __init__(self, peer: Peer, folder: Path, url: str) -> None:
        self.peer = peer
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        keep = ("PATH", "LANG", "LC_ALL", "TMPDIR")
        self.env = {name: os.environ[name] for name in keep if name in os.environ} | {
            "HOME": str(self.home),
            "TERM": "dumb",
            "NO_COLOR": "1",
            "ACCORD_CONFIG_DIR": str(folder / "config"),
            "ACCORD_STATE_DIR": str(folder / "state"),
            **peer.env(url, self.home),
        }

    def run(
        self, prompt: str, *flags: str, timeout: float = 90
    ) -> subprocess.CompletedProcess[str]:
        """`accord run` with the agent, in the project."""
        command = [str(self.peer.program), *self.peer.args]
        return subprocess.run(
            [sys.executable, "-m", "accord", "run", prompt, *flags, "--", *command],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            start_new_session=True,
        )


# ---- how each is told of its model


def _codex(url: str, home: Path) -> dict[str, str]:
    folder = home / "codex"
    folder.mkdir()
    (folder / "config.toml").write_text(
        'model = "fake-model"\nmodel_provider = "fake"\napproval_policy = "on-request"\n'
        f'[model_providers.fake]\nname = "fake"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
        'env_key = "OPENAI_API_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
    )
    return {
        "CODEX_HOME": str(folder),
        "OPENAI_API_KEY": "fake",
        "NO_BROWSER": "1",
        "INITIAL_AGENT_MODE": "read-only",
    }


def _goose(url: str, home: Path) -> dict[str, str]:
    return {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "fake-model",
        "OPENAI_HOST": url,
        "OPENAI_API_KEY": "fake",
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_MODE": "approve",
    }


def _opencode(url: str, home: Path) -> dict[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "fake"},
        "models": {"fake-model": {"name": "fake"}},
    }
    config = {
        "provider": {"fake": provider},
        "model": "fake/fake-model",
        "small_model": "fake/fake-model",
        "permission": {"edit": "ask", "bash": "ask"},
    }
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text(json.dumps(config))
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    return {f"OPENCODE_DISABLE_{name}": "1" for name in off}


def _qwen(url: str, home: Path) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "fake",
        "OPENAI_MODEL": "fake-model",
    }


def _fast_agent(url: str, home: Path) -> dict[str, str]:
    return {"GENERIC_BASE_URL": f"{url}/v1", "GENERIC_API_KEY": "fake"}


# ---- what each one's model calls its tools


def _call(tool: str, **arguments: object) -> str:
    return f"[[tool {tool} {json.dumps(arguments)}]]"


PEERS = (
    Peer(
        "codex-acp",
        AGENTS / "codex-acp/node_modules/.bin/codex-acp",
        env=_codex,
        makes=_call(
            "exec_command",
            cmd="echo hi > made.txt",
            sandbox_permissions="require_escalated",
            justification="a test",
        ),
        allow="execute",
        mcp_tool="echo",
    ),
    Peer(
        "goose",
        AGENTS / "goose/node_modules/.bin/goose",
        ("acp",),
        env=_goose,
        makes=_call("write", path="made.txt", content="hi"),
        allow="other,edit",
        mcp_tool="everything__echo",
    ),
    Peer(
        "opencode",
        AGENTS / "opencode/node_modules/.bin/opencode",
        ("acp",),
        env=_opencode,
        makes=_call("bash", command="echo hi > made.txt", description="a test"),
        allow="execute",
        mcp_tool="everything_echo",
    ),
    Peer(
        "qwen-code",
        AGENTS / "qwen-code/node_modules/.bin/qwen",
        ("--acp",),
        env=_qwen,
        makes=_call("run_shell_command", command="echo hi > made.txt", is_background=False),
        allow="execute",
        mcp_tool="mcp__everything__echo",
    ),
    Peer(
        "fast-agent",
        AGENTS / "fast-agent/bin/fast-agent",
        ("acp", "--model", "generic.fake-model", "-x"),
        env=_fast_agent,
        makes=_call("execute", command="echo hi > made.txt"),
        allow="execute",
        mcp_tool="everything__echo",
    ),
)
