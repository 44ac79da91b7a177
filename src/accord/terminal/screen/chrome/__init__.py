"""The lines around a conversation: tabs, plan, problems, what happens now, the last line."""
