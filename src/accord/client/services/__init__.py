"""Files, terminals and forms that a client offers to its agent."""
