"""The codec: native first, tolerant second, `Invalid` and nothing else for bad input."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accord.schema.codec import (
    Decoding,
    Invalid,
    conform,
    decode,
    decode_slowly,
    encode,
    reading,
    repair_surrogates,
    to_python,
    to_raw,
)
from accord.schema.struct import Raw, UnknownVariant
from tests.schema.samples import Note, Outer, Text

# Pieces that JavaScript may leave behind, between pieces that only look like them.
PIECES = st.sampled_from(
    [
        "\\ud83d",
        "\\uDE00",
        "\\uD83D\\uDE00",
        "\\\\ud83d",
        "\\\\",
        "\\n",
        '\\"',
        "\\u00e9",
        "\\ud800\\ud800",
        "\\\\\\udc00",
        "ud83d",
        "x",
        "ü",
    ]
)


@given(st.lists(PIECES, max_size=8).map("".join))
@example("\\ud83d\\\\uDE00")
def test_surrogates_without_a_partner_become_the_replacement_character(inner: str) -> None:
    text = f'"{inner}"'
    repaired = repair_surrogates(text.encode())
    expected = "".join("\ufffd" if 0xD800 <= ord(one) < 0xE000 else one for one in json.loads(text))
    assert to_python(repaired) == expected
    assert to_python(text.encode()) == expected


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner)))
def test_good_text_is_never_changed(value: Any) -> None:
    for ascii_only in (True, False):
        raw = json.dumps(value, ensure_ascii=ascii_only).encode()
        assert repair_surrogates(raw) == raw


def test_a_message_with_half_an_emoji_is_read() -> None:
    """Demanded by agents in JavaScript, which cut strings inside emoji while they stream."""
    assert decode(Note, b'{"text":"a\\ud83d b"}').text == "a\ufffd b"


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_whatever_the_bytes_only_invalid_is_raised(raw: bytes) -> None:
    for strict in (False, True):
        with pytest.raises(Invalid):
            decode(Note, raw, strict=strict)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'{"text":"\xff"}', "not JSON"),
        (b'{"text":"a"} x', "not JSON"),
        (b"[" * 200_000 + b"]" * 200_000, "nested too deeply"),
        (b"[]", "Expected `object`"),
        (b"null", "Expected `object`"),
        (b"{}", "missing required key"),
    ],
)
def test_the_reason_says_what_is_wrong(raw: bytes, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        decode(Note, raw)


def test_an_unknown_variant_is_written_as_it_was_read() -> None:
    text = b'{"block":{"type":"video", "length":1e400}}'
    value = decode(Outer, text)
    assert value.block == UnknownVariant("type", "video", b'{"type":"video", "length":1e400}')
    assert encode(value) == text


def test_what_has_no_json_form_is_the_callers_mistake() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        encode(object())


def test_raw_and_bytes_are_read_alike() -> None:
    assert decode(Note, Raw(b'{"text":"a"}')) == decode(Note, b'{"text":"a"}')
    assert decode_slowly(Note, b'{"text":"a"}') == decode(Note, b'{"text":"a"}')


def test_raw_json_goes_in_and_out_of_python() -> None:
    assert bytes(to_raw({"a": 1})) == b'{"a":1}'
    raw = Raw(b" 1")
    assert to_raw(raw) is raw
    assert to_python(raw) == 1
    with pytest.raises(Invalid, match="not JSON"):
        to_python(b"nope")
    with pytest.raises(Invalid):
        to_python(b"[" * 100_000)


def test_reading_is_decode_with_everything_looked_up_once() -> None:
    """Ours: what comes very often is read the same way, only sooner."""
    read = reading(Note)
    assert read(b'{"text":"a"}') == Note(text="a")
    assert read(b'{"text":"a","title":5}') == Note(text="a")
    with pytest.raises(Invalid):
        read(b"[]")
    with pytest.raises(Invalid):
        reading(Note, strict=True)(b'{"text":"a","title":5}')


def test_what_was_tolerated_is_reported_on_request() -> None:
    """Issue 2: tolerated and logged; good input costs nothing."""
    told: list[str] = []
    decoding = Decoding(report=told.append)
    for read in (decoding.reading(Note), lambda raw: decoding(Note, raw)):
        assert read(b'{"text":"a"}') == Note(text="a")
        assert told == []
        assert read(b'{"text":"a","title":5}') == Note(text="a")
        assert told == [
            "Note: malformed, read as absent: Expected `str | null`, got `int` (at $.title)"
        ]
        told.clear()
    with pytest.raises(Invalid):
        Decoding(strict=True)(Note, b'{"text":"a","title":5}')


def test_unknown_keys_are_reported_while_somebody_wants_them() -> None:
    """Issue 2: the second pass looks for keys alone, and not in what two versions share."""
    told: list[str] = []
    wanted = [False]
    decoding = Decoding(report=told.append, wants_unknown=lambda: wanted[0])
    odd = b'{"text":"a","title":5}'
    decoding(Note, odd)
    assert len(told) == 1
    wanted[0] = True
    decoding(Note, b'{"text":"a"}')
    decoding.reading(Note)(b'{"text":"a","colour":1}')
    assert len(told) == 1
    decoding(Note, b'{"text":"a","colour":1}')
    assert told[1:] == ["Note: unknown key (at $.colour)"]
    # The first pass reports every other deviation.
    decoding(Note, odd)
    assert len(told) == 3
    shared = Decoding(report=told.append, wants_unknown=lambda: True, shared=Note)
    shared(Note, b'{"text":"a","colour":1}')
    assert len(told) == 3


def test_unknown_words_are_refused_when_strict() -> None:
    """Issue 2: for development; words of one's own start with `_`."""
    for word in ("glad", "_mine"):
        text = encode({"type": "text", "text": "any", "mood": word})
        assert decode(Text, text, strict=True).mood == word
    odd = b'{"type":"text","text":"a","mood":"odd"}'
    assert decode(Text, odd).mood == "odd"
    with pytest.raises(Invalid, match=r"unknown value 'odd' \(at \$.mood\)"):
        decode(Text, odd, strict=True)


def variant(tag: str) -> Any:
    """A block that the schema does not know."""
    return UnknownVariant("type", tag, encode({"type": tag}))


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        (Note(text=5), "$.text", "Expected `str`, got `int`"),  # type: ignore[arg-type]
        (Note(text="a", title=5), "$.title", "Expected `str | null`"),  # type: ignore[arg-type]
        (Outer(block=variant("x")), "$.block.type", "unknown variant 'x'"),
        (Note(text=object()), "$", "no JSON: object has no JSON form"),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_of_its_own_type_does_not_conform(
    value: object, path: str, reason: str
) -> None:
    """Ours: tolerance is for what others send, never for what we send."""
    with pytest.raises(Invalid) as caught:
        conform(type(value), value)
    assert caught.value.path == path
    assert caught.value.reason.startswith(reason)


def test_what_is_of_its_type_conforms_and_variants_of_ones_own_too() -> None:
    """Spec: tags that start with `_` are free."""
    conform(Note, Note(text="a", title=None))
    conform(Outer, Outer(block=variant("_x")))
