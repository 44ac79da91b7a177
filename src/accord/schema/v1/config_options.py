"""Config options: what a user can set on a session.  `modes.py` and `models.py` are older forms."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.schema.struct import ES, UNSET, E, Omit, Patch, UnknownVariant, WireStruct

SessionConfigId: TypeAlias = str
SessionConfigValueId: TypeAlias = str
SessionConfigGroupId: TypeAlias = str
SessionConfigOptionCategory: TypeAlias = (
    Literal["mode", "model", "model_config", "thought_level"] | str
)


class SessionConfigSelectOption(WireStruct, frozen=True, kw_only=True):
    """One value that an option can take."""

    value: SessionConfigValueId
    name: str
    description: E[Patch[str]] = UNSET


class SessionConfigSelectEntry(WireStruct, frozen=True, kw_only=True):
    """An entry of a select option: a value, or a group of values, told apart by `group`.

    The protocol has a list of values or a list of groups; one list never mixes them.
    """

    value: Omit[SessionConfigValueId] = UNSET
    group: Omit[SessionConfigGroupId] = UNSET
    name: str
    description: E[Patch[str]] = UNSET
    options: ES[Omit[list[SessionConfigSelectOption]]] = UNSET

    def __post_init__(self) -> None:
        if self.group is UNSET and self.value is UNSET:
            raise ValueError("a select entry needs `value` or `group`")
        if self.value is UNSET and self.options is UNSET:
            raise ValueError("a select group needs `options`")


class ConfigOptionFields(WireStruct, frozen=True, kw_only=True):
    """What every config option has, whatever its type."""

    id: SessionConfigId
    name: str
    description: E[Patch[str]] = UNSET
    category: E[Patch[SessionConfigOptionCategory]] = UNSET


class SessionConfigSelect(
    ConfigOptionFields, frozen=True, kw_only=True, tag_field="type", tag="select"
):
    """An option with a list of values."""

    current_value: SessionConfigValueId
    options: list[SessionConfigSelectEntry]


class SessionConfigBoolean(
    ConfigOptionFields, frozen=True, kw_only=True, tag_field="type", tag="boolean"
):
    """An option that is on or off."""

    current_value: bool


if TYPE_CHECKING:
    SessionConfigOption: TypeAlias = SessionConfigSelect | SessionConfigBoolean | UnknownVariant
else:
    SessionConfigOption = SessionConfigSelect | SessionConfigBoolean


class SetSessionConfigOptionRequest(WireStruct, frozen=True, kw_only=True):
    """Set an option: `type` "boolean" with a bool, otherwise the id of a value."""

    session_id: str
    config_id: SessionConfigId
    type: Omit[Literal["boolean"] | str] = UNSET
    value: SessionConfigValueId | bool

    def __post_init__(self) -> None:
        if isinstance(self.value, bool) and self.type != "boolean":
            raise ValueError('a boolean `value` needs `type` "boolean"')


class SetSessionConfigOptionResponse(WireStruct, frozen=True, kw_only=True):
    """All options after the change, since one may alter another."""

    config_options: ES[list[SessionConfigOption]]
