"""What was said, as a view of rows of which those in sight exist."""

from accord.terminal.screen.conversation.conversation_view import Conversation

__all__ = ["Conversation"]
