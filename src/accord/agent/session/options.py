"""What a session can be set to: modes, config options and slash commands, version-neutral.

Modes are config options of category `mode`; v1 is told of both and the two stay in step.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from accord.agent.custom_values import checked
from accord.errors import LocalProtocolError

if TYPE_CHECKING:
    from accord.agent.turn import Turn

MODE_OPTION_ID = "mode"

OptionValue = str | bool
CommandHandler = Callable[["Turn", str], Awaitable[str | None]]


class Choice(NamedTuple):
    """One value of a select option."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None


class Mode(NamedTuple):
    """A way of working.  Tool kinds in `allow` need no permission while it is on."""

    mode_id: str
    name: str
    description: str | None = None
    allow: frozenset[str] = frozenset()


class Option(NamedTuple):
    """A setting of a session: a choice out of a list, or a switch where `choices` is empty."""

    option_id: str
    name: str
    default: OptionValue
    choices: tuple[Choice, ...] = ()
    description: str | None = None
    category: str | None = None

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off rather than one of many."""
        return not self.choices

    def accepts(self, value: object) -> bool:
        """Whether a session may be set to this value."""
        if self.is_switch:
            return isinstance(value, bool)
        return isinstance(value, str) and any(choice.value == value for choice in self.choices)


class SlashCommand(NamedTuple):
    """`/name argument`, run by its own function."""

    name: str
    description: str
    hint: str | None
    handler: CommandHandler


class Offer:
    """All that an agent's sessions can be set to.  Guards: ids are unique, defaults are legal."""

    def __init__(self) -> None:
        self.modes: dict[str, Mode] = {}
        self.options: dict[str, Option] = {}
        self.commands: dict[str, SlashCommand] = {}

    def add_mode(self, mode: Mode) -> None:
        """Add a mode; the first one is where sessions start."""
        if mode.mode_id in self.modes:
            raise LocalProtocolError(f"there is already a mode {mode.mode_id!r}")
        self.modes[mode.mode_id] = mode

    def add_option(self, option: Option) -> None:
        """Add a config option."""
        taken = option.option_id in self.options or option.option_id == MODE_OPTION_ID
        if taken:
            raise LocalProtocolError(f"there is already an option {option.option_id!r}")
        if option.category is not None:
            checked("SessionConfigOptionCategory", option.category)
        values = [choice.value for choice in option.choices]
        if len(set(values)) != len(values):
            raise LocalProtocolError(f"option {option.option_id!r} lists a value twice")
        if not option.accepts(option.default):
            raise LocalProtocolError(
                f"the default {option.default!r} of option {option.option_id!r} is not a choice"
            )
        self.options[option.option_id] = option

    def add_command(self, command: SlashCommand) -> None:
        """Add a slash command."""
        if not command.name or "/" in command.name or any(map(str.isspace, command.name)):
            raise LocalProtocolError(
                f"a command's name has no slash and no space: {command.name!r}"
            )
        if command.name in self.commands:
            raise LocalProtocolError(f"there is already a command {command.name!r}")
        self.commands[command.name] = command

    def all_options(self) -> list[Option]:
        """Options in the order of their importance, modes first."""
        options = list(self.options.values())
        if self.modes:
            options.insert(0, self._mode_option())
        return options

    def _mode_option(self) -> Option:
        return Option(
            MODE_OPTION_ID,
            "Mode",
            next(iter(self.modes)),
            tuple(
                Choice(mode.mode_id, mode.name, mode.description) for mode in self.modes.values()
            ),
            category="mode",
        )

    def find(self, option_id: str) -> Option | None:
        """The option of an id."""
        if option_id == MODE_OPTION_ID and self.modes:
            return self._mode_option()
        return self.options.get(option_id)

    def of_category(self, category: str) -> Option | None:
        """The first option of a category."""
        return next((o for o in self.all_options() if o.category == category), None)

    def defaults(self) -> dict[str, OptionValue]:
        """A value for every option, so that a turn never needs the client to set one."""
        return {option.option_id: option.default for option in self.all_options()}

    def settled(self, stored: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
        """Stored values where they are still legal, defaults elsewhere."""
        values = self.defaults()
        for option in self.all_options():
            if option.option_id in stored and option.accepts(stored[option.option_id]):
                values[option.option_id] = stored[option.option_id]
        return values

    def command_in(self, text: str) -> tuple[SlashCommand, str] | None:
        """The command that a prompt text invokes, and its argument."""
        if not text.startswith("/"):
            return None
        name, *rest = text[1:].split(maxsplit=1) or [""]
        command = None if text[1:2].isspace() else self.commands.get(name)
        return None if command is None else (command, "".join(rest).strip())


def choices_of(given: Sequence[str | tuple[str, str] | Choice]) -> tuple[Choice, ...]:
    """Choices as a program may write them: values, (value, name) pairs, or whole ones."""
    made: list[Choice] = []
    for one in given:
        if isinstance(one, Choice):
            made.append(one)
        elif isinstance(one, str):
            made.append(Choice(one, one))
        else:
            made.append(Choice(*one))
    return tuple(made)
