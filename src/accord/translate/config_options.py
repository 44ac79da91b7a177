"""Config options of v2 in the form of v1."""

from __future__ import annotations

from accord.schema import v1, v2
from accord.schema.struct import UNSET


def option_to_v1(option: v2.SessionConfigOption) -> v1.SessionConfigOption | None:
    """The option in v1's names; None for a type that v1 does not have."""
    if isinstance(option, v2.SessionConfigBoolean):
        return v1.SessionConfigBoolean(
            id=option.config_id,
            name=option.name,
            description=option.description,
            category=option.category,
            current_value=option.current_value,
            meta=option.meta,
        )
    if isinstance(option, v2.SessionConfigSelect):
        return v1.SessionConfigSelect(
            id=option.config_id,
            name=option.name,
            description=option.description,
            category=option.category,
            current_value=option.current_value,
            options=[_entry(item) for item in option.options],
            meta=option.meta,
        )
    return None


def _entry(item: v2.SessionConfigSelectEntry) -> v1.SessionConfigSelectEntry:
    if item.group_id is UNSET:
        return v1.SessionConfigSelectEntry(
            value=item.value, name=item.name, description=item.description, meta=item.meta
        )
    members = [] if item.options is UNSET else item.options
    return v1.SessionConfigSelectEntry(
        group=item.group_id,
        name=item.name,
        options=[
            v1.SessionConfigSelectOption(
                value=member.value,
                name=member.name,
                description=member.description,
                meta=member.meta,
            )
            for member in members
        ],
        meta=item.meta,
    )
