"""The people of a session: their roles, who is here, and how others are let in."""
