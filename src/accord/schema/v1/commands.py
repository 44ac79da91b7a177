"""Slash commands that the agent offers."""

from accord.schema.struct import ES, UNSET, E, Patch, WireStruct


class UnstructuredCommandInput(WireStruct, frozen=True, kw_only=True):
    """The rest of the line after the command is its input."""

    hint: str


# The only form of input so far; the protocol leaves room for others.
AvailableCommandInput = UnstructuredCommandInput


class AvailableCommand(WireStruct, frozen=True, kw_only=True):
    """A command, its name without the slash."""

    name: str
    description: str
    input: E[Patch[AvailableCommandInput]] = UNSET


class AvailableCommandsUpdate(
    WireStruct,
    frozen=True,
    kw_only=True,
    tag_field="sessionUpdate",
    tag="available_commands_update",
):
    """All commands there are now."""

    available_commands: ES[list[AvailableCommand]]
