"""Small wire types, one of each kind, for the tests of the core."""

from typing import ClassVar, Literal

from accord.schema.struct import (
    AZ,
    EN,
    ES,
    UNSET,
    AbsolutePath,
    BareStruct,
    E,
    Int32,
    Int64,
    NonEmpty,
    Omit,
    Patch,
    Raw,
    S,
    Uint16,
    Uint32,
    Uint64,
    WireStruct,
    Z,
    check_uint64,
    field,
)


class Marker(BareStruct, frozen=True, kw_only=True):
    """No `_meta`, no fields."""


class Text(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """A member of a union."""

    text: str
    mood: E[Omit[Literal["glad", "sad"] | str]] = UNSET


class Picture(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="picture"):
    """A member of a union with bytes."""

    data: bytes


Block = Text | Picture


class Note(WireStruct, frozen=True, kw_only=True):
    """The states of optional fields."""

    text: str
    title: E[Patch[str]] = UNSET
    data: E[Omit[Raw]] = UNSET


class Bounds(WireStruct, frozen=True, kw_only=True):
    """Numbers."""

    i32: Omit[Int32] = UNSET
    i64: Omit[Int64] = UNSET
    u16: Omit[Uint16] = UNSET
    u32: Omit[Uint32] = UNSET
    u64: Omit[Uint64] = UNSET
    lenient: E[Patch[Uint64]] = UNSET
    note: Omit[Block] = UNSET

    def __post_init__(self) -> None:
        check_uint64(self.u64, self.lenient)


class Place(WireStruct, frozen=True, kw_only=True):
    """A checked path."""

    path: AbsolutePath


class Lists(WireStruct, frozen=True, kw_only=True):
    """Lists and maps with every tolerance."""

    strict: Omit[list[Block]] = UNSET
    skipping: S[Omit[list[Text]]] = UNSET
    lenient: ES[Patch[list[Text]]] = UNSET
    zero: Z[Omit[list[str]]] = UNSET
    env: Z[Omit[dict[str, str]]] = UNSET
    some: Omit[NonEmpty[Text]] = UNSET
    by_name: Omit[dict[str, Text]] = UNSET
    cleared: EN[Patch[Text]] = UNSET


class Needed(WireStruct, frozen=True, kw_only=True):
    """Required fields with tolerances."""

    entries: ES[list[Text]]
    servers: Z[list[str]]
    env: AZ[dict[str, str]]
    args: AZ[list[str]]


class Defaults(WireStruct, frozen=True, kw_only=True):
    """Defaults that are values."""

    on: E[bool] = False
    names: Z[list[str]] = field(default_factory=list)


class Renamed(WireStruct, frozen=True, kw_only=True, tag_field="kind", tag="renamed"):
    """Old keys, a default tag, and room for other tags."""

    __open__: ClassVar[bool] = True
    __default_tag__: ClassVar[str] = "renamed"
    __aliases__: ClassVar[dict[str, str]] = {"modeId": "currentModeId"}

    current_mode_id: str


class Form(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="object"):
    """The only type there is, whatever its tag says."""

    __default_tag__: ClassVar[str] = "object"

    title: E[Patch[str]] = UNSET


class Only(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="only"):
    """A tag that must be right."""


class Items(WireStruct, frozen=True, kw_only=True):
    """Two objects in one, of which one has no tag."""

    __kinds__: ClassVar[tuple[str, frozenset[str]]] = ("type", frozenset({"string"}))

    type: Omit[str] = UNSET
    any_of: Omit[list[str]] = UNSET

    def __post_init__(self) -> None:
        if self.type is UNSET and self.any_of is UNSET:
            raise ValueError("needs `type` or `anyOf`")
        if self.type not in (UNSET, "string"):
            raise ValueError("unknown type")


class Question(WireStruct, frozen=True, kw_only=True):
    """A required key that older peers did not have."""

    __instead__: ClassVar[dict[str, str]] = {"title": "toolCall"}

    title: str
    tool_call: Omit[Text] = UNSET


class Outer(WireStruct, frozen=True, kw_only=True):
    """Everything inside one object."""

    block: Omit[Block] = UNSET
    blocks: ES[Omit[list[Block]]] = UNSET
    renamed: Omit[Renamed] = UNSET
    form: Omit[Form] = UNSET
    only: Omit[Only] = UNSET
    items: Omit[Items] = UNSET
    question: Omit[Question] = UNSET
    maybe: Patch[Text] = UNSET
    word_or_number: Omit[str | Int64] = UNSET
    nested: Omit[E[str | Int64 | None]] = UNSET
