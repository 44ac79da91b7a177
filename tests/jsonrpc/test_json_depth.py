"""Nesting: exact against a plain scanner, and linear for any depth."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.jsonrpc.json_depth import LARGE_BYTES, NESTED, is_deeper, shallow_members

tricky_text = st.text(st.sampled_from('[]{}"\\ab'), max_size=8)
values = st.recursive(
    st.none() | st.integers() | tricky_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(tricky_text, inner, max_size=3),
    max_leaves=20,
)


def depth_of(text: str) -> int:
    """The plain way: character by character."""
    depth = deepest = 0
    is_inside = is_escaped = False
    for character in text:
        if is_escaped:
            is_escaped = False
        elif is_inside:
            is_escaped = character == "\\"
            is_inside = character != '"'
        elif character == '"':
            is_inside = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


@given(values, st.integers(0, 6))
def test_the_depth_is_that_of_a_plain_scanner(value: object, depth_max: int) -> None:
    """Ours: brackets and quotes inside strings do not count."""
    text = json.dumps(value)
    assert is_deeper(text.encode(), depth_max) is (depth_of(text) > depth_max)


@pytest.mark.rule("LIM-01")
def test_the_limit_itself_is_not_too_deep() -> None:
    """LIM-01: deeper than 128 levels is refused, and 128 are not."""
    for extra, expected in ((0, False), (1, True)):
        levels = 128 + extra
        assert is_deeper(b"[" * levels + b"]" * levels, 128) is expected


def test_many_brackets_are_not_deep() -> None:
    """Ours: a long list is flat, and so is source text in a string."""
    assert not is_deeper(b"[" + b",".join([b"[]"] * 1000) + b"]", 128)
    assert not is_deeper(json.dumps(['{"\\[' * 1000]).encode(), 128)


@given(st.dictionaries(tricky_text, values, max_size=4))
def test_shallow_members_finds_every_member(members: dict[str, object]) -> None:
    """Ours: same keys as a parser finds, and the text of every scalar."""
    members.pop("id", None)
    found = shallow_members(json.dumps(members, indent=1).encode())
    assert {json.loads(key) for key in found} == set(members)
    for key, text in found.items():
        value = members[json.loads(key)]
        assert text == NESTED if isinstance(value, dict | list) else json.loads(text) == value


@pytest.mark.rule("LIM-01")
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_a_member_behind_a_million_levels_is_found(opening: bytes, closing: bytes) -> None:
    """LIM-01: the id is read where it can be, also behind what is too deep."""
    deep = opening * 1_000_000 + b"1" + closing * 1_000_000
    assert shallow_members(b'{"params":' + deep + b' ,"id" : 7}') == {
        b'"params"': NESTED,
        b'"id"': b"7",
    }


@pytest.mark.parametrize("telling", [b'"method"', b'"result"', b'"error"'])
def test_shallow_members_stops_when_it_knows_enough(telling: bytes) -> None:
    """Ours: what follows will not be used."""
    text = b'{"id":7,' + telling + b':"x","deep":[1],"more":1}'
    assert shallow_members(text) == {b'"id"': b"7", telling: b'"x"', b'"deep"': NESTED}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", {}),
        (b"[1]", {}),
        (b"{", {}),
        (b'{"a"', {}),
        (b'{"a":', {}),
        (b'{"a":]', {}),
        (b'{"a":1', {b'"a"': b"1"}),
        (b'{"a":1 "b":2}', {b'"a"': b"1"}),
        (b'{"a":[[1,"]"', {b'"a"': NESTED}),
        (b'{"a":[[1]}', {b'"a"': NESTED}),
    ],
)
def test_shallow_members_reads_as_far_as_the_text_is_sound(
    text: bytes, expected: dict[bytes, bytes]
) -> None:
    """Ours: whatever the bytes, an answer and no exception."""
    assert shallow_members(text) == expected


@given(st.binary() | st.text(st.sampled_from('{}[]",:\\a1 ')).map(str.encode))
def test_shallow_members_takes_any_bytes(text: bytes) -> None:
    """Ours: bad input is never an exception."""
    assert isinstance(shallow_members(text), dict)


@pytest.mark.parametrize(("levels", "deeper"), [(5, False), (64, False), (100, False), (129, True)])
def test_large_text_is_judged_as_small_text_is(levels: int, deeper: bool) -> None:
    """LIM-01: a large file in a string costs little, and hides nothing."""
    filler = b'"' + b"x" * LARGE_BYTES + b'"'
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        text = opening * levels + filler + closing * levels
        assert is_deeper(text, 128) is deeper
