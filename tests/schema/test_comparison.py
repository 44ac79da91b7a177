"""The comparison with the official schema sees every kind of difference that it is there for."""

from typing import Any, ClassVar, Literal

import pytest

from accord.schema.enumeration import Enumeration, enumeration
from accord.schema.method import Method
from accord.schema.struct import ES, UNSET, E, Omit, Patch, U, Uint32, Uint64, WireStruct
from tests.schema.comparison import Book, Comparison, has_gate, misplaced
from tests.schema.official_schema import Official, Schema

META = {
    "type": ["object", "null"],
    "additionalProperties": True,
    "x-deserialize-default-on-error": True,
}
STABLE: dict[str, Any] = {
    "Colour": {"oneOf": [{"type": "string", "const": "red"}, {"type": "string", "const": "blue"}]},
    "Point": {
        "type": "object",
        "properties": {
            "_meta": META,
            "x": {"type": "integer", "format": "uint32", "minimum": 0},
            "colour": {"allOf": [{"$ref": "#/$defs/Colour"}]},
            "name": {"type": ["string", "null"], "x-deserialize-default-on-error": True},
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "x-deserialize-default-on-error": True,
                "x-deserialize-skip-invalid-items": True,
            },
        },
        "required": ["x", "colour"],
        "x-side": "agent",
        "x-method": "point/set",
    },
}
FIELDS = STABLE["Point"]["properties"]
UNSTABLE: dict[str, Any] = {
    **STABLE,
    "Point": {
        **STABLE["Point"],
        "properties": {**FIELDS, "weight": {"type": ["number", "null"]}},
    },
    "Extra": {"type": "object", "properties": {"_meta": META}},
}
OFFICIAL = Official(Schema({"$defs": STABLE}), Schema({"$defs": UNSTABLE}))
Colour = Literal["red", "blue"] | str


class Extra(WireStruct, frozen=True, kw_only=True):
    """Unstable, and says so."""

    __unstable__: ClassVar[bool] = True


class Point(WireStruct, frozen=True, kw_only=True):
    """As it should be."""

    x: Uint32
    colour: Colour
    name: E[Patch[str]] = UNSET
    tags: ES[Omit[list[str]]] = UNSET
    weight: U[Patch[float]] = UNSET


def differences(point: Any, words: Enumeration, extra: Any = Extra) -> set[str]:
    """What the comparison says of a package with these types."""

    class Package:
        __all__ = ("Extra", "Point")

    for name, value in {"Extra": extra, "Point": point}.items():
        if value is not None:
            value.__name__ = value.__qualname__ = name
        setattr(Package, name, value)
    names = tuple(name for name in Package.__all__ if getattr(Package, name) is not None)
    Package.__all__ = names  # type: ignore[assignment]
    return Comparison(OFFICIAL, Book(Package, {"Colour": words}, exempt={})).run()


WORDS = enumeration(Colour, open=False)


def test_types_that_are_alike_have_no_difference() -> None:
    assert differences(Point, WORDS) == set()


def test_every_property_of_a_field_is_compared() -> None:
    class Wrong(WireStruct, frozen=True, kw_only=True):
        x: Omit[Uint64] = UNSET
        colour: Literal["red", "green"] | str
        name: Omit[str] = UNSET
        tags: E[Omit[list[Uint32 | str]]] = UNSET
        weight: Patch[float] = UNSET
        more: Omit[str] = UNSET

    wide = "(integer, 0, 4294967295), ours (integer, 0, 18446744073709551615)"
    assert differences(Wrong, WORDS) >= {
        f"Point.x: is {wide}",
        "Point.x: required True, ours False",
        "Point.colour: is (enum, {blue, red}), ours (enum, {green, red})",
        "Point.name: nullable True, ours False",
        "Point.name: tolerance E, ours ",
        "Point.tags: tolerance ES, ours E",
        "Point.weight: marked unstable: False",
        "Point.more: ours alone",
    }


def test_a_missing_field_a_missing_type_and_a_missing_mark_are_differences() -> None:
    class Small(WireStruct, frozen=True, kw_only=True):
        x: Uint32
        colour: Colour
        name: E[Patch[str]] = UNSET
        tags: ES[Omit[list[str]]] = UNSET

    class Unmarked(WireStruct, frozen=True, kw_only=True):
        pass

    assert differences(Small, WORDS) == {"Point.weight: missing"}
    assert differences(Point, WORDS, None) == {"Extra: missing"}
    assert differences(Point, WORDS, Unmarked) == {"Extra: marked unstable: False"}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (Enumeration(("red",), open=False), "Colour: values ['blue', 'red'], ours ['red']"),
        (Enumeration(("blue", "red"), open=True), "Colour: open is False, ours True"),
        (
            Enumeration(("blue", "red"), open=False, unstable=True),
            "Colour: marked unstable: True",
        ),
    ],
)
def test_words_and_their_openness_are_compared(words: Enumeration, found: str) -> None:
    assert differences(Point, words) == {found}


def test_a_message_in_the_wrong_row_and_a_row_too_many_are_found() -> None:
    class Package:
        pass

    Package.Point = Point  # type: ignore[attr-defined]
    right = Method("point/set", "agent", "request", Point)
    wrong = Method("point/set", "client", "request", Point)
    assert misplaced(OFFICIAL, Package, {"point/set": right}) == []
    assert misplaced(OFFICIAL, Package, {"point/set": wrong}) == [
        "Point of ('agent', 'point/set')",
        "point/set of client",
    ]


def test_a_gate_must_be_a_path_through_the_capabilities() -> None:
    class Inner(WireStruct, frozen=True, kw_only=True):
        read: bool = False

    class Capabilities(WireStruct, frozen=True, kw_only=True):
        fs: E[Patch[Inner]] = UNSET

    assert has_gate(Capabilities, "fs.read")
    assert not has_gate(Capabilities, "fs.write")
    assert not has_gate(Capabilities, "fs.read.more")
