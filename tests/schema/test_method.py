"""Rows of the method tables, and how absent and null params and results are read."""

import pytest

from accord.schema.codec import Invalid
from accord.schema.method import Method, table
from accord.schema.struct import Raw
from tests.schema.samples import Defaults, Note

LOGOUT = Method("logout", "agent", "request", Defaults, Defaults)
WRITE = Method("write", "client", "request", Note, Note)
FORWARD = Method("forward", "proxy", "request", Note, Raw)


def test_params_that_are_absent_or_null_count_as_an_empty_object() -> None:
    notes: list[str] = []
    assert LOGOUT.decode_params(None, notes=notes) == Defaults()
    assert notes == []
    assert LOGOUT.decode_params(b" null ", notes=notes) == Defaults()
    assert notes == ["null, read as an empty object (at $)"]
    assert LOGOUT.decode_params(Raw(b'{"on":true}')) == Defaults(on=True)


def test_params_that_need_a_key_are_refused_by_its_path_when_they_are_absent() -> None:
    with pytest.raises(Invalid, match="missing required key") as caught:
        WRITE.decode_params(None)
    assert caught.value.path == "$.text"


def test_a_null_result_counts_as_empty_where_an_empty_object_is_a_result() -> None:
    """Demanded by agents that follow older documents and answer `session/load` with null."""
    assert LOGOUT.decode_result(Raw(b"null")) == Defaults()
    with pytest.raises(Invalid) as caught:
        WRITE.decode_result(b"null")
    assert caught.value.path == "$"
    assert caught.value.reason == (
        "Expected `object`, got `null`; missing required key (at $.text)"
    )


def test_in_strict_mode_null_is_refused() -> None:
    with pytest.raises(Invalid, match="Expected `object`"):
        LOGOUT.decode_result(b"null", strict=True)


def test_a_result_of_any_json_may_be_null() -> None:
    assert bytes(FORWARD.decode_result(b"null")) == b"null"


def test_other_results_are_read_by_their_type() -> None:
    assert WRITE.decode_result(b'{"text":"a"}') == Note(text="a")
    with pytest.raises(Invalid):
        WRITE.decode_result(b"[]")


def test_a_table_has_one_row_of_a_name() -> None:
    rows = {"logout": (Defaults, Defaults), "left": (Note, None, "gate")}
    left = Method("left", "agent", "notification", Note, gate="gate")
    assert table("agent", rows) == {"logout": LOGOUT, "left": left}
    assert table("agent", unstable=rows)["left"].unstable
    with pytest.raises(AssertionError, match="twice"):
        table("agent", rows, unstable=rows)
