"""Modes, config options and slash commands, and their form in v2.

Modes are config options of category `mode`; v1 has both, and the two are kept in step.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from accord.agent.argument_checks import check_command_name, check_enum_value
from accord.errors import LocalProtocolError, RequestError
from accord.schema import v2
from accord.schema.struct import UNSET

MODE_OPTION_ID = "mode"

NUMBER_DIGITS_MAX = 15

OptionValue = str | bool


class Choice(NamedTuple):
    """One value of a select option."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None


class Mode(NamedTuple):
    """A way of working.  Tool kinds in `allow` need no permission while it is active."""

    mode_id: str
    name: str
    description: str | None = None
    allow: frozenset[str] = frozenset()


class Option(NamedTuple):
    """A setting of a session: a choice from a list, or a switch if `choices` is empty.

    With a `unit` the choices are only the usual numbers, and any other whole number above 0 is a
    value too.
    """

    option_id: str
    name: str
    default: OptionValue
    choices: tuple[Choice, ...] = ()
    description: str | None = None
    category: str | None = None
    unit: str | None = None

    @property
    def is_switch(self) -> bool:
        """Whether its values are on and off."""
        return not self.choices

    def accepts(self, value: object) -> bool:
        """Whether a session may be set to this value."""
        if self.is_switch:
            return isinstance(value, bool)
        if not isinstance(value, str):
            return False
        return any(choice.value == value for choice in self.choices) or self._counts(value)

    def choices_with(self, value: str) -> tuple[Choice, ...]:
        """The choices, and a number that was set although it is not one of them."""
        if any(choice.value == value for choice in self.choices):
            return self.choices
        return (*self.choices, Choice(value, f"{int(value):,} {self.unit}"))

    def _counts(self, value: str) -> bool:
        is_number = value.isascii() and value.isdecimal() and len(value) <= NUMBER_DIGITS_MAX
        return self.unit is not None and is_number and not value.startswith("0")


class SlashCommand(NamedTuple):
    """`/name argument`, handled by its own function."""

    name: str
    description: str
    hint: str | None
    # It gets the turn and the argument.
    handler: Callable[..., Awaitable[str | None]]


class Offer:
    """The settings and commands of an agent's sessions.  Guards: unique ids, legal defaults."""

    def __init__(self) -> None:
        self.modes: dict[str, Mode] = {}
        self.options: dict[str, Option] = {}
        self.commands: dict[str, SlashCommand] = {}

    def add_mode(self, mode: Mode) -> None:
        """Add a mode; sessions start in the first one."""
        if mode.mode_id in self.modes:
            raise LocalProtocolError(f"there is already a mode {mode.mode_id!r}")
        self.modes[mode.mode_id] = mode

    def add_option(self, option: Option) -> None:
        """Add a config option."""
        taken = option.option_id in self.options or option.option_id == MODE_OPTION_ID
        if taken:
            raise LocalProtocolError(f"there is already an option {option.option_id!r}")
        if option.category is not None:
            check_enum_value("SessionConfigOptionCategory", option.category)
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
        check_command_name(command.name)
        if command.name in self.commands:
            raise LocalProtocolError(f"there is already a command {command.name!r}")
        self.commands[command.name] = command

    def all_options(self) -> list[Option]:
        """All options, with the modes first."""
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
        """The option with this id."""
        if option_id == MODE_OPTION_ID and self.modes:
            return self._mode_option()
        return self.options.get(option_id)

    def of_category(self, category: str) -> Option | None:
        """The first option of a category."""
        return next((o for o in self.all_options() if o.category == category), None)

    def defaults(self) -> dict[str, OptionValue]:
        """The default of every option."""
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


def require_option(
    offer: Offer, option_id: str, value: object, value_path: str = "$.value"
) -> None:
    """Refuse an option or value that the session does not have."""
    option = offer.find(option_id)
    if option is None:
        raise RequestError.invalid_params(f"unknown option {option_id!r}", "$.configId")
    if not option.accepts(value):
        raise RequestError.invalid_params(
            f"option {option_id!r} has no value {value!r}", value_path
        )


def check_option(offer: Offer, option_id: str, value: object) -> None:
    """Refuse an option or value that the program's own session does not have."""
    option = offer.find(option_id)
    if option is None:
        raise LocalProtocolError(f"this agent has no option {option_id!r}")
    if not option.accepts(value):
        raise LocalProtocolError(f"option {option_id!r} has no value {value!r}")


def check_mode(offer: Offer, mode_id: str) -> None:
    """Refuse a mode that the agent does not have."""
    if mode_id not in offer.modes:
        raise LocalProtocolError(f"this agent has no mode {mode_id!r}")


def checked_choices(
    option_id: str, given: Sequence[str | tuple[str, str] | Choice]
) -> tuple[Choice, ...]:
    """The choices of an option, of which there is at least one."""
    if isinstance(given, str):
        raise LocalProtocolError(
            f"the choices of option {option_id!r} must be a list, not one string"
        )
    listed = choices_of(given)
    if not listed:
        raise LocalProtocolError(f"option {option_id!r} needs at least one choice")
    return listed


def choices_of(given: Sequence[str | tuple[str, str] | Choice]) -> tuple[Choice, ...]:
    """Choices from values, (value, name) pairs, or choices."""
    made: list[Choice] = []
    for one in given:
        if isinstance(one, Choice):
            made.append(one)
        elif isinstance(one, str):
            made.append(Choice(one, one))
        else:
            made.append(Choice(*one))
    return tuple(made)


def config_options(offer: Offer, values: Mapping[str, OptionValue]) -> list[v2.SessionConfigOption]:
    """All options with their current values."""
    return [config_option(option, values[option.option_id]) for option in offer.all_options()]


def available_commands(offer: Offer, hidden: Collection[str] = ()) -> list[v2.AvailableCommand]:
    """All slash commands but the hidden ones."""
    return [
        v2.Command(
            name=command.name,
            description=command.description,
            input=UNSET if command.hint is None else v2.TextCommandInput(hint=command.hint),
        )
        for command in offer.commands.values()
        if command.name not in hidden
    ]


def config_option(option: Option, value: OptionValue) -> v2.SessionConfigOption:
    """An option with its current value."""
    fields: dict[str, Any] = {
        "config_id": option.option_id,
        "name": option.name,
        "description": UNSET if option.description is None else option.description,
        "category": UNSET if option.category is None else option.category,
        "current_value": value,
    }
    if option.is_switch:
        return v2.SessionConfigBoolean(**fields)
    assert isinstance(value, str)
    return v2.SessionConfigSelect(**fields, options=_items(option.choices_with(value)))


def _items(choices: Sequence[Choice]) -> list[v2.SessionConfigSelectEntry]:
    """A flat list, or groups in the order of their first choice; v2 never mixes the two."""
    if not any(choice.group for choice in choices):
        return [
            v2.SessionConfigSelectEntry(
                value=choice.value, name=choice.name, description=choice.description or UNSET
            )
            for choice in choices
        ]
    groups: dict[str, list[v2.SessionConfigSelectOption]] = {}
    for choice in choices:
        groups.setdefault(choice.group or "Other", []).append(
            v2.SessionConfigSelectOption(
                value=choice.value, name=choice.name, description=choice.description or UNSET
            )
        )
    return [
        v2.SessionConfigSelectEntry(group_id=name, name=name, options=options)
        for name, options in groups.items()
    ]
