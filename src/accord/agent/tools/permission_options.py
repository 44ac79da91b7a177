"""The answers that a program offers its user, whatever class it writes them down with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from accord.agent.custom_values import checked
from accord.agent.serving.wire import PermissionOption
from accord.errors import LocalProtocolError


class OptionLike(Protocol):
    """One answer: an id of its own, a name for the user, and a kind that says what it means."""

    @property
    def option_id(self) -> str:
        """How the answer is known."""
        ...

    @property
    def name(self) -> str:
        """What the user reads."""
        ...

    @property
    def kind(self) -> str:
        """Whether it allows or rejects, and for how long."""
        ...


def permission_options(given: Iterable[OptionLike]) -> tuple[PermissionOption, ...]:
    """The options of a question, each checked."""
    options = tuple(_option(one) for one in given)
    ids = {option.option_id for option in options}
    if not ids or len(ids) != len(options):
        raise LocalProtocolError("a permission needs at least one option, each with its own id")
    return options


def _option(given: OptionLike) -> PermissionOption:
    values: list[str] = []
    for name in ("option_id", "name", "kind"):
        value = getattr(given, name, None)
        if not isinstance(value, str):
            raise LocalProtocolError(
                f"a permission option has option_id, name and kind, each a text: {given!r}"
            )
        values.append(value)
    option_id, name, kind = values
    return PermissionOption(option_id, name, checked("PermissionOptionKind", kind))


__all__ = ["OptionLike", "permission_options"]
