"""The stream of updates: three states of a patch field, and how bad parts are read."""

from typing import Any

import pytest

from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode, native
from accord.schema.struct import UNSET, UnknownVariant

TEXT = b'{"type":"text","text":"x"}'
BLOCK = v2.TextContent(text="x")


def update(raw: bytes, notes: list[str] | None = None) -> Any:
    """Read one update, the way it arrives."""
    whole = b'{"sessionId":"s","update":' + raw + b"}"
    return decode(v2.UpdateSessionNotification, whole, notes=notes).update


UPDATES: dict[str, tuple[bytes, Any]] = {
    "user_message_chunk": (
        b'"messageId":"m","content":' + TEXT,
        v2.UserMessageChunk(message_id="m", content=BLOCK),
    ),
    "user_message": (b'"messageId":"m"', v2.UserMessage(message_id="m")),
    "agent_message_chunk": (
        b'"messageId":"m","content":' + TEXT,
        v2.AgentMessageChunk(message_id="m", content=BLOCK),
    ),
    "agent_message": (b'"messageId":"m"', v2.AgentMessage(message_id="m")),
    "agent_thought_chunk": (
        b'"messageId":"m","content":' + TEXT,
        v2.AgentThoughtChunk(message_id="m", content=BLOCK),
    ),
    "agent_thought": (b'"messageId":"m"', v2.AgentThought(message_id="m")),
    "state_update": (b'"state":"idle"', v2.StateUpdate(state="idle")),
    "tool_call_content_chunk": (
        b'"toolCallId":"c","content":{"type":"terminal","terminalId":"t"}',
        v2.ToolCallContentChunk(tool_call_id="c", content=v2.Terminal(terminal_id="t")),
    ),
    "tool_call_update": (b'"toolCallId":"c"', v2.ToolCallUpdate(tool_call_id="c")),
    "terminal_update": (b'"terminalId":"t"', v2.TerminalUpdate(terminal_id="t")),
    "terminal_output_chunk": (
        b'"terminalId":"t","data":"/w=="',
        v2.TerminalOutputChunk(terminal_id="t", data=b"\xff"),
    ),
    "plan_update": (
        b'"plan":{"type":"items","planId":"p","entries":[]}',
        v2.PlanUpdate(plan=v2.PlanItems(plan_id="p", entries=[])),
    ),
    "plan_removed": (b'"planId":"p"', v2.PlanRemoved(plan_id="p")),
    "available_commands_update": (
        b'"availableCommands":[]',
        v2.AvailableCommandsUpdate(available_commands=[]),
    ),
    "config_option_update": (b'"configOptions":[]', v2.ConfigOptionUpdate(config_options=[])),
    "session_info_update": (b'"title":null', v2.SessionInfoUpdate(title=None)),
    "usage_update": (b'"used":1,"size":2', v2.UsageUpdate(used=1, size=2)),
    "notice": (b'"severity":"info","title":"t"', v2.Notice(severity="info", title="t")),
    "compaction_update": (
        b'"compactionId":"c","status":"failed"',
        v2.CompactionUpdate(compaction_id="c", status="failed"),
    ),
    "compaction_summary_chunk": (
        b'"compactionId":"c","content":' + TEXT,
        v2.CompactionSummaryChunk(compaction_id="c", content=BLOCK),
    ),
    "subagent_update": (b'"sessionId":"k"', v2.SubagentUpdate(session_id="k")),
    "session_message": (b'"messageId":"m"', v2.SessionMessage(message_id="m")),
    "session_message_chunk": (
        b'"messageId":"m","content":' + TEXT,
        v2.SessionMessageChunk(message_id="m", content=BLOCK),
    ),
}


@pytest.mark.parametrize("tag", UPDATES)
def test_every_update_is_decoded_natively_and_encodes_back(tag: str) -> None:
    """Ours: good input never meets the slow reader."""
    fields, expected = UPDATES[tag]
    raw = b'{"sessionUpdate":"%s",%s}' % (tag.encode(), fields)
    value = native(v2.SessionUpdate).decode(raw)
    assert value == expected
    assert type(value) is type(expected)
    assert encode(value) == raw


