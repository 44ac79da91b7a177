"""A tool call: announced, permitted, in progress and final, and never backwards."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Sequence
from inspect import isawaitable, iscoroutinefunction
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from accord.agent.argument_checks import check_enum_value
from accord.agent.serving.outgoing_checks import checked_content, raw_of, several
from accord.agent.session.paths import absolute
from accord.agent.tools.always_answers import (
    Act,
    call_act,
    command_act,
    decided,
    remember,
)
from accord.agent.tools.permission_request import (
    OptionLike,
    PermissionAsk,
    PermissionOption,
    permission_options,
    usual_options,
)
from accord.errors import LocalProtocolError
from accord.protocol.tool_status import is_final, may_follow
from accord.schema import v2
from accord.schema.struct import UNSET, Raw, UnsetType
from accord.translate.diffs import diff_of
from accord.translate.permission_contents import asked_contents

if TYPE_CHECKING:
    from accord.agent.session.session_state import SessionState
    from accord.agent.session.turn_state import TurnState

T = TypeVar("T")


class CallFacts(NamedTuple):
    """What is known of a tool call when it is announced."""

    title: str
    kind: v2.ToolKind
    name: str | None
    locations: list[v2.ToolCallLocation]
    raw_input: Raw | UnsetType
    content: list[Any]
    cancellable: bool


class ToolCallHandle:
    """One tool call, as an async context manager.  Guards the order of its statuses."""

    def __init__(self, turn: TurnState, about: CallFacts) -> None:
        self._turn = turn
        self._id = turn.session.new_id("call")
        self._take(about)
        self._status: str | None = None
        self._scope = anyio.CancelScope()
        self._entered = False
        # Number of open questions to the user.
        self._asking = 0
        self._refused_by: str | None = None

    def _take(self, about: CallFacts) -> None:
        self._title, self._kind, self._name, self._locations, self._raw_input, *_ = about
        self._content = [as_content(item) for item in about.content]
        self._cancellable = about.cancellable
        # Whether the client knows all of this.
        self._told = False

    def _revise(self, about: CallFacts) -> None:
        if self.status != "pending" or self._entered:
            raise LocalProtocolError(
                f"tool call {self._title!r} is {self.status}: it can be described only before it"
                " begins"
            )
        self._take(about)

    @property
    def id(self) -> str:
        """The tool call's id."""
        return self._id

    @property
    def status(self) -> str:
        """Its status; `pending` before it is announced."""
        return self._status or "pending"

    @property
    def is_final(self) -> bool:
        """Whether it has ended, in any way."""
        return is_final(self.status)

    @property
    def _stoppable(self) -> bool:
        # Only an `async with` block can be cancelled from outside.
        return self._cancellable and self._entered

    @property
    def _can_be_cancelled(self) -> bool:
        return self._stoppable and self._status is not None and not self.is_final

    @property
    def refused_by(self) -> str | None:
        """The reason of the last denial; None if the client does not send one.

        One of "user", "remembered" (an earlier answer), "rule", "default" (the user could not be
        asked) and "cancelled".
        """
        return self._refused_by

    # ---- status

    async def announce(self) -> None:
        """Announce it to the client; entering the block does this."""
        if self._told:
            raise LocalProtocolError(f"tool call {self._title!r} was announced already")
        self._told = True
        await self._become(
            "pending",
            v2.ToolCallUpdate(
                tool_call_id=self._id,
                title=self._title,
                name=UNSET if self._name is None else self._name,
                kind=self._kind,
                status="pending",
                content=list(self._content) or UNSET,
                locations=self._locations or UNSET,
                raw_input=self._raw_input,
                capabilities=self._controls() if self._stoppable else UNSET,
            ),
        )

    def _controls(self) -> v2.ToolCallCapabilities:
        return v2.ToolCallCapabilities(cancel=v2.ToolCallCancelCapabilities())

    async def start(self) -> None:
        """Mark it as in progress; `run` and leaving the block do this if needed.

        It may be called again while the work goes on, but not after its end.
        """
        self._require_open("start")
        if self.status == "pending":
            await self._step("in_progress")

    async def complete(self, *, raw_output: object = UNSET) -> None:
        """End it as completed."""
        await self._step("completed", raw_output=raw_output)

    async def fail(self, reason: str | None = None, *, raw_output: object = UNSET) -> None:
        """End it as failed, and show the reason as its content."""
        self._require_open("fail")
        if reason is not None:
            await self.show(reason)
        await self._step("failed", raw_output=raw_output)

    async def cancel(self) -> None:
        """End it as cancelled."""
        await self._step("cancelled")

    def _require_open(self, doing: str) -> None:
        """Refuse to go on with a call that was not announced or that has ended."""
        if self._status is None:
            raise LocalProtocolError(f"tool call {self._title!r} was not announced yet")
        if self.is_final:
            raise LocalProtocolError(
                f"tool call {self._title!r} is {self._status}; it cannot {doing} any more"
            )

    async def _step(self, status: str, *, raw_output: object = UNSET) -> None:
        if self._status is None:
            raise LocalProtocolError(f"tool call {self._title!r} was not announced yet")
        if not may_follow(self._status, status) or self.is_final:
            raise LocalProtocolError(
                f"tool call {self._title!r} is {self._status}; it cannot become {status}"
            )
        if self._asking and status in ("in_progress", "completed"):
            raise LocalProtocolError(
                f"tool call {self._title!r} waits for permission; it cannot become {status} before"
                " the answer"
            )
        ended = is_final(status) and self._stoppable
        await self._become(
            status,
            v2.ToolCallUpdate(
                tool_call_id=self._id,
                status=status,
                raw_output=raw_of("raw_output", raw_output),
                capabilities=None if ended else UNSET,
            ),
        )

    async def _become(self, status: str, update: v2.ToolCallUpdate) -> None:
        """Take a status and send it: either both happen or neither, also under cancellation.

        The wait for a slow client after it can be cancelled.  There is none after a final status,
        so that a cancelled call ends without waiting.
        """
        await checkpoint_if_cancelled()
        before, self._status = self._status, status
        try:
            with anyio.CancelScope(shield=True):
                await self._turn.emit(update, waits=False)
        except Exception:
            self._status, self._told = before, before is not None
            raise
        if not self.is_final:
            await self._turn.session.updates.wait_for_client()

    async def _settle(self, status: str) -> None:
        if self._status is not None and not self.is_final:
            # What still waits for permission was not done.
            await self._step("cancelled" if self._asking and status == "completed" else status)

    # ---- what it shows

    async def show(self, *items: str | v2.ContentBlock | v2.ToolCallContent) -> None:
        """Add content: text, a content block, or tool content.

        Content may be added after the end too; title, locations and status stay as they were.
        """
        for content in [as_content(item) for item in items]:
            self._content.append(content)
            await self._emit_content(content)

    async def show_diff(self, path: str, old_text: str | None, new_text: str) -> None:
        """Add the change of a file; this too may come after the end."""
        await self.show(diff_of(absolute(self._turn.session, path), old_text, new_text))

    async def _emit_content(self, content: Any) -> None:
        if self._status is not None:
            await self._turn.send(v2.ToolCallContentChunk(tool_call_id=self._id, content=content))

    async def set_locations(self, *places: str | tuple[str, int]) -> None:
        """Set the places in files that it works on now."""
        self._require_open("move")
        locations = [location(self._turn.session, place) for place in places]
        self._locations = locations
        await self._turn.emit(v2.ToolCallUpdate(tool_call_id=self._id, locations=locations))

    async def set_title(self, title: str) -> None:
        """Change the title that the client shows."""
        self._require_open("change its title")
        self._title = title
        await self._turn.emit(v2.ToolCallUpdate(tool_call_id=self._id, title=title))

    # ---- permission

    async def ask(
        self,
        reason: str | None = None,
        *,
        options: Sequence[OptionLike] | None = None,
        command: str | None = None,
        cwd: str | None = None,
    ) -> bool:
        """Ask the user unless the mode or an earlier lasting answer decides.  True is consent.

        A refusal ends the tool call; only an offered option that allows is consent.  A lasting
        answer covers the same act only: this command in this folder, these files, this call with
        this input.  Without `options` the user may also choose a wider one.
        """
        return await self._ask_for(self._act(command, cwd), reason, options, command, cwd)

    async def _ask_for(
        self,
        act: Act,
        reason: str | None,
        options: Sequence[OptionLike] | None,
        command: str | None,
        cwd: str | None,
    ) -> bool:
        """Ask as `ask` does, with lasting answers about this act."""
        session = self._turn.session
        await self._before_asking()
        # Changing a file that is executed automatically counts as running it.
        kind = "execute" if act.is_executed else self._kind
        if session.mode is not None and kind in session.mode.allow:
            return True
        answer = decided(session, act)
        if answer is None:
            chosen = await self._choose_for(act, reason, options, command, cwd)
            answer = chosen is not None and chosen.allows
        if not answer:
            await self._settle("failed")
        return answer

    async def _choose_for(
        self,
        act: Act,
        reason: str | None,
        options: Sequence[OptionLike] | None,
        command: str | None,
        cwd: str | None,
    ) -> PermissionOption | None:
        """Ask the user, and remember a lasting answer for what it covers."""
        offered = permission_options(
            usual_options(act.words, act.every) if options is None else options
        )
        covers = act.words if any(one.is_remembered for one in offered) else None
        chosen = await self._choose(reason, offered, command, cwd, covers)
        if chosen is not None:
            remember(self._turn.session, act, chosen, is_own=options is None)
        return chosen

    def _act(self, command: str | None, cwd: str | None) -> Act:
        session = self._turn.session
        if command is not None:
            return command_act(session, command, absolute(session, cwd or "."))
        return call_act(
            session, self._kind, self._name, self._title, self._locations, self._raw_input
        )

    async def choose(
        self,
        reason: str | None = None,
        *,
        options: Sequence[OptionLike],
        command: str | None = None,
        cwd: str | None = None,
    ) -> PermissionOption | None:
        """Ask the user, whatever the mode; None if nothing was chosen.

        Nothing is remembered: the caller decides what the answer means.
        """
        return await self._choose(reason, options, command, cwd, None)

    async def _choose(
        self,
        reason: str | None,
        options: Sequence[OptionLike],
        command: str | None,
        cwd: str | None,
        covers: str | None,
    ) -> PermissionOption | None:
        await self._before_asking()
        offered = permission_options(options)
        patch = v2.ToolCallPatch(
            tool_call_id=self._id,
            title=self._title,
            kind=self._kind,
            content=asked_contents(self._content) or UNSET,
            locations=self._locations or UNSET,
            raw_input=self._raw_input,
        )
        ask = PermissionAsk(
            self._title, reason, patch, offered, command, cwd, covers, heard=self._heard
        )
        self._asking += 1
        try:
            return await self._turn.session.ask_permission(ask)
        finally:
            self._asking -= 1

    def _heard(self, by: str | None) -> None:
        self._refused_by = by

    async def _before_asking(self) -> None:
        """Announce it, and refuse to ask once the work has begun."""
        if not self._told:
            await self.announce()
        if self._status != "pending":
            raise LocalProtocolError(
                f"tool call {self._title!r} is {self._status}; ask for permission before the work"
            )

    # ---- as a block

    @overload
    async def run(self, function: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T: ...

    @overload
    async def run(self, function: Callable[..., T], *args: Any) -> T: ...

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Do the work: a coroutine function is awaited, any other runs in a thread."""
        self._require_open("run")
        await self.start()
        if iscoroutinefunction(function):
            return await function(*args)
        value = await anyio.to_thread.run_sync(lambda: function(*args), abandon_on_cancel=True)
        return await value if isawaitable(value) else value

    async def __aenter__(self) -> ToolCallHandle:
        self._entered = True
        await self.announce()
        self._scope.__enter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        swallow = self._scope.__exit__(exc_type, exc, traceback)
        with anyio.CancelScope(shield=True):
            if exc is None:
                # Checked first: trio's scopes return True here although nothing was caught.
                if not self.is_final:
                    if not self._asking:
                        await self.start()
                    await self._settle("completed")
            elif self._turn.is_over:
                pass  # Nothing can be sent any more.
            elif swallow or self._turn.is_cancelled:
                # The handler may have turned the cancellation into another exception.
                await self._settle("cancelled")
            else:
                # A deadline of the handler is a failure too: the client has not cancelled.
                if isinstance(exc, Exception) and not self.is_final:
                    await self.show(f"{type(exc).__name__}: {exc}")
                await self._settle("failed")
        return swallow


class ToolCallControl:
    """What the library does with a tool call beside its handler."""

    __slots__ = ("_call",)

    def __init__(self, call: ToolCallHandle) -> None:
        self._call = call

    @property
    def id(self) -> str:
        """The tool call's id."""
        return self._call.id

    @property
    def can_be_cancelled(self) -> bool:
        """Whether the client may cancel it alone, now."""
        return self._call._can_be_cancelled  # pyright: ignore[reportPrivateUsage]

    def revise(self, about: CallFacts) -> None:
        """Describe the call before its work begins; the next announcement has the changes."""
        self._call._revise(about)  # pyright: ignore[reportPrivateUsage]

    async def ask_for(self, act: Act, reason: str | None, *, command: str, cwd: str) -> bool:
        """Ask as `ToolCallHandle.ask` does, with lasting answers about this act."""
        return await self._call._ask_for(  # pyright: ignore[reportPrivateUsage]
            act, reason, None, command, cwd
        )

    async def choose_for(
        self,
        act: Act,
        reason: str | None = None,
        *,
        options: Sequence[OptionLike] | None = None,
        command: str | None = None,
        cwd: str | None = None,
    ) -> PermissionOption | None:
        """Ask the user, and remember a lasting answer for what it covers."""
        return await self._call._choose_for(  # pyright: ignore[reportPrivateUsage]
            act, reason, options, command, cwd
        )

    def stop(self) -> None:
        """Cancel this call alone, for the client."""
        self._call._scope.cancel()  # pyright: ignore[reportPrivateUsage]

    async def settle(self, status: str) -> None:
        """End it with this status unless it has ended; the end of a turn does this."""
        await self._call._settle(status)  # pyright: ignore[reportPrivateUsage]


def new_tool_call(
    turn: TurnState,
    title: str,
    *,
    kind: v2.ToolKind = "other",
    name: str | None = None,
    locations: Sequence[str | tuple[str, int]] = (),
    raw_input: object = UNSET,
    content: Sequence[str | v2.ContentBlock | v2.ToolCallContent] = (),
    cancellable: bool = False,
) -> ToolCallHandle:
    """Make a tool call of a turn, or give the call that is forming its final facts."""
    facts = CallFacts(
        title,
        check_enum_value("ToolKind", kind),
        name,
        [location(turn.session, one) for one in several(locations)],
        raw_of("raw_input", raw_input),
        list(several(content)),
        cancellable,
    )
    forming, turn.forming = turn.forming, None
    if forming is not None:
        assert isinstance(forming, ToolCallHandle)
        ToolCallControl(forming).revise(facts)
        return forming
    call = ToolCallHandle(turn, facts)
    turn.add_call(ToolCallControl(call))
    return call


def location(session: SessionState, place: str | tuple[str, int]) -> v2.ToolCallLocation:
    """A file, or one line of it, as tool calls name it."""
    path, line = (place, UNSET) if isinstance(place, str) else place
    if line is not UNSET and line < 1:
        raise LocalProtocolError(f"lines count from 1, there is no line {line}")
    return v2.ToolCallLocation(path=absolute(session, path), line=line)


def as_content(item: Any) -> Any:
    """Tool content made of what a program gives."""
    content = checked_content(item)
    if isinstance(content, v2.Diff):
        check_paths(content)
    return content


def check_paths(diff: v2.Diff) -> None:
    """Refuse a diff with a path that a client could not find."""
    for change in diff.changes:
        for key in ("path", "old_path"):
            path = getattr(change, key, None)
            if isinstance(path, str) and not os.path.isabs(path):
                raise LocalProtocolError(f"the path of a diff must be absolute: {path!r}")
