"""The stop reasons of v2."""

import pytest

from accord.protocol.v2.stop_reasons import STOP_REASONS, stop_reason


@pytest.mark.parametrize("reason", [*sorted(STOP_REASONS), "_own"])
def test_known_reasons_and_an_implementations_own_are_said_as_they_are(reason: str) -> None:
    """v2's set is open for names that start with `_`."""
    assert stop_reason(reason, cancelled=False) == reason
    assert stop_reason(reason, cancelled=True) == "cancelled"


@pytest.mark.parametrize("reason", ["of_tomorrow", "", "END_TURN"])
def test_any_other_reason_ends_the_turn(reason: str) -> None:
    """What we send is always legal."""
    assert stop_reason(reason, cancelled=False) == "end_turn"
