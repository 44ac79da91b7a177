"""The statuses of the draft's tool calls."""

import pytest

from accord.schema.draft.enumeration_openness import ENUMS
from accord.translate.draft import tool_statuses

STATUSES = sorted(ENUMS["ToolCallStatus"].values)


@pytest.mark.rule("D26-32")
@pytest.mark.parametrize("now", STATUSES)
@pytest.mark.parametrize("wanted", STATUSES)
def test_every_way_between_statuses_is_made_of_legal_steps(now: str, wanted: str) -> None:
    """The draft's table 5.1."""
    steps = tool_statuses.steps_to(now, wanted)
    for before, after in zip([now, *steps], steps, strict=False):
        assert after in tool_statuses.NEXT_STATUSES[before]
    if wanted in tool_statuses.FINAL_STATUSES and now not in tool_statuses.FINAL_STATUSES:
        assert steps[-1] in tool_statuses.FINAL_STATUSES
    if now in tool_statuses.FINAL_STATUSES:
        assert steps == ()


@pytest.mark.rule("D26-32")
def test_a_cancelled_permission_is_a_denial() -> None:
    """The draft's table 5.1."""
    assert tool_statuses.steps_to("awaiting_permission", "cancelled") == ("denied",)
    assert tool_statuses.steps_to("in_progress", "denied") == ("failed",)
    assert set(tool_statuses.STATUSES_FROM_DRAFT) == set(STATUSES)
