"""How a chat begins, and what its agent is called before it has told its name."""

from __future__ import annotations

import pytest

from accord.terminal.engine.orders import Order


@pytest.mark.parametrize(
    ("command", "label"),
    [
        ("/usr/bin/goose acp", "goose"),
        ("python3.12 agents/mine.py --fast", "mine.py"),
        ("python -m accord agent", "accord"),
        ("npx -y @zed-industries/claude-code-acp", "claude-code-acp"),
        ("uv run my-agent", "my-agent"),
        ("node", "node"),
    ],
)
def test_an_agent_is_called_by_its_own_program(command: str, label: str) -> None:
    """Ours: "Starting python" says nothing."""
    assert Order(command=tuple(command.split())).label == label
    assert Order(command=("python", "x.py"), name="mine").label == "mine"
