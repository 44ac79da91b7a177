"""How long the kit waits: for an answer, for a program that starts, for a check, for a whole run.

What one check alone waits for stands beside that check.
"""

from __future__ import annotations

# How long an answer is waited for unless the caller or a check says otherwise.
ANSWER_SECONDS = 10.0
# A program may take so many times as long to start as for any other answer.
STARTING = 3
# How long a client may take from its start to its first message.
CONNECT_SECONDS = 30.0

# What one check may take as a whole, and at most where the turns of the scenario are slow.
CHECK_SECONDS_MAX = 60.0
SLOW_CHECK_SECONDS_MAX = 240.0
TURNS_IN_A_CHECK = 8
# After this time no further check is begun.
RUN_SECONDS_MAX = 1_200.0
# After so much time of second tries no further one is begun.
AGAIN_SECONDS_MAX = 60.0


def check_seconds_max(turn_seconds: float) -> float:
    """What one check may take as a whole where a turn may take so long; a check has several."""
    return max(CHECK_SECONDS_MAX, min(TURNS_IN_A_CHECK * turn_seconds, SLOW_CHECK_SECONDS_MAX))
