"""Tool calls, their content, and terminals."""

from typing import Any

import pytest

from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, Raw, UnknownVariant


def read(union: Any, raw: bytes) -> Any:
    """Read a member of a union, which type checkers do not take for a class."""
    return decode(union, raw)


def call(fields: bytes) -> v2.ToolCallUpdate:
    """Read a tool call update with these fields."""
    raw = b'{"sessionUpdate":"tool_call_update","toolCallId":"c",' + fields + b"}"
    value = read(v2.SessionUpdate, raw)
    assert isinstance(value, v2.ToolCallUpdate)
    return value


@pytest.mark.parametrize("field", ["name", "title", "kind", "status", "content", "locations"])
def test_patch_fields_keep_three_states_apart(field: str) -> None:
    """V2-UPS-07: absent, null, malformed (as if absent)."""
    key = field.encode()
    assert getattr(call(b'"_x":1'), field) is UNSET
    assert getattr(call(b'"%s":null' % key), field) is None
    assert getattr(call(b'"%s":{}' % key), field) is UNSET


@pytest.mark.rule("V2-UPS-10")
def test_unknown_kinds_and_statuses_stay_words() -> None:
    """V2-UPS-10: the reader decides what they mean, so they must arrive."""
    value = call(b'"kind":"_brew","status":"_resting"')
    assert (value.kind, value.status) == ("_brew", "_resting")


@pytest.mark.parametrize("field", ["rawInput", "rawOutput"])
def test_raw_data_is_any_json_and_null_stays_distinguishable(field: str) -> None:
    """The schema: any value, and a patch field, so null clears and absence keeps."""
    name = "raw_input" if field == "rawInput" else "raw_output"
    for text in (b"null", b"[1e400]", b'{"a":1}', b'"x"', b"0"):
        value = getattr(call(b'"%s":%s' % (field.encode(), text)), name)
        assert isinstance(value, Raw)
        assert bytes(value) == text
    assert getattr(call(b'"title":"t"'), name) is UNSET


@pytest.mark.parametrize("text", [b"true", b"[]", b'"cancel"', b"null"])
def test_malformed_capabilities_are_no_controls(text: bytes) -> None:
    """Contradiction 39: not "unchanged", which would leave a button that may be wrong."""
    assert call(b'"capabilities":' + text).capabilities is None
    terminal = read(
        v2.SessionUpdate,
        b'{"sessionUpdate":"terminal_update","terminalId":"t","capabilities":%s}' % text,
    )
    assert terminal.capabilities is None


def test_a_malformed_control_is_no_control() -> None:
    """The schema: malformed markers count as absent."""
    value = call(b'"capabilities":{"cancel":true}')
    assert value.capabilities == v2.ToolCallCapabilities()
    assert call(b'"capabilities":{"cancel":{}}').capabilities == v2.ToolCallCapabilities(
        cancel=v2.ToolCallCancelCapabilities()
    )


def test_a_strict_reader_refuses_malformed_capabilities() -> None:
    """Ours: strict mode tolerates nothing."""
    with pytest.raises(Invalid):
        decode(v2.ToolCallPatch, b'{"toolCallId":"c","capabilities":5}', strict=True)


@pytest.mark.parametrize("line", [b"0", b"-1", b"4294967296", b'"1"'])
def test_a_line_that_cannot_be_is_dropped_and_the_place_kept(line: bytes) -> None:
    """V2-UPS-22: lines count from one; early drafts sent 0."""
    value = call(b'"locations":[{"path":"/a","line":%s},{"line":3}]' % line)
    assert value.locations == [v2.ToolCallLocation(path="/a")]


def test_a_relative_path_that_is_only_shown_is_kept() -> None:
    """Ours: refusing it would lose the whole tool call."""
    assert call(b'"locations":[{"path":"a.py","line":1}]').locations == [
        v2.ToolCallLocation(path="a.py", line=1)
    ]


@pytest.mark.parametrize("name", ["add", "delete", "modify", "move", "copy"])
@pytest.mark.rule("V2-UPS-21")
def test_changes_of_files_round_trip(name: str) -> None:
    """V2-UPS-21: moving and copying name the old path."""
    old = b',"oldPath":"/b"' if name in ("move", "copy") else b""
    raw = b'{"operation":"%s","path":"/a","fileType":"text"%s}' % (name.encode(), old)
    assert encode(read(v2.DiffChange, raw)) == raw


def test_a_diff_needs_changes() -> None:
    """V2-UPS-18: they are the truth; bad ones are dropped, unknown ones kept."""
    for raw in (b'{"type":"diff"}', b'{"type":"diff","changes":5}'):
        with pytest.raises(Invalid):
            decode(v2.Diff, raw)
    value = decode(
        v2.Diff,
        b'{"type":"diff","changes":[{"operation":"move","path":"/a"},{"operation":"_x"}],"patch":7}',
    )
    assert value == v2.Diff(
        changes=[UnknownVariant("operation", "_x", b'{"operation":"_x"}')],
    )


def test_a_diff_of_the_first_drafts_is_read() -> None:
    """Early draft: one path with its old and its new text; null is "there was no file"."""
    notes: list[str] = []
    value = decode(
        v2.Diff, b'{"type":"diff","path":"/a","oldText":null,"newText":"b"}', notes=notes
    )
    assert value == v2.Diff(changes=[], path="/a", old_text=None, new_text="b")
    assert notes == ["missing, read as empty (at $.changes)"]
    with pytest.raises(Invalid, match="changes"):
        decode(v2.Diff, b'{"type":"diff","path":"/a","newText":"b"}', strict=True)


@pytest.mark.rule("V2-UPS-17")
def test_an_empty_exit_status_is_an_exit() -> None:
    """V2-UPS-17: and so is one whose details are malformed."""
    for text in (b"{}", b'{"exitCode":"x","signal":9}'):
        raw = b'{"sessionUpdate":"terminal_update","terminalId":"t","exitStatus":%s}' % text
        value = read(v2.SessionUpdate, raw)
        assert value.exit_status == v2.TerminalExitStatus()


def test_terminal_bytes_are_decoded_chunk_by_chunk() -> None:
    """V2-UPS-15: half a character is a chunk like any other, also without its padding."""
    for text in (b"w6Q=", b"w6Q", b"w6\\nQ="):
        raw = b'{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"%s"}' % text
        value = read(v2.SessionUpdate, raw)
        assert value.data == b"\xc3\xa4"
    with pytest.raises(Invalid, match="base64"):
        decode(v2.TerminalOutput, b'{"data":"?"}')


@pytest.mark.parametrize(("cols", "rows"), [(b"0", b"1"), (b"1", b"65536"), (b"1.5", b"1")])
def test_a_terminal_size_that_cannot_be_is_ignored(cols: bytes, rows: bytes) -> None:
    """The schema: 1 to 65535 each, and default on error."""
    value = read(
        v2.SessionUpdate,
        b'{"sessionUpdate":"terminal_update","terminalId":"t","size":{"cols":%s,"rows":%s}}'
        % (cols, rows),
    )
    assert value == v2.TerminalUpdate(terminal_id="t")
