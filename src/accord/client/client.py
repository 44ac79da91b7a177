"""A client of one agent, as a program uses it.

`Client.spawn` starts an agent's program, `Client.connect` takes a URL or any transport; both are
async context managers.  When the block is left, in whatever way, the connection, the agent's
processes and its terminals are gone.  The library's own side of a client is in
`connection/client_lifecycle.py`.

Must not know: the form of any message, and how services do their work.
"""

import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, Unpack, overload

from accord.client import login as auth
from accord.client.callbacks import until_it_fails
from accord.client.connection.capabilities import AgentCapabilities
from accord.client.connection.client_lifecycle import ClientContext, ClientCore
from accord.client.connection.implementation import Implementation
from accord.client.login import TerminalRunner
from accord.client.option_checks import check_not_remote, check_program, transport_maker
from accord.client.options import ClientOptions, make_options
from accord.client.session.request_checks import (
    absolute,
    checked_id,
    command_words,
    encode,
    make_setup,
)
from accord.client.session.session import Session, begin_with
from accord.client.session.state import SessionCore, UpdateListener
from accord.client.wire.wire_interface import AuthMethod, Request, SessionInfo, SessionPage, Setup
from accord.errors import ConnectionLost, LocalProtocolError, NotFound, RemoteProtocolError
from accord.protocol.extensions import check_name, read_advertised
from accord.schema.codec import decode, to_python
from accord.schema.struct import Raw
from accord.transport.transport import Transport

if TYPE_CHECKING:
    from accord.client.unstable import Unstable
    from accord.schema import draft, v1, v2
    from accord.transport.remote_limits import RemoteLimits

    McpServer: TypeAlias = v2.McpServer | v1.McpServer | draft.McpServer

FilePath: TypeAlias = str | os.PathLike[str]
T = TypeVar("T")

EMPTY_PAGES_MAX = 100
"""Empty pages of a list in a row."""


