"""Say how a turn or a command ended."""

from __future__ import annotations

from typing import NamedTuple

from accord.terminal.model.chat import Chat
from accord.terminal.model.text.display_text import WORD_MAX, one_line
from accord.transcript import ExitStatus


class StopWords(NamedTuple):
    """A sentence that says how a turn ended, and whether it ended normally."""

    text: str
    is_good: bool


_STOPS: dict[str, StopWords] = {
    "end_turn": StopWords("The agent is done.", True),
    "max_tokens": StopWords("The agent stopped: it reached the token limit.", False),
    "max_turn_requests": StopWords(
        "The agent stopped: it reached the limit of model requests for one turn.", False
    ),
    "refusal": StopWords(
        "The agent refused to continue. It removed your prompt and what followed from its context "
        "and will not remember them.",
        False,
    ),
    "cancelled": StopWords("You stopped the turn.", True),
    "error": StopWords("The turn failed.", False),
}


def stop_words(reason: str | None) -> StopWords:
    """Describe how a turn ended; an unknown reason is shown as it is."""
    if reason is None:
        return StopWords("The turn is over.", True)
    known = _STOPS.get(reason)
    return known or StopWords(f"The turn ended: {one_line(reason, WORD_MAX)}.", False)


def turn_end_words(chat: Chat) -> StopWords:
    """Describe how the last turn of a chat ended; behind a gateway others may stop it too."""
    if chat.stop_reason == "cancelled" and chat.people is not None and not chat.stopped_here:
        return StopWords("The turn was stopped.", True)
    return stop_words(chat.stop_reason)


def exit_words(status: ExitStatus) -> str:
    """How a command ended."""
    if status.signal:
        return f"ended by {one_line(status.signal, WORD_MAX)}"
    if status.exit_code is None:
        return "ended"
    return f"exit code {status.exit_code}"
