"""What the user can choose in a session: modes, config options, slash commands.

Must not know: how a choice is sent to the agent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

OptionType: TypeAlias = Literal["select", "boolean", "unknown"]

# The id of the option that stands for a list of models of the old form.
MODELS_OPTION_ID = "model"


@dataclass(frozen=True, slots=True)
class Mode:
    """A way of working that the agent offers."""

    mode_id: str
    name: str
    description: str | None = None


class Modes:
    """The modes there are and the one that is on.

    Guards: the current one may be known while the list is not, and the other way round.
    """

    __slots__ = ("available", "current")

    def __init__(self) -> None:
        self.current: str | None = None
        self.available: tuple[Mode, ...] = ()

    def __repr__(self) -> str:
        return f"Modes({self.current!r}, {[mode.mode_id for mode in self.available]!r})"

    def dump(self) -> dict[str, object]:
        return {
            "current": self.current,
            "available": [
                {"modeId": mode.mode_id, "name": mode.name, "description": mode.description}
                for mode in self.available
            ],
        }


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a select option; a group is only a heading."""

    value: str
    name: str
    description: str | None = None
    group_id: str | None = None
    group_name: str | None = None

    def dump(self) -> dict[str, object]:
        return {
            "value": self.value,
            "name": self.name,
            "description": self.description,
            "groupId": self.group_id,
            "groupName": self.group_name,
        }


@dataclass(frozen=True, slots=True)
class ConfigOption:
    """One thing that can be set.  An unknown type is shown by name and cannot be changed.

    With `is_models` the option stands for a list of models in the old form, which is set by a
    method of its own.
    """

    option_id: str
    name: str
    type: OptionType
    value: Any = None
    choices: tuple[Choice, ...] = ()
    description: str | None = None
    category: str | None = None
    is_models: bool = False

    def dump(self) -> dict[str, object]:
        return {
            "optionId": self.option_id,
            "name": self.name,
            "type": self.type,
            "value": self.value,
            "choices": [choice.dump() for choice in self.choices],
            "description": self.description,
            "category": self.category,
        }


class ConfigOptions:
    """The options in the order of the agent, which is their order of importance.

    Guards: a report replaces the whole list, except for the models of the old form, which no
    report of options contains; they give way to an option of category "model".  An option of
    category "mode" is also shown as the modes, so that these are the same for every version.
    """

    __slots__ = ("_mode_option_shown", "_models", "_modes", "items")

    def __init__(self, modes: Modes) -> None:
        self.items: list[ConfigOption] = []
        self._models: ConfigOption | None = None
        self._modes = modes
        self._mode_option_shown = False

    def replace(self, options: Iterable[ConfigOption]) -> None:
        """Take the complete list."""
        self.items[:] = options
        if self._models is not None and all(item.category != "model" for item in self.items):
            self.items.append(self._models)
        self._show_modes()

    def _show_modes(self) -> None:
        option = next((i for i in self.items if i.category == "mode" and i.choices), None)
        if option is not None:
            self._mode_option_shown = True
            self._modes.current = option.value
            self._modes.available = tuple(
                Mode(choice.value, choice.name, choice.description) for choice in option.choices
            )
        elif self._mode_option_shown:
            self._mode_option_shown = False
            self._modes.current, self._modes.available = None, ()

    def offer_models(self, current: str, choices: Iterable[Choice]) -> None:
        """Take a list of models in the old form."""
        self._models = ConfigOption(
            option_id=MODELS_OPTION_ID,
            name="Model",
            type="select",
            value=current,
            choices=tuple(choices),
            category="model",
            is_models=True,
        )
        self.replace([item for item in self.items if not item.is_models])

    def choose_model(self, model_id: str) -> None:
        """The model of the old form is now another."""
        if self._models is not None:
            self._models = replace(self._models, value=model_id)
            self.replace([item for item in self.items if not item.is_models])

    def choose(self, option_id: str, value: str | bool) -> None:
        """An option has another value now; the rest of the list is as it was."""
        self.replace(
            [
                replace(item, value=value) if item.option_id == option_id else item
                for item in self.items
                if not item.is_models
            ]
        )


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command, named without the slash; `hint` says what may follow it."""

    name: str
    description: str
    hint: str | None = None

    def dump(self) -> dict[str, object]:
        return {"name": self.name, "description": self.description, "hint": self.hint}
