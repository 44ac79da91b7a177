"""Waiting for a child so that signals are handled meanwhile, whenever they come."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Callable

# After so long a signal that came at a bad moment is handled.
LOOK_SECONDS = 1.0


def wait_for(agent: subprocess.Popen[bytes], look: Callable[[], None] = lambda: None) -> int:
    """Its return code; `look` is called about once a second until then.

    It is waited for again and again: a signal that comes just before a wait for good begins would
    be handled only when that is over.
    """
    try:
        ended = os.pidfd_open(agent.pid)
    except (AttributeError, OSError):
        ended = -1
    try:
        while True:
            look()
            if ended >= 0 and not select.select([ended], [], [], LOOK_SECONDS)[0]:
                continue
            try:
                return agent.wait(LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                continue
    finally:
        if ended >= 0:
            os.close(ended)
