"""What becomes of a denied request."""

from __future__ import annotations

from accord.terminal.model.permissions.denied_request import retry_prompt, subject_words
from tests.terminal.screen.harness.question_stage import a_request


def test_a_denial_can_be_taken_up_again() -> None:
    """Issue: a denial is explained and can be retried."""
    assert retry_prompt(a_request()).text == "Please try again: Edit src/app.py. I allow it now."
    assert subject_words(a_request(command="make\ntest")) == "make test"
    assert subject_words(a_request(title="", paths=("a", "b"))) == "a, b"
