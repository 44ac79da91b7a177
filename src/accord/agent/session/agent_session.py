"""`AgentSession`: a session as an agent's program uses it.

What the library itself does with a session is in `session_state.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from accord.agent.serving.wire import Features
from accord.agent.session.background_tasks import CloseCallback
from accord.agent.session.options_and_commands import MODE_OPTION_ID, Mode, OptionValue, check_mode
from accord.agent.session.session_state import SessionState
from accord.agent.terminals.command import Job, check_environment, check_words
from accord.errors import LocalProtocolError

if TYPE_CHECKING:
    from pathlib import Path

    from accord.agent.serving.unstable.mcp_calls import OnNotification
    from accord.agent.terminals.own_terminals import TerminalHandle
    from accord.agent.tools.elicitation import Answer
    from accord.schema import v2


class AgentSession:
    """One conversation with a client, in one folder.  Handlers reach it as `turn.session`."""

    def __init__(self, state: SessionState) -> None:
        """For the library, which opens sessions."""
        self._state = state

    def __repr__(self) -> str:
        return f"<AgentSession {self.id!r}{' (closed)' if self.closed else ''}>"

    # ---- what it is

    @property
    def id(self) -> str:
        """The id by which the client knows it."""
        return self._state.id

    @property
    def cwd(self) -> Path:
        """The folder that relative paths start from."""
        return self._state.cwd

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that file tools keep to, the working folder first."""
        return self._state.roots

    @property
    def title(self) -> str | None:
        """The name of the session, where it has one."""
        return self._state.record.title

    @property
    def system_prompt(self) -> str | None:
        """The client's instructions for the model, where the agent accepts some (unstable)."""
        return self._state.record.system_prompt

    @property
    def system_prompt_overrides(self) -> bool:
        """Whether these replace the agent's own instructions instead of following them."""
        return self._state.record.system_prompt_overrides

    @property
    def mode(self) -> Mode | None:
        """The current mode, where the agent has modes."""
        return self._state.mode

    @property
    def options(self) -> Mapping[str, OptionValue]:
        """The current value of every option."""
        return self._state.options

    @property
    def chosen_options(self) -> Mapping[str, OptionValue]:
        """The options that were set; all others have their defaults."""
        return self._state.record.options

    @property
    def mcp_servers(self) -> tuple[v2.McpServer, ...]:
        """The MCP servers that the client wants this session to use."""
        return self._state.mcp_servers

    @property
    def features(self) -> Features:
        """What the client offers to do for the agent."""
        return self._state.wire.features

    @property
    def can_cancel_tool_calls(self) -> bool:
        """Whether the client may cancel one tool call alone, as in version 2."""
        return self._state.wire.cancels_tool_calls

    @property
    def protocol_version(self) -> int:
        """The version of the protocol that the client speaks."""
        return self._state.wire.version

    @property
    def closed(self) -> bool:
        """Whether nothing more can be sent for it."""
        return self._state.closed

    # ---- updates

    async def emit(self, update: v2.SessionUpdate, *, waits: bool = True) -> None:
        """Log an update of v2 and send it.  Waits while the client is slow, unless told not to."""
        await self._state.updates.emit(update, waits=waits)

    async def set_title(self, title: str | None) -> None:
        """Name the session and tell the client; a name that the user chose stays."""
        await self._state.set_title(title)

    async def visited(self, answer: Answer) -> None:
        """Tell the client that the user has finished on a page."""
        from accord.agent.tools.elicitation import complete_url

        await complete_url(self._state, answer)

    # ---- settings

    async def set_option(
        self, option_id: str, value: OptionValue, *, announce: bool = True
    ) -> None:
        """Set an option, and tell the client unless `announce` is False.

        Raises:
            LocalProtocolError: there is no such option or no such value; nothing changed.
        """
        await self._state.set_option(option_id, value, announce=announce)

    async def set_mode(self, mode_id: str) -> None:
        """Change the mode and tell the client."""
        check_mode(self._state.offer, mode_id)
        await self._state.set_option(MODE_OPTION_ID, mode_id, announce=True)

    async def settle_options(self, *, announce: bool = True) -> None:
        """Follow a change of the agent's options: set values count where they are still legal."""
        await self._state.settle_options(announce=announce)

    async def hide_commands(self, *names: str, announce: bool = True) -> None:
        """Show all slash commands but these, which still work."""
        await self._state.hide_commands(*names, announce=announce)

    # ---- values beside the log

    async def keep(self, name: str, value: bytes) -> None:
        """Keep a value beside the log: it outlives the process where the store does."""
        await self._state.stored.keep(name, value)

    async def kept(self, name: str) -> bytes | None:
        """The value that was kept under this name, or None."""
        return await self._state.stored.kept(name)

    # ---- what lives with it

    def on_close(self, callback: CloseCallback) -> None:
        """Await `callback` once, when the session is closed or deleted or the client is gone.

        It is shielded from cancellation, and cut off after a bounded time.

        Raises:
            LocalProtocolError: the session has ended already.
        """
        self._state.tasks.on_close(callback)

    def start_soon(self, function: Callable[..., Awaitable[Any]], *args: Any) -> None:
        """Start a task that is cancelled with the session; what it raises is logged.

        Raises:
            LocalProtocolError: the session has ended already.
        """
        self._state.tasks.start_soon(function, *args)

    async def start_command(
        self,
        command: str,
        *args: str,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        output_bytes: int = 1024 * 1024,
    ) -> TerminalHandle:
        """Start a command in the background, in a process of the agent, without asking the user.

        It ends on its own, by `stop`, or with the session; cancelling a turn does not affect it.
        """
        folder = str(self.cwd if cwd is None else self.cwd / cwd)
        check_words(command, *args)
        job = Job(command, args, folder, check_environment(env or {}), None, output_bytes)
        return await self._state.terminals.start(job, background=True)

    async def call_mcp(
        self,
        server_id: str,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        on_notification: OnNotification | None = None,
    ) -> Any:
        """Call an MCP server that the client runs; return the result as plain Python (unstable).

        `on_notification` gets the server's notifications about this request while it is open.

        Raises:
            McpCallFailed: the server answered with an error.
            RequestFailed: the server was not reached.
        """
        state = self._state
        if state.mcp_calls is None:
            raise LocalProtocolError("this session is not served")
        return await state.mcp_calls.call(
            state.mcp_servers, server_id, method, params, on_notification
        )


def public_session(state: SessionState) -> AgentSession:
    """The one public object of a session."""
    if state.public is None:
        state.public = AgentSession(state)
    return cast("AgentSession", state.public)


def session_state(session: AgentSession) -> SessionState:
    """What the library knows of a session, for parts of it that are given the public object."""
    return session._state  # pyright: ignore[reportPrivateUsage]
