"""Commands in terminals of the client and in processes of the agent."""
