"""The vocabulary in which wire types are written: the base struct and the marks of a field.

A field of the protocol says three things: whether it must be there, whether null is legal, and
what a reader does with a malformed value.  All three are spelled in its annotation, so that the
native decoder, the tolerant reader and the comparison with the official schema read one source.

    title: E[Patch[str]] = UNSET          absent, null or text; anything else is read as absent
    entries: ES[list[PlanEntry]]          required; bad items are dropped, a bad list is empty
    mcp_servers: Z[list[McpServer]]       required; null is the empty list, the rest is strict

Must not know: any message of the protocol, and how bytes travel.
"""

from typing import Annotated, ClassVar, TypeAlias, TypeVar

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

T = TypeVar("T")

# May be left out; null is not legal.
Omit: TypeAlias = T | UnsetType
# Left out, null, or a value: v2's keep, clear and replace.
Patch: TypeAlias = T | UnsetType | None

# The tolerance marks, read by `tolerant_reader.py`.  E: malformed counts as absent.
# S: bad items of a list are dropped.  Z: null counts as empty.  A: a required list or map that is
# missing counts as empty.
E = Annotated[T, Meta(extra={"tolerance": "E"})]
S = Annotated[T, Meta(extra={"tolerance": "S"})]
ES = Annotated[T, Meta(extra={"tolerance": "ES"})]
Z = Annotated[T, Meta(extra={"tolerance": "Z"})]
AZ = Annotated[T, Meta(extra={"tolerance": "AZ"})]
# N with E: malformed counts as null, for a patch field where keeping the old value would be unsafe.
EN = Annotated[T, Meta(extra={"tolerance": "EN"})]
# Part of the unstable schema only: never sent unless the program asked for it.
U = Annotated[T, Meta(extra={"unstable": True})]

Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Uint16 = Annotated[int, Meta(ge=0, le=2**16 - 1)]
Uint32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
# msgspec cannot bound an int above 2**63 - 1: a Struct with such a field calls `check_uint64`.
Uint64 = Annotated[int, Meta(ge=0)]
UINT64_MAX = 2**64 - 1
NonEmpty = Annotated[list[T], Meta(min_length=1)]
# POSIX, drive letter or UNC: what counts as absolute on the agent's machine, not on ours.
AbsolutePath = Annotated[str, Meta(pattern=r"^(/|[A-Za-z]:[\\/]|\\\\)")]

MetaMap: TypeAlias = dict[str, Raw]


class WireStruct(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", gc=False):
    """An object of the protocol.  Every one may have `_meta`, which is kept unchanged.

    Subclasses repeat `frozen=True, kw_only=True`: msgspec does not pass them on.

    What is read from JSON has no cycles, so the garbage collector need not look at any of it.
    """

    meta: E[Patch[MetaMap]] = field(name="_meta", default=UNSET)


class UnstableStruct(WireStruct, frozen=True, kw_only=True):
    """An object of the unstable schema only: never sent unless the program asked for it."""

    __unstable__: ClassVar[bool] = True


class BareStruct(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """An object that has no `_meta` of its own in the protocol."""


class LightStruct(Struct, eq=False, gc=False):
    """A value that never leaves the process and is made with every update.

    A Struct is made three times as fast as an object of a class with slots.  It is itself and
    equal to nothing else, and it must not be part of a cycle.
    """


def check_uint64(*values: object) -> None:
    """The upper bound of Uint64 fields, for the `__post_init__` of a Struct that has some."""
    for value in values:
        if isinstance(value, int) and value > UINT64_MAX:
            raise ValueError("Expected `int` <= 2**64 - 1")


class UnknownVariant:
    """A member of an open union whose tag we do not know, kept whole so that it can be passed on.

    Not a Struct: it encodes to exactly the bytes that it was read from.
    """

    __slots__ = ("raw", "tag", "tag_field")

    def __init__(self, tag_field: str, tag: str, raw: bytes) -> None:
        self.tag_field = tag_field
        self.tag = tag
        self.raw = raw

    def __repr__(self) -> str:
        return f"UnknownVariant({self.tag_field}={self.tag!r}, {len(self.raw)} bytes)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UnknownVariant):
            return NotImplemented
        return (self.tag_field, self.tag, self.raw) == (other.tag_field, other.tag, other.raw)

    def __hash__(self) -> int:
        return hash((self.tag_field, self.tag, self.raw))


__all__ = [
    "AZ",
    "EN",
    "ES",
    "UINT64_MAX",
    "UNSET",
    "AbsolutePath",
    "BareStruct",
    "E",
    "Int32",
    "Int64",
    "LightStruct",
    "MetaMap",
    "NonEmpty",
    "Omit",
    "Patch",
    "Raw",
    "S",
    "U",
    "Uint16",
    "Uint32",
    "Uint64",
    "UnknownVariant",
    "UnsetType",
    "UnstableStruct",
    "WireStruct",
    "Z",
    "check_uint64",
    "field",
]
