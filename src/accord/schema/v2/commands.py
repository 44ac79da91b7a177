"""Slash commands that the user may call in a session."""

from typing import TYPE_CHECKING, ClassVar, TypeAlias

from accord.schema.struct import UNSET, E, Patch, S, UnknownVariant, WireStruct


class TextCommandInput(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """The command takes the rest of the line; `hint` says what to write there."""

    __open__: ClassVar[bool] = True

    hint: str


if TYPE_CHECKING:
    AvailableCommandInput: TypeAlias = TextCommandInput | UnknownVariant
else:
    AvailableCommandInput = TextCommandInput


class Command(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="command"):
    """A command that is called by name; peers of August 2026 leave out `type`."""

    __open__: ClassVar[bool] = True
    __default_tag__: ClassVar[str] = "command"

    name: str
    description: str
    input: E[Patch[AvailableCommandInput]] = UNSET


if TYPE_CHECKING:
    AvailableCommand: TypeAlias = Command | UnknownVariant
else:
    AvailableCommand = Command


class AvailableCommandsUpdate(
    WireStruct,
    frozen=True,
    kw_only=True,
    tag_field="sessionUpdate",
    tag="available_commands_update",
):
    """The complete list of commands from now on."""

    available_commands: S[list[AvailableCommand]]
