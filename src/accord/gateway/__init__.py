"""The gateway: agents that several people reach over a network, and their sessions."""
