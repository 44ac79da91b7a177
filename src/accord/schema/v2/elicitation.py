"""Elicitation: the agent asks the user for something, by a form or by a URL."""

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from accord.schema.struct import (
    ES,
    UNSET,
    E,
    Int64,
    NonEmpty,
    Omit,
    Patch,
    Raw,
    Uint32,
    Uint64,
    UnknownVariant,
    WireStruct,
    check_uint64,
)
from accord.schema.v2.identifiers import ElicitationId, RequestId, SessionId, ToolCallId

StringFormat: TypeAlias = Literal["email", "uri", "date", "date-time"] | str
# The one enumeration of v2 that is closed for good.
ElicitationSchemaType: TypeAlias = Literal["object"]
# A string, a number, a truth value, a list of strings, or whatever a custom control yields.
ElicitationContentValue: TypeAlias = Raw


class EnumOption(WireStruct, frozen=True, kw_only=True):
    """A choice with a title; `const` is what comes back."""

    const: str
    title: str
    description: E[Patch[str]] = UNSET


class StringPropertySchema(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="string"):
    """Text, or one choice out of `enum` or `one_of`."""

    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    min_length: Patch[Uint32] = UNSET
    max_length: Patch[Uint32] = UNSET
    pattern: Patch[str] = UNSET
    format: Patch[StringFormat] = UNSET
    default: E[Patch[str]] = UNSET
    enum: Patch[NonEmpty[str]] = UNSET
    one_of: Patch[NonEmpty[EnumOption]] = UNSET


class NumberPropertySchema(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="number"):
    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    minimum: Patch[float] = UNSET
    maximum: Patch[float] = UNSET
    default: E[Patch[float]] = UNSET


class IntegerPropertySchema(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="integer"):
    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    minimum: Patch[Int64] = UNSET
    maximum: Patch[Int64] = UNSET
    default: E[Patch[Int64]] = UNSET


class BooleanPropertySchema(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="boolean"):
    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    default: E[Patch[bool]] = UNSET


class KnownMultiSelectItems(WireStruct, frozen=True, kw_only=True):
    """What may be chosen: plain strings (`type` and `enum`) or titled choices (`any_of`).

    One struct for the protocol's two, because the titled one has no tag.
    """

    __kinds__: ClassVar[tuple[str, frozenset[str]]] = ("type", frozenset({"string"}))

    type: Omit[Literal["string"] | str] = UNSET
    enum: Omit[NonEmpty[str]] = UNSET
    any_of: Omit[NonEmpty[EnumOption]] = UNSET

    def __post_init__(self) -> None:
        if self.type is UNSET:
            if self.any_of is UNSET:
                raise ValueError("Expected `type` or `anyOf`")
        elif self.type != "string":
            raise ValueError(f"Invalid value {self.type!r}")
        elif self.enum is UNSET:
            raise ValueError("Items of type 'string' need `enum`")


if TYPE_CHECKING:
    MultiSelectItems: TypeAlias = KnownMultiSelectItems | UnknownVariant
else:
    MultiSelectItems = KnownMultiSelectItems


class MultiSelectPropertySchema(
    WireStruct, frozen=True, kw_only=True, tag_field="type", tag="array"
):
    """Any number of choices."""

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


class ElicitationSchema(WireStruct, frozen=True, kw_only=True):
    """The form: flat, one property per field of it.  `type` is always "object"."""

    type: ElicitationSchemaType
    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    properties: dict[str, ElicitationPropertySchema]
    required: Patch[list[str]] = UNSET


class ElicitationFields(WireStruct, frozen=True, kw_only=True):
    """What is asked, and for what: a session (perhaps one tool call of it) or a pending request.

    Exactly one of `session_id` and `request_id` is there.  The request must be one that the client
    has made and the agent has not answered.
    """

    message: str
    session_id: Omit[SessionId] = UNSET
    tool_call_id: E[Patch[ToolCallId]] = UNSET
    request_id: Omit[RequestId] = UNSET

    def __post_init__(self) -> None:
        if (self.session_id is UNSET) == (self.request_id is UNSET):
            raise ValueError("Expected exactly one of `sessionId` and `requestId`")


class ElicitationFormMode(
    ElicitationFields, frozen=True, kw_only=True, tag_field="mode", tag="form"
):
    """Show a form and return what the user filled in."""

    requested_schema: ElicitationSchema


class ElicitationUrlMode(ElicitationFields, frozen=True, kw_only=True, tag_field="mode", tag="url"):
    """Show a URL and, if the user agrees, open it; agreeing is not completing."""

    elicitation_id: ElicitationId
    url: str


if TYPE_CHECKING:
    CreateElicitationRequest: TypeAlias = ElicitationFormMode | ElicitationUrlMode | UnknownVariant
else:
    CreateElicitationRequest = ElicitationFormMode | ElicitationUrlMode


class ElicitationAcceptAction(
    WireStruct, frozen=True, kw_only=True, tag_field="action", tag="accept"
):
    """The user submitted the form, by property name, or agreed to the URL."""

    content: Patch[dict[str, ElicitationContentValue]] = UNSET


class ElicitationDeclineAction(
    WireStruct, frozen=True, kw_only=True, tag_field="action", tag="decline"
):
    """The user declined the request."""


class ElicitationCancelAction(
    WireStruct, frozen=True, kw_only=True, tag_field="action", tag="cancel"
):
    """The user closed it; an action that we do not know is treated like this one."""


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
    """What the user went to the URL for is done."""

    elicitation_id: ElicitationId
