"""A session as a client's program uses it: prompts, settings, and everything that is told about it.

Must not know: the form of any message; the wire form of the link knows that.

What always holds
    * Every update is folded into the transcript when it comes, whoever looks at it.
    * An update goes to the oldest turn that is not over, and to every stream of `updates()`.
    * Nothing is sent for a session that is closed.
"""

import logging
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from accord.client.checks import check_blocks, prompt_items
from accord.client.ending import ForegroundWork, Outcome
from accord.client.inbox import Inbox
from accord.client.link import Link
from accord.client.turn import PromptTurn, Reply
from accord.client.wire import Setup
from accord.errors import LocalProtocolError
from accord.transcript import ConfigOption, Transcript, Update

if TYPE_CHECKING:
    from accord.client.client import Client
    from accord.client.questions import Question

_log = logging.getLogger("accord.client")

UpdateListener: TypeAlias = Callable[[Update], None]


class Session:
    """One conversation with the agent, in one folder."""

    def __init__(
        self,
        client: "Client",
        link: Link,
        session_id: str,
        setup: Setup,
        on_update: UpdateListener | None = None,
    ) -> None:
        self.client = client
        self.link = link
        self.id = session_id
        self.setup = setup
        self.transcript = Transcript("v1" if link.wire.version == 1 else "v2")
        self.is_closed = False
        # Permission requests that wait for the user.
        self.questions: set[Question] = set()
        self._cancelling = False
        self._turns: list[PromptTurn] = []
        self._streams: list[weakref.ref[UpdateStream]] = []
        self._on_update = on_update
        self._fold = self.transcript.apply

    def __repr__(self) -> str:
        return f"<Session {self.id!r} in {self.cwd!r}{' (closed)' if self.is_closed else ''}>"

    @property
    def cwd(self) -> str:
        """The absolute path of the folder that it works in."""
        return self.setup.cwd

    @property
    def roots(self) -> tuple[str, ...]:
        """All folders that it may touch, the working folder first."""
        return (self.setup.cwd, *self.setup.additional_directories)

    @property
    def is_busy(self) -> bool:
        """Whether a turn of ours is open, or the agent says that it works."""
        state = self.transcript.state
        return bool(self._turns) or (state.reported is not None and not state.is_idle)

    # ---- talking

    def prompt(self, *content: Any) -> PromptTurn:
        """Say something to the agent: `async with session.prompt("...") as turn`.

        Content is text, content blocks, or lists of them.  Nothing is sent before the block is
        entered.

        Raises:
            LocalProtocolError: the session is closed, nothing was said, or the agent does not
                take such content.
        """
        self._require_open("prompt")
        items = prompt_items(content)
        check_blocks(items, self.link.facts.capabilities)
        return PromptTurn(self, self.link.wire.blocks(items))

    async def ask(self, *content: Any) -> Reply:
        """Say something and wait for the whole answer."""
        async with self.prompt(*content) as turn:
            return await turn.wait()

    async def cancel(self) -> None:
        """Stop what the agent is doing here.  Nothing happens when it does nothing."""
        self._require_open("cancel")
        method, params = self.link.wire.about_session("session/cancel", self.id)
        self._cancelling = self.is_busy
        await self.link.connection.notify(method, params)
        self.transcript.turn_cancelled()
        self._settle_questions()
        if self.link.wire.version == 1:
            # Writes and terminals wait for the user too.
            self.link.services.cancel_session(self.id)
        for turn in tuple(self._turns):
            turn.cancel_sent()

    def _settle_questions(self) -> None:
        """Who is cancelled waits for no answer; what goes on in the background still does."""
        background = self.transcript.state.background or ()
        going_on = {item.item_id for item in background if item.item_id is not None}
        for question in tuple(self.questions):
            if self.link.wire.version == 1 or not (question.subjects & going_on):
                question.withdraw()

    # ---- settings

    async def set_mode(self, mode_id: str) -> None:
        """Switch the mode; where modes are a config option, that one is set.

        Raises:
            LocalProtocolError: the agent has no such mode.
        """
        self._require_open("set the mode")
        modes = self.transcript.modes
        option = next((o for o in self.transcript.config_options if o.category == "mode"), None)
        if option is not None:
            await self.set_option(option.option_id, mode_id)
            return
        known = [mode.mode_id for mode in modes.available]
        if self.link.wire.version != 1 or mode_id not in known:
            raise LocalProtocolError(f"the agent has no mode {mode_id!r}; it has {known}")
        from accord.client.v1_wire import set_mode

        await self._call(*set_mode(self.id, mode_id))
        self.transcript.mode_selected(mode_id)

    async def set_option(self, option_id: str, value: str | bool) -> None:
        """Set a config option; afterwards the transcript shows all options as they are.

        Raises:
            LocalProtocolError: there is no such option, or it does not take such a value.
        """
        self._require_open("set an option")
        option = self._option(option_id, value)
        if option.is_models:
            from accord.client.v1_wire import set_model

            await self._call(*set_model(self.id, str(value)))
            self.transcript.model_selected(str(value))
            return
        wire = self.link.wire
        result = await self._call(*wire.set_option(self.id, option_id, value))
        self.transcript.session_setup(wire.read_options(result))

    def _option(self, option_id: str, value: str | bool) -> ConfigOption:
        options = self.transcript.config_options
        option = next((o for o in options if o.option_id == option_id), None)
        if option is None:
            known = [o.option_id for o in options]
            raise LocalProtocolError(f"the session has no option {option_id!r}; it has {known}")
        if (option.type == "boolean") is not isinstance(value, bool):
            raise LocalProtocolError(
                f"the option {option_id!r} is of type {option.type} and cannot be {value!r}"
            )
        choices = [choice.value for choice in option.choices]
        if option.type == "select" and value not in choices:
            raise LocalProtocolError(
                f"the option {option_id!r} cannot be {value!r}; its values are {choices}"
            )
        return option

    async def cancel_tool_call(self, tool_call_id: str) -> None:
        """Stop one tool call, which must offer it."""
        call = self.transcript.tool_call(tool_call_id)
        if call is None or not call.cancellable or call.is_final:
            raise LocalProtocolError(f"the tool call {tool_call_id!r} cannot be cancelled alone")
        from accord.client.v2_wire import cancel_tool_call

        await self._call(*cancel_tool_call(self.id, tool_call_id))

    async def cancel_terminal(self, terminal_id: str) -> None:
        """Stop the process of one of the agent's terminals, which must offer it."""
        terminal = self.transcript.terminal(terminal_id)
        if terminal is None or not terminal.cancellable or terminal.exit_status is not None:
            raise LocalProtocolError(f"the terminal {terminal_id!r} cannot be cancelled")
        from accord.client.v2_wire import cancel_terminal

        await self._call(*cancel_terminal(self.id, terminal_id))

    async def cancel_subagent(self, session_id: str) -> None:
        """Stop a child session, which must offer it.  Unstable."""
        children = self.transcript.subagents
        child = next((one for one in children if one.session_id == session_id), None)
        if child is None or not child.cancellable:
            raise LocalProtocolError(f"the child session {session_id!r} cannot be cancelled")
        self._require_open("cancel")
        method, params = self.link.wire.about_session("session/cancel", session_id)
        await self.link.connection.notify(method, params)

    # ---- watching

    def updates(self) -> "UpdateStream":
        """All updates from now on, inside turns and outside: `async for update in ...`.

        Take them or drop the stream: over the bound the connection waits for you.
        """
        stream = UpdateStream(self)
        self._streams.append(weakref.ref(stream, self._stream_gone))
        return stream

    def _stream_gone(self, reference: "weakref.ref[UpdateStream]") -> None:
        if reference in self._streams:
            self._streams.remove(reference)

    # ---- the end

    async def close(self) -> None:
        """Stop everything here and free what it holds.

        An agent that has no such method is told to cancel, and the session is over for us.
        """
        if self.is_closed:
            return
        self._require_open("close")
        if self.link.facts.capabilities.close:
            await self.client.close_session(self)
        else:
            if self.is_busy:
                await self.cancel()
            self.over()

    async def delete(self) -> None:
        """Take the session off the agent's list for good; it is over for us too."""
        await self.client.delete_session(self.id)

    async def fork(self) -> "Session":
        """A new session that goes on from here; this one is untouched.  Unstable."""
        return await self.client.fork_session(self)

    def over(self) -> None:
        """The session is closed: whoever waits here is told."""
        if self.is_closed:
            return
        self.is_closed = True
        self.link.remove_session(self)
        for question in tuple(self.questions):
            question.withdraw()
        error = LocalProtocolError(f"the session {self.id!r} was closed")
        for turn in tuple(self._turns):
            turn.fail(self.link.connection.error or error)
        for reference in tuple(self._streams):
            stream = reference()
            if stream is not None:
                stream.inbox.close()

    def _require_open(self, doing: str) -> None:
        if self.is_closed:
            raise self.link.connection.error or LocalProtocolError(
                f"cannot {doing}: the session {self.id!r} is closed"
            )
        if self.link.connection.error is not None:
            raise self.link.connection.error

    async def _call(self, method: str, params: bytes) -> Any:
        return await self.client.call(self.link, method, params)

    # ---- for the link, which tells what came

    def apply_subject(self, tool_call: Any) -> None:
        """Take the tool call that a permission request is about; nobody is told but the view."""
        update = self.transcript.apply_permission_subject(tool_call)
        if update is not None:
            self.hand_on(update)

    def apply(self, wire_update: Any) -> None:
        """Fold one update and hand it on.  The hot path: no task, no await, no copy."""
        update = self._fold(wire_update)
        if update is not None:
            self.hand_on(update)

    def hand_on(self, update: Update) -> None:
        """Give an update that is in the transcript to whoever looks."""
        kind = update.kind
        if kind == "state":
            self._state_came()
        elif self._turns and not (kind == "user_message" and update.item.is_own):  # type: ignore[union-attr]
            self._turns[0].inbox.put(update)
        if self._on_update is not None:
            self._on_update(update)
        if self._streams:
            for reference in tuple(self._streams):
                stream = reference()
                if stream is not None:
                    stream.inbox.put(update)

    def _state_came(self) -> None:
        state = self.transcript.state
        outcome = Outcome(state.stop_reason, state.tokens, state.error)
        is_idle = state.is_idle
        for turn in tuple(self._turns):
            turn.state_came(is_idle, outcome)
        if is_idle and self._cancelling:
            # Agents of an older draft never take their questions back themselves.
            self._cancelling = False
            self._settle_questions()

    def turn_begins(self, turn: PromptTurn) -> None:
        """A prompt is about to be sent."""
        self._require_open("prompt")
        busy = self.is_busy
        if not busy:
            self.transcript.turn_started()
        turn.mark = self.transcript.mark()
        turn.first_tool_call = len(self.transcript.tool_calls)
        turn.message = self.transcript.prompt_sent(turn.blocks)
        if self.link.wire.version == 2:
            turn.work = ForegroundWork(busy=busy)
        self._turns.append(turn)

    def turn_ended(self, turn: PromptTurn) -> None:
        """A turn is over."""
        if turn in self._turns:
            self._turns.remove(turn)
        if not self._turns:
            self.link.services.end_turn(self.id)


class UpdateStream:
    """The updates of one session from one moment on."""

    def __init__(self, session: Session) -> None:
        link = session.link
        self.inbox = Inbox(link.connection, link.options.limits.turn_updates)
        # Keeps the session alive as long as somebody looks at it.
        self._session = session

    def __aiter__(self) -> "UpdateStream":
        return self

    async def __anext__(self) -> Update:
        update = await self.inbox.get()
        if update is None:
            raise StopAsyncIteration
        return update

    def close(self) -> None:
        """Look no longer."""
        self.inbox.discard()
        self.inbox.close()


__all__ = ["Session", "UpdateStream"]
