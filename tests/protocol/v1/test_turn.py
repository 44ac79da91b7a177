"""The turn of v1 as a table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.protocol.v1.turn import STOP_REASONS, TRANSITIONS, Phase, Step, stop_reason


def test_what_the_table_refuses_is_exactly_this() -> None:
    """A turn cannot end that does not run, and nothing starts in a closed session."""
    refused = {(phase, step) for phase in Phase for step in Step} - TRANSITIONS.keys()
    assert refused == {(Phase.IDLE, Step.TURN_ENDED), (Phase.CLOSED, Step.PROMPT)}


@given(st.lists(st.sampled_from(Step), max_size=30))
def test_closed_is_for_ever_and_a_cancel_ends_with_its_turn(steps: list[Step]) -> None:
    """V1: a cancel when idle changes nothing; after the turn the session is free again."""
    phase = Phase.IDLE
    for step in steps:
        before, phase = phase, TRANSITIONS.get((phase, step), phase)
        if before is Phase.CLOSED:
            assert phase is Phase.CLOSED
        if before is Phase.IDLE and step is Step.CANCEL:
            assert phase is Phase.IDLE
        if step is Step.TURN_ENDED:
            assert phase in (Phase.IDLE, Phase.CLOSED)
        if step is Step.CLOSE:
            assert phase is Phase.CLOSED


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
