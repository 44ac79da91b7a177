"""`accord agent --login PROVIDER`: a key is pasted in a terminal, and kept for the agent alone."""

from __future__ import annotations

import sys

from accord.builtin.models.credentials import Credentials, provider_named
from accord.builtin.models.credentials import login as paste
from accord.cli.console import say


def login(provider: str) -> int:
    """Ask for a key and keep it; 0 when it was kept."""
    from getpass import getpass

    provider_named(provider)
    if sys.stdin is None or not sys.stdin.isatty():
        # Who pipes the key in, as from a password manager, is asked nothing.
        return 0 if paste(provider, ask=lambda _: sys.stdin.readline(), say=say) else 1
    return 0 if paste(provider, ask=getpass, say=say) else 1


def logout(provider: str) -> int:
    """Forget a key."""
    name = provider_named(provider).name
    if Credentials().forget(provider):
        say(f"The key for {name} is forgotten.")
    else:
        say(f"There was no key for {name}.")
    return 0
