"""Kinds and titles of tools."""

import pytest

from accord.translate.draft.conversion import tool_calls


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("fs/read_text_file", "read"),
        ("fs/write_text_file", "edit"),
        ("fs/delete", "delete"),
        ("terminal/create", "execute"),
        ("web/fetch", "fetch"),
        ("http_get", "fetch"),
        ("search_files", "search"),
        ("grep", "search"),
        ("ponder", "other"),
    ],
)
def test_the_kind_of_a_tool(tool: str, kind: str) -> None:
    """The draft's table 5.1."""
    assert tool_calls.kind_of_tool(tool) == kind


def test_the_title_of_a_tool() -> None:
    """The draft's table 5.1."""
    assert tool_calls.title_of_tool("fs/read", {"path": "/a"}) == "fs/read /a"
    assert tool_calls.title_of_tool("terminal/create", {"path": 1, "command": "ls"}) == (
        "terminal/create ls"
    )
    assert tool_calls.title_of_tool("think", [1]) == "think"
