"""A log handler that shows an agent's mistakes in its chat.

This module does not know any screen.

Invariants
    * No log record is written to the terminal: it may contain text of an agent.
    * A mistake is shown in a chat of the agent that made it, made safe to print, and once per
      kind, because the library logs it once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from accord.machine.redacted_logs import logger
from accord.terminal.model.text.display_text import one_line

TOLERATED = "tolerated: "
"""The prefix of log messages about a tolerated mistake."""
WORDS_COLUMNS_MAX = 300

# Called with mistakes of the agent whose task is running; set when an agent starts.
hears_mistakes: ContextVar[Callable[[str], None] | None] = ContextVar(
    "accord_hears_mistakes", default=None
)


class ChatLog(logging.Handler):
    """Handles log records.  Guards the invariants of this module."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        """Show the record if it is a mistake of an agent; records of worker threads are dropped."""
        hear = hears_mistakes.get()
        said = record.getMessage()
        if hear is None or not said.startswith(TOLERATED):
            return
        if threading.current_thread() is threading.main_thread():
            words = one_line(said.removeprefix(TOLERATED), WORDS_COLUMNS_MAX)
            hear(f"{words[:1].upper()}{words[1:]}")


@contextmanager
def logging_in_chats() -> Generator[None]:
    """Handle all records of the library here and do not propagate them."""
    log = logger("accord")
    handler, goes_on = ChatLog(), log.propagate
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = goes_on
