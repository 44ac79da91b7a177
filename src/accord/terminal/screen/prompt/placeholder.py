"""The placeholder of the empty prompt."""

from __future__ import annotations

from accord.terminal.model.chat import Chat
from accord.terminal.model.text.display_text import one_line


def placeholder(chat: Chat) -> str:
    """A hint about what happens to the next message."""
    if chat.phase == "starting":
        return "The agent is starting; you can already type"
    if chat.lacks_session:
        return "There is no session yet; your text stays here"
    if chat.lacks_login:
        return "You are not logged in; your text stays here"
    if chat.phase == "lost":
        return "The agent is not running; your text stays here"
    if chat.is_busy:
        return "Type your next message; it will be queued"
    if chat.suggestions:
        return f"{one_line(chat.suggestions[0])}   (press Enter to send)"
    commands = ", / for commands" if chat.transcript.commands else ""
    return f"What would you like to do?  @ for files{commands}"
