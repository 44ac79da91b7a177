"""Elicitation: the agent asks the user for data, by a form or at a URL.

Must not know: how a form is drawn or checked.
"""

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from accord.schema.struct import (
    ES,
    UNSET,
    E,
    Int64,
    Omit,
    Patch,
    Uint32,
    Uint64,
    UnknownVariant,
    WireStruct,
    check_uint64,
)
from accord.schema.v1.identifiers import RequestId

ElicitationId: TypeAlias = str
StringFormat: TypeAlias = Literal["email", "uri", "date", "date-time"] | str
ElicitationContentValue: TypeAlias = str | Int64 | float | bool | list[str]


class EnumOption(WireStruct, frozen=True, kw_only=True):
    """A choice with a label."""

    const: str
    title: str
    description: E[Patch[str]] = UNSET


class StringPropertySchema(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="string"):
    """A text field, or a choice of one where `enum` or `one_of` is there."""

    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    min_length: Patch[Uint32] = UNSET
    max_length: Patch[Uint32] = UNSET
    pattern: Patch[str] = UNSET
    format: Patch[StringFormat] = UNSET
    default: E[Patch[str]] = UNSET
    enum: Patch[list[str]] = UNSET
    one_of: Patch[list[EnumOption]] = UNSET


class NumberPropertySchema(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="number"):
    """A field for a number."""

    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    minimum: Patch[float] = UNSET
    maximum: Patch[float] = UNSET
    default: E[Patch[float]] = UNSET


class IntegerPropertySchema(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="integer"):
    """A field for a whole number."""

    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    minimum: Patch[Int64] = UNSET
    maximum: Patch[Int64] = UNSET
    default: E[Patch[Int64]] = UNSET


class BooleanPropertySchema(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="boolean"):
    """A field for yes or no."""

    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    default: E[Patch[bool]] = UNSET


class KnownMultiSelectItems(WireStruct, frozen=True, kw_only=True):
    """The choices: plain values (`type` "string", `enum`) or labelled ones (`any_of`, no type).

    One struct for the protocol's two, because the labelled one has no tag.
    """

    __kinds__: ClassVar[tuple[str, frozenset[str]]] = ("type", frozenset({"string"}))

    type: Omit[Literal["string"] | str] = UNSET
    enum: Omit[list[str]] = UNSET
    any_of: Omit[list[EnumOption]] = UNSET

    def __post_init__(self) -> None:
        if self.type is UNSET:
            if self.any_of is UNSET:
                raise ValueError("choices need `type` or `anyOf`")
        elif self.type != "string":
            raise ValueError(f"choices of type {self.type!r} are unknown")
        elif self.enum is UNSET:
            raise ValueError("choices of type string need `enum`")


if TYPE_CHECKING:
    MultiSelectItems: TypeAlias = KnownMultiSelectItems | UnknownVariant
else:
    MultiSelectItems = KnownMultiSelectItems


class MultiSelectPropertySchema(
    WireStruct, frozen=True, kw_only=True, tag_field="type", tag="array"
):
    """A choice of several."""

    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    min_items: Patch[Uint64] = UNSET
    max_items: Patch[Uint64] = UNSET
    items: MultiSelectItems
    default: ES[Patch[list[str]]] = UNSET

    def __post_init__(self) -> None:
        check_uint64(self.min_items, self.max_items)


if TYPE_CHECKING:
    ElicitationPropertySchema: TypeAlias = (
        StringPropertySchema
        | NumberPropertySchema
        | IntegerPropertySchema
        | BooleanPropertySchema
        | MultiSelectPropertySchema
        | UnknownVariant
    )
else:
    ElicitationPropertySchema = (
        StringPropertySchema
        | NumberPropertySchema
        | IntegerPropertySchema
        | BooleanPropertySchema
        | MultiSelectPropertySchema
    )


class ElicitationSchema(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="object"):
    """The fields of a form.  Always sent with its type, and read without it too."""

    __default_tag__: ClassVar[str] = "object"

    title: E[Patch[str]] = UNSET
    properties: Omit[dict[str, ElicitationPropertySchema]] = UNSET
    required: Patch[list[str]] = UNSET
    description: E[Patch[str]] = UNSET


class ElicitationFields(WireStruct, frozen=True, kw_only=True):
    """What every elicitation has: the question, and the session or the request it belongs to."""

    message: str
    session_id: Omit[str] = UNSET
    tool_call_id: E[Patch[str]] = UNSET
    request_id: RequestId | Omit[str] = UNSET

    def __post_init__(self) -> None:
        if self.session_id is UNSET and self.request_id is UNSET:
            raise ValueError("an elicitation needs `sessionId` or `requestId`")


class ElicitationFormMode(
    ElicitationFields, frozen=True, kw_only=True, tag_field="mode", tag="form"
):
    """Fill in a form."""

    requested_schema: ElicitationSchema


class ElicitationUrlMode(ElicitationFields, frozen=True, kw_only=True, tag_field="mode", tag="url"):
    """Go to a URL; that the user agreed does not mean that it is done."""

    elicitation_id: ElicitationId
    url: str


if TYPE_CHECKING:
    CreateElicitationRequest: TypeAlias = ElicitationFormMode | ElicitationUrlMode | UnknownVariant
else:
    CreateElicitationRequest = ElicitationFormMode | ElicitationUrlMode


class ElicitationAcceptAction(
    WireStruct, frozen=True, kw_only=True, tag_field="action", tag="accept"
):
    """The user filled in the form, or agreed to open the URL."""

    content: Patch[dict[str, ElicitationContentValue]] = UNSET


class ElicitationDeclineAction(
    WireStruct, frozen=True, kw_only=True, tag_field="action", tag="decline"
):
    """The user declined the request."""


class ElicitationCancelAction(
    WireStruct, frozen=True, kw_only=True, tag_field="action", tag="cancel"
):
    """The user closed the question."""


if TYPE_CHECKING:
    CreateElicitationResponse: TypeAlias = (
        ElicitationAcceptAction
        | ElicitationDeclineAction
        | ElicitationCancelAction
        | UnknownVariant
    )
else:
    CreateElicitationResponse = (
        ElicitationAcceptAction | ElicitationDeclineAction | ElicitationCancelAction
    )


class CompleteElicitationNotification(WireStruct, frozen=True, kw_only=True):
    """What was to be done at the URL is done."""

    elicitation_id: ElicitationId
