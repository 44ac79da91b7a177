"""The time limits of the kit: for answers, turns and silence, a program, a check, a whole run.

What one check alone waits for stands beside that check.
"""

from __future__ import annotations

# How long to wait for an answer unless the caller or a check says otherwise.
ANSWER_SECONDS = 10.0
# A start may take this many times as long as any other answer.
STARTING = 3
# How long a client may take from its start to its first message.
CONNECT_SECONDS = 30.0
# An answer may take as long as this many starts of the agent.
STARTS_IN_PATIENCE = 5.0
# The part of its patience that the kit gives a program to end after its input was closed.
LEAVE_SHARE = 1 / 20
# How long the client that the kit plays waits for the end of its commands.
COMMAND_END_SECONDS = 2.0

# How long silence has to last to count as no answer.
QUIET_SECONDS = 0.3
# Frames after the answer to a later request are late; a program with many tasks has this long.
GRACE_SECONDS = 0.05

# How long after its first update a tool of the agent may begin.
TOOL_SECONDS = 1.0
# How long to wait for an agent that sends nothing while it works.
FIRST_WORD_SECONDS = 10.0
# A turn that ends within this time after its first update is instant.
MOMENT_SECONDS = 0.2
# No model answers within this time, so that turns of the agent cost nothing.
INSTANT_SECONDS = 0.25
INSTANT_TRIES = 2
# By how much one turn may take longer than another with the same prompt.
LATER_SECONDS = 3.0
# A turn without updates for this part of its time limit is not only slow.
SILENCE_SHARE = 0.5

# How long to read from a client after the end of its turn.
AFTER_TURN_SECONDS = 2.0
# How long a client that has prompted may be quiet before it counts as done.
REST_SECONDS = 2.0
# How long a client may let a permission wait before its turn goes on.
DECIDE_SECONDS = 3.0
# A first message of a client that is written at once arrives within this time.
HELD_BACK_SECONDS = 1.0
# How long a stream to a client may be idle before a comment is sent.
COMMENT_SECONDS = 15.0
# How long a client may be without the stream of its connection before it counts as gone.
AWAY_SECONDS = 2.0

# The time limit of one check, and its maximum if the turns of the scenario are slow.
CHECK_SECONDS_MAX = 60.0
SLOW_CHECK_SECONDS_MAX = 240.0
TURNS_IN_A_CHECK = 8
# After this time no further check is begun.
RUN_SECONDS_MAX = 1_200.0
# After this much time in second tries, no further one is begun.
AGAIN_SECONDS_MAX = 60.0


def check_seconds_max(turn_seconds: float) -> float:
    """Return the time limit of a check from that of a turn; a check has several turns."""
    return max(CHECK_SECONDS_MAX, min(TURNS_IN_A_CHECK * turn_seconds, SLOW_CHECK_SECONDS_MAX))
