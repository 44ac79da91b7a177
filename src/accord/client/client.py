"""A client of one agent, as a program uses it.

`Client.spawn` starts an agent's program, `Client.connect` takes any transport; both are async
context managers.  When the block is left, however it is left, the connection is over, the agent's
processes are gone and so are the terminals that it asked for, and the block's own exception comes
out as it went in.

Must not know: the form of any message, and how services do their work.
"""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import anyio

from accord.client import auth
from accord.client.checks import absolute, make_setup
from accord.client.connected import Connected
from accord.client.options import ClientOptions, TerminalRunner, make_options
from accord.client.session import Session, UpdateListener
from accord.client.wire import Request, SessionInfo, SessionPage, Setup
from accord.errors import LocalProtocolError, NotFound, RemoteProtocolError
from accord.schema.struct import Raw
from accord.transport.transport import Transport

if TYPE_CHECKING:
    from accord.client.unstable import Unstable

FilePath: TypeAlias = str | os.PathLike[str]


class Client(Connected):
    """One agent, and the sessions that we have with it.  Made by `spawn` or `connect`."""

    @classmethod
    def spawn(
        cls,
        *command: str,
        cwd: FilePath | None = None,
        env: Mapping[str, str] | None = None,
        stderr: Callable[[bytes], None] | None = None,
        login_terminal: TerminalRunner | bool = False,
        **options: Unpack[ClientOptions],
    ) -> "AbstractAsyncContextManager[Client]":
        """Start an agent's program and shake hands with it.

        `env` adds to our own variables.  `stderr` is told what the agent writes there; its last
        words are kept in any case.  With `login_terminal` the agent may offer logins that run in
        a terminal: True is the one that this program runs in.

        Raises, when the block is entered:
            SpawnFailed: the program cannot be started.
            VersionMismatch: it speaks no version that we speak.
            ConnectionLost: it ended, or did not answer in time.
        """
        if not command:
            raise LocalProtocolError("the command of the agent is empty")
        runner = auth.run_in_terminal if login_terminal is True else login_terminal or None
        made = make_options(options, login_terminal=runner)

        def transport() -> Transport:
            from accord.machine.process import environment
            from accord.transport.subprocess import SubprocessTransport

            return SubprocessTransport(
                command,
                cwd=None if cwd is None else os.fspath(cwd),
                env=environment(env),
                stderr=stderr,
                stall_seconds=made.limits.stall_seconds,
            )

        return _opened(cls(transport, made, command))

    @classmethod
    def connect(
        cls, transport: Transport, **options: Unpack[ClientOptions]
    ) -> "AbstractAsyncContextManager[Client]":
        """Shake hands with the agent at the other end of a transport."""
        return _opened(cls(lambda: transport, make_options(options)))

    @cached_property
    def unstable(self) -> "Unstable":
        """What the protocol calls unstable: archives, titles, logins, providers of models."""
        from accord.client.unstable import Unstable

        return Unstable(self)

    @property
    def sessions(self) -> Mapping[str, Session]:
        """The open sessions by id."""
        return dict(self.link.sessions)

    # ---- opening sessions

    async def new_session(
        self,
        cwd: FilePath = ".",
        *,
        mcp_servers: Iterable[Any] = (),
        additional_directories: Iterable[FilePath] = (),
        system_prompt: str | None = None,
        system_prompt_mode: str = "append",
        on_update: UpdateListener | None = None,
    ) -> Session:
        """Begin a conversation in a folder.

        `on_update` is told every update of the session as it comes, those before the answer
        included; it must not wait.

        Raises:
            LocalProtocolError: there is no such folder, or the agent did not offer what is asked
                for.
        """
        self.require("sessions", "sessions")
        setup = make_setup(
            self.options,
            self.capabilities,
            cwd=cwd,
            additional_directories=additional_directories,
            mcp_servers=mcp_servers,
            system_prompt=system_prompt,
            system_prompt_mode=system_prompt_mode,
        )
        return await self._begin(self.open_link.wire.new_session(setup), None, setup, on_update)

    async def load_session(
        self,
        session_id: str,
        cwd: FilePath = ".",
        *,
        mcp_servers: Iterable[Any] = (),
        additional_directories: Iterable[FilePath] = (),
        on_update: UpdateListener | None = None,
    ) -> Session:
        """Go on with a stored conversation; its history is in the transcript afterwards."""
        self.require("load", "loading sessions")
        setup = make_setup(
            self.options,
            self.capabilities,
            cwd=cwd,
            additional_directories=additional_directories,
            mcp_servers=mcp_servers,
        )
        request = self.open_link.wire.load_session(session_id, setup)
        return await self._begin(request, session_id, setup, on_update)

    async def resume_session(
        self,
        session_id: str,
        cwd: FilePath = ".",
        *,
        mcp_servers: Iterable[Any] = (),
        additional_directories: Iterable[FilePath] = (),
        on_update: UpdateListener | None = None,
    ) -> Session:
        """Go on with a stored conversation without its history."""
        self.require("resume", "resuming sessions")
        setup = make_setup(
            self.options,
            self.capabilities,
            cwd=cwd,
            additional_directories=additional_directories,
            mcp_servers=mcp_servers,
        )
        request = self.open_link.wire.resume_session(session_id, setup)
        return await self._begin(request, session_id, setup, on_update)

    async def fork_session(
        self, session: Session, *, on_update: UpdateListener | None = None
    ) -> Session:
        """Begin a conversation that goes on from another one, which stays as it is.  Unstable."""
        self.require("fork", "forking sessions", unstable=True)
        request = self.open_link.wire.fork_session(session.id, session.setup)
        return await self._begin(request, None, session.setup, on_update)

    async def _begin(
        self,
        request: Request,
        session_id: str | None,
        setup: Setup,
        on_update: UpdateListener | None,
    ) -> Session:
        """Send the request and make the session, in wire order with its updates."""
        method, params = request
        begun: list[Session] = []
        if session_id is not None:
            if session_id in self.open_link.sessions:
                raise LocalProtocolError(
                    f"the session {session_id!r} is open already; close it first"
                )
            # Its history comes before the answer, and goes straight into its transcript.
            begun.append(self._add_session(session_id, setup, on_update))

        def opened(result: Raw) -> None:
            answer = self.link.wire.read_opened(method, result)
            if not begun:
                begun.append(self._add_session(answer.session_id, setup, on_update))
            session = begun[0]
            for update in self.link.early.take(session.id):
                session.apply(update)
            session.transcript.session_setup(answer)

        try:
            await self.call(None, method, params, on_result=opened)
        except BaseException:
            for session in begun:
                session.over()
            raise
        return begun[0]

    def _add_session(
        self, session_id: str, setup: Setup, on_update: UpdateListener | None
    ) -> Session:
        link = self.open_link
        if session_id in link.sessions:
            raise RemoteProtocolError(f"the session {session_id!r} is open already")
        session = Session(self, link, session_id, setup, on_update)
        link.add_session(session)
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
        self.require("listing", "listing sessions")
        if archived is not None:
            self.require("archive", "archived sessions", unstable=True)
        wire = self.open_link.wire
        folder = None if cwd is None else absolute(cwd)
        return await self.read(wire.list_sessions(folder, cursor, archived), wire.read_page)

    async def list_sessions(
        self, *, cwd: FilePath | None = None, archived: str | None = None
    ) -> AsyncIterator[SessionInfo]:
        """All sessions of the agent, page by page as they are taken."""
        cursor: str | None = None
        while True:
            page = await self.list_page(cursor, cwd=cwd, archived=archived)
            for info in page.sessions:
                yield info
            cursor = page.next_cursor
            if cursor is None:
                return

    async def close_session(self, session: Session) -> None:
        """Stop everything in a session and free what it holds."""
        self.require("close", "closing sessions")
        try:
            await self.call(
                session.link, *session.link.wire.about_session("session/close", session.id)
            )
        except NotFound:
            # It is not there any more, which is what we wanted.
            pass
        session.over()

    async def delete_session(self, session_id: str) -> None:
        """Take a session off the agent's list for good; if it is open here, it is over."""
        self.require("delete", "deleting sessions")
        link = self.open_link
        await self.call(link, *link.wire.about_session("session/delete", session_id))
        session = link.sessions.get(session_id)
        if session is not None:
            session.over()


@asynccontextmanager
async def _opened(client: Client) -> AsyncGenerator[Client, None]:
    tasks = anyio.create_task_group()
    await tasks.__aenter__()
    try:
        await client.start(tasks)
        yield client
    finally:
        with anyio.CancelScope(shield=True):
            await client.stop()
        # The block's exception goes its own way: inside the group it would come out wrapped.
        tasks.cancel_scope.cancel()
        await tasks.__aexit__(None, None, None)


__all__ = ["Client"]
