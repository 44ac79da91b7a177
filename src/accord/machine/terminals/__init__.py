"""Commands that run for a client or an agent, and their bounded output."""
