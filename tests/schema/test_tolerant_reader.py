"""The tolerant reader: every tolerance where it is granted, none where it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import pytest

from accord.schema.codec import Invalid, decode
from accord.schema.struct import UNSET, UnknownVariant
from accord.schema.tolerant_reader import Reader
from tests.schema.samples import (
    Bounds,
    Defaults,
    Form,
    Items,
    Lists,
    Needed,
    Note,
    Outer,
    Picture,
    Question,
    Renamed,
    Text,
)

A, B = Text(text="a"), Text(text="b")


def read(wanted: Any, raw: bytes) -> tuple[Any, list[str]]:
    """The value and the notes, of the first reading that works."""
    notes: list[str] = []
    return decode(wanted, raw, notes=notes), notes


def refused(wanted: Any, raw: bytes, *, strict: bool = False) -> tuple[str, str]:
    """Path and reason of the refusal."""
    with pytest.raises(Invalid) as caught:
        decode(wanted, raw, strict=strict)
    assert str(caught.value) == f"{caught.value.reason} (at {caught.value.path})"
    return caught.value.path, caught.value.reason


@pytest.mark.rule("V1-GEN-12")
def test_a_malformed_value_with_e_is_read_as_absent() -> None:
    value, notes = read(Note, b'{"text":"a","title":5,"_meta":[]}')
    assert value == Note(text="a")
    assert notes == [
        "malformed, read as absent: Expected `object | null`, got `array` (at $._meta)",
        "malformed, read as absent: Expected `str | null`, got `int` (at $.title)",
    ]


@pytest.mark.rule("V1-GEN-12")
def test_a_missing_required_key_and_a_malformed_one_without_e_are_errors() -> None:
    assert refused(Note, b"{}") == ("$.text", "missing required key")
    assert refused(Note, b'{"text":null}') == ("$.text", "Expected `str`, got `null`")


def test_e_falls_back_to_the_default_where_there_is_one() -> None:
    value, _ = read(Defaults, b'{"on":"yes","names":null}')
    assert value == Defaults(on=False, names=[])


@pytest.mark.rule("V1-GEN-13")
def test_bad_items_are_dropped_with_s_and_nowhere_else() -> None:
    items = b'[{"type":"text","text":"a"},{"type":"text"},3,{"type":"text","text":"b"}]'
    assert read(Lists, b'{"skipping":%s}' % items)[0] == Lists(skipping=[A, B])
    value, notes = read(Lists, b'{"lenient":%s}' % items)
    assert value == Lists(lenient=[A, B])
    assert notes == [
        "bad item dropped: missing required key (at $.lenient[1].text)",
        "bad item dropped: Expected `object` (at $.lenient[2])",
    ]
    assert refused(Lists, b'{"strict":%s}' % items) == ("$.strict[1].text", "missing required key")


def test_a_list_that_is_none_needs_e() -> None:
    assert read(Lists, b'{"lenient":"x"}')[0] == Lists()
    assert refused(Lists, b'{"skipping":"x"}')[0] == "$.skipping"
    assert read(Lists, b'{"lenient":null}')[0] == Lists(lenient=None)


@pytest.mark.rule("V1-SESS-08")
def test_null_is_empty_with_z_and_everything_else_is_strict() -> None:
    assert read(Lists, b'{"zero":null}') == (Lists(), ["null, read as empty (at $.zero)"])
    value, _ = read(Needed, b'{"entries":[],"servers":null,"env":null,"args":null}')
    assert value == Needed(entries=[], servers=[], env={}, args=[])
    assert refused(Lists, b'{"zero":"x"}')[0] == "$.zero"
    assert refused(Lists, b'{"zero":[1]}')[0] == "$.zero[0]"
    assert refused(Lists, b'{"env":{"A":1}}') == ("$.env.A", "Expected `str`, got `int`")


def test_a_required_list_or_map_may_be_missing_with_a_alone() -> None:
    value, notes = read(Needed, b'{"entries":5,"servers":[]}')
    assert value == Needed(entries=[], servers=[], env={}, args=[])
    assert notes[1:] == [
        "missing, read as empty (at $.env)",
        "missing, read as empty (at $.args)",
    ]
    assert refused(Needed, b'{"entries":[]}') == ("$.servers", "missing required key")


def test_a_malformed_value_with_n_is_read_as_null() -> None:
    value, notes = read(Lists, b'{"cleared":{"type":"text"}}')
    assert value == Lists(cleared=None)
    assert notes == ["malformed, read as null: missing required key (at $.cleared.text)"]


def test_a_list_that_must_not_be_empty_is_not() -> None:
    assert refused(Lists, b'{"some":[]}') == ("$.some", "Expected `array` of length >= 1")
    assert refused(Lists, b'{"some":[]}', strict=True)[0] == "$.some"
    item = b'[{"type":"text","text":"a","mood":1}]'
    assert read(Lists, b'{"some":%s}' % item)[0] == Lists(some=[A])


def test_members_of_a_map_are_read_one_by_one() -> None:
    value, _ = read(Lists, b'{"byName":{"x":{"type":"text","text":"a","mood":5}}}')
    assert value == Lists(by_name={"x": A})
    assert refused(Lists, b'{"byName":{"x":{}}}') == ("$.byName.x.type", "missing tag")
    assert refused(Lists, b'{"byName":[]}')[0] == "$.byName"


@pytest.mark.rule("V1-GEN-10")
def test_an_unknown_tag_is_kept_and_a_known_one_with_a_bad_payload_is_refused() -> None:
    value, notes = read(Outer, b'{"block":{"type":"video","x":[1]},"blocks":[{"type":"_y"}]}')
    assert value.block == UnknownVariant("type", "video", b'{"type":"video","x":[1]}')
    assert value.blocks == [UnknownVariant("type", "_y", b'{"type":"_y"}')]
    assert notes == [
        "unknown variant 'video' (at $.block.type)",
        "unknown variant '_y' (at $.blocks[0].type)",
    ]
    assert refused(Outer, b'{"block":{"type":"text"}}') == (
        "$.block.text",
        "missing required key",
    )
    assert refused(Outer, b'{"block":{"type":5}}')[0] == "$.block.type"
    assert refused(Outer, b'{"block":{}}') == ("$.block.type", "missing tag")
    assert refused(Outer, b'{"block":3}') == ("$.block", "Expected `object`")


def test_words_that_an_enum_does_not_know_stay_words() -> None:
    value, notes = read(Text, b'{"type":"text","text":"a","mood":"numb"}')
    assert value == Text(text="a", mood="numb")
    assert notes == []


def test_a_missing_tag_has_a_default_where_the_type_names_one() -> None:
    value, notes = read(Outer, b'{"renamed":{"modeId":"x"}}')
    assert value == Outer(renamed=Renamed(current_mode_id="x"))
    assert notes == [
        "missing tag, read as 'renamed' (at $.renamed.kind)",
        "read as 'currentModeId' (at $.renamed.modeId)",
    ]
    other, _ = read(Outer, b'{"renamed":{"kind":"new"}}')
    assert other.renamed == UnknownVariant("kind", "new", b'{"kind":"new"}')
    assert refused(Outer, b'{"renamed":{"kind":7}}')[0] == "$.renamed.kind"


def test_the_key_of_today_counts_more_than_its_alias() -> None:
    value, _ = read(Renamed, b'{"kind":"renamed","modeId":"x","currentModeId":"y"}')
    assert value == Renamed(current_mode_id="y")
    again, _ = read(Renamed, b'{"kind":"renamed","modeId":"x","currentModeId":"y","_meta":5}')
    assert again == value


@pytest.mark.parametrize("tag", [b'"array"', b"5", b"null"])
def test_the_only_type_there_is_may_be_misnamed(tag: bytes) -> None:
    value, notes = read(Outer, b'{"form":{"type":%s,"title":"t"}}' % tag)
    assert value == Outer(form=Form(title="t"))
    assert notes == ["malformed tag, read as 'object' (at $.form.type)"]
    assert read(Outer, b'{"form":{"type":"object","title":5}}')[0] == Outer(form=Form())
    assert read(Outer, b'{"form":{"title":5}}')[0] == Outer(form=Form())


def test_the_tag_of_a_single_type_must_be_right_otherwise() -> None:
    assert refused(Outer, b'{"only":{"type":"new"}}') == ("$.only.type", "Invalid value 'new'")


def test_an_object_that_is_several_keeps_kinds_that_it_does_not_know() -> None:
    value, notes = read(Outer, b'{"items":{"type":"new","x":1}}')
    assert value.items == UnknownVariant("type", "new", b'{"type":"new","x":1}')
    assert notes == ["unknown variant 'new' (at $.items.type)"]
    assert refused(Outer, b'{"items":{}}') == ("$.items", "needs `type` or `anyOf`")
    assert refused(Outer, b'{"items":{"type":"string","anyOf":5}}')[0] == "$.items.anyOf"
    assert read(Items, b'{"type":"string"}')[0] == Items(type="string")


def test_a_key_without_a_name_is_a_key_like_any_other() -> None:
    """Ours, found by fuzzing: it was taken for the tag of types that have none."""
    value, notes = read(Note, b'{"text":"a","title":5,"":"x"}')
    assert value == Note(text="a")
    assert len(notes) == 1


def test_a_key_that_older_peers_lacked_is_empty_where_theirs_is_there() -> None:
    value, notes = read(Question, b'{"toolCall":{"type":"text","text":"a"}}')
    assert value == Question(title="", tool_call=A)
    assert notes == ["missing, read as empty (at $.title)"]
    assert refused(Question, b"{}") == ("$.title", "missing required key")


def test_a_union_inside_a_union_counts_as_one() -> None:
    assert read(Outer, b'{"nested":null,"_meta":5}')[0] == Outer(nested=None)
    assert refused(Outer, b'{"nested":{}}')[0] == "$.nested"


def test_numbers_above_64_bits_are_malformed_like_any_other() -> None:
    assert refused(Bounds, b'{"u64":18446744073709551616}')[0] == "$.u64"
    assert read(Bounds, b'{"lenient":18446744073709551616}')[0] == Bounds()
    assert read(Bounds, b'{"lenient":18446744073709551615}')[0] == Bounds(lenient=2**64 - 1)


@pytest.mark.parametrize("data", ["aGVsbG8", "aGVs\\nbG8=", "aGVsbG8="])
def test_base64_is_read_as_clients_send_it(data: str) -> None:
    value, _ = read(Picture, b'{"type":"picture","data":"%s"}' % data.encode())
    assert value == Picture(data=b"hello")


@pytest.mark.parametrize("data", ['"*"', '"aGVsbG8=x"', '"a"', "5", "null"])
def test_what_is_no_base64_is_refused(data: str) -> None:
    path, _ = refused(Picture, b'{"type":"picture","data":%s}' % data.encode())
    assert path == "$.data"


@pytest.mark.parametrize(
    ("wanted", "raw", "path", "reason"),
    [
        (Note, b'{"text":"a","x":1}', "$.x", "unknown key"),
        (Note, b'{"text":"a","title":5}', "$.title", "Expected `str | null`, got `int`"),
        (Outer, b'{"block":{"type":"new"}}', "$.block.type", "unknown variant 'new'"),
        (Outer, b'{"maybe":{"type":"text","text":"a","y":1}}', "$.maybe.y", "unknown key"),
        (Outer, b'{"blocks":[{"type":"text"}]}', "$.blocks[0].text", "missing required key"),
        (Lists, b'{"zero":null}', "$.zero", "null, read as empty"),
        (
            Lists,
            b'{"byName":{"x":{"type":"text","text":"a","y":1}}}',
            "$.byName.x.y",
            "unknown key",
        ),
        (Picture, b'{"type":"picture","data":"aGVsbG8"}', "$.data", "base64 with line breaks"),
        (Renamed, b'{"kind":"renamed","modeId":"x"}', "$.modeId", "read as 'currentModeId'"),
        (Form, b"{}", "$.type", "missing tag, read as 'object'"),
        (Lists, b'{"zero":5}', "$.zero", "Expected `array`, got `int`"),
    ],
)
def test_in_strict_mode_nothing_is_tolerated(
    wanted: Any, raw: bytes, path: str, reason: str
) -> None:
    """Demanded by whoever develops against us: what would be a note is an error."""
    at, why = refused(wanted, raw, strict=True)
    assert at == path
    assert why.startswith(reason)


def test_in_strict_mode_good_input_is_read_as_ever() -> None:
    raw = b'{"_meta":{"a":1},"block":{"type":"text","text":"a"},"maybe":null,"wordOrNumber":7}'
    assert decode(Outer, raw, strict=True) == decode(Outer, raw)
    lists = b'{"zero":["a"],"env":{"A":"b"},"lenient":null,"some":[{"type":"text","text":"a"}]}'
    assert decode(Lists, lists, strict=True) == decode(Lists, lists)


def test_without_a_list_for_notes_tolerance_is_silent() -> None:
    assert decode(Note, b'{"text":"a","title":5}') == Note(text="a")


def test_the_reader_reads_good_input_too() -> None:
    assert Reader(Note).read(b'{"text":"a"}', None, False) == Note(text="a", title=UNSET)
    assert Reader(list[int]).read(b"[1]", None, True) == [1]


def test_a_mark_that_drops_items_belongs_on_lists() -> None:
    from accord.schema.tolerant_reader import _item

    with pytest.raises(AssertionError, match="only lists"):
        _item(str)


@dataclass
class Line:
    """A type of somebody else's, which the reader does not walk."""

    words: str
    parts: list[Line] | None = None


class Row(TypedDict):
    """Another one."""

    words: str


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("wanted", "raw", "path"),
    [
        (Line, b'{"words":5}', "$.words"),
        (Line, b"{}", "$.words"),
        (Line, b'{"words":"","parts":[{"words":""},{}]}', "$.parts[1].words"),
        (Line, b"5", "$"),
        (Row, b'{"words":5}', "$.words"),
        (list[Row], b'[{"words":""},{}]', "$[1].words"),
        (dict[str, Line], b'{"a":{"words":5}}', "$.a.words"),
        (dict[int, int], b'{"a":1}', "$"),
    ],
)
def test_the_path_leads_into_types_that_are_not_ours(
    wanted: Any, raw: bytes, path: str, strict: bool
) -> None:
    """Issue 4: -32602 carries the path of the bad field, in the params of extensions too."""
    assert refused(wanted, raw, strict=strict)[0] == path
