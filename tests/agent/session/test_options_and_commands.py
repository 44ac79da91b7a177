"""Options of a session: the values that they take, and how those are listed."""

import pytest

from accord.agent.session.options_and_commands import Choice, Option, config_option
from accord.schema import v2

LIMIT = Option("limit", "Limit", "none", (Choice("none", "No limit"), Choice("10", "10 tokens")))


@pytest.mark.parametrize("value", ["1", "4321", "9" * 15])
def test_an_option_with_a_unit_takes_any_number_and_lists_it(value: str) -> None:
    """Issue 15: the draft's `maxTokens` is any number."""
    free = LIMIT._replace(unit="tokens")
    assert free.accepts(value)
    assert not LIMIT.accepts(value)
    told = config_option(free, value)
    assert isinstance(told, v2.SessionConfigSelect)
    listed = [(one.value, one.name) for one in told.options]
    assert listed[:2] == [("none", "No limit"), ("10", "10 tokens")]
    assert listed[2:] == [(value, f"{int(value):,} tokens")]
    assert free.choices_with("10") == LIMIT.choices


@pytest.mark.parametrize(
    "value", ["", "0", "007", "-1", "1.5", "1e3", "٣", "9" * 16, "many", 5, True]
)
def test_what_is_not_a_whole_number_is_refused(value: object) -> None:
    assert not LIMIT._replace(unit="tokens").accepts(value)
