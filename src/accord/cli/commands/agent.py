"""`accord agent`: the built-in agent on standard input and output, for any editor.

Editors start it many times a day, so imports are delayed: without arguments, not even argparse is
imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.lazy_names import undisturbed

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

DESCRIPTION = """\
Runs the built-in agent on standard input and output.  Editors start this command; to use the agent
in a terminal, run `accord`, `accord demo`, or `accord run "PROMPT"`.

Without a model the agent can explain, search, rename, run tests and fix simple errors.  With a
model (a key in the environment, config.toml, or a server on this machine) it takes any task.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord agent`."""
    parser.description = DESCRIPTION
    parser.add_argument("--model", metavar="ID", help="the model of new sessions")
    parser.add_argument("--in-memory", action="store_true", help="do not store sessions on disk")
    parser.add_argument(
        "--early-v2",
        action="store_true",
        help="serve version 2 clients in the form of the early v2 drafts",
    )
    parser.add_argument(
        "--session-models",
        action="store_true",
        help="also list the models in `models`, for older version 1 clients",
    )
    parser.add_argument(
        "--login", metavar="PROVIDER", help="ask for a provider's API key, store it, and exit"
    )
    parser.add_argument("--logout", metavar="PROVIDER", help="delete a stored API key, and exit")


def run(arguments: Namespace) -> int:
    """Serve until the client disconnects, or log in or out."""
    if arguments.login is not None:
        return _log_in(arguments.login)
    if arguments.logout is not None:
        return _log_out(arguments.logout)
    from accord.builtin.agent import build_agent
    from accord.builtin.agent_settings import AgentSettings

    settings = AgentSettings(
        model=arguments.model,
        in_memory=arguments.in_memory,
        early_v2=arguments.early_v2,
        session_models=arguments.session_models,
    )
    build_agent(settings).run()
    return 0


def run_without_arguments() -> int:
    """Serve without parsing a command line."""
    with undisturbed():
        from accord.builtin.agent import build_agent

    build_agent().run()
    return 0


def _log_in(provider: str) -> int:
    import sys
    from getpass import getpass

    from accord.builtin.models.api_keys import login, provider_named
    from accord.cli.console import say

    provider_named(provider)
    if sys.stdin is None or not sys.stdin.isatty():
        # A key from a pipe, such as from a password manager, is read without a question.
        return 0 if login(provider, ask=lambda _: sys.stdin.readline(), say=say) else 1
    return 0 if login(provider, ask=getpass, say=say) else 1


def _log_out(provider: str) -> int:
    from accord.builtin.models.api_keys import Credentials, provider_named
    from accord.cli.console import say

    name = provider_named(provider).name
    if Credentials().forget(provider):
        say(f"The key for {name} was deleted.")
    else:
        say(f"There is no key for {name}.")
    return 0
