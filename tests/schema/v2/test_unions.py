"""Every tagged union of v2 is open: an unknown member is kept whole, a known one is checked."""

from typing import Any

import pytest

from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UnknownVariant

# Union, its tag field, and a known tag with a payload that is not good enough.


def read(union: Any, raw: bytes) -> Any:
    """Read a member of a union, which type checkers do not take for a class."""
    return decode(union, raw)


OPEN_UNIONS: list[tuple[str, Any, str, bytes]] = [
    ("AuthMethod", v2.AuthMethod, "type", b'{"type":"agent","name":"x"}'),
    ("AvailableCommand", v2.AvailableCommand, "type", b'{"type":"command","name":"x"}'),
    ("AvailableCommandInput", v2.AvailableCommandInput, "type", b'{"type":"text"}'),
    ("BackgroundWork", v2.BackgroundWork, "type", b'{"type":"terminal"}'),
    ("ContentBlock", v2.ContentBlock, "type", b'{"type":"text"}'),
    (
        "CreateElicitationRequest",
        v2.CreateElicitationRequest,
        "mode",
        b'{"mode":"url","message":"m","sessionId":"s"}',
    ),
    (
        "CreateElicitationResponse",
        v2.CreateElicitationResponse,
        "action",
        b'{"action":"accept","content":5}',
    ),
    ("DiffChange", v2.DiffChange, "operation", b'{"operation":"move","path":"/a"}'),
    ("ElicitationPropertySchema", v2.ElicitationPropertySchema, "type", b'{"type":"array"}'),
    ("McpServer", v2.McpServer, "type", b'{"type":"http","name":"x"}'),
    ("MultiSelectItems", v2.MultiSelectItems, "type", b'{"type":"string"}'),
    ("PlanUpdateContent", v2.PlanUpdateContent, "type", b'{"type":"items","planId":"p"}'),
    ("ReplayFrom", v2.ReplayFrom, "type", b'{"type":5}'),
    ("RequestPermissionOutcome", v2.RequestPermissionOutcome, "outcome", b'{"outcome":"selected"}'),
    ("RequestPermissionSubject", v2.RequestPermissionSubject, "type", b'{"type":"tool_call"}'),
    ("SessionConfigOption", v2.SessionConfigOption, "type", b'{"type":"boolean","name":"x"}'),
    ("SessionUpdate", v2.SessionUpdate, "sessionUpdate", b'{"sessionUpdate":"tool_call_update"}'),
    (
        "SetSessionConfigOptionRequest",
        v2.SetSessionConfigOptionRequest,
        "type",
        b'{"type":"boolean","sessionId":"s","configId":"c","value":"yes"}',
    ),
    ("ToolCallContent", v2.ToolCallContent, "type", b'{"type":"content"}'),
]
CASES = pytest.mark.parametrize(
    ("union", "tag_field", "broken"),
    [case[1:] for case in OPEN_UNIONS],
    ids=[case[0] for case in OPEN_UNIONS],
)


@CASES
@pytest.mark.rule("V2-GEN-10")
def test_an_unknown_member_is_kept_and_encodes_to_the_same_bytes(
    union: Any, tag_field: str, broken: bytes
) -> None:
    """V2-GEN-10: what is not understood is passed on unchanged, odd numbers and spaces included."""
    raw = b'{ "%s" : "_new", "big": 1e400, "deep": [{"a": null}] }' % tag_field.encode()
    value: Any = decode(union, raw)
    assert value == UnknownVariant(tag_field, "_new", raw)
    assert encode([value]) == b"[" + raw + b"]"


@CASES
@pytest.mark.rule("V2-GEN-07")
def test_a_known_member_with_a_bad_payload_is_refused(
    union: Any, tag_field: str, broken: bytes
) -> None:
    """V2-GEN-07: it is an error and never called unknown."""
    with pytest.raises(Invalid):
        decode(union, broken)


@CASES
def test_strict_reading_refuses_an_unknown_member(
    union: Any, tag_field: str, broken: bytes
) -> None:
    """Ours: `strict=True` is for finding out."""
    with pytest.raises(Invalid, match="unknown variant"):
        decode(union, b'{"%s":"_new"}' % tag_field.encode(), strict=True)


@pytest.mark.parametrize("tag", ["plan", "tool_call", "current_mode_update"])
def test_update_tags_of_v1_are_not_words_of_v2(tag: str) -> None:
    """V2-GEN-04: one version per connection, so these are as unknown as any other."""
    value = read(v2.SessionUpdate, b'{"sessionUpdate":"%s"}' % tag.encode())
    assert isinstance(value, UnknownVariant)
    assert value.tag == tag


@pytest.mark.rule("V2-AUTH-06")
def test_an_unknown_auth_method_stays_in_the_list() -> None:
    """V2-AUTH-06: kept, so that it can be shown generically."""
    response = decode(
        v2.InitializeResponse,
        b'{"protocolVersion":2,"info":{"name":"a","version":"1"},"authMethods":'
        b'[{"type":"_x","methodId":"m","name":"n"},{"type":"agent","methodId":"a","name":"b"},{}]}',
    )
    assert response.auth_methods == [
        UnknownVariant("type", "_x", b'{"type":"_x","methodId":"m","name":"n"}'),
        v2.AuthMethodAgent(method_id="a", name="b"),
    ]
