"""Judging clients: the kit plays the agent, and the client is started in one of two ways.

Must not know: any check.  `launch` starts a client and waits for it to connect, `scenario` says
how it is made to cancel, load or list, `fake_agent` speaks with it, `stage` ties these together.
"""
