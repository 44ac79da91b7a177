"""The foreground work of v2 as a table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.protocol.v2.turn import STOP_REASONS, TRANSITIONS, Phase, Step, is_busy, stop_reason


def test_what_the_table_refuses_is_exactly_this() -> None:
    """An idle session asks nobody and gets no answer."""
    refused = {(phase, step) for phase in Phase for step in Step} - TRANSITIONS.keys()
    assert refused == {(Phase.IDLE, Step.USER_ASKED), (Phase.IDLE, Step.USER_ANSWERED)}


@given(st.lists(st.sampled_from(Step), max_size=30))
def test_the_user_is_waited_for_only_while_work_goes_on(steps: list[Step]) -> None:
    """`requires_action` comes from a question, and from running work only."""
    phase = Phase.IDLE
    for step in steps:
        before, phase = phase, TRANSITIONS.get((phase, step), phase)
        if phase is Phase.REQUIRES_ACTION and before is not phase:
            assert (before, step) == (Phase.RUNNING, Step.USER_ASKED)
        if step is Step.WORK_STOPPED:
            assert phase is Phase.IDLE
        if step is Step.WORK_STARTED:
            assert phase is Phase.RUNNING


@pytest.mark.parametrize(
    ("state", "busy"),
    [("idle", False), ("running", True), ("requires_action", True), ("_own", True), ("", True)],
)
def test_only_idle_is_idle(state: str, busy: bool) -> None:
    """A state that we do not know is never idle."""
    assert is_busy(state) is busy


@pytest.mark.parametrize("reason", [*sorted(STOP_REASONS), "_own"])
def test_known_reasons_and_an_implementations_own_are_said_as_they_are(reason: str) -> None:
    """v2's set is open for names that start with `_`."""
    assert stop_reason(reason, cancelled=False) == reason
    assert stop_reason(reason, cancelled=True) == "cancelled"


@pytest.mark.parametrize("reason", ["of_tomorrow", "", "END_TURN"])
def test_any_other_reason_ends_the_turn(reason: str) -> None:
    """What we send is always legal."""
    assert stop_reason(reason, cancelled=False) == "end_turn"
