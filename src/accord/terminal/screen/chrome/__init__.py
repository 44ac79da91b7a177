"""Widgets around a conversation: tabs, plan, problems, status line and footer."""
