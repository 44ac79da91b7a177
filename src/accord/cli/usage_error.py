"""The error for a command line that asks for something impossible."""


class UsageError(Exception):
    """The command line is wrong; the message says what is wrong, and what is possible."""
