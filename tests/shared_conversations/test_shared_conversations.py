"""The conversations that the page reads too add up to what is written beside them."""

import json
from pathlib import Path

import pytest

from tests.shared_conversations.player import conversations, expected_file, played


@pytest.mark.parametrize("conversation", conversations(), ids=lambda path: path.stem)
def test_a_shared_conversation_adds_up_to_what_is_expected(conversation: Path) -> None:
    """The page's tests compare with the same file, so both clients show the same."""
    expected = json.loads(expected_file(conversation).read_text(encoding="utf-8"))
    assert played(conversation) == expected
