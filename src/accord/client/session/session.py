"""A session as a program uses it: prompts and their turns, settings, updates.

A turn is an async context manager and an async iterator.  Leaving it early, by `break`, `return`
or an exception, cancels it and waits for its end, within a bound.

Must not know: the form of any message, which the wire of the connection knows.  The library's own
side of a session is in `state.py`.

What always holds
    * A turn yields every update between the prompt and the end of the work once, in order, except
      for the echo of the prompt and the agent's reports of its own state, which v1 does not have.
      A loop that falls behind while others wait on the connection gets several updates of one item
      as one.
    * An error of a turn is raised once: where the iteration stands, else at the end of the block.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import anyio

from accord.client.connection.capabilities import AgentCapabilities
from accord.client.connection.implementation import Implementation
from accord.client.session.prompt_exchange import Exchange
from accord.client.session.request_checks import (
    blaming_caller,
    check_blocks,
    check_value,
    prompt_items,
)
from accord.client.session.state import SessionCore, UpdateListener
from accord.client.session.update_inbox import Inbox
from accord.client.wire.wire_interface import AuthMethod, SessionPage
from accord.errors import AccordError, LocalProtocolError
from accord.transcript import ConfigOption, Message, ToolCall, Transcript, Update

if TYPE_CHECKING:
    from accord.schema import draft, v1, v2
    from accord.schema.v2 import StopReason

    # The token counts of a turn; the fields of both are the same.
    Tokens: TypeAlias = v1.Usage | v2.Usage

    # The content of a prompt: text, blocks, or lists of them; draft content is only for agents of
    # the draft.
    OfDraft: TypeAlias = draft.ContentBlock | draft.Attachment
    ContentBlock: TypeAlias = v2.ContentBlock | v1.ContentBlock | OfDraft
    Prompted: TypeAlias = str | ContentBlock | Sequence[str | ContentBlock]


_NOT_ENTERED = "enter the turn first: async with session.prompt(...) as turn"


class SessionClient(Protocol):
    """The `Client` of a session, as far as a session shows it."""

    @property
    def agent_info(self) -> Implementation | None:
        """Name and version of the agent, where it gave them."""
        ...

    @property
    def capabilities(self) -> AgentCapabilities:
        """The capabilities that the agent offered."""
        ...

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        """The ways to log in that the agent offers."""
        ...

    @property
    def protocol_version(self) -> int: ...

    async def authenticate(self, method_id: str | None = None) -> None:
        """Log in by one of the agent's methods."""
        ...

    async def close_session(self, session: "Session") -> None:
        """Stop everything in a session and free its resources."""
        ...

    async def delete_session(self, session_id: str) -> None:
        """Remove a session from the agent's list."""
        ...

    async def fork_session(
        self, session: "Session", *, on_update: UpdateListener | None = None
    ) -> "Session":
        """Open a copy of a session."""
        ...

    async def list_page(
        self,
        cursor: str | None = None,
        *,
        cwd: str | os.PathLike[str] | None = None,
        archived: str | None = None,
    ) -> SessionPage:
        """One page of the agent's sessions, of one folder or of all."""
        ...

    async def call_extension(self, method: str, params: object = None) -> Any:
        """Call a method beyond the protocol."""
        ...

    async def notify_extension(self, method: str, params: object = None) -> None:
        """Send a notification beyond the protocol."""
        ...


