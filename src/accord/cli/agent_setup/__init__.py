"""Turns the command line and the configuration into the setup of an agent."""
