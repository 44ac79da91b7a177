"""`accord login`: logs in to an agent with one of its login methods."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

import anyio

from accord.cli.agent_setup.agent_argument import named_agent
from accord.cli.agent_setup.agent_credential import credential_of
from accord.cli.agent_setup.login_choice import LoginQuestion, described, is_attended, usable
from accord.cli.agent_setup.remote_agent_command import add_remote_arguments
from accord.cli.console import complain, say
from accord.cli.usage_error import UsageError
from accord.client.client import Client
from accord.client.options import ClientOptions, DraftOptions
from accord.client.wire.wire_interface import AuthMethod
from accord.configuration.config_file import AgentEntry, load_config
from accord.configuration.dialects_file import dialect_memory
from accord.errors import AccordError, ConfigError, LocalProtocolError
from accord.machine.console.control_characters import visible_line

if TYPE_CHECKING:
    from accord.client.services.elicitation import UrlRequest

DESCRIPTION = """\
Logs in to an agent: in the browser, in this terminal, or with any other method that it offers.

AGENT is an agent from the configuration, or a URL; `-- COMMAND` starts any other.  Without either,
the configured default agent is used, or the built-in one.  If the agent has several login methods,
you can choose one; --method selects it directly.

exit codes: 0 logged in, 1 the login failed or was declined, 2 wrong usage, 130 cancelled
"""
EPILOG = """\
examples:
  accord login gemini
  accord login gemini --list
  accord login --method oauth -- gemini --acp
"""
DONE, FAILED, USAGE = 0, 1, 2


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord login`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord login [AGENT] [options] [-- COMMAND]"
    add = parser.add_argument
    add("agent", nargs="?", metavar="AGENT", help="an agent from the configuration, or a URL")
    doing = parser.add_mutually_exclusive_group()
    doing.add_argument("--method", metavar="ID", help="the id of the login method")
    doing.add_argument("--list", action="store_true", help="list the login methods")
    doing.add_argument("--logout", action="store_true", help="log out instead")
    add_remote_arguments(parser)


def run(arguments: Namespace) -> int:
    """Log in, list the methods, or log out."""
    try:
        config = load_config()
        for warning in config.warnings:
            complain(f"accord: {warning}")
        agent = named_agent(arguments, config)
        return anyio.run(_Login(agent, arguments).run)
    except (UsageError, ConfigError) as error:
        complain(f"accord login: {error}")
        return USAGE
    except AccordError as error:
        complain(f"accord login: {error}")
        return FAILED


class _Login:
    """One login to one agent."""

    def __init__(self, agent: AgentEntry, arguments: Namespace) -> None:
        self._agent = agent
        self._arguments = arguments
        self._question = LoginQuestion()
        self._is_attended = is_attended()

    async def run(self) -> int:
        agent = self._agent
        # Its stderr before the choice may be about the login too.
        self._question.is_under_way = not self._arguments.list
        async with Client.spawn(
            *agent.command,
            cwd=agent.cwd,
            env=agent.env,
            stderr=self._question.heard,
            login_terminal=self._is_attended,
            **self._options(),
        ) as client:
            info = client.agent_info
            name = visible_line(info.name) if info is not None else "the agent"
            if self._arguments.logout:
                await client.logout()
                say(f"Logged out of {name}.")
                return DONE
            if self._arguments.list:
                return _list(client.auth_methods)
            if not await self._log_in(client):
                complain("accord login: not logged in")
                return FAILED
            say(f"Logged in to {name}.")
            return DONE

    async def _log_in(self, client: Client) -> bool:
        wanted = self._arguments.method
        if wanted is None and client.auth_methods:
            wanted = await self._chosen(client.auth_methods)
            if wanted is None:
                return False
        try:
            await client.authenticate(wanted)
        except LocalProtocolError as error:
            raise UsageError(str(error)) from error
        finally:
            self._question.done()
        return True

    async def _chosen(self, methods: tuple[AuthMethod, ...]) -> str | None:
        known = usable(methods)
        if not known:
            kinds = ", ".join(sorted({visible_line(one.kind) for one in methods}))
            raise UsageError(f"the agent offers only unknown kinds of login: {kinds}")
        if len(known) == 1:
            say(f"Logging in with {described(known[0])}.")
            sys.stdout.flush()
            return known[0].method_id
        if not self._is_attended:
            ids = ", ".join(visible_line(one.method_id) for one in known)
            raise UsageError(f"choose a login method with --method ID; the agent has {ids}")
        return await self._question.choose(known)

    def _options(self) -> ClientOptions:
        credential = credential_of(self._agent.api_key_env, may_ask=self._is_attended)
        options = ClientOptions(
            draft=DraftOptions(credential=credential, dialects=dialect_memory())
        )
        if self._is_attended:
            from accord.client.services.elicitation import Elicitations

            # Pages that the agent asks the user to visit; without a user there is no point.
            options["elicitation"] = Elicitations(on_url=_visit)
        return options


def _visit(page: UrlRequest) -> bool:
    """Show the page without a question, since the user asked for a login."""
    complain(f"Open this page to log in: {page.url}")
    if page.message:
        complain(page.message)
    for warning in page.warnings:
        complain(f"Warning: {warning}")
    return True


def _list(methods: tuple[AuthMethod, ...]) -> int:
    if not methods:
        complain("accord login: the agent offers no login method")
        return FAILED
    for method in methods:
        say(f"{visible_line(method.method_id)}  {described(method)}")
    return DONE
