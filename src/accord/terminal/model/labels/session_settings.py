"""The settings and the usage of a session, for display.

This module does not know any screen.  The caller makes the agent's text safe to print.
"""

from __future__ import annotations

from collections.abc import Sequence

from accord.transcript import ConfigOption, Transcript
from accord.transcript.items.options_and_commands import Choice
from accord.transcript.items.session_info_and_usage import Usage

_SHARE_MAX = 9.99


def mode_name(transcript: Transcript) -> str:
    """The name of the current mode, or its id."""
    modes = transcript.modes
    named = {mode.mode_id: mode.name for mode in modes.available}
    return named.get(modes.current or "", modes.current or "")


def model_name(transcript: Transcript) -> str:
    """The name of the current model, by the first model option."""
    for option in transcript.config_options:
        if option.category == "model":
            return value_name(option)
    return ""


def value_name(option: ConfigOption) -> str:
    """The label of an option's value."""
    if option.type == "boolean" or isinstance(option.value, bool):
        return "on" if option.value else "off"
    if option.value is None:
        return ""
    chosen = choice_of(option)
    return chosen.name if chosen is not None else str(option.value)


def choice_of(option: ConfigOption) -> Choice | None:
    """Return the current choice."""
    return next((one for one in option.choices if one.value == option.value), None)


def options_in_order(options: Sequence[ConfigOption]) -> list[ConfigOption]:
    """The options in the order of the agent, those that belong to a model right behind it."""
    of_model = [one for one in options if one.category == "model_config"]
    if not any(one.category == "model" for one in options):
        return list(options)
    found: list[ConfigOption] = []
    for option in options:
        if option.category == "model_config":
            continue
        found.append(option)
        if option.category == "model" and of_model:
            found += of_model
            of_model = []
    return found


def context_share(usage: Usage) -> float | None:
    """The used share of the context, up to 1; None if unknown."""
    if usage.used is None or not usage.size or usage.size < 0:
        return None
    return min(max(usage.used / usage.size, 0.0), _SHARE_MAX)
