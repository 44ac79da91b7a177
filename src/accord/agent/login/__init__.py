"""Logins that an agent offers."""
