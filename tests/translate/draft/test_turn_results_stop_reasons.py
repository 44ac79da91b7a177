"""The stop reasons of the draft and the official ones."""

from accord.schema.draft.enumeration_openness import ENUMS
from accord.translate.draft import turn_results


def test_stop_reasons() -> None:
    """The draft's table 3.5."""
    assert {to: turn_results.to_draft_stop(to) for to in turn_results.STOPS_TO_DRAFT} == {
        "end_turn": "end_turn",
        "cancelled": "cancelled",
        "max_tokens": "max_tokens",
        "max_turn_requests": "max_tokens",
        "refusal": "end_turn",
    }
    assert turn_results.to_draft_stop("made up") == "end_turn"
    words = {*turn_results.STOPS_FROM_DRAFT, turn_results.STOP_ERROR}
    assert words == set(ENUMS["StopReason"].values)
