"""The agent's side of one connection: requests, answers and updates in the client's version."""