@pytest.mark.parametrize("tag", ["user_message", "agent_message", "agent_thought"])
def test_absent_null_empty_and_given_content_differ(tag: str) -> None:
    """V2-UPS-02: keep, clear, clear, replace; and each goes out as it came in."""
    head = b'{"sessionUpdate":"%s","messageId":"m"' % tag.encode()
    for tail, expected in [
        (b"}", UNSET),
        (b',"content":null}', None),
        (b',"content":[]}', []),
        (b',"content":[' + TEXT + b"]}", [BLOCK]),
    ]:
        value = update(head + tail)
        assert value.content == expected
        assert encode(value) == head + tail


def test_bad_blocks_of_a_message_are_dropped_and_unknown_ones_kept() -> None:
    """The schema: skip invalid items; an unknown type is not an invalid item."""
    notes: list[str] = []
    value = update(
        b'{"sessionUpdate":"agent_message","messageId":"m","content":'
        b'[{"type":"text"},' + TEXT + b',{"type":"_x"},7]}',
        notes,
    )
    assert value.content == [BLOCK, UnknownVariant("type", "_x", b'{"type":"_x"}')]
    assert [note.split(" (at ")[1] for note in notes] == [
        "$.update.content[0].text)",
        "$.update.content[2].type)",
        "$.update.content[3])",
    ]
    assert update(b'{"sessionUpdate":"agent_message","messageId":"m","content":5}').content is UNSET


@pytest.mark.rule("V2-UPS-01")
def test_message_updates_without_a_message_id_are_refused() -> None:
    """V2-UPS-01: required, and never null."""
    for tag in ("user_message", "agent_message_chunk", "session_message"):
        for identifier in (b"", b'"messageId":null,'):
            raw = b'{"sessionUpdate":"%s",%s"content":%s}' % (tag.encode(), identifier, TEXT)
            with pytest.raises(Invalid, match="messageId"):
                update(raw)


def test_a_chunk_with_a_block_of_an_unknown_type_is_kept() -> None:
    """V2-GEN-10 again, one level down: the chunk is known, its block is not."""
    raw = (
        b'{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"_x","n":1e999}}'
    )
    value = update(raw)
    assert isinstance(value, v2.AgentMessageChunk)
    assert encode(value) == raw


def test_cost_has_three_states() -> None:
    """V2-CFG-11: left out keeps it, null clears it."""
    head = b'{"sessionUpdate":"usage_update","used":1,"size":2'
    assert update(head + b"}").cost is UNSET
    assert update(head + b',"cost":null}').cost is None
    assert update(head + b',"cost":{"amount":1,"currency":"credits"}}').cost == v2.Cost(
        amount=1.0, currency="credits"
    )
    assert update(head + b',"cost":7}').cost is UNSET


def test_usage_above_64_bits_is_refused() -> None:
    """The schema: uint64."""
    with pytest.raises(Invalid, match=r"2\*\*64"):
        update(b'{"sessionUpdate":"usage_update","used":1,"size":18446744073709551616}')


def test_a_notice_needs_a_title() -> None:
    """The schema: at least one character."""
    with pytest.raises(Invalid):
        update(b'{"sessionUpdate":"notice","severity":"info","title":""}')


def test_metadata_keeps_absent_null_and_empty_apart() -> None:
    """V2-GEN-12: that is what the patch rule of upserts works on; a malformed one is absent."""
    head = b'{"sessionUpdate":"agent_message"'
    tail = b',"messageId":"m"}'
    for meta in (b"", b',"_meta":null', b',"_meta":{}', b',"_meta":{"a":null,"b":[1e400]}'):
        assert encode(update(head + meta + tail)) == head + meta + tail
    assert update(head + b',"_meta":5' + tail).meta is UNSET


def test_a_compaction_summary_is_patched_like_a_message() -> None:
    """The schema: a whole-array patch field that skips bad items."""
    value = update(
        b'{"sessionUpdate":"compaction_update","compactionId":"c","status":"_odd",'
        b'"summary":[7,' + TEXT + b'],"error":null}'
    )
    assert value == v2.CompactionUpdate(
        compaction_id="c", status="_odd", summary=[BLOCK], error=None
    )


def test_the_roots_of_a_child_session_are_not_tolerated_away() -> None:
    """The schema: `cwd` and `additionalDirectories` of a subagent have no default on error."""
    for fields in (b'"cwd":5', b'"additionalDirectories":[5]'):
        with pytest.raises(Invalid):
            update(b'{"sessionUpdate":"subagent_update","sessionId":"k",' + fields + b"}")
    value = update(
        b'{"sessionUpdate":"subagent_update","sessionId":"k","capabilities":7,"state":null}'
    )
    assert value == v2.SubagentUpdate(session_id="k", capabilities=None, state=None)
