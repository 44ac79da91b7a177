"""`accord agent`: the built-in agent on standard input and output, for any editor.

Editors start it many times a day, so nothing is loaded before it must be: without arguments not
even the parser of arguments is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.lazy_names import undisturbed

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

DESCRIPTION = """\
Serves the built-in agent on standard input and output.  Editors start this; to talk to it in a
terminal run `accord demo`, or `accord run "PROMPT"`.

It works without a model: it explains, searches, renames, tests and mends by itself.  With a model
(a key in the environment, config.toml, or a server on this machine) it takes any task.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """What `accord agent` takes."""
    parser.description = DESCRIPTION
    parser.add_argument("--model", metavar="ID", help="the model that sessions start with")
    parser.add_argument(
        "--in-memory", action="store_true", help="forget all sessions when the process ends"
    )
    parser.add_argument(
        "--early-v2",
        action="store_true",
        help="serve clients of version 2 as the first pages about it said",
    )
    parser.add_argument(
        "--session-models",
        action="store_true",
        help="list the models in `models` too, where older clients of version 1 look for them",
    )
    parser.add_argument(
        "--login", metavar="PROVIDER", help="ask for a provider's key, store it, and end"
    )
    parser.add_argument(
        "--logout", metavar="PROVIDER", help="forget the key that was stored, and end"
    )


def run(arguments: Namespace) -> int:
    """Serve until the client goes away, or do the login."""
    if arguments.login is not None:
        from accord.cli.provider_keys import login

        return login(arguments.login)
    if arguments.logout is not None:
        from accord.cli.provider_keys import logout

        return logout(arguments.logout)
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
    """The same for a command line that says nothing more."""
    with undisturbed():
        from accord.builtin.agent import build_agent

    build_agent().run()
    return 0
