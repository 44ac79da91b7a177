"""Options of a session that the user can set: modes, models and the like."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.schema.struct import ES, UNSET, E, NonEmpty, Omit, Patch, S, UnknownVariant, WireStruct
from accord.schema.v2.identifiers import (
    SessionConfigGroupId,
    SessionConfigId,
    SessionConfigValueId,
    SessionId,
)

SessionConfigOptionCategory: TypeAlias = (
    Literal["mode", "model", "model_config", "thought_level"] | str
)


class SessionConfigSelectOption(WireStruct, frozen=True, kw_only=True):
    """One value to choose, inside a group."""

    value: SessionConfigValueId
    name: str
    description: E[Patch[str]] = UNSET


class SessionConfigSelectEntry(WireStruct, frozen=True, kw_only=True):
    """An entry of a choice: a value (`value`) or a group of values (`group_id` and `options`).

    One struct for the protocol's two, because nothing but the keys tells them apart.  A list holds
    entries of one sort only; `SessionConfigSelect` sees to that.
    """

    name: str
    value: Omit[SessionConfigValueId] = UNSET
    description: E[Patch[str]] = UNSET
    group_id: Omit[SessionConfigGroupId] = UNSET
    options: ES[Omit[NonEmpty[SessionConfigSelectOption]]] = UNSET

    def __post_init__(self) -> None:
        if self.group_id is UNSET:
            if self.value is UNSET:
                raise ValueError("Expected `value` or `groupId`")
        elif self.options is UNSET:
            raise ValueError("A group needs `options`")


class ConfigOptionFields(WireStruct, frozen=True, kw_only=True):
    """The fields of every option, whatever its type."""

    config_id: SessionConfigId
    name: str
    description: E[Patch[str]] = UNSET
    category: E[Patch[SessionConfigOptionCategory]] = UNSET


class SessionConfigSelect(
    ConfigOptionFields, frozen=True, kw_only=True, tag_field="type", tag="select"
):
    """One value out of a list; the current one is on it."""

    current_value: SessionConfigValueId
    options: NonEmpty[SessionConfigSelectEntry]

    def __post_init__(self) -> None:
        if len({item.group_id is UNSET for item in self.options}) > 1:
            raise ValueError("Expected values or groups in `options`, not both")


class SessionConfigBoolean(
    ConfigOptionFields, frozen=True, kw_only=True, tag_field="type", tag="boolean"
):
    current_value: bool


if TYPE_CHECKING:
    SessionConfigOption: TypeAlias = SessionConfigSelect | SessionConfigBoolean | UnknownVariant
else:
    SessionConfigOption = SessionConfigSelect | SessionConfigBoolean


class SetSessionConfigIdRequest(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="id"):
    """Choose a value of a `select` option."""

    session_id: SessionId
    config_id: SessionConfigId
    value: SessionConfigValueId


class SetSessionConfigBooleanRequest(
    WireStruct, frozen=True, kw_only=True, tag_field="type", tag="boolean"
):
    """Switch a `boolean` option."""

    session_id: SessionId
    config_id: SessionConfigId
    value: bool


if TYPE_CHECKING:
    SetSessionConfigOptionRequest: TypeAlias = (
        SetSessionConfigIdRequest | SetSessionConfigBooleanRequest | UnknownVariant
    )
else:
    SetSessionConfigOptionRequest = SetSessionConfigIdRequest | SetSessionConfigBooleanRequest


class SetSessionConfigOptionResponse(WireStruct, frozen=True, kw_only=True):
    """All options as they are after the change."""

    config_options: S[list[SessionConfigOption]]


class ConfigOptionUpdate(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="config_option_update"
):
    """All options as they are now."""

    config_options: S[list[SessionConfigOption]]
