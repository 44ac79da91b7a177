"""A turn: what a handler holds while it answers one prompt.

Everything that a handler says, shows, asks, reads, writes and runs goes through here, and looks the
same to it whatever version the client speaks.  What the library itself does with a turn is in
`session/turn_state.py`.

The unstable parts of ACP need no test of whether they are on: where they are off, or the client
cannot show them, the same calls send nothing unstable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import anyio

from accord.agent.argument_checks import check_enum_value
from accord.agent.extensions import call_extension, notify_extension
from accord.agent.serving.wire import FileDetails
from accord.agent.session.compaction import Compaction
from accord.agent.session.message_stream import MessageStream, as_block
from accord.agent.session.options_and_commands import OptionValue
from accord.agent.session.turn_state import TurnState
from accord.connection.error_responses import error_for
from accord.errors import LocalProtocolError
from accord.protocol.v2.turn import Step
from accord.schema import v2
from accord.schema.codec import to_raw
from accord.schema.struct import UNSET, UnsetType

if TYPE_CHECKING:
    from pathlib import Path

    from accord.agent.serving.unstable.token_usage import TokenCount

    # What the methods below import themselves is loaded behind the answer to `initialize`.
    from accord.agent.session.agent_session import AgentSession
    from accord.agent.session.plan import EntryLike, PlanHandle
    from accord.agent.session.session_state import SessionState
    from accord.agent.terminals.command import Done
    from accord.agent.terminals.own_terminals import TerminalHandle
    from accord.agent.tools.elicitation import Answer, FormField
    from accord.agent.tools.tool_call import ToolCallHandle

T = TypeVar("T")


class Turn:
    """One prompt being answered."""

    def __init__(self, state: TurnState) -> None:
        """For the library, which opens turns."""
        from accord.agent.session.agent_session import public_session

        self._state = state
        self._session = public_session(state.session)

    # ---- what was asked

    @property
    def text(self) -> str:
        """The text blocks of the prompt, one after the other."""
        texts = [block.text for block in self._state.prompt if isinstance(block, v2.TextContent)]
        return "\n".join(texts)

    @property
    def prompt(self) -> tuple[v2.ContentBlock, ...]:
        """All blocks of the prompt: text, images, audio, links, embedded resources."""
        return self._state.prompt

    @property
    def session(self) -> AgentSession:
        """The session that this turn is part of."""
        return self._session

    @property
    def cwd(self) -> Path:
        """The session's working folder."""
        return self._session.cwd

    @property
    def mode(self) -> str | None:
        """The id of the current mode."""
        mode = self._session.mode
        return None if mode is None else mode.mode_id

    @property
    def options(self) -> Mapping[str, OptionValue]:
        """The current value of every config option."""
        return self._session.options

    @property
    def mcp_servers(self) -> tuple[v2.McpServer, ...]:
        """The MCP servers that the client wants this session to use."""
        return self._session.mcp_servers

    @property
    def is_cancelled(self) -> bool:
        """Whether the client has cancelled it."""
        return self._state.is_cancelled

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be sent in it: it has ended, or the client is gone."""
        return self._state.is_over

    # ---- saying

    async def emit(self, update: v2.SessionUpdate, *, waits: bool = True) -> None:
        """Check and send one update of v2; most other methods use this.

        It waits while the client is slow, unless told not to.
        """
        await self._state.emit(update, waits=waits)

    async def say(self, *parts: str | v2.ContentBlock) -> None:
        """Send one whole message, made of text or of content blocks."""
        state = self._state
        state.require_open()
        updates = state.session.updates
        message = v2.AgentMessage(message_id=updates.new_id("msg"), content=_blocks(parts))
        await updates.emit(message)

    async def think(self, *parts: str | v2.ContentBlock) -> None:
        """Send one whole thought."""
        thought_id = self._state.session.new_id("thought")
        await self._state.send(v2.AgentThought(message_id=thought_id, content=_blocks(parts)))

    def message(self) -> MessageStream:
        """Stream one message: `async with turn.message() as m: await m.write(token)`."""
        return self._state.open_stream("msg", v2.AgentMessageChunk)

    def thought(self) -> MessageStream:
        """Stream one thought, as `message` does."""
        return self._state.open_stream("thought", v2.AgentThoughtChunk)

    async def plan(self, *entries: EntryLike, plan_id: str = "main") -> PlanHandle:
        """Show a plan; the handle changes the status of its entries."""
        from accord.agent.session.plan import PlanHandle, as_entry

        plan = PlanHandle(self._state.emit, plan_id, [as_entry(entry) for entry in entries])
        await plan.show()
        return plan

    async def usage(
        self, used: int, size: int, *, cost: float | None = None, currency: str = "USD"
    ) -> None:
        """Report how full the context window is, and what the session has cost so far."""
        amount = UNSET if cost is None else v2.Cost(amount=cost, currency=currency)
        try:
            update = v2.UsageUpdate(used=used, size=size, cost=amount)
        except ValueError as error:
            raise LocalProtocolError(f"UsageUpdate cannot be sent: {error}") from None
        await self.emit(update)

    async def notice(
        self, severity: v2.NoticeSeverity, title: str, description: str | None = None
    ) -> None:
        """Show the user a notice, if the client can show notices."""
        if not title.strip():
            raise LocalProtocolError("a notice needs a title")
        text = UNSET if description is None else description
        await self.emit(
            v2.Notice(
                severity=check_enum_value("NoticeSeverity", severity), title=title, description=text
            )
        )

    async def set_title(self, title: str) -> None:
        """Name the session and tell the client."""
        await self._session.set_title(title)

    async def set_mode(self, mode_id: str) -> None:
        """Change the session's mode."""
        await self._session.set_mode(mode_id)

    async def set_option(self, option_id: str, value: OptionValue) -> None:
        """Change a config option and tell the client."""
        await self._session.set_option(option_id, value, announce=True)

    def compaction(self) -> Compaction:
        """Show that the context is being compacted, and stream the summary."""
        return self._state.open_compaction()

    # ---- doing

    def tool_call(
        self,
        title: str,
        *,
        kind: v2.ToolKind = "other",
        name: str | None = None,
        locations: Sequence[str | tuple[str, int]] = (),
        raw_input: object = UNSET,
        content: Sequence[str | v2.ContentBlock | v2.ToolCallContent] = (),
        cancellable: bool = False,
    ) -> ToolCallHandle:
        """A tool call as a block: announced on entry, final on exit, failed by an exception."""
        from accord.agent.tools.tool_call import new_tool_call

        return new_tool_call(
            self._state,
            title,
            kind=kind,
            name=name,
            locations=locations,
            raw_input=raw_input,
            content=content,
            cancellable=cancellable,
        )

    async def read_text(
        self,
        path: str | Path,
        *,
        line: int | None = None,
        limit: int | None = None,
        encoding: str | None = None,
    ) -> str:
        """Read a file: the client's unsaved text if it offers its files, else the disk's.

        It is UTF-8; only clients of the 2026-02 draft support other encodings.
        """
        from accord.agent.tools.files import read_text

        return await read_text(self._state.session, str(path), line, limit, FileDetails(encoding))

    async def write_text(
        self,
        path: str | Path,
        text: str,
        *,
        encoding: str | None = None,
        overwrite: bool = True,
        create_directories: bool = True,
    ) -> bool | None:
        """Write a file, through the client if it offers that, without asking: see `edit`.

        Return whether the file is new, or None if the client does not say.
        """
        from accord.agent.tools.files import write_text

        details = FileDetails(encoding, overwrite, create_directories)
        return await write_text(self._state.session, str(path), text, details)

    async def edit(
        self, path: str | Path, text: str, *, title: str | None = None, reason: str | None = None
    ) -> bool:
        """Replace the text of a file: a tool call with a diff, with permission if the mode asks.

        Return False if the user refused.  If the file has that text already, nothing happens.
        """
        from accord.agent.tools.files import edit_file

        return await edit_file(self._state, str(path), text, title, reason)

    async def delete(self, path: str | Path, *, reason: str | None = None) -> bool:
        """Delete a file: a tool call that shows its content, with permission if the mode asks.

        Return False if the user refused.
        """
        from accord.agent.tools.files import delete_file

        return await delete_file(self._state, str(path), reason)

    async def move(
        self, path: str | Path, target: str | Path, *, reason: str | None = None
    ) -> bool:
        """Move a file to a path that does not exist yet; otherwise as `delete`."""
        from accord.agent.tools.files import move_file

        return await move_file(self._state, str(path), str(target), reason)

    async def run(
        self,
        command: str,
        *args: str,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        title: str | None = None,
        reason: str | None = None,
        output_bytes: int = 1024 * 1024,
    ) -> Done:
        """Run a command in the client's terminal if it offers one, else in a process."""
        from accord.agent.terminals.command_runner import job_of, run_command

        job = job_of(self._state.session, command, args, cwd, env, timeout, output_bytes)
        return await run_command(self._state, job, title=title, reason=reason)

    async def start(
        self,
        command: str,
        *args: str,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        title: str | None = None,
        reason: str | None = None,
        output_bytes: int = 1024 * 1024,
    ) -> TerminalHandle | None:
        """Start a command that goes on after the turn, such as a server; None if refused.

        It runs in a process of the agent until it exits, is stopped, or the session ends.
        """
        from accord.agent.terminals.command_runner import job_of, start_command

        job = job_of(self._state.session, command, args, cwd, env, None, output_bytes)
        return await start_command(self._state, job, title=title, reason=reason)

    # ---- asking

    async def ask(self, message: str, **fields: FormField) -> Answer:
        """Ask the user to fill a form, if the client can show one."""
        from accord.agent.tools.elicitation import elicit_form

        return await elicit_form(self._state.session, message, fields)

    async def ask_to_visit(self, message: str, url: str) -> Answer:
        """Ask the user to open a page; `accepted` says that they agreed, not that they are done."""
        from accord.agent.tools.elicitation import elicit_url

        return await elicit_url(self._state.session, message, url)

    async def visited(self, answer: Answer) -> None:
        """Tell the client that the user is done with the page; after the turn use the session."""
        await self._session.visited(answer)

    # ---- extensions

    @property
    def client_extensions(self) -> frozenset[str]:
        """The methods beyond the protocol that the client advertises."""
        return self._session.features.extensions

    @overload
    async def call_extension(
        self, method: str, params: object = None, result: None = None
    ) -> object: ...

    @overload
    async def call_extension(self, method: str, params: object, result: type[T]) -> T: ...

    @overload
    async def call_extension(self, method: str, params: object = None, *, result: type[T]) -> T: ...

    async def call_extension(
        self, method: str, params: object = None, result: type[T] | None = None
    ) -> T | object:
        """Call a method beyond the protocol; the answer is read as `result`, or as plain values.

        Raises:
            RequestFailed: the client answered with an error, -32601 where it has no such method.
        """
        return await call_extension(self._state.session.connection, method, params, result)

    async def notify_extension(self, method: str, params: object = None) -> None:
        """Send a notification beyond the protocol."""
        await notify_extension(self._state.session.connection, method, params)

    # ---- tokens (unstable)

    def count_tokens(
        self,
        *,
        input: int,  # noqa: A002 - the protocol's word
        output: int,
        thought: int | None = None,
        cached_read: int | None = None,
        cached_write: int | None = None,
    ) -> None:
        """Add the tokens of a model call; the client gets the sum when the turn ends."""
        self._state.tokens.add(
            {
                "input_tokens": input,
                "output_tokens": output,
                "thought_tokens": thought,
                "cached_read_tokens": cached_read,
                "cached_write_tokens": cached_write,
            }
        )

    @property
    def tokens(self) -> TokenCount:
        """The tokens that this turn has used so far."""
        return self._state.tokens

    # ---- plans (unstable)

    async def plan_text(self, markdown: str, *, plan_id: str = "main") -> None:
        """Show a plan that is free text."""
        await self._state.emit(
            v2.PlanUpdate(plan=v2.PlanMarkdown(plan_id=plan_id, content=markdown))
        )

    async def plan_file(self, path: str | Path, *, plan_id: str = "main") -> None:
        """Show a plan that is kept in a file."""
        uri = (self._session.cwd / path).as_uri()
        await self._state.emit(v2.PlanUpdate(plan=v2.PlanFile(plan_id=plan_id, uri=uri)))

    # ---- subagents (unstable)

    def subagent(
        self,
        title: str,
        *,
        description: str | None = None,
        cancellable: bool = False,
        cwd: str | Path | None = None,
        additional_directories: Sequence[str] | None = None,
    ) -> Subagent:
        """A subagent at work: `async with turn.subagent("Reviewer") as child: ...`.

        The subagent is a turn of its own: it can do everything that a turn can.  With
        `cancellable` the client may cancel it alone.
        """
        return Subagent(
            self,
            title,
            description=description,
            cancellable=cancellable,
            cwd=None if cwd is None else str(cwd),
            additional_directories=additional_directories,
        )


