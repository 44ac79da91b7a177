"""The bounds of one connection that a program may set, and when it lets other tasks run."""

from typing import NamedTuple

from accord.errors import LocalProtocolError
from accord.jsonrpc.framing import FRAME_BYTES_MAX
from accord.jsonrpc.json_depth import DEPTH_MAX

BACKLOG_BYTES_MAX = 1024 * 1024
PENDING_REQUESTS_MAX = 1024
# A sender that never waits gives way at least this often, so that a cancel can be read.
YIELD_MESSAGES_MAX = 256
YIELD_SECONDS_MAX = 0.005
# How long a sender that does not wait may go without checking for its own cancellation.
CHECK_SECONDS_MAX = 0.0001
# Frames handled before other tasks run: a chunk may hold very many small ones.
FRAMES_AT_ONCE = 2048
# So many frames in one chunk are a burst, which takes the fast path.
MANY_FRAMES = 64
# How long open requests may continue after the peer has stopped sending.
LAST_ANSWERS_SECONDS_MAX = 1.0
# Limits that may be zero.
_MAY_BE_NONE = frozenset({"backlog_bytes", "prompts_queued", "early_updates"})


class Limits(NamedTuple):
    """The resources that one peer may use.  A program may change any of them."""

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
        """Return these limits if they are valid.

        Raises:
            LocalProtocolError: a limit is not a number, or is too small.
        """
        for name, value in self._asdict().items():
            least = 0 if name in _MAY_BE_NONE or name.endswith("_seconds") else 1
            kinds = int | float if name.endswith("_seconds") else int
            if isinstance(value, bool) or not isinstance(value, kinds) or not value >= least:
                raise LocalProtocolError(f"the limit {name} must be at least {least}: {value!r}")
        return self
