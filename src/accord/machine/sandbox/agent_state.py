"""Where known agents keep their logins and sessions, so that they work in a sandbox.

Must not know what a sandbox is made of.  An agent that is not in the table, and that keeps
something in the home, needs `writable` in the configuration.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final, NamedTuple


class AgentState(NamedTuple):
    """Paths of one agent, relative to the home.

    `settings` are in `writable`.  The agent obeys them, also outside of a sandbox: they name
    programs that it starts.
    """

    writable: tuple[str, ...]
    settings: tuple[str, ...] = ()


def _of(writable: str, settings: str = "") -> AgentState:
    return AgentState(tuple(writable.split()), tuple(settings.split()))


_CODEX = _of(
    ".codex",
    ".codex/config.toml .codex/AGENTS.md .codex/rules .codex/skills .codex/prompts"
    " .codex/hooks.json .codex/managed_config.toml .codex/plugins",
)
_CLAUDE = _of(
    ".claude .claude.json",
    ".claude/settings.json .claude/settings.local.json .claude/CLAUDE.md .claude/agents"
    " .claude/commands .claude/skills .claude/hooks .claude/plugins .claude/output-styles",
)
_GEMINI = _of(
    ".gemini",
    ".gemini/settings.json .gemini/GEMINI.md .gemini/commands .gemini/extensions .gemini/policies"
    " .gemini/skills .gemini/hooks .gemini/.env",
)
_QWEN = _of(".qwen", ".qwen/settings.json .qwen/QWEN.md .qwen/commands .qwen/extensions .qwen/.env")
_GOOSE = _of(
    ".config/goose .local/share/goose .local/state/goose",
    ".config/goose/config.yaml .config/goose/recipes .config/goose/.goosehints",
)
_OPENCODE = _of(
    ".config/opencode .local/share/opencode .local/state/opencode .cache/opencode",
    ".config/opencode",
)
_CURSOR = _of(".cursor .config/cursor", ".cursor/mcp.json .cursor/hooks.json .cursor/rules")
_COPILOT = _of(".copilot", ".copilot/config.json .copilot/mcp-config.json .copilot/agents")

STATE: Final = {
    "codex": _CODEX,
    "codex-acp": _CODEX,
    "claude": _CLAUDE,
    "claude-code-acp": _CLAUDE,
    "claude-agent-acp": _CLAUDE,
    "claude-code": _CLAUDE,
    "gemini": _GEMINI,
    "gemini-cli": _GEMINI,
    "qwen": _QWEN,
    "qwen-code": _QWEN,
    "goose": _GOOSE,
    "opencode": _OPENCODE,
    "cursor-agent": _CURSOR,
    "cursor-agent-acp": _CURSOR,
    "copilot": _COPILOT,
    "auggie": _of(".augment", ".augment/settings.json .augment/rules .augment/commands"),
    "kimi": _of(".kimi", ".kimi/config.toml .kimi/mcp.json"),
    "vibe-acp": _of(".vibe", ".vibe/config.toml .vibe/.env .vibe/agents .vibe/tools"),
    "droid": _of(".factory", ".factory/settings.json .factory/mcp.json .factory/commands"),
    "openhands": _of(".openhands", ".openhands/settings.json .openhands/mcp.json"),
    "stakpak": _of(".stakpak", ".stakpak/config.toml"),
    "fast-agent-acp": _of(".fast-agent", ".fast-agent/fastagent.config.yaml"),
}
"""Known agents, by the name of their program or package."""

_STARTERS = re.compile(r"python[\d.]*|node|npm|npx|pnpm|bunx?|deno|uvx?|pipx|env")
_VERBS = frozenset({"run", "tool", "exec", "x", "dlx"})
_SUFFIX = re.compile(r"\.(js|mjs|cjs|ts|py|sh)$")


def state_of(command: Sequence[str]) -> AgentState:
    """What the agent of a command keeps in the home; empty for an unknown one."""
    for name in _names(command):
        if name in STATE:
            return STATE[name]
    return AgentState(())


def _names(command: Sequence[str]) -> list[str]:
    """The names that a command goes by: its program, or what a launcher such as npx starts."""
    words = list(command)
    while words and (
        _STARTERS.fullmatch(os.path.basename(words[0]))
        or words[0].startswith("-")
        or words[0] in _VERBS
    ):
        del words[0]
    if not words:
        return []
    # A script is known by the package that it lies in, a package without its version.
    parts = [_SUFFIX.sub("", part) for part in words[0].split("/")]
    return [part.partition("@")[0] for part in reversed(parts)]
