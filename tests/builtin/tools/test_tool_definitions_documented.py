"""The page about the tools says what the tools and modes are."""

import re
from pathlib import Path

from accord.builtin.modes import MODES, decision
from accord.builtin.tools.tool_definitions import TOOLS

PAGE = (Path(__file__).parents[3] / "docs/reference/agent-tools.md").read_text(encoding="utf-8")
WORDS = {"allow": "yes", "ask": "asks", "refuse": "no"}


def test_every_tool_is_on_the_page_with_its_kind() -> None:
    """A tool that is not documented is one that nobody knows of."""
    tools, _, _ = PAGE.partition("## Modes")
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", tools, re.MULTILINE)
    assert rows == [(spec.name, spec.kind) for spec in TOOLS]


def test_every_mode_is_on_the_page_with_what_it_does() -> None:
    """The table is the policy's."""
    rows = re.findall(
        r"^\| `([\w-]+)`[^|]*\| (\w+) \| (\w+) \| (\w+) \| (\w+) \|$", PAGE, re.MULTILINE
    )
    assert {row[0]: row[1:] for row in rows} == {
        mode.mode_id: tuple(
            WORDS[decision(mode.mode_id, kind)] for kind in ("read", "edit", "execute", "fetch")
        )
        for mode in MODES
    }
    for mode in MODES:
        assert decision(mode.mode_id, "other") == decision(mode.mode_id, "execute")
