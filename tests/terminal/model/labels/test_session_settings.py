"""What a session is set to, in words."""

from __future__ import annotations

import pytest

from accord.terminal.model.labels.session_settings import (
    choice_of,
    context_share,
    mode_name,
    model_name,
    options_in_order,
    value_name,
)
from accord.transcript import ConfigOption, Transcript
from accord.transcript.items.options_and_commands import Choice, Mode
from accord.transcript.items.session_info_and_usage import Usage


def _option(option_id: str, category: str | None = None, value: object = "a") -> ConfigOption:
    return ConfigOption(
        option_id, option_id, "select", value, (Choice("a", "Choice A"),), None, category
    )


def test_modes_and_models_are_named() -> None:
    """Issue: in the footer."""
    transcript = Transcript()
    assert mode_name(transcript) == ""
    assert model_name(transcript) == ""
    transcript.modes.current = "x"
    assert mode_name(transcript) == "x"
    transcript.modes.available = (Mode("x", "Extra"),)
    assert mode_name(transcript) == "Extra"
    items = transcript.config_options
    assert isinstance(items, list)
    items += [_option("other"), _option("one", "model"), _option("two", "model", "b")]
    assert model_name(transcript) == "Choice A"


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (_option("x"), "Choice A"),
        (_option("x", value="gone"), "gone"),
        (_option("x", value=None), ""),
        (ConfigOption("x", "x", "boolean", True), "on"),
        (ConfigOption("x", "x", "unknown", False), "off"),
        (ConfigOption("x", "x", "unknown", 0.5), "0.5"),
    ],
)
def test_a_value_in_words(option: ConfigOption, said: str) -> None:
    """Protocol: unknown types are shown."""
    assert value_name(option) == said
    assert choice_of(_option("x", value="gone")) is None


@pytest.mark.rule("V1-CFG-09")
def test_what_belongs_to_a_model_stands_behind_the_first() -> None:
    """Protocol: otherwise the order of the agent."""
    options = [
        _option("c1", "model_config"),
        _option("a"),
        _option("m1", "model"),
        _option("b"),
        _option("m2", "model"),
        _option("c2", "model_config"),
    ]
    found = [option.option_id for option in options_in_order(options)]
    assert found == ["a", "m1", "c1", "c2", "b", "m2"]
    assert options_in_order(options[:2]) == options[:2]


def test_the_share_of_the_context() -> None:
    """Protocol: both numbers are the agent's, and may be anything."""
    usage = Usage()
    assert context_share(usage) is None
    for used, size, share in ((50, 200, 0.25), (5, 0, None), (5, -1, None), (-5, 10, 0.0)):
        usage.used, usage.size = used, size
        assert context_share(usage) == share
    usage.used, usage.size = 10**30, 1
    assert context_share(usage) == 9.99
