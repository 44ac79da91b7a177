"""What comes in is valid in its version before anybody translates it."""

import pytest

from accord.schema.invalid import Invalid
from accord.translate.validation import (
    Spoken,
    methods_of,
    read_params,
    read_result,
    refused,
    require_meta,
)

V1 = methods_of("v1")
UPDATE = V1["session/update"]


@pytest.mark.parametrize("spoken", ["v1", "v2", "draft"])
def test_each_version_has_its_methods(spoken: Spoken) -> None:
    methods = methods_of(spoken)
    assert {"initialize", "session/new", "session/prompt", "session/update"} <= methods.keys()


def test_good_params_stay_as_they_came_with_what_nobody_knows() -> None:
    raw = (
        b'{"sessionId":"s","other":{"big":123456789012345678901234567890},'
        b'"update":{"sessionUpdate":"agent_message_chunk","more":1,'
        b'"content":{"type":"text","text":"x"}}}'
    )
    params = read_params(UPDATE, raw)
    assert params["other"] == {"big": 123456789012345678901234567890}
    assert params["update"]["more"] == 1


def test_what_only_the_tolerant_reader_takes_is_written_as_it_understood_it() -> None:
    raw = (
        b'{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"T",'
        b'"locations":"nowhere"}}'
    )
    update = read_params(UPDATE, raw)["update"]
    assert "nowhere" not in str(update)
    assert (update["toolCallId"], update["title"]) == ("t", "T")


def test_what_nobody_takes_is_invalid_and_says_where() -> None:
    with pytest.raises(Invalid, match="sessionId"):
        read_params(V1["session/prompt"], b'{"prompt":[]}')
    with pytest.raises(Invalid):
        read_result(V1["session/new"], b"[]")
    with pytest.raises(Invalid):
        read_params(None, b"[1]")


def test_methods_that_nobody_knows_are_read_as_plain_json() -> None:
    assert read_params(None, b'{"a":1.5}') == {"a": 1.5}
    assert read_params(None, b"null") == {}
    assert read_result(None, b"[1]") == [1]


def test_a_result_of_null_is_an_empty_one_where_that_is_one() -> None:
    assert read_result(V1["authenticate"], b"null") == {}
    assert read_result(V1["authenticate"], b'{"x":1}') == {"x": 1}


def test_what_we_made_is_refused_only_where_no_reader_takes_it() -> None:
    assert refused(None, b'{"a":1}') is None
    good = b'{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}'
    assert refused(V1["session/prompt"], good) is None
    assert refused(V1["session/prompt"], b'{"prompt":[]}') is not None
    odd = (
        b'{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"T",'
        b'"locations":3}}'
    )
    assert refused(UPDATE, odd) is None


def test_a_method_of_both_sides_is_the_one_that_has_a_result() -> None:
    """`mcp/message` is a request to the client and a notification to the agent."""
    for spoken in ("v1", "v2"):
        assert methods_of(spoken)["mcp/message"].kind == "request"


@pytest.mark.parametrize("raw", [b"{}", b'{"_meta":{}}', b'{"_meta":null}', b'["_meta"]'])
def test_meta_that_is_an_object_is_all_right(raw: bytes) -> None:
    """D26-19: `_meta` is an object."""
    require_meta(raw)


def test_meta_that_is_no_object_is_refused() -> None:
    """D26-19: `_meta` is an object; a tolerant reader would pass over it."""
    with pytest.raises(Invalid, match="_meta"):
        require_meta(b'{"_meta":5}')