class Subagent(Turn):
    """A subagent at work: a turn of its own, inside the block of `turn.subagent(...)`.

    Its session is announced on the parent's; the client may read it and, where that was granted,
    cancel it, but never prompt it.  Its history is not kept.  A client that cannot show subagents
    sees the tool calls as the parent's, because a user must see what is done and be asked about
    it; what the subagent says stays between it and its parent.

    What always holds
        * Nothing names the session before its announcement.
        * A subagent that was announced as working is told to be idle, however its work ends.
    """

    def __init__(
        self,
        parent: Turn,
        title: str,
        *,
        description: str | None,
        cancellable: bool,
        cwd: str | None,
        additional_directories: Sequence[str] | None,
    ) -> None:
        from accord.agent.session.subagent import ChildState

        self._parent = parent._state
        self._outer = outer = parent._state.session
        place = str(outer.cwd) if cwd is None else str(outer.cwd / cwd)
        roots = outer.roots[1:] if additional_directories is None else additional_directories
        self._child = ChildState(outer, place, tuple(roots))
        super().__init__(TurnState(self._child, ()))
        self._entered = False
        # It accepts messages only inside its block.
        self._state.has_ended = True
        self.cancellable = cancellable
        granted = v2.SessionCancelCapabilities() if cancellable else UNSET
        self._announcement = v2.SubagentUpdate(
            session_id=self._child.id,
            title=title,
            description=UNSET if description is None else description,
            capabilities=v2.SubagentSessionCapabilities(cancel=granted),
            cwd=UNSET if cwd is None else place,
            additional_directories=UNSET if additional_directories is None else list(roots),
        )

    @property
    def id(self) -> str:
        """The id of the subagent's session."""
        return self._child.record.session_id

    def cancel(self) -> None:
        """Stop the subagent alone."""
        self._state.cancel()

    async def __aenter__(self) -> Subagent:
        if self._entered:
            raise LocalProtocolError("a subagent's block can be entered only once")
        if self._child.shown:
            await self._parent.emit(self._announcement)
        self._entered, self._state.has_ended = True, False
        self._outer.children[self.id] = self
        self._child.turn = self._state
        self._child.enter(Step.WORK_STARTED)
        self._state.scope.__enter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        swallowed = bool(self._state.scope.__exit__(exc_type, exc, traceback))
        with anyio.CancelScope(shield=True):
            await self._end(exc)
        return swallowed

    async def _end(self, exc: BaseException | None) -> None:
        del self._outer.children[self.id]
        reason, error = "end_turn", cast("v2.Error | UnsetType", UNSET)
        if self.is_cancelled or (exc is not None and not isinstance(exc, Exception)):
            reason = "cancelled"
        elif exc is not None:
            code, message, data = error_for(exc, "subagent")
            details = UNSET if data is None else to_raw(data)
            reason, error = "error", v2.Error(code=code, message=message, data=details)
        child = self._child
        if child.connection.error is not None or self._outer.closed:
            return
        await self._state.finish(failed=exc is not None)
        await child.terminals.close()
        counts = self.tokens.usage()
        child.last_usage = UNSET if counts is None else v2.Usage(**counts)
        # The parent pays for the work of its subagents.
        self._parent.tokens.add(self.tokens.counts)
        child.enter(Step.WORK_STOPPED, stop_reason=reason, error=error)
        if child.shown:
            # Once more and into the log: a replay must not show it at work for ever.
            final = v2.SubagentUpdate(session_id=child.id, state=child.snapshot())
            await self._outer.updates.record_only(final)

    # ---- messages between the two

    async def instruct(self, *parts: str | v2.ContentBlock) -> None:
        """Show a message of the parent to the subagent."""
        await self._message(self._outer, self._child, parts)

    async def report(self, *parts: str | v2.ContentBlock) -> None:
        """Show a message of the subagent to its parent."""
        await self._message(self._child, self._outer, parts)

    async def _message(
        self, sender: SessionState, recipient: SessionState, parts: Sequence[str | v2.ContentBlock]
    ) -> None:
        if self._state.has_ended:
            raise LocalProtocolError(
                "a subagent accepts messages only inside its `async with` block"
            )
        if not self._child.shown:
            return
        sent, received = sender.new_id("sent"), recipient.new_id("received")
        ends: dict[str, Any] = {
            "sender_session_id": sender.id,
            "recipient_session_id": recipient.id,
            "content": _blocks(parts),
        }
        await sender.updates.emit(
            v2.SessionMessage(message_id=sent, recipient_message_id=received, **ends)
        )
        await recipient.updates.emit(
            v2.SessionMessage(message_id=received, sender_message_id=sent, **ends)
        )


def turn_state(turn: Turn) -> TurnState:
    """What the library knows of a turn, for parts of it that are given the public object."""
    return turn._state  # pyright: ignore[reportPrivateUsage]


def _blocks(parts: Sequence[str | v2.ContentBlock]) -> list[v2.ContentBlock]:
    return [as_block(part) for part in parts]
