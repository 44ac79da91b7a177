"""Streamable HTTP: POSTs to the server, and streams of events from it."""
