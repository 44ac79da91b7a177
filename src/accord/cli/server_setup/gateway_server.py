"""Runs a gateway until a signal comes: its file, its agents, and the server in front of them."""

from __future__ import annotations

import errno
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from accord.agent.agent import GARBAGE_THRESHOLDS
from accord.cli.console import complain, say
from accord.cli.server_setup.agent_stderr import AgentStderr
from accord.cli.server_setup.hosted_agents import hosted_agents
from accord.cli.server_setup.server_options import ServerOptions
from accord.cli.server_setup.span_export import span_export
from accord.cli.server_setup.target import Target
from accord.configuration.user_paths import make_private
from accord.errors import AccordError
from accord.gateway.access.access import Access
from accord.gateway.application import GatewayApplication, path_of
from accord.gateway.engine.sqlite.engine import SqliteEngine
from accord.gateway.gateway import Gateway
from accord.machine.processes import exit_on_signal
from accord.transport.server.listener.remote_server import RemoteServer
from accord.web.page_files import PageFiles

FILE_NAME: Final = "gateway.sqlite3"
TOKEN_LABEL: Final = "token"


class GatewayServer:
    """Everything that `accord serve` runs; the access is checked before anything is started."""

    def __init__(
        self,
        target: Target,
        options: ServerOptions,
        *secrets: Path | None,
        command: str = "serve",
        folder: str | None = None,
        announce: Callable[[str], None] | None = None,
    ) -> None:
        """No agent in a sandbox sees `secrets`.

        `command` is the one that the user has typed, `folder` where sessions begin by default.
        `announce` is told the beginning of all URLs, and says what the user has to know.

        Raises:
            LocalProtocolError: a token, a path, a host or an origin cannot be used.
            ConfigError: packages for tokens of an identity provider are missing.
            UsageError: spans cannot be sent as the environment says.
        """
        self._target = target
        self._options = options
        self._command = f"accord {command}"
        self._say_where = announce or self._announce
        self._secrets = [one for one in (*secrets, options.data) if one is not None]
        self._access = Access(options.config, token=options.token)
        self._export = span_export(os.environ)
        self._empty = Path(tempfile.mkdtemp(prefix="accord-empty-"))
        config = options.config
        agents = hosted_agents(target, secrets=self._secrets, empty=self._empty, listen=AgentStderr)
        self._gateway = Gateway(
            agents,
            SqliteEngine(options.data / FILE_NAME),
            grace_seconds=config.grace_seconds,
            park_seconds=config.park_seconds,
            limits=config.limits,
            spans=self._export.spans,
        )
        self._application = GatewayApplication(
            self._gateway,
            access=self._access,
            path=options.listener.path,
            origins=options.listener.allow_origins,
            hosts=options.hosts,
            page=PageFiles().answer,
            folder=folder,
        )

    def close(self) -> None:
        """Remove what this made on disk besides the sessions."""
        shutil.rmtree(self._empty, ignore_errors=True)

    async def run(self) -> int:
        """Serve until a signal comes; return the exit code."""
        listener = self._options.listener
        make_private(self._options.data)
        server = RemoteServer(
            self._application, host=listener.host, port=listener.port, tls=self._options.tls
        )
        with anyio.open_signal_receiver(*exit_on_signal.handled_signals()) as signals:
            async with self._gateway:
                try:
                    await server.__aenter__()
                except OSError as error:
                    complain(f"{self._command}: {self._why_not(error)}")
                    return 1
                try:
                    # Many connections are many objects that are not garbage: look for it rarely.
                    gc.freeze()
                    gc.set_threshold(*GARBAGE_THRESHOLDS)
                    self._say_where(self._options.origin(server.port))
                    self._gateway.tasks.start_soon(self._ask_agents)
                    await self._until_signal(signals)
                finally:
                    with anyio.CancelScope(shield=True):
                        await server.aclose()
            await self._export.aclose()
        return 0

    async def _ask_agents(self) -> None:
        """Find out what each agent is, so that one that does not work is known at once."""
        for agent in self._gateway.agents.values():
            try:
                await agent.profile()
            except (AccordError, OSError) as error:
                complain(f"{self._command}: {agent.name} does not work: {error}")

    async def _until_signal(self, signals: AsyncIterator[signal.Signals]) -> None:
        """Wait for a signal, and then until the turns that run are over, or another one comes."""
        number = await anext(signals)
        self._application.is_draining = True
        seconds = self._options.config.drain_seconds
        if self._gateway.busy_sessions and seconds:
            complain(
                f"{self._command}: waiting up to {seconds} s for turns to end"
                " (another signal stops at once)"
            )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(self._drain, seconds, tasks.cancel_scope))
            number = await anext(signals)
            tasks.cancel_scope.cancel()
        exit_on_signal.begin(number)

    async def _drain(self, seconds: float, scope: anyio.CancelScope) -> None:
        if not await self._gateway.drain(seconds):
            complain(f"{self._command}: turns were still running after {seconds:g} s; they are cut")
        scope.cancel()

    def ticket(self) -> str:
        """Make what logs one browser in, once, instead of the token."""
        assert self._options.token is not None
        return self._access.tickets.make(self._options.token)

    def _announce(self, origin: str) -> None:
        """Say where the agents are, where their sessions are stored, and what the token is."""
        names = list(self._gateway.agents)
        first = f"{origin}{self._application.path}"
        complain(f"{self._command}: {names[0]} is at {first}")
        for name in names[1:]:
            complain(f"{self._command}: {name} is at {origin}{path_of(name)}")
        complain(f"{self._command}: sessions are stored in {self._options.data}")
        if self._options.is_new:
            # Not on stderr, where secrets are removed: it is shown here once and nowhere else.
            say(f"{TOKEN_LABEL}: {self._options.token}")
            say("It is valid until this gateway stops; clients send it as their bearer token.")
            say("To try it in another terminal:")
            say(f"  T={self._options.token} accord chat {first} --token-env T")
            sys.stdout.flush()

    def _why_not(self, error: OSError) -> str:
        """Explain why an address cannot be used."""
        listener = self._options.listener
        place = f"port {listener.port} of {listener.host}"
        if error.errno == errno.EADDRINUSE:
            return f"{place} is in use; choose another one with --port, or 0 for any"
        if error.errno == errno.EACCES:
            return f"{place} needs more rights than this user has; choose one above 1023 (--port)"
        return f"cannot listen on {place}: {error.strerror or error}"
