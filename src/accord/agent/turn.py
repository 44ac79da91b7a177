"""A turn: what a handler holds while it answers one prompt.

Everything a handler says, shows, asks, reads, writes and runs goes through here, and looks the
same to it whatever version the client speaks.

What always holds
    * Nothing is sent for a turn that is over.
    * A cancelled turn stops the handler at its next await; the handler need not do a thing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from accord.agent.custom_values import checked
from accord.agent.extensions import ExtendedTurn
from accord.agent.serving.outgoing_checks import check_update, raw_of, several
from accord.agent.serving.unstable.turn import UnstableTurn
from accord.agent.serving.wire import FileDetails
from accord.agent.session.messages import Compaction, MessageStream, as_block
from accord.agent.session.options import OptionValue
from accord.agent.session.paths import absolute
from accord.errors import LocalProtocolError
from accord.schema import v2
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from pathlib import Path

    from accord.agent.serving.chunk_frames import Chunk
    from accord.agent.session.plan import EntryLike, PlanHandle
    from accord.agent.session.session import AgentSession
    from accord.agent.terminals.own_terminals import Done, OwnTerminal

    # What the methods below import themselves is loaded behind the answer to `initialize`.
    from accord.agent.tools.elicitation import Answer, FormField
    from accord.agent.tools.tool_call import ToolCallHandle


class Turn(UnstableTurn, ExtendedTurn):
    """One prompt being answered."""

    def __init__(self, session: AgentSession, prompt: Sequence[v2.ContentBlock]) -> None:
        super().__init__()
        self._session = session
        self._prompt = tuple(prompt)
        self._scope = anyio.CancelScope()
        self._cancel_requested = False
        # The library's own: told once, when the client cancels.
        self.on_cancel: Callable[[], None] | None = None
        self._over = False
        self._tool_calls: list[ToolCallHandle] = []
        self._compactions: list[Compaction] = []
        self._streams: list[MessageStream] = []
        # As they were shown last.
        self._plans: dict[str, v2.PlanItems] = {}
        # Announced before it was all known: the next `tool_call` is this one.
        self.forming: ToolCallHandle | None = None

    # ---- what was asked

    @property
    def text(self) -> str:
        """The text blocks of the prompt, one after the other."""
        texts = [block.text for block in self._prompt if isinstance(block, v2.TextContent)]
        return "\n".join(texts)

    @property
    def prompt(self) -> tuple[v2.ContentBlock, ...]:
        """All blocks of the prompt: text, images, audio, links, embedded resources."""
        return self._prompt

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
    def mcp_servers(self) -> tuple[Any, ...]:
        """The MCP servers that the client wants this session to use."""
        return self._session.mcp_servers

    @property
    def is_cancelled(self) -> bool:
        """Whether the client has cancelled it."""
        return self._cancel_requested

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be said in it: it has ended, or the client is gone."""
        return self._over or self._session.closed or self._session.connection.error is not None

    # ---- saying

    async def emit(self, update: Any, *, waits: bool = True) -> None:
        """Send one update in the form of v2, if it is one; most other methods are made of this.

        It waits while the client is slow, unless told not to.
        """
        check_update(update)
        if isinstance(update, v2.ToolCallUpdate):
            if self._session.connection.check_is_due():
                await checkpoint_if_cancelled()
            with self._session.call_lives.following(update):
                await self.tell(update, waits=waits)
        else:
            await self.tell(update, waits=waits)
            if isinstance(update, v2.PlanUpdate):
                if isinstance(update.plan, v2.PlanItems):
                    self._plans[update.plan.plan_id] = update.plan
            elif isinstance(update, v2.PlanRemoved):
                self._plans.pop(update.plan_id, None)

    async def tell(self, update: Any, *, waits: bool = True) -> None:
        """The library's own: send what is known to be an update."""
        if self._over:
            raise LocalProtocolError("this turn is over; nothing more can be said in it")
        await self._session.emit(update, waits=waits)

    async def say(self, *parts: str | v2.ContentBlock) -> None:
        """Send one whole message, made of text or of content blocks."""
        if self._over:
            raise LocalProtocolError("this turn is over; nothing more can be said in it")
        session = self._session
        await session.emit(
            v2.AgentMessage(message_id=session.new_id("msg"), content=_blocks(parts))
        )

    async def think(self, *parts: str | v2.ContentBlock) -> None:
        """Send one whole thought."""
        await self.tell(
            v2.AgentThought(message_id=self._session.new_id("thought"), content=_blocks(parts))
        )

    def message(self) -> MessageStream:
        """Stream one message: `async with turn.message() as m: await m.write(token)`."""
        return self._stream("msg", v2.AgentMessageChunk)

    def thought(self) -> MessageStream:
        """Stream one thought in pieces."""
        return self._stream("thought", v2.AgentThoughtChunk)

    def _stream(self, kind: str, chunk: Chunk) -> MessageStream:
        """A stream that ends with the turn, so that it need not ask whether the turn goes on."""
        if self._over:
            raise LocalProtocolError("this turn is over; nothing more can be said in it")
        stream = MessageStream(self._session, self._session.new_id(kind), chunk)
        self._streams.append(stream)
        return stream

    async def plan(self, *entries: EntryLike, plan_id: str = "main") -> PlanHandle:
        """Show a plan; the handle ticks its entries off."""
        from accord.agent.session.plan import PlanHandle, as_entry

        plan = PlanHandle(self.emit, plan_id, [as_entry(entry) for entry in entries])
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

    async def notice(self, severity: str, title: str, description: str | None = None) -> None:
        """Tell the user something that need not arrive: clients without notices do not get it."""
        if not title.strip():
            raise LocalProtocolError("a notice needs a title")
        text = UNSET if description is None else description
        await self.emit(
            v2.Notice(severity=checked("NoticeSeverity", severity), title=title, description=text)
        )

    async def set_title(self, title: str) -> None:
        """Name the session."""
        await self._session.set_title(title)

    async def set_mode(self, mode_id: str) -> None:
        """Change the session's mode."""
        await self._session.set_mode(mode_id)

    async def set_option(self, option_id: str, value: OptionValue) -> None:
        """Change a config option; the client is told."""
        await self._session.set_option(option_id, value, announce=True)

    def compaction(self) -> Compaction:
        """Show that the context is being compacted, and with what summary."""
        compaction = Compaction(self.emit, self._session.new_id("compaction"))
        self._compactions.append(compaction)
        return compaction

    # ---- doing

    def tool_call(
        self,
        title: str,
        *,
        kind: str = "other",
        name: str | None = None,
        locations: Sequence[str | tuple[str, int]] = (),
        raw_input: object = UNSET,
        content: Sequence[Any] = (),
        cancellable: bool = False,
    ) -> ToolCallHandle:
        """A tool call as a block: announced on entry, final on exit, failed by an exception."""
        from accord.agent.tools.tool_call import CallFacts, ToolCallHandle

        about = CallFacts(
            title,
            checked("ToolKind", kind),
            name,
            [self.location(one) for one in several(locations)],
            raw_of("raw_input", raw_input),
            list(several(content)),
            cancellable,
        )
        call, self.forming = self.forming, None
        if call is None:
            call = ToolCallHandle(self, about)
            self._tool_calls.append(call)
        else:
            call.revise(about)
        return call

    def location(self, place: str | tuple[str, int]) -> v2.ToolCallLocation:
        """A place in a file, or one line of it, as tool calls name it."""
        path, line = (place, UNSET) if isinstance(place, str) else place
        if line is not UNSET and line < 1:
            raise LocalProtocolError(f"lines count from 1, there is no line {line}")
        return v2.ToolCallLocation(path=absolute(self._session, path), line=line)

    async def read_text(
        self,
        path: str | Path,
        *,
        line: int | None = None,
        limit: int | None = None,
        encoding: str | None = None,
    ) -> str:
        """A file's text: the client's unsaved one where it offers its files, else the disk's.

        It is UTF-8; only clients of the 2026-02 draft can be asked for another encoding.
        """
        from accord.agent.tools.files import read_text

        return await read_text(self._session, str(path), line, limit, FileDetails(encoding))

    async def write_text(
        self,
        path: str | Path,
        text: str,
        *,
        encoding: str | None = None,
        overwrite: bool = True,
        create_directories: bool = True,
    ) -> bool | None:
        """Write a file, through the client where it offers that.  Asks nobody: see `edit`.

        True when the file is a new one, None where the client does not say.
        """
        from accord.agent.tools.files import write_text

        details = FileDetails(encoding, overwrite, create_directories)
        return await write_text(self._session, str(path), text, details)

    async def edit(
        self, path: str | Path, text: str, *, title: str | None = None, reason: str | None = None
    ) -> bool:
        """Change a file to a new text: a tool call with a diff, with permission if the mode asks.

        False when the user said no: nothing was written.  Nobody is asked where the file has that
        text already.
        """
        from accord.agent.tools.files import edit_file

        return await edit_file(self, str(path), text, title, reason)

    async def delete(self, path: str | Path, *, reason: str | None = None) -> bool:
        """Delete a file: a tool call that shows what is lost, with permission if the mode asks.

        False when the user said no: it is still there.
        """
        from accord.agent.tools.files import delete_file

        return await delete_file(self, str(path), reason)

    async def move(
        self, path: str | Path, target: str | Path, *, reason: str | None = None
    ) -> bool:
        """Give a file another name, never one that is taken; otherwise as `delete`."""
        from accord.agent.tools.files import move_file

        return await move_file(self, str(path), str(target), reason)

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
        """Run a command in the client's terminal where it offers one, else in our own process."""
        from accord.agent.terminals.terminals import job_of, run_command

        job = job_of(self._session, command, args, cwd, env, timeout, output_bytes)
        return await run_command(self, job, title=title, reason=reason)

    async def start(
        self,
        command: str,
        *args: str,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        title: str | None = None,
        reason: str | None = None,
        output_bytes: int = 1024 * 1024,
    ) -> OwnTerminal | None:
        """Start a command that goes on after the turn, such as a server; None when refused.

        It runs in a process of ours, and ends by itself, by `stop`, or with the session.
        """
        from accord.agent.terminals.terminals import job_of, start_command

        job = job_of(self._session, command, args, cwd, env, None, output_bytes)
        return await start_command(self, job, title=title, reason=reason)

    # ---- asking

    async def ask(self, message: str, **fields: FormField) -> Answer:
        """Ask the user to fill a form, where the client can show one."""
        from accord.agent.tools.elicitation import elicit_form

        return await elicit_form(self._session, message, fields)

    async def ask_to_visit(self, message: str, url: str) -> Answer:
        """Ask the user to open a page; `accepted` says that they agreed, not that they are done."""
        from accord.agent.tools.elicitation import elicit_url

        return await elicit_url(self._session, message, url)

    async def visited(self, answer: Answer) -> None:
        """Tell the client that what the page was for is done; behind the turn the session does."""
        await self._session.visited(answer)

    # ---- the library's side

    @property
    def scope(self) -> anyio.CancelScope:
        """What cancelling the turn cancels."""
        return self._scope

    def cancel(self) -> None:
        """The client wants it to stop: the handler is cancelled at its next await."""
        if not self._cancel_requested:
            self._cancel_requested = True
            if self.on_cancel is not None:
                self.on_cancel()
            self._scope.cancel()

    def cancel_quietly(self) -> None:
        """Stop a handler that is left behind, without calling the turn cancelled."""
        self._scope.cancel()

    def tool_call_by_id(self, tool_call_id: str) -> ToolCallHandle | None:
        """The tool call of this turn with an id."""
        return next((call for call in self._tool_calls if call.id == tool_call_id), None)

    async def finish(self, *, failed: bool, stopped: bool = False) -> None:
        """Settle what the handler left open, then close the turn for good.

        A turn that was `stopped` has ended before its work: by a refusal, or by a limit.  Its plan
        is as little worked on any more as that of a turn that was cancelled or has failed.
        """
        status = "cancelled" if self._cancel_requested else "failed" if failed else "completed"
        try:
            for call in self._tool_calls:
                await call.settle(status)
            for compaction in self._compactions:
                await compaction.settle("failed" if status == "failed" else "cancelled")
            if stopped or status != "completed":
                await self._drop_plans()
        finally:
            self._over = True
            for stream in self._streams:
                stream.close()

    async def _drop_plans(self) -> None:
        from accord.agent.session.plan import without_open

        for plan in self._plans.values():
            left = without_open(plan)
            if left is not None:
                await self.tell(v2.PlanUpdate(plan=left))


def _blocks(parts: Sequence[str | v2.ContentBlock]) -> list[v2.ContentBlock]:
    return [as_block(part) for part in parts]
