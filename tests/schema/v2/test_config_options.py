"""Config options, slash commands and plans."""

from typing import Any

import pytest

from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, UnknownVariant


def read(union: Any, raw: bytes) -> Any:
    """Read a member of a union, which type checkers do not take for a class."""
    return decode(union, raw)


FLAT = (
    b'{"type":"select","configId":"c","name":"n","category":"_x","currentValue":"a",'
    b'"options":[{"name":"A","value":"a"}]}'
)
GROUPED = (
    b'{"type":"select","configId":"c","name":"n","currentValue":"a",'
    b'"options":[{"name":"G","groupId":"g","options":[{"value":"a","name":"A"}]}]}'
)
BOOLEAN = b'{"type":"boolean","configId":"c","name":"n","currentValue":false}'


@pytest.mark.parametrize("raw", [FLAT, GROUPED, BOOLEAN])
def test_options_round_trip(raw: bytes) -> None:
    """The schema: values, groups of values, switches."""
    assert encode(read(v2.SessionConfigOption, raw)) == raw


@pytest.mark.parametrize(
    "options",
    [
        b"[]",
        b"[{}]",
        b'[{"name":"A"}]',
        b'[{"name":"G","groupId":"g"}]',
        b'[{"name":"A","value":"a"},{"name":"G","groupId":"g","options":[]}]',
        b'[{"name":"A","value":"a"},{"name":"G","groupId":"g","options":[{"name":"","value":""}]}]',
    ],
)
def test_a_choice_without_sense_is_refused(options: bytes) -> None:
    """V2-CFG-03: at least one value, and values or groups, never both."""
    raw = b'{"type":"select","configId":"c","name":"n","currentValue":"a","options":%s}' % options
    with pytest.raises(Invalid):
        read(v2.SessionConfigOption, raw)


def test_bad_values_of_a_group_are_dropped() -> None:
    """The schema: the list inside a group is tolerant."""
    raw = GROUPED.replace(b'"options":[{"value"', b'"options":[7,{"value"')
    assert encode(read(v2.SessionConfigOption, raw)) == GROUPED


@pytest.mark.rule("V2-CFG-05")
def test_options_of_unknown_type_stay_and_bad_ones_go() -> None:
    """V2-CFG-05: and the list itself must be a list."""
    raw = b'{"configOptions":[%s,{"type":"_slider","n":1},{"type":"boolean"}]}' % BOOLEAN
    value = decode(v2.SetSessionConfigOptionResponse, raw)
    assert value.config_options == [
        v2.SessionConfigBoolean(config_id="c", name="n", current_value=False),
        UnknownVariant("type", "_slider", b'{"type":"_slider","n":1}'),
    ]
    for bad in (b'{"configOptions":null}', b"{}"):
        with pytest.raises(Invalid):
            decode(v2.SetSessionConfigOptionResponse, bad)


def test_setting_an_option_needs_a_type_that_fits_its_value() -> None:
    """V2-CFG-01: v1's form without `type` is refused."""
    head = b'{"sessionId":"s","configId":"c"'
    wanted: Any = v2.SetSessionConfigOptionRequest
    by_id: Any = decode(wanted, head + b',"type":"id","value":"a"}')
    assert by_id == v2.SetSessionConfigIdRequest(session_id="s", config_id="c", value="a")
    switch: Any = decode(wanted, head + b',"type":"boolean","value":true}')
    assert switch == v2.SetSessionConfigBooleanRequest(session_id="s", config_id="c", value=True)
    for tail in (b',"value":"a"}', b',"type":"id","value":true}', b',"type":"id"}'):
        with pytest.raises(Invalid):
            decode(wanted, head + tail)


def test_commands_are_tagged_and_a_missing_tag_is_read_as_command() -> None:
    """V2-CFG-06 on output; on input peers of August 2026 leave `type` out."""
    value = decode(
        v2.AvailableCommandsUpdate,
        b'{"sessionUpdate":"available_commands_update","availableCommands":'
        b'[{"name":"a","description":"b","input":{"hint":"h"}},{"type":"_m","name":"x"},7]}',
    )
    command = v2.Command(name="a", description="b", input=v2.TextCommandInput(hint="h"))
    assert value.available_commands == [
        command,
        UnknownVariant("type", "_m", b'{"type":"_m","name":"x"}'),
    ]
    assert encode(command).startswith(b'{"type":"command",')
    with pytest.raises(Invalid):
        decode(v2.AvailableCommandsUpdate, b'{"availableCommands":null}')


def test_input_of_an_unknown_type_is_kept_and_a_bad_one_dropped() -> None:
    """V2-CFG-07: the command can still be shown."""
    head = b'{"type":"command","name":"a","description":"b","input":'
    kept = read(v2.AvailableCommand, head + b'{"type":"_form"}}')
    assert kept.input == UnknownVariant("type", "_form", b'{"type":"_form"}')
    dropped = read(v2.AvailableCommand, head + b'{"type":"text"}}')
    assert dropped.input is UNSET


@pytest.mark.parametrize(
    ("wanted", "fields"),
    [
        (v2.PlanItems, b'"type":"items","entries":[]'),
        (v2.PlanFile, b'"type":"file","uri":"file:///a"'),
        (v2.PlanMarkdown, b'"type":"markdown","content":"x"'),
        (v2.PlanRemoved, b'"sessionUpdate":"plan_removed"'),
    ],
)
@pytest.mark.rule("V2-CFG-08")
def test_the_id_of_a_plan_has_an_older_name(wanted: Any, fields: bytes) -> None:
    """V2-CFG-08: `planId`; the first drafts wrote `id`, which is read and never sent."""
    old = decode(wanted, b'{"id":"p",' + fields + b"}")
    new = decode(wanted, b'{"planId":"p",' + fields + b"}")
    assert old == new
    assert b'"planId":"p"' in encode(old)
    with pytest.raises(Invalid, match="planId"):
        decode(wanted, b"{" + fields + b"}")


def test_bad_entries_of_a_plan_are_dropped_and_a_bad_list_is_an_error() -> None:
    """The schema: the items are tolerant, the list is not."""
    entry = b'{"content":"c","priority":"_p","status":"cancelled"}'
    value = read(v2.PlanUpdateContent, b'{"type":"items","planId":"p","entries":[7,%s]}' % entry)
    assert value.entries == [v2.PlanEntry(content="c", priority="_p", status="cancelled")]
    with pytest.raises(Invalid):
        read(v2.PlanUpdateContent, b'{"type":"items","planId":"p","entries":null}')
