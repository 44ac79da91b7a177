"""Config options and slash commands in the form of v2."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from accord.agent.session.options import Choice, Offer, Option, OptionValue
from accord.schema import v2
from accord.schema.struct import UNSET


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
    description = UNSET if option.description is None else option.description
    category = UNSET if option.category is None else option.category
    if option.is_switch:
        assert isinstance(value, bool)
        return v2.SessionConfigBoolean(
            config_id=option.option_id,
            name=option.name,
            description=description,
            category=category,
            current_value=value,
        )
    assert isinstance(value, str)
    return v2.SessionConfigSelect(
        config_id=option.option_id,
        name=option.name,
        description=description,
        category=category,
        current_value=value,
        options=_items(option.choices_with(value)),
    )


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