class Session:
    """One conversation with the agent, in one folder."""

    def __init__(self, client: SessionClient, state: SessionCore) -> None:
        """Called by `Client`, which opens sessions."""
        self._client = client
        self._state = state

    def __repr__(self) -> str:
        return f"<Session {self.id!r} in {self.cwd!r}{' (closed)' if self.is_closed else ''}>"

    @property
    def client(self) -> SessionClient:
        """The client of the session."""
        return self._client

    @property
    def id(self) -> str:
        """The id that the agent gave it."""
        return self._state.id

    @property
    def transcript(self) -> Transcript:
        """Everything that was said and done, as far as the client knows."""
        return self._state.transcript

    @property
    def cwd(self) -> str:
        """The absolute path of the working folder."""
        return self._state.cwd

    @property
    def roots(self) -> tuple[str, ...]:
        """All folders of the session, the working folder first."""
        return self._state.roots

    @property
    def is_busy(self) -> bool:
        """Whether a turn is open, or the agent reports work."""
        return self._state.is_busy

    @property
    def is_closed(self) -> bool:
        """Whether the session was closed, or the agent is gone."""
        return self._state.is_closed

    # ---- prompts

    def prompt(self, *content: "Prompted") -> "PromptTurn":
        """Send a prompt to the agent: `async with session.prompt("...") as turn`.

        Content is text, content blocks, or lists of them.  Nothing is sent before the block is
        entered.  Leaving the block before the agent is done cancels the turn.

        The prompt is sent even while another turn of this session is open.  v1 agents start on it
        when they are done with the one before; v2 agents may take it into the current work.
        Updates go to the oldest open turn, and each turn's reply has the updates that went to it.

        Raises:
            LocalProtocolError: the session is closed, the prompt is empty, the agent does not
                accept such content, or it cannot be sent.
        """
        state = self._state
        state.require_open("prompt")
        items = prompt_items(content)
        link = state.link
        check_blocks(items, link.facts.capabilities, takes_draft=link.wire.takes_draft_content)
        with blaming_caller():
            blocks = link.wire.blocks(items)
        # Encode now, so that content without a JSON form raises here.
        request = link.wire.prompt(state.id, blocks)
        return PromptTurn(self, Exchange(state, blocks, request))

    async def ask(self, *content: "Prompted") -> "Reply":
        """Send a prompt and wait for the whole answer.

        Several calls may run at once; the agent answers them one after the other, see `prompt`.
        """
        async with self.prompt(*content) as turn:
            return await turn.wait()

    async def cancel(self) -> None:
        """Stop the agent's work in this session; does nothing if there is none."""
        await self._state.cancel()

    # ---- settings

    async def set_mode(self, mode_id: str) -> None:
        """Switch the mode, by the config option for modes if there is one.

        Raises:
            LocalProtocolError: the agent has no such mode.
        """
        self._state.require_open("set the mode")
        modes = self.transcript.modes
        option = next((o for o in self.transcript.config_options if o.category == "mode"), None)
        if option is not None:
            await self.set_option(option.option_id, mode_id)
            return
        known = [mode.mode_id for mode in modes.available]
        if mode_id not in known:
            raise LocalProtocolError(f"the agent has no mode {mode_id!r}; it has {known}")
        wire = self._state.link.wire
        answer = await self._state.read(wire.set_mode(self.id, mode_id), wire.read_mode)
        if answer is None:
            self.transcript.mode_selected(mode_id)
        else:
            self.transcript.session_setup(answer)

    async def set_option(self, option_id: str, value: str | bool | int | float) -> None:
        """Set a config option; the transcript then shows all options with their new values.

        Numbers are for agents of the 2026-02 draft, whose options take any value.

        Raises:
            LocalProtocolError: there is no such option, or it does not accept the value.
        """
        self._state.require_open("set an option")
        wire = self._state.link.wire
        option = self._option(option_id)
        if not wire.takes_any_option:
            check_value(option, value)
        if option.is_models:
            await self._call(*wire.set_model(self.id, str(value)))
            self.transcript.model_selected(str(value))
            return
        request = wire.set_option(self.id, option_id, value)
        answer = await self._state.read(request, wire.read_options)
        if answer is None:
            assert isinstance(value, str | bool), "other values are refused above"
            self.transcript.option_selected(option_id, value)
        else:
            self.transcript.session_setup(answer)

    def _option(self, option_id: str) -> ConfigOption:
        options = self.transcript.config_options
        option = next((o for o in options if o.option_id == option_id), None)
        if option is None:
            known = [o.option_id for o in options]
            raise LocalProtocolError(f"the session has no option {option_id!r}; it has {known}")
        return option

    async def cancel_tool_call(self, tool_call_id: str) -> None:
        """Stop one tool call, which must be cancellable."""
        call = self.transcript.tool_call(tool_call_id)
        if call is None or not call.cancellable or call.is_final:
            raise LocalProtocolError(
                f"the tool call {tool_call_id!r} cannot be cancelled on its own"
            )
        wire = self._state.link.wire
        await self._call(*wire.cancel_tool_call(self.id, tool_call_id))

    async def cancel_terminal(self, terminal_id: str) -> None:
        """Stop the process of one of the agent's terminals, which must be cancellable."""
        terminal = self.transcript.terminal(terminal_id)
        if terminal is None or not terminal.cancellable or terminal.exit_status is not None:
            raise LocalProtocolError(f"the terminal {terminal_id!r} cannot be cancelled")
        wire = self._state.link.wire
        await self._call(*wire.cancel_terminal(self.id, terminal_id))

    async def cancel_subagent(self, session_id: str) -> None:
        """Stop a child session, which must be cancellable.  Unstable."""
        children = self.transcript.subagents
        child = next((one for one in children if one.session_id == session_id), None)
        if child is None or not child.cancellable:
            raise LocalProtocolError(f"the child session {session_id!r} cannot be cancelled")
        self._state.require_open("cancel")
        method, params = self._state.link.wire.about_session("session/cancel", session_id)
        await self._state.link.connection.notify(method, params)

    # ---- updates

    def updates(self) -> "UpdateStream":
        """All updates from now on, inside turns and outside: `async for update in ...`.

        Read the stream or drop it.  At the bound the connection waits for the reader; while other
        tasks wait for the agent it reads on, and several updates of one item come as one.

        Raises:
            LocalProtocolError: the session is closed.
        """
        self._state.require_open("watch")
        return UpdateStream(self, self._state.stream())

    # ---- the end

    async def close(self) -> None:
        """Stop everything in the session and free its resources.

        If the agent cannot close sessions, its work is cancelled, and the session is closed here.
        """
        if self.is_closed:
            return
        self._state.require_open("close")
        if self._state.link.facts.capabilities.close:
            await self.client.close_session(self)
        else:
            if self.is_busy:
                await self.cancel()
            self._state.over()

    async def delete(self) -> None:
        """Delete the session from the agent's list, and close it here."""
        await self.client.delete_session(self.id)

    async def fork(self) -> "Session":
        """Open a copy of this session, which stays as it is.  Unstable."""
        return await self.client.fork_session(self)

    async def _call(self, method: str, params: bytes) -> Any:
        return await self._state.call(method, params)


