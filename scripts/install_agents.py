"""Installs real agents, at pinned versions, for `tests/interop/agents`.

    python scripts/install_agents.py [codex-acp] [goose] [opencode] [qwen-code] [fast-agent]

Without names: all that can be installed here.  They go to `.venvs/agents/NAME` and take 200 to 460
MB each; an agent that is there at its version is left alone.  Nothing is started.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AGENTS = ROOT / ".venvs" / "agents"
SECONDS_MAX = 1200


@dataclass(frozen=True)
class Agent:
    """One agent: a package of npm or of PyPI."""

    name: str
    package: str
    version: str
    program: str
    python: str | None = None

    @property
    def folder(self) -> Path:
        """Where it is installed."""
        return AGENTS / self.name

    @property
    def path(self) -> Path:
        if self.python is not None:
            return self.folder / "bin" / self.program
        return self.folder / "node_modules" / ".bin" / self.program

    @property
    def mark(self) -> Path:
        """Says which version is there, once all of it is."""
        return self.folder / ".installed"

    @property
    def is_installed(self) -> bool:
        """Whether this version is there."""
        return self.mark.is_file() and self.mark.read_text() == self.version


KNOWN = (
    Agent("codex-acp", "@agentclientprotocol/codex-acp", "2.6.0", "codex-acp"),
    Agent("goose", "@aaif/goose-acp", "1.50.0", "goose"),
    Agent("opencode", "opencode-ai", "1.18.33", "opencode"),
    Agent("qwen-code", "@qwen-code/qwen-code", "0.15.10", "qwen"),
    Agent("fast-agent", "fast-agent-acp", "0.10.46", "fast-agent-acp", python="3.12"),
)


def command(agent: Agent) -> list[list[str]] | str:
    """How to install it, or why that cannot be."""
    if agent.python is None:
        npm = shutil.which("npm")
        if npm is None:
            return "npm is not installed"
        what = f"{agent.package}@{agent.version}"
        options = ["--no-audit", "--no-fund", "--no-save", "--loglevel=error"]
        return [[npm, "install", "--prefix", str(agent.folder), *options, what]]
    python = next((found for found in _pythons(agent.python) if _works(found)), None)
    if python is None:
        return f"Python {agent.python} is not installed"
    what = f"{agent.package}=={agent.version}"
    return [
        [python, "-m", "venv", str(agent.folder)],
        [str(agent.folder / "bin" / "python"), "-m", "pip", "install", "-qq", what],
    ]


def _pythons(version: str) -> list[str]:
    named = shutil.which(f"python{version}")
    managed = Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")
    return [*([named] if named else []), *map(str, managed)]


def _works(python: str) -> bool:
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def install(agent: Agent) -> bool:
    """Install one; whether it is there."""
    if agent.is_installed:
        print(f"{agent.name} {agent.version}: there already")
        return True
    steps = command(agent)
    if isinstance(steps, str):
        print(f"{agent.name}: left out, {steps}")
        return False
    shutil.rmtree(agent.folder, ignore_errors=True)
    agent.folder.mkdir(parents=True)
    for step in steps:
        done = subprocess.run(step, check=False, timeout=SECONDS_MAX)
        if done.returncode != 0:
            print(f"{agent.name}: failed, {step[0]} ended with {done.returncode}")
            return False
    agent.mark.write_text(agent.version)
    print(f"{agent.name} {agent.version}: installed")
    return True


def main(names: list[str]) -> int:
    """Install those that are named, or all."""
    by_name = {agent.name: agent for agent in KNOWN}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        print(f"there is no agent {unknown[0]}; there are {', '.join(by_name)}")
        return 2
    results = [install(by_name[name]) for name in names or by_name]
    return 0 if all(results) or not names else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
