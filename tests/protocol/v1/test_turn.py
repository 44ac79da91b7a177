"""The stop reasons of v1."""

import pytest

from accord.protocol.v1.turn import STOP_REASONS, stop_reason


@pytest.mark.parametrize("reason", sorted(STOP_REASONS))
def test_the_five_reasons_are_said_as_they_are(reason: str) -> None:
    """v1's closed set."""
    assert stop_reason(reason, cancelled=False) == reason


@pytest.mark.parametrize("reason", ["error", "_own", "", "END_TURN"])
def test_any_other_reason_ends_the_turn(reason: str) -> None:
    """v1 has five words and no more."""
    assert stop_reason(reason, cancelled=False) == "end_turn"


@pytest.mark.parametrize("reason", [*sorted(STOP_REASONS), "_own"])
def test_cancelled_beats_every_reason(reason: str) -> None:
    """A cancelled turn ends `cancelled`, whatever its handler returned."""
    assert stop_reason(reason, cancelled=True) == "cancelled"
