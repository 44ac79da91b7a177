"""The events of `accord run --format json`, one by one."""

from accord.cli.run.json_events import tool_call_event, without_nulls
from accord.transcript.items.tool_call import Location, ToolCall


def test_a_place_has_its_columns_and_its_range() -> None:
    """Issue 15: an agent of the draft says more than the line."""
    call = ToolCall("c")
    call.replace_locations([Location("/a", 2, 3, 4, 1), Location("/b")])
    assert without_nulls(tool_call_event(call))["locations"] == [
        {"path": "/a", "line": 2, "column": 3, "endLine": 4, "endColumn": 1},
        {"path": "/b"},
    ]