class Client:
    """One agent and the sessions with it.  Made by `spawn` or `connect`."""

    def __init__(self, connected: ClientCore) -> None:
        """Called by `spawn` and `connect`."""
        self._core = connected
        connected.adopt = self._adopt

    def _adopt(self, state: SessionCore) -> None:
        """Wrap a new session before its first update comes."""
        state.session = Session(self, state)

    @classmethod
    def spawn(
        cls,
        *command: FilePath,
        cwd: FilePath | None = None,
        env: Mapping[str, str] | None = None,
        stderr: Callable[[bytes], object] | None = None,
        login_terminal: TerminalRunner | bool = False,
        **options: Unpack[ClientOptions],
    ) -> "AbstractAsyncContextManager[Client]":
        """Start an agent's program and connect to it.

        The command is given word by word: `Client.spawn("python", "agent.py")`.  `env` is added to
        our own variables.  `stderr` is called with the bytes that the agent writes there; errors
        show the last of them in any case.  With `login_terminal` the agent may offer logins that
        run in a terminal: True means the one that this program runs in.

        Raises, when the block is entered:
            SpawnFailed: the program cannot be started.
            VersionMismatch: the agent speaks no version that we speak.
            ConnectionLost: the agent ended, or did not answer in time.
        """
        words = command_words(command)
        check_program(cwd=cwd, env=env, stderr=stderr, login_terminal=login_terminal)
        runner = auth.run_in_terminal if login_terminal is True else login_terminal or None
        made = make_options(options, login_terminal=runner)

        def transport() -> Transport:
            from accord.machine.processes.child_process import environment
            from accord.transport.subprocess import SubprocessTransport

            return SubprocessTransport(
                words,
                cwd=None if cwd is None else os.fspath(cwd),
                env=environment(env),
                stderr=None if stderr is None else until_it_fails(stderr, "stderr"),
                stall_seconds=made.limits.stall_seconds,
            )

        return ClientContext(ClientCore(transport, made, words), cls)

    @classmethod
    def connect(
        cls,
        agent: str | Transport | Callable[[], Transport],
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        insecure: bool = False,
        remote_limits: "RemoteLimits | None" = None,
        **options: Unpack[ClientOptions],
    ) -> "AbstractAsyncContextManager[Client]":
        """Connect to a remote agent by its URL, or to the agent at the other end of a transport.

        The URL begins with `wss://` or `https://`, or with `ws://` or `http://` for an agent on
        this machine; `insecure` allows those for other machines too, unencrypted.  `token` is
        sent as a bearer token, and `headers` as they are, with every request.  A connection that
        is lost is restored if the server supports it.

        With a function that makes a transport, an agent of the 2026-02 draft can be connected
        again in its own form.

        Raises, when the block is entered:
            ConnectFailed: the agent cannot be reached, or refuses us; the message says why.
            VersionMismatch: the agent speaks no version that we speak.
            ConnectionLost: the agent ended, or did not answer in time.
        """
        made = make_options(options)
        if isinstance(agent, str):
            from accord.client.connection.remote_agent import connect_options, remote_maker

            remote = remote_maker(
                agent,
                made.limits,
                token=token,
                headers=headers,
                insecure=insecure,
                limits=remote_limits,
            )
            return ClientContext(ClientCore(remote, connect_options(made, agent)), cls)
        check_not_remote(
            token=token, headers=headers, insecure=insecure or None, remote_limits=remote_limits
        )
        make = transport_maker(agent)
        if make is not None:
            return ClientContext(ClientCore(make, made), cls)
        only: Any = agent
        return ClientContext(ClientCore(lambda: only, made, again=False), cls)

    # ---- the agent

    @property
    def agent_info(self) -> Implementation | None:
        """Name and version of the agent, where it gave them."""
        return self._core.link.facts.info

    @property
    def capabilities(self) -> AgentCapabilities:
        """The capabilities that the agent offers."""
        return self._core.capabilities

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        """The ways to log in that the agent offers."""
        return self._core.auth_methods

    @property
    def protocol_version(self) -> int:
        """The agreed version: 1 or 2.  The 2026-02 draft calls itself 1."""
        return self._core.link.wire.version

    @property
    def extensions(self) -> frozenset[str]:
        """The extension methods that the agent advertises."""
        return read_advertised(self.capabilities.raw)

    @cached_property
    def unstable(self) -> "Unstable":
        """Unstable parts of the protocol: archives, titles, login states, model providers."""
        from accord.client.unstable import Unstable

        return Unstable(self._core)

    @property
    def sessions(self) -> Mapping[str, Session]:
        """The open sessions by id."""
        return {one.id: one.session for one in self._core.link.sessions.values()}

    async def wait_closed(self) -> ConnectionLost:
        """Wait until the agent is gone; returns the error that says why."""
        return await self._core.wait_closed()

    # ---- opening sessions

    async def new_session(
        self,
        cwd: FilePath = ".",
        *,
        mcp_servers: "Iterable[McpServer]" = (),
        additional_directories: Iterable[FilePath] = (),
        system_prompt: str | None = None,
        system_prompt_mode: Literal["append", "override"] = "append",
        mode: str | None = None,
        config_options: Mapping[str, str | bool | int | float] | None = None,
        on_update: UpdateListener | None = None,
    ) -> Session:
        """Open a session in a folder, in this mode and with these options set.

        `on_update` is called with every update of the session as it comes, also with those before
        the answer; it must not block.

        Raises:
            LocalProtocolError: there is no such folder, or the agent does not offer what is
                asked for.
        """
        self._core.require("sessions", "sessions")
        wire = self._core.open_link.wire
        setup = make_setup(
            self._core.options,
            self.capabilities,
            cwd=cwd,
            additional_directories=additional_directories,
            mcp_servers=mcp_servers,
            system_prompt=system_prompt,
            system_prompt_mode=system_prompt_mode,
            takes_draft=wire.takes_draft_content,
        )
        options = dict(config_options or {})
        if wire.opens_with_settings:
            setup = replace(setup, mode=mode, config_options=options)
            mode, options = None, {}
        request = wire.new_session(setup)
        session = await self._open(request, None, setup, on_update)
        await begin_with(session, mode, options, self._core.options.limits.close_seconds)
        return session

    async def load_session(
        self,
        session_id: str,
        cwd: FilePath = ".",
        *,
        mcp_servers: "Iterable[McpServer]" = (),
        additional_directories: Iterable[FilePath] = (),
        on_update: UpdateListener | None = None,
    ) -> Session:
        """Open a stored session; its history is in the transcript afterwards."""
        self._core.require("load", "loading sessions")
        request = self._core.open_link.wire.load_session
        return await self._reopen(
            request, session_id, cwd, mcp_servers, additional_directories, on_update
        )

    async def resume_session(
        self,
        session_id: str,
        cwd: FilePath = ".",
        *,
        mcp_servers: "Iterable[McpServer]" = (),
        additional_directories: Iterable[FilePath] = (),
        on_update: UpdateListener | None = None,
    ) -> Session:
        """Open a stored session without its history."""
        self._core.require("resume", "resuming sessions")
        request = self._core.open_link.wire.resume_session
        return await self._reopen(
            request, session_id, cwd, mcp_servers, additional_directories, on_update
        )

    async def _reopen(
        self,
        request: Callable[[str, Setup], Request],
        session_id: str,
        cwd: FilePath,
        mcp_servers: "Iterable[McpServer]",
        additional_directories: Iterable[FilePath],
        on_update: UpdateListener | None,
    ) -> Session:
        setup = make_setup(
            self._core.options,
            self.capabilities,
            cwd=cwd,
            additional_directories=additional_directories,
            mcp_servers=mcp_servers,
        )
        opening = request(checked_id(session_id), setup)
        return await self._open(opening, session_id, setup, on_update)

    async def fork_session(
        self, session: Session, *, on_update: UpdateListener | None = None
    ) -> Session:
        """Open a copy of a session, which stays as it is.  Unstable."""
        self._core.require("fork", "forking sessions", unstable=True)
        setup = self._state(session).setup
        request = self._core.open_link.wire.fork_session(session.id, setup)
        return await self._open(request, None, setup, on_update)

    async def _open(
        self,
        request: Request,
        session_id: str | None,
        setup: Setup,
        on_update: UpdateListener | None,
    ) -> Session:
        opening = self._core.open_session(request, session_id, setup, on_update)
        session: Session = (await opening).session
        return session

    # ---- all sessions of the agent

    async def list_page(
        self,
        cursor: str | None = None,
        *,
        cwd: FilePath | None = None,
        archived: str | None = None,
    ) -> SessionPage:
        """One page of the agent's sessions, of one folder or of all."""
        self._core.require("listing", "listing sessions")
        if archived is not None:
            self._core.require("archive", "archived sessions", unstable=True)
        wire = self._core.open_link.wire
        folder = None if cwd is None else absolute(cwd)
        return await self._core.read(wire.list_sessions(folder, cursor, archived), wire.read_page)

    async def list_sessions(
        self, *, cwd: FilePath | None = None, archived: str | None = None
    ) -> AsyncIterator[SessionInfo]:
        """All sessions of the agent; each page is asked for when it is needed.

        Raises:
            RemoteProtocolError: the pages repeat, or many are empty.
        """
        cursor: str | None = None
        seen, empty = {hash(cursor)}, 0
        while True:
            page = await self.list_page(cursor, cwd=cwd, archived=archived)
            for info in page.sessions:
                yield info
            if page.next_cursor is None:
                return
            empty = 0 if page.sessions else empty + 1
            cursor = page.next_cursor
            if hash(cursor) in seen or empty > EMPTY_PAGES_MAX:
                raise RemoteProtocolError("session/list: the pages have no end", cursor)
            seen.add(hash(cursor))

    async def close_session(self, session: Session) -> None:
        """Stop everything in a session and free its resources."""
        self._core.require("close", "closing sessions")
        state = self._state(session)
        request = state.link.wire.about_session("session/close", session.id)
        try:
            await state.call(*request)
        except NotFound:
            # It is closed already.
            pass
        state.over()

    async def delete_session(self, session_id: str) -> None:
        """Delete a session from the agent's list; one that is open here is closed."""
        self._core.require("delete", "deleting sessions")
        link = self._core.open_link
        request = link.wire.about_session("session/delete", checked_id(session_id))
        await self._core.call(link, *request)
        state = link.sessions.get(session_id)
        if state is not None:
            state.over()

    def _state(self, session: Session) -> SessionCore:
        found = self._core.open_link.sessions.get(session.id)
        if found is None or found.session is not session:
            raise LocalProtocolError(f"the session {session.id!r} is closed")
        return found

    # ---- extensions

    @overload
    async def call_extension(self, method: str, params: object = None) -> Any: ...

    @overload
    async def call_extension(self, method: str, params: object, result: type[T]) -> T: ...

    @overload
    async def call_extension(self, method: str, params: object = None, *, result: type[T]) -> T: ...

    async def call_extension(
        self, method: str, params: object = None, result: type[T] | None = None
    ) -> T | Any:
        """Call an extension method.

        `params` is any value with a JSON form, by convention an object.  The answer is read as
        `result`, or as plain values without that.
        """
        check_name(method)
        given = encode({} if params is None else params)

        def read(raw: Raw) -> T | Any:
            return to_python(raw) if result is None else decode(result, raw)

        return await self._core.read((method, given), read)

    async def notify_extension(self, method: str, params: object = None) -> None:
        """Send an extension notification."""
        check_name(method)
        given = encode({} if params is None else params)
        await self._core.open_link.connection.notify(method, given)

    # ---- logging in and out

    async def authenticate(self, method_id: str | None = None) -> None:
        """Log in by one of the agent's methods; without an id, by the only one.

        Raises:
            LocalProtocolError: the agent does not offer the method, or this client cannot use it.
            LoginFailed: a login in a terminal ended with a status other than 0.
        """
        await self._core.authenticate(method_id)

    async def logout(self) -> None:
        """Log out; sessions may stop working."""
        self._core.require("logout", "logging out")
        await self._core.call(None, *self._core.open_link.wire.logout())
