"""Which agents are known by their commands."""

from __future__ import annotations

import pytest

from accord.machine.sandbox.agent_state import STATE, state_of


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("codex-acp",), "codex-acp"),
        (("/home/me/.local/bin/claude",), "claude"),
        (("npx", "-y", "@zed-industries/codex-acp@0.1.2"), "codex-acp"),
        (("npx", "@agentclientprotocol/claude-agent-acp"), "claude-agent-acp"),
        (("node", "/opt/claude-code-acp/dist/index.js"), "claude-code-acp"),
        (("goose", "acp"), "goose"),
        (("uvx", "fast-agent-acp"), "fast-agent-acp"),
        (("gemini", "--acp"), "gemini"),
    ],
)
def test_a_known_agent_is_recognised(command: tuple[str, ...], name: str) -> None:
    """Ours: these agents work in a sandbox without settings."""
    assert state_of(command) is STATE[name]


@pytest.mark.parametrize(
    "command", [("my-agent", "--like", "claude"), ("python", "agent.py"), ("npx",), ("node", "-v")]
)
def test_other_agents_have_no_state(command: tuple[str, ...]) -> None:
    """Ours: an argument does not open somebody else's folders."""
    assert state_of(command).writable == ()


def test_settings_lie_in_what_is_writable() -> None:
    """Ours: only then is there something to keep from being written."""
    for name, state in STATE.items():
        for path in state.settings:
            assert any(path == one or path.startswith(f"{one}/") for one in state.writable), name
