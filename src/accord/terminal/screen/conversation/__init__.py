"""The conversation view, which renders only the rows in sight."""

from accord.terminal.screen.conversation.conversation_view import Conversation

__all__ = ["Conversation"]
