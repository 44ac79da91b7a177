"""Questions to the user, and MCP inside ACP."""

from typing import Any

import pytest

from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, Raw, UnknownVariant


def read(union: Any, raw: bytes) -> Any:
    """Read a member of a union, which type checkers do not take for a class."""
    return decode(union, raw)


FORM = b'"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}'


@pytest.mark.parametrize("scope", [b'"sessionId":"s"', b'"requestId":7', b'"requestId":"r"'])
def test_a_form_round_trips_in_either_scope(scope: bytes) -> None:
    """The schema: for a session, or for a pending request."""
    value = read(v2.CreateElicitationRequest, b"{" + FORM + b"," + scope + b"}")
    assert isinstance(value, v2.ElicitationFormMode)
    assert read(v2.CreateElicitationRequest, encode(value)) == value


@pytest.mark.parametrize(
    "scope",
    [
        b"",
        b',"sessionId":"s","requestId":7',
        b',"sessionId":null,"requestId":7',
        b',"sessionId":"s","requestId":null',
    ],
)
@pytest.mark.rule("V2-ELIC-01")
def test_exactly_one_scope_is_given(scope: bytes) -> None:
    """V2-ELIC-01: a null counts as given."""
    with pytest.raises(Invalid):
        read(v2.CreateElicitationRequest, b"{" + FORM + scope + b"}")


@pytest.mark.parametrize(
    "schema",
    [
        b"{}",
        b'{"type":"object"}',
        b'{"properties":{}}',
        b'{"type":"array","properties":{}}',
        b'{"type":"object","properties":null}',
        b'{"type":"object","properties":{"a":{}}}',
        b'{"type":"object","properties":{},"required":5}',
    ],
)
@pytest.mark.rule("V2-ELIC-03")
def test_a_form_is_an_object_with_properties(schema: bytes) -> None:
    """V2-ELIC-03: both keys are required."""
    with pytest.raises(Invalid):
        decode(v2.ElicitationSchema, schema)


PROPERTIES: list[tuple[bytes, Any]] = [
    (
        b'{"type":"string","minLength":1,"format":"_zip","enum":["a"]}',
        v2.StringPropertySchema(min_length=1, format="_zip", enum=["a"]),
    ),
    (
        b'{"type":"string","oneOf":[{"const":"a","title":"A"}]}',
        v2.StringPropertySchema(one_of=[v2.EnumOption(const="a", title="A")]),
    ),
    (
        b'{"type":"number","minimum":0.5,"default":"x"}',
        v2.NumberPropertySchema(minimum=0.5),
    ),
    (b'{"type":"integer","maximum":7}', v2.IntegerPropertySchema(maximum=7)),
    (b'{"type":"boolean","default":null}', v2.BooleanPropertySchema(default=None)),
    (
        b'{"type":"array","items":{"type":"string","enum":["a"]},"default":["a",5]}',
        v2.MultiSelectPropertySchema(
            items=v2.KnownMultiSelectItems(type="string", enum=["a"]), default=["a"]
        ),
    ),
    (
        b'{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}',
        v2.MultiSelectPropertySchema(
            items=v2.KnownMultiSelectItems(any_of=[v2.EnumOption(const="a", title="A")])
        ),
    ),
    (
        b'{"type":"array","items":{"type":"_color"}}',
        v2.MultiSelectPropertySchema(items=UnknownVariant("type", "_color", b'{"type":"_color"}')),
    ),
    (b'{"type":"_date"}', UnknownVariant("type", "_date", b'{"type":"_date"}')),
]


@pytest.mark.parametrize(("raw", "expected"), PROPERTIES)
def test_fields_of_a_form_are_read(raw: bytes, expected: Any) -> None:
    """The schema: five types, and those to come."""
    value = decode(v2.ElicitationSchema, b'{"type":"object","properties":{"p":%s}}' % raw)
    assert value.properties == {"p": expected}


