"""The bounds of one connection, by name.  Every buffer, wait and queue has one."""

from typing import NamedTuple

from accord.errors import LocalProtocolError

FRAME_BYTES_MAX = 32 * 1024 * 1024
DEPTH_MAX = 128
BACKLOG_BYTES_MAX = 1024 * 1024
PENDING_REQUESTS_MAX = 1024
# A sender that never waits gives way at least this often, so that a cancel can be read.
YIELD_MESSAGES_MAX = 256
YIELD_SECONDS_MAX = 0.005
# How long a sender that does not wait may go without looking for its own cancellation.
CHECK_SECONDS_MAX = 0.0001
# So many frames are handled before others run: a chunk may hold very many small ones.
FRAMES_AT_ONCE = 2048
# So often consumers are asked whether they hold what came long ago: large messages are few.
LOOK_AT_CONSUMERS_BYTES = 16 * 1024 * 1024
MANY_FRAMES = 64
# How long requests may go on that were open when the peer said its last word.
LAST_ANSWERS_SECONDS_MAX = 1.0
# Of a line that is no message, so much is quoted.
NOISE_BYTES_SHOWN = 200
# Of an answer that is malformed, so much is kept in the error.
MALFORMED_BYTES_KEPT = 2000
# Bounds that may forbid what they count.
_MAY_BE_NONE = frozenset({"backlog_bytes", "prompts_queued", "early_updates"})


class Limits(NamedTuple):
    """What one peer may cost us.  The defaults are the product's; a program may change any."""

    frame_bytes: int = FRAME_BYTES_MAX
    depth: int = DEPTH_MAX
    backlog_bytes: int = BACKLOG_BYTES_MAX
    pending_requests: int = PENDING_REQUESTS_MAX
    initialize_seconds: float = 30.0
    stall_seconds: float = 60.0
    prompts_queued: int = 16
    early_updates: int = 1024
    turn_updates: int = 4096
    close_seconds: float = 5.0

    def checked(self) -> "Limits":
        """These limits, if something can live within them.

        Raises:
            LocalProtocolError: one is no number, or below what it counts.
        """
        for name, value in self._asdict().items():
            least = 0 if name in _MAY_BE_NONE or name.endswith("_seconds") else 1
            kinds = int | float if name.endswith("_seconds") else int
            if isinstance(value, bool) or not isinstance(value, kinds) or not value >= least:
                raise LocalProtocolError(f"the limit {name} is at least {least}: {value!r}")
        return self
