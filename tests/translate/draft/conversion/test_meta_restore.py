"""What only a second bridge reads is left out where there is none."""

from typing import Any

import pytest

from accord.translate.draft.conversion.capabilities import (
    offered_in_draft,
    path_in_draft,
    required_in_draft,
)
from accord.translate.draft.conversion.meta_restore import without_notes

M = "acp.draft/2026-02"


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ({"a": 1, "_meta": {M: {"made": True}}}, {"a": 1}),
        ({"_meta": {M: {"made": True, "title": "t"}}}, {"_meta": {M: {"title": "t"}}}),
        ({"_meta": {M: {"made": True}, "x": 1}}, {"_meta": {"x": 1}}),
        ({"_meta": {"x": 1}}, {"_meta": {"x": 1}}),
        ({"_meta": 3}, {"_meta": 3}),
        ({"a": [{"b": {"_meta": {M: {"noId": True}}}}]}, {"a": [{"b": {}}]}),
        ("text", "text"),
    ],
)
def test_notes_are_left_out_everywhere(value: Any, left: Any) -> None:
    assert without_notes(value) == left


def test_required_capabilities_have_the_drafts_names() -> None:
    assert required_in_draft(["fs.readTextFile", "fs.writeTextFile", "terminal", "auth"]) == {
        "fs": {"read": True, "write": True},
        "terminal": {"create": True},
    }
    assert [path_in_draft(one) for one in ("terminal", "_meta.a", "auth")] == [
        "terminal.create",
        "_custom.a",
        "auth",
    ]


def test_official_capabilities_in_the_drafts_names() -> None:
    assert offered_in_draft({"fs": {"readTextFile": True}, "terminal": True}) == {
        "fs": {"read": True, "write": False},
        "terminal": {"create": True},
    }