async def begin_with(
    session: Session,
    mode: str | None,
    options: Mapping[str, str | bool | int | float],
    close_seconds: float,
) -> None:
    """Set the mode and the options of a new session.

    If that fails, the session is closed again, within a bound.
    """
    try:
        if mode is not None:
            await session.set_mode(mode)
        for option_id, value in options.items():
            await session.set_option(option_id, value)
    except BaseException:
        with anyio.move_on_after(close_seconds, shield=True), suppress(AccordError):
            await session.close()
        raise


class UpdateStream:
    """The updates of one session from one moment on."""

    def __init__(self, session: Session, inbox: Inbox) -> None:
        self._inbox = inbox
        # Keeps the session alive as long as the stream is used.
        self._session = session

    def __aiter__(self) -> "UpdateStream":
        return self

    async def __anext__(self) -> Update:
        update = await self._inbox.get()
        if update is None:
            raise StopAsyncIteration
        return update

    @property
    def waiting(self) -> int:
        """The number of updates that are not read yet."""
        return len(self._inbox)

    def close(self) -> None:
        self._inbox.discard()
        self._inbox.close()


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a turn.

    `messages` begins with the prompt.  `usage` has the token counts that the agent reported, if
    any: `total_tokens`, `input_tokens`, `output_tokens` and more.
    """

    text: str
    stop_reason: "StopReason | None"
    messages: tuple[Message, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    usage: "Tokens | None" = None


class PromptTurn:
    """One prompt: `async with session.prompt(...) as turn: async for update in turn: ...`

    When the block is left before the agent is done, the turn is cancelled.
    """

    def __init__(self, session: Session, exchange: Exchange) -> None:
        self.session = session
        self._exchange = exchange
        self._inbox = exchange.inbox
        self._entered = False

    def __repr__(self) -> str:
        state = "open" if not self.is_over else self.stop_reason or repr(self.error)
        return f"<PromptTurn of session {self.session.id}: {state}>"

    @property
    def is_over(self) -> bool:
        """Whether the turn has ended."""
        return self._exchange.is_over

    @property
    def stop_reason(self) -> "StopReason | None":
        """Why the agent stopped; None while the turn runs, and where it failed instead."""
        return self._exchange.stop_reason

    @property
    def usage(self) -> "Tokens | None":
        """The token counts of the turn, where the agent reported them."""
        usage: Tokens | None = self._exchange.usage
        return usage

    @property
    def error(self) -> Exception | None:
        """The error of the turn, if it failed."""
        return self._exchange.error

    @property
    def reply(self) -> Reply:
        """The result of the turn so far."""
        told, span = self._exchange, self._exchange.span
        own = () if told.message is None else (told.message,)
        messages = own + span.messages
        return Reply(span.text, told.stop_reason, messages, span.tool_calls, self.usage)

    async def __aenter__(self) -> "PromptTurn":
        if self._entered:
            raise LocalProtocolError(
                "a turn can be entered only once; call prompt() again for another"
            )
        self._entered = True
        await self._exchange.send()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self.is_over:
            await self._exchange.leave()
        elif exc is None:
            await self._exchange.raise_error()

    def __aiter__(self) -> "PromptTurn":
        self._require_entered()
        return self

    async def __anext__(self) -> Update:
        update = self._inbox.take() or await self._inbox.get()
        if update is None:
            self._require_entered()
            await self._exchange.raise_error()
            raise StopAsyncIteration
        return update

    async def cancel(self) -> None:
        """Ask the agent to stop; the turn then ends with the stop reason `cancelled`."""
        self._require_entered()
        if not self.is_over:
            await self.session.cancel()

    async def wait(self, *, reads_on: bool = True) -> Reply:
        """Wait for the end without reading the updates; queued ones are dropped.

        Meanwhile the connection reads on, and a loop over `session.updates()` that falls behind
        gets joined updates.  With `reads_on=False` the agent waits for such a loop instead.
        """
        self._require_entered()
        await self._exchange.wait(reads_on=reads_on)
        await self._exchange.raise_error()
        return self.reply

    def _require_entered(self) -> None:
        if not self._entered:
            raise LocalProtocolError(_NOT_ENTERED)
