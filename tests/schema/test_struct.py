"""The vocabulary of wire types: what each kind of field lets in natively, and what it writes."""

from typing import Any

import pytest

from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UINT64_MAX, UNSET, Raw, UnknownVariant, check_uint64
from tests.schema.samples import Bounds, Marker, Note, Place


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"text":"a"}', "absent"),
        (b'{"text":"a","title":null}', "null"),
        (b'{"text":"a","title":"b"}', "b"),
    ],
)
def test_absent_null_and_a_value_stay_apart_both_ways(text: bytes, value: str) -> None:
    note = decode(Note, text)
    names: dict[object, object] = {UNSET: "absent", None: "null"}
    assert names.get(note.title, note.title) == value
    assert encode(note) == text


def test_meta_is_written_as_it_was_read() -> None:
    """Demanded by proxies and extensions: numbers beyond 64 bits and odd spacing survive."""
    text = b'{"_meta":{"a.b/c":{ "big":123456789012345678901234567890 , "x":1.10}},"text":"a"}'
    assert encode(decode(Note, text)) == text


def test_a_marker_without_meta_drops_it() -> None:
    assert encode(decode(Marker, b'{"_meta":{"a":1}}')) == b"{}"


@pytest.mark.parametrize(
    ("key", "low", "high"),
    [
        ("i32", -(2**31), 2**31 - 1),
        ("i64", -(2**63), 2**63 - 1),
        ("u16", 0, 2**16 - 1),
        ("u32", 0, 2**32 - 1),
        ("u64", 0, 2**64 - 1),
    ],
)
@pytest.mark.parametrize("slowly", [False, True])
def test_integers_keep_their_bounds_on_the_native_and_on_the_tolerant_path(
    key: str, low: int, high: int, slowly: bool
) -> None:
    # An unknown variant forces the second reading.
    more = b',"note":{"type":"new"}' if slowly else b""
    for good in (low, high):
        value = decode(Bounds, b'{"%s":%d%s}' % (key.encode(), good, more))
        assert getattr(value, key) == good
        assert b":%d" % good in encode(value)
    for bad in (low - 1, high + 1):
        with pytest.raises(Invalid) as caught:
            decode(Bounds, b'{"%s":%d%s}' % (key.encode(), bad, more))
        assert "`int`" in caught.value.reason


@pytest.mark.parametrize("number", [b"1.5", b"1e2", b'"1"', b"true"])
def test_what_is_no_integer_is_none(number: bytes) -> None:
    with pytest.raises(Invalid) as caught:
        decode(Bounds, b'{"u32":%s}' % number)
    assert caught.value.path == "$.u32"


def test_check_uint64_takes_everything_but_greater_numbers() -> None:
    check_uint64(UINT64_MAX, None, UNSET)
    with pytest.raises(ValueError, match=r"2\*\*64"):
        check_uint64(0, UINT64_MAX + 1)


@pytest.mark.parametrize("path", ["/", "/a b", "C:\\x", "c:/x", "\\\\host\\share"])
def test_absolute_paths_of_every_system_are_taken(path: str) -> None:
    assert decode(Place, encode({"path": path})).path == path


@pytest.mark.parametrize("path", ["", "a", "./a", "../a", "~/a", "C:x", "file:///a"])
@pytest.mark.rule("V1-GEN-06")
def test_relative_paths_are_refused_in_plain_words(path: str) -> None:
    with pytest.raises(Invalid) as caught:
        decode(Place, encode({"path": path}))
    assert (caught.value.path, caught.value.reason) == ("$.path", "Expected an absolute path")


def test_an_unknown_variant_is_a_value() -> None:
    one, two = UnknownVariant("type", "a", b"{}"), UnknownVariant("type", "a", b"{}")
    assert one == two
    assert hash(one) == hash(two)
    assert one != UnknownVariant("type", "b", b"{}")
    other: Any = "a"
    assert one != other
    assert repr(one) == "UnknownVariant(type='a', 2 bytes)"


def test_any_json_stays_text() -> None:
    value = decode(Note, b'{"text":"a","data":[1, 2.50]}')
    assert isinstance(value.data, Raw)
    assert encode(value) == b'{"text":"a","data":[1, 2.50]}'
