"""Which programs clients may have started as MCP servers."""

from __future__ import annotations

import pytest

from accord.gateway.configuration.agent_settings import StdioMcpRule

LISTED = StdioMcpRule(commands=frozenset({("mcp-server-git", "--repo", "/srv")}))
GIT = ["mcp-server-git", "--repo", "/srv"]


@pytest.mark.parametrize(
    ("rule", "command", "env", "expected"),
    [
        (StdioMcpRule(), GIT, {}, False),
        (StdioMcpRule(any=True), ["sh", "-c", "x"], {"A": "b"}, True),
        (LISTED, GIT, {}, True),
        (LISTED, [*GIT, "--more"], {}, False),
        (LISTED, GIT[:1], {}, False),
        (LISTED, ["./mcp-server-git", *GIT[1:]], {}, False),
        (LISTED, GIT, {"LD_PRELOAD": "/tmp/x.so"}, False),
    ],
)
def test_a_program_is_allowed_word_by_word(
    rule: StdioMcpRule, command: list[str], env: dict[str, str], expected: bool
) -> None:
    """Issue 17: refused by default when hosting; research, 3, threat 2."""
    assert rule.allows(command, env) is expected
