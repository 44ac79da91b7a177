"""The user's next prompt: text, attachments, history and completion."""
