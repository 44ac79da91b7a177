"""How chats come to be and go: agents that are started, sessions that are opened, both lost.

The half of the desk beneath what a person does in a chat.  Must not know any screen.

What always holds
    * A failure is told in its chat, or raised to who asked; it never ends the desk.
    * When `run` is over, however that came, no agent is left.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup, TaskStatus

from accord.errors import AccordError, LocalProtocolError
from accord.machine.logs import logger
from accord.terminal.engine.chat_slots import Seat, Seats
from accord.terminal.engine.log_handler import logging_in_chats
from accord.terminal.model.chat import Chat
from accord.terminal.model.settings import Settings
from accord.transcript import ToolCall

if TYPE_CHECKING:
    from accord.client.audit.log import AuditLog
    from accord.client.client import Client
    from accord.client.login import TerminalRunner
    from accord.client.options import DialectMemory
    from accord.client.permissions.permissions import Permissions
    from accord.client.session.session import Session
    from accord.connection.limits import Limits
    from accord.terminal.engine.agent_process import AgentLink
    from accord.terminal.engine.launch_options import Order
    from accord.terminal.engine.turns import Turns
    from accord.terminal.model.changes.journal import Journal
    from accord.transcript import Update

_log = logger("accord.terminal")


class OpeningDesk(Seats):
    """What starts and opens.  Guards the invariants at the head of this file."""

    def __init__(
        self,
        *,
        permissions: Permissions,
        settings: Settings | None = None,
        refresh_grants: Callable[[], None] | None = None,
        log: AuditLog | None = None,
        dialects: DialectMemory | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(permissions)
        self.settings = Settings() if settings is None else settings
        self.on_change: Callable[[], None] = lambda: None
        # How a login is shown that wants a terminal of its own; set by who has one.
        self.run_in_terminal: TerminalRunner | None = None
        self._log = log
        self._limits = limits
        self._clock = clock
        self._refresh_grants = refresh_grants
        self._dialects = dialects
        # Set when agents may be started: who draws first says when that is done.
        self.may_start = anyio.Event()
        self.may_start.set()
        self._tasks: TaskGroup | None = None
        self._leaving = anyio.Event()

    # ---- living

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until `leave`; then every agent is ended."""
        with logging_in_chats():
            await self._serve(task_status)

    async def _serve(self, task_status: TaskStatus[None]) -> None:
        async with anyio.create_task_group() as self._tasks:
            task_status.started()
            await self._leaving.wait()
            for seat in self._seats.values():
                if seat.link is not None:
                    seat.link.stop()
            for seat in tuple(self._seats.values()):
                if seat.link is not None:
                    await seat.link.aclose()
            self._tasks.cancel_scope.cancel()

    def leave(self) -> None:
        """End everything."""
        self._leaving.set()

    def _start(self, work: Callable[[], Awaitable[None]], chat: Chat | None = None) -> None:
        assert self._tasks is not None, "the desk does not run"

        async def safely() -> None:
            try:
                await work()
            except AccordError as error:
                self._tell(chat, str(error))
            except Exception as error:  # noqa: BLE001 - a mistake of ours must not end all other chats
                _log.exception("something in a chat failed")
                self._tell(chat, f"Something went wrong inside Accord: {error!r}")

        self._tasks.start_soon(safely)

    def _tell(self, chat: Chat | None, text: str) -> None:
        if chat is not None:
            chat.remark(text, "error")

    # ---- opening and closing

    async def open_chat(self, like: Chat | None = None, order: Order | None = None) -> Chat:
        """A chat more, which begins at once; what is typed before it is ready waits.

        Without an order it is a new session beside another chat, with the same agent.
        """
        if order is None:
            assert like is not None, "a chat is like another one, or as an order says"
            order = replace(self._seat(like).order, session=None, go_on=False)
        return self._begin(order, self._link_like(like, order))

    def _begin(self, order: Order, link: AgentLink | None) -> Chat:
        chat = Chat(order.folder, clock=self._clock)
        chat.agent, chat.agent_name = order.agent, order.label
        seat = self._take_in(chat, order, link)
        self.on_change()
        self._start(lambda: self._open(seat), chat)
        return chat

    def _take_in(self, chat: Chat, order: Order, link: AgentLink | None) -> Seat:
        """Give a chat its seat."""
        seat = self._seats[id(chat)] = Seat(chat, order)
        seat.link = link
        if link is not None:
            # At once: an agent lives as long as it has a chat.
            link.chats.append(chat)
        chat.hearers.append(lambda update: self._heard(seat, update))
        chat.questions.count_behind = lambda: self._behind(seat)
        return seat

    def _settle(self, seat: Seat, client: Client, session: Session) -> Turns:
        """The chat has its session: turns can be taken, and changes are watched."""
        from accord.terminal.engine.turns import Turns

        turns = seat.turns = Turns(seat.chat, session, client.capabilities)
        seat.journal.set_roots(session.roots)
        seat.chat.roots = tuple(session.roots[1:])
        seat.journal.watch()
        return turns

    def _behind(self, seat: Seat) -> int:
        link = seat.link
        return 0 if link is None else link.waiting(seat.chat)

    def _link_like(self, like: Chat | None, order: Order) -> AgentLink | None:
        link = None if like is None else self._seat(like).link
        same = link is not None and (link.order.command, link.order.env) == (
            order.command,
            order.env,
        )
        return link if same and link is not None and link.client is not None else None

    def _heard(self, seat: Seat, update: Update) -> None:
        """For the journal of changes, and for the audit log."""
        seat.journal.hear(update)
        call = update.item
        if self._log is None or not isinstance(call, ToolCall) or not call.is_final:
            return
        if call.tool_call_id not in seat.recorded:
            from accord.client.audit.services import record_tool_call

            seat.recorded.add(call.tool_call_id)
            record_tool_call(self._log, seat.chat.session_id or "", call)

    def _new_link(self, order: Order) -> AgentLink:
        from accord.terminal.engine.agent_process import AgentLink, Surroundings
        from accord.terminal.model.changes.journaled_file_service import JournaledFiles

        def journal_of(session_id: str) -> Journal | None:
            for seat in self._seats.values():
                if seat.link is link and seat.chat.session_id == session_id:
                    return seat.journal
            return None

        around = Surroundings(
            permissions=self.permissions,
            refresh_grants=self._refresh_grants,
            log=self._log,
            dialects=self._dialects,
            run_in_terminal=self._run_in_terminal,
            limits=self._limits,
        )
        link = AgentLink(order, around, JournaledFiles(journal_of, self._log))
        link.on_lost = self._lost
        self._start(link.run)
        return link

    async def _open(self, seat: Seat, *, again: bool = False) -> None:
        """Start the agent where it does not run, open the session, and send what waits."""
        await self.may_start.wait()
        from accord.terminal.engine.turns import gone_problem, start_problem

        chat = seat.chat
        chat.set_problem(None)
        chat.set_phase("starting")
        link = seat.link
        if link is None or (link.client is None and link.is_over):
            link = seat.link = self._new_link(seat.order)
        if chat not in link.chats:
            link.chats.append(chat)
        try:
            client = await link.started()
            chat.agent_name = _name_of(client) or seat.order.label
            link.asking = chat
            opened = await (self._reopened if again else self._opened)(seat, client)
            turns = self._settle(seat, client, opened)
        except AccordError as error:
            chat.set_phase("lost")
            is_there, is_wish = link.client is not None, _has_wish(seat.order)
            problem = start_problem(error, is_there=is_there, is_wish=is_wish)
            if problem.kind == "session_lost" and seat.order.missing:
                problem = gone_problem(seat.order)
            chat.set_problem(problem)
            return
        finally:
            link.asking = None
        chat.set_phase("ready")
        self.on_change()
        if chat.queue:
            await turns.run(chat.queue.pop(0))

    async def _opened(self, seat: Seat, client: Client) -> Session:
        from accord.terminal.engine.session_opener import open_new

        session = await open_new(client, seat.chat, seat.order)
        if not seat.chat.entries:
            seat.chat.remark(f"{_shown(client, seat.order)} works in {session.cwd}")
        return session

    async def _reopened(self, seat: Seat, client: Client) -> Session:
        """The session that the chat showed, else a new one beneath what is shown."""
        from accord.terminal.engine.session_opener import open_known, open_new

        chat = seat.chat
        if chat.session_id is None:
            return await self._opened(seat, client)
        try:
            session = await open_known(client, chat, seat.order, chat.session_id, keep=True)
        except LocalProtocolError as error:
            session = await open_new(client, chat, replace(seat.order, session=None, go_on=False))
            chat.remark(f"A new session: {error}", "warning")
            return session
        chat.remark("The agent runs again, and the session goes on.", "success")
        return session

    def _lost(self, link: AgentLink) -> None:
        from accord.terminal.engine.turns import lost_problem

        problem = lost_problem(link.error or AccordError("nobody knows why"))
        for seat in tuple(self._seats.values()):
            if seat.link is link:
                seat.turns = None
                seat.chat.set_phase("lost")
                seat.chat.remark(problem.text, "error", problem.detail)
                seat.chat.set_problem(problem)

    async def close_chat(self, chat: Chat) -> None:
        """The chat is done with; an agent that nobody talks to any more is ended."""
        seat = self._seats.pop(id(chat))
        self.on_change()
        link = seat.link
        if link is None:
            return
        if chat in link.chats:
            link.chats.remove(chat)
        if not link.chats:
            await link.aclose()
        elif seat.turns is not None:
            await seat.turns.session.close()

    async def _run_in_terminal(self, command: Sequence[str], env: Mapping[str, str]) -> int:
        if self.run_in_terminal is None:
            raise LocalProtocolError("there is no terminal for this login")
        return await self.run_in_terminal(command, env)


def _has_wish(order: Order) -> bool:
    """Whether the agent was asked for more than a session."""
    wishes = (order.session, order.go_on or None, order.mode, order.model)
    return any(wish is not None for wish in wishes)


def _shown(client: Client, order: Order) -> str:
    """The agent as it introduces itself."""
    info = client.agent_info
    version = "" if info is None or not info.version else f" {info.version}"
    return f"{_name_of(client) or order.label}{version}"


def _name_of(client: Client) -> str:
    info = client.agent_info
    return "" if info is None else (info.title or info.name)


__all__ = ["OpeningDesk"]
