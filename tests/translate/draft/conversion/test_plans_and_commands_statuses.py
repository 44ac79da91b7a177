"""The statuses of plan steps."""

import pytest

from accord.translate.draft.conversion import plans_and_commands


@pytest.mark.parametrize(
    ("draft", "official"),
    [
        ("pending", "pending"),
        ("in_progress", "in_progress"),
        ("completed", "completed"),
        ("skipped", "pending"),
        ("cancelled", "pending"),
        ("failed", "pending"),
        ("made up", "pending"),
    ],
)
def test_the_status_of_a_plan_step(draft: str, official: str) -> None:
    """The draft's table 5."""
    assert plans_and_commands.from_draft_plan_status(draft) == official