@pytest.mark.parametrize(
    "raw",
    [
        b'{"type":"string","enum":[]}',
        b'{"type":"string","oneOf":[]}',
        b'{"type":"string","minLength":-1}',
        b'{"type":"integer","minimum":0.5}',
        b'{"type":"array","items":{}}',
        b'{"type":"array","items":{"type":"string"}}',
        b'{"type":"array","items":{"type":5}}',
        b'{"type":"array","items":{"type":"string","enum":[]}}',
        b'{"type":"array","items":{"anyOf":[]}}',
        b'{"type":"array","minItems":18446744073709551616,"items":{"anyOf":[]}}',
    ],
)
def test_limits_and_choices_are_not_tolerated_away(raw: bytes) -> None:
    """The schema: a form with other limits than the agent's would be another form."""
    with pytest.raises(Invalid):
        read(v2.ElicitationPropertySchema, raw)


def test_items_that_we_build_ourselves_are_checked_too() -> None:
    """Ours: a caller's mistake raises at the caller."""
    with pytest.raises(ValueError, match="Invalid value 'color'"):
        v2.KnownMultiSelectItems(type="color")
    with pytest.raises(ValueError, match="2\\*\\*64"):
        v2.MultiSelectPropertySchema(
            items=v2.KnownMultiSelectItems(type="string", enum=["a"]), max_items=2**64
        )


def test_answers_of_the_user_are_read() -> None:
    """V2-ELIC-04: an unknown action arrives as unknown, which is treated as cancel."""
    accepted = read(
        v2.CreateElicitationResponse, b'{"action":"accept","content":{"a":1,"b":{"_x":null}}}'
    )
    assert {key: bytes(value) for key, value in accepted.content.items()} == {
        "a": b"1",
        "b": b'{"_x":null}',
    }
    for raw, expected in [
        (b'{"action":"accept"}', v2.ElicitationAcceptAction()),
        (b'{"action":"decline"}', v2.ElicitationDeclineAction()),
        (b'{"action":"cancel"}', v2.ElicitationCancelAction()),
        (b'{"action":"_later"}', UnknownVariant("action", "_later", b'{"action":"_later"}')),
    ]:
        value = read(v2.CreateElicitationResponse, raw)
        assert value == expected
        assert encode(value) == raw


def test_an_inner_answer_has_a_result_or_an_error() -> None:
    """The schema: a result may be null; of both, the result counts."""
    wanted = v2.MessageMcpResponse
    null = decode(wanted, b'{"result":null}')
    assert isinstance(null.result, Raw)
    assert bytes(null.result) == b"null"
    raw = b'{"error":{"code":1,"message":"m","data":null,"more":1}}'
    failed = decode(wanted, raw)
    assert isinstance(failed.failure, v2.McpError)
    assert (failed.failure.code, failed.result) == (1, UNSET)
    assert encode(failed) == raw
    assert null.failure is None
    assert decode(wanted, b'{"result":1,"error":{"code":1,"message":"m"}}').result is not UNSET
    for bad in (b"{}", b'{"error":null}', b'{"error":{"code":1}}'):
        with pytest.raises(Invalid):
            decode(wanted, bad)


def test_the_params_of_an_inner_message_are_an_object() -> None:
    """The schema: or null, which equals absence."""
    head = b'{"serverId":"s","requestId":"r","method":"m","params":'
    assert decode(v2.MessageMcpRequest, head + b"null}").params is None
    for bad in (b"[]}", b"5}"):
        with pytest.raises(Invalid):
            decode(v2.MessageMcpNotification, head + bad)


def test_wrapped_params_are_passed_on_byte_for_byte() -> None:
    """The schema: a proxy forwards what it does not understand."""
    raw = b'{"method":"_m","params":[1e400, {"a" : null}]}'
    assert encode(decode(v2.ProxySuccessorRequest, raw)) == raw
    assert encode(decode(v2.ProxySuccessorNotification, raw)) == raw
