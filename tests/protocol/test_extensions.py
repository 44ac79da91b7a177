"""How methods beyond the protocol are named and announced."""

import pytest

from accord.errors import LocalProtocolError
from accord.protocol.extensions import (
    DECIDED_BY,
    META_KEY,
    advertised,
    check_name,
    read_advertised,
    read_decided_by,
)


@pytest.mark.parametrize("name", ["", "_", "session/new", "x_y"])
def test_a_name_without_an_underscore_in_front_is_not_free(name: str) -> None:
    """v1 and v2: other names belong to the protocol."""
    with pytest.raises(LocalProtocolError, match="starts with `_`"):
        check_name(name)


def test_a_name_with_an_underscore_in_front_is_free() -> None:
    """v1 and v2."""
    check_name("_example.org/search")


def test_what_is_told_is_what_is_read() -> None:
    """Ours: both sides announce alike."""
    assert read_advertised({"_meta": advertised(["_b", "_a", "_b"])}) == {"_a", "_b"}
    assert advertised(["_b", "_a", "_b"]) == {META_KEY: {"methods": ["_a", "_b"]}}


def test_nothing_to_tell_is_not_told() -> None:
    """Ours: most peers know nothing of this."""
    assert advertised([]) == {}


@pytest.mark.parametrize(
    "meta",
    [None, {}, 5, {META_KEY: None}, {META_KEY: {}}, {META_KEY: {"methods": "_a"}}],
)
def test_foreign_metadata_is_no_announcement(meta: object) -> None:
    """Ours: nothing is assumed about what others put there."""
    assert read_advertised({"_meta": meta}) == frozenset()


def test_only_names_are_read() -> None:
    """Ours: a peer may send anything."""
    assert read_advertised({"_meta": {META_KEY: {"methods": ["_a", 1, None]}}}) == {"_a"}


@pytest.mark.parametrize(
    ("answer", "by"),
    [
        ({"_meta": {DECIDED_BY: "rule"}}, "rule"),
        ({"_meta": {DECIDED_BY: "the weather"}}, None),
        ({"_meta": {DECIDED_BY: 5}}, None),
        ({"_meta": {}}, None),
        ({"_meta": None}, None),
        ({}, None),
        ([], None),
    ],
)
def test_what_refused_is_read_where_it_is_a_known_word(answer: object, by: str | None) -> None:
    """Issue 14: whoever is not told does not say that a person said no."""
    assert read_decided_by(answer) == by
