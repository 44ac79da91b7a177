"""The desk: all chats of one running client, their agents, and what a person can do with them.

Must not know any screen; whoever shows the chats is told by `on_change` when there are others, and
by each chat when something in it changed.

What always holds
    * A failure is told in its chat, or raised to who asked; it never ends the desk.
    * When `run` is over, however that came, no agent is left.
    * What a person sends is sent in order; nothing that was typed is lost by a failure.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup, TaskStatus

from accord.errors import AccordError, LocalProtocolError
from accord.terminal.engine.seats import Seat, Seats
from accord.terminal.model.chat import Chat
from accord.terminal.model.settings import Settings
from accord.transcript import ToolCall

if TYPE_CHECKING:
    from accord.client.audit import AuditLog
    from accord.client.client import Client
    from accord.client.options import DialectMemory
    from accord.client.permissions import Permissions
    from accord.client.session import Session
    from accord.client.wire import SessionInfo
    from accord.terminal.engine.link import AgentLink, RunInTerminal
    from accord.terminal.engine.orders import Order
    from accord.terminal.engine.turns import Turns
    from accord.terminal.model.drafting import Draft
    from accord.terminal.model.journal import Journal
    from accord.transcript import Update

_log = logging.getLogger("accord.terminal")


class Desk(Seats):
    """All chats.  Guards the invariants at the head of this file."""

    def __init__(
        self,
        *,
        permissions: Permissions,
        settings: Settings | None = None,
        refresh_grants: Callable[[], None] | None = None,
        log: AuditLog | None = None,
        dialects: DialectMemory | None = None,
    ) -> None:
        super().__init__(permissions)
        self.settings = Settings() if settings is None else settings
        self.on_change: Callable[[], None] = lambda: None
        # How a login is shown that wants a terminal of its own; set by who has one.
        self.run_in_terminal: RunInTerminal | None = None
        self._log = log
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
            except Exception:  # noqa: BLE001 - a mistake of ours must not end all other chats
                _log.exception("something in a chat failed")
                self._tell(chat, "Something went wrong inside Accord; the log has more.")

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
        chat = Chat(order.folder)
        chat.agent_name = order.label
        seat = self._seats[id(chat)] = Seat(chat, order)
        seat.link = link
        chat.hearers.append(lambda update: self._heard(seat, update))
        chat.questions.count_behind = lambda: self._behind(seat)
        self.on_change()
        self._start(lambda: self._open(seat), chat)
        return chat

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
            from accord.client.audited import record_tool_call

            seat.recorded.add(call.tool_call_id)
            record_tool_call(self._log, seat.chat.session_id or "", call)

    def _new_link(self, order: Order) -> AgentLink:
        from accord.terminal.engine.link import AgentLink, Surroundings
        from accord.terminal.model.journaled_files import JournaledFiles

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
        )
        link = AgentLink(order, around, JournaledFiles(journal_of, self._log))
        link.on_lost = self._lost
        self._start(link.run)
        return link

    async def _open(self, seat: Seat, *, again: bool = False) -> None:
        """Start the agent where it does not run, open the session, and send what waits."""
        await self.may_start.wait()
        from accord.terminal.engine.turns import Turns, start_problem

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
            seat.turns = Turns(chat, opened, client.capabilities)
            seat.journal.set_roots(opened.roots)
            chat.roots = tuple(opened.roots[1:])
            seat.journal.watch()
        except AccordError as error:
            chat.set_phase("lost")
            chat.set_problem(start_problem(error))
            return
        finally:
            link.asking = None
        chat.set_phase("ready")
        self.on_change()
        if chat.queue:
            await seat.turns.run(chat.queue.pop(0))

    async def _opened(self, seat: Seat, client: Client) -> Session:
        from accord.terminal.engine.opening import open_new

        session = await open_new(client, seat.chat, seat.order)
        if not seat.chat.entries:
            seat.chat.remark(f"{_shown(client, seat.order)} works in {session.cwd}")
        return session

    async def _reopened(self, seat: Seat, client: Client) -> Session:
        """The session that the chat showed, else a new one beneath what is shown."""
        from accord.terminal.engine.opening import open_known, open_new

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

    # ---- talking

    def send(self, chat: Chat, draft: Draft) -> None:
        """Say something; while a turn runs, or before there is a session, it waits in the queue."""
        seat = self._seat(chat)
        if draft.text in chat.suggestions:
            del chat.suggestions[: chat.suggestions.index(draft.text) + 1]
        if seat.turns is None or chat.phase != "ready":
            chat.queue.append(draft)
            chat.changed()
            return
        # At once, so that what is sent in the same moment waits behind it.
        chat.set_phase("working")
        turns = seat.turns
        self._start(lambda: turns.run(draft), chat)

    def send_queued_now(self, chat: Chat, index: int) -> None:
        """Send one of the queue into the turn that runs."""
        turns = self._seat(chat).turns
        if turns is None or not 0 <= index < len(chat.queue):
            return
        draft = chat.queue.pop(index)
        chat.changed()
        self._start(lambda: turns.add(draft), chat)

    def stop(self, chat: Chat) -> None:
        """Stop the turn; once more leaves it."""
        turns = self._seat(chat).turns
        if turns is not None and (chat.is_busy or turns.session.is_busy):
            self._start(turns.stop, chat)

    def retry(self, chat: Chat) -> None:
        """Do again what failed: the turn, the start, the login."""
        problem = chat.problem
        if problem is None:
            return
        if problem.kind in ("agent_lost", "start_failed"):
            self.restart(chat)
        elif problem.kind == "session_lost":
            self.new_session(chat)
        elif problem.kind == "login_needed":
            self._start(lambda: self._log_in_and_go_on(chat), chat)
        elif chat.last_sent is not None:
            chat.set_problem(None)
            self.send(chat, chat.last_sent)

    def restart(self, chat: Chat) -> None:
        """Start the agent again, and go on with the sessions of all chats that it had."""
        seat = self._seat(chat)
        link = seat.link
        seats = [seat]
        if link is not None and link.is_over:
            seats = [one for one in self._seats.values() if one.link is link]
            fresh = self._new_link(seat.order)
            for one in seats:
                one.link, one.turns = fresh, None
        for one in seats:
            self._start(lambda one=one: self._open(one, again=True), one.chat)  # type: ignore[misc]

    def new_session(self, chat: Chat) -> None:
        """A new session in the place of one that is lost; what was said stays to be read."""
        seat = self._seat(chat)
        seat.order = replace(seat.order, session=None, go_on=False)
        chat.session_id = None
        self._start(lambda: self._open(seat), chat)

    # ---- sessions of the agent

    async def open_stored(self, chat: Chat, info: SessionInfo) -> Chat:
        """Go on with a session: where it is shown already, else in a tab of its own."""
        for other in self.chats:
            if other.session_id == info.session_id:
                return other
        order = replace(
            self._seat(chat).order,
            session=info.session_id,
            go_on=False,
            folder=info.cwd or chat.folder,
            mode=None,
            model=None,
        )
        return self._begin(order, self._link_like(chat, order))

    async def fork(self, chat: Chat) -> Chat:
        """A chat that goes on from this one, which stays as it is."""
        from accord.terminal.engine.opening import open_fork
        from accord.terminal.engine.turns import Turns

        seat, client = self._seat(chat), self._client(chat)
        session = self._session(chat)
        order = replace(seat.order, session=None, go_on=False)
        other = Chat(order.folder)
        other.agent_name = chat.agent_name
        forked = await open_fork(client, other, session)
        self._take_in(other, order, seat.link, Turns(other, forked, client.capabilities))
        if not other.entries:
            # The agent tells nothing again, but it was all said here.
            other.entries.extend(chat.entries)
        other.loaded()
        other.remark("This session goes on from another one.")
        return other

    def _take_in(self, chat: Chat, order: Order, link: AgentLink | None, turns: Turns) -> None:
        seat = self._seats[id(chat)] = Seat(chat, order)
        seat.link, seat.turns = link, turns
        chat.hearers.append(lambda update: self._heard(seat, update))
        chat.questions.count_behind = lambda: self._behind(seat)
        seat.journal.set_roots(turns.session.roots)
        chat.roots = tuple(turns.session.roots[1:])
        seat.journal.watch()
        if link is not None:
            link.chats.append(chat)
        chat.set_phase("ready")
        self.on_change()

    # ---- logins

    async def log_in(self, chat: Chat) -> None:
        """Log in by a method that the person chooses."""
        client = self._client(chat)
        methods = client.auth_methods
        if not methods:
            raise LocalProtocolError("the agent offers no way to log in")
        chosen = await chat.questions.ask("login", methods)
        if chosen is not None:
            await client.authenticate(chosen)
            chat.remark("You are logged in.", "success")

    async def log_out(self, chat: Chat) -> None:
        """Make the agent forget who we are."""
        await self._client(chat).logout()
        chat.remark("You are logged out.")

    async def _log_in_and_go_on(self, chat: Chat) -> None:
        seat = self._seat(chat)
        await self.log_in(chat)
        chat.set_problem(None)
        if seat.turns is None:
            await self._open(seat, again=True)
        elif chat.last_sent is not None:
            self.send(chat, chat.last_sent)

    async def _run_in_terminal(self, command: Sequence[str], env: Mapping[str, str]) -> int:
        if self.run_in_terminal is None:
            raise LocalProtocolError("there is no terminal for this login")
        return await self.run_in_terminal(command, env)


def _shown(client: Client, order: Order) -> str:
    """The agent as it introduces itself."""
    info = client.agent_info
    version = "" if info is None or not info.version else f" {info.version}"
    return f"{_name_of(client) or order.label}{version}"


def _name_of(client: Client) -> str:
    info = client.agent_info
    return "" if info is None else (info.title or info.name)


__all__ = ["Desk"]
