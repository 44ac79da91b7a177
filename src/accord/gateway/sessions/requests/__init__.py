"""The open requests of a session: those of its clients, and those of its agent."""
