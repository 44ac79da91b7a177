"""Slow consumers in processes of their own: memory, other sessions, calls inside the loop."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.client.flood_agent import PIECE
from tests.hang_limit import HANG_SECONDS

ROOT = Path(__file__).resolve().parents[3]
PIECES = 500_000
# The text, three times.  A queue of all the updates takes some 160 MB.
GROWN_BYTES_MAX = 80_000_000


def follow(case: str, flood: str) -> dict[str, Any]:
    """What a slow consumer saw, and what memory it took."""
    words = [sys.executable, "-m", "tests.client.slow_consumer", case, flood]
    ended = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize(
    "case", ["another_ask", "another_loop", "many_prompts", "calls_in_the_loop", "two_streams"]
)
def test_a_slow_consumer_takes_little_memory_and_holds_nobody_up(case: str) -> None:
    """Issue 12: no memory without bound, no deadlock in the loop, other prompts are answered.

    Each case ends only when a whole flood was read although its consumer had taken nothing.
    """
    seen = follow(case, f"flood {PIECES}")
    assert seen["text"] == PIECES * len(PIECE)
    assert seen["updates"] < PIECES / 10
    assert seen["grown"] < GROWN_BYTES_MAX


def test_different_messages_are_told_one_by_one() -> None:
    """Issue 12: what cannot be joined is not lost."""
    seen = follow("another_ask", "different 20000")
    assert seen["text"] == 20000 * len(PIECE)
    assert seen["updates"] == 20000
