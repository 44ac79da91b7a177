"""The desk: all chats of one running client, their agents, and what a person can do with them.

Must not know any screen; whoever shows the chats is told by `on_change` when there are others, and
by each chat when something in it changed.

What always holds
    * A failure is told in its chat, or raised to who asked; it never ends the desk.
    * When `run` is over, however that came, no agent is left.
    * What a person sends is sent in order; nothing that was typed is lost by a failure.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from accord.errors import AccordError, LocalProtocolError
from accord.terminal.engine.chat_lifecycle import OpeningDesk
from accord.terminal.model.chat import Chat

if TYPE_CHECKING:
    from accord.client.session.session import Session
    from accord.client.wire.wire import SessionInfo
    from accord.terminal.engine.launch_options import Order
    from accord.terminal.model.prompt.draft import Draft


class Desk(OpeningDesk):
    """All chats.  Guards the invariants at the head of this file."""

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
        """A new session in the place of one that is lost; what was said stays to be read.

        Where its folder is gone, it works where the person was.
        """
        seat = self._seat(chat)
        seat.order = replace(seat.order, session=None, go_on=False)
        if seat.turns is None:
            # It never began, perhaps for these.
            seat.order = replace(seat.order, mode=None, model=None)
        chat.session_id = None
        if seat.order.missing:
            gone, seat.order = ", ".join(seat.order.missing), seat.order.standing()
            chat.folder = seat.order.folder
            chat.remark(f"A new session in {chat.folder}; {gone} is not there.", "warning")
        self._start(lambda: self._open(seat), chat)

    # ---- sessions of the agent

    async def open_stored(self, chat: Chat, info: SessionInfo) -> Chat:
        """Go on with a session: where it is shown already, else in a tab of its own."""
        for other in self.chats:
            if other.session_id == info.session_id:
                return other
        order = self._stored(chat, info)
        opened = self._begin(order, self._link_like(chat, order))
        opened.listed_title = info.title or ""
        return opened

    def _stored(self, chat: Chat, info: SessionInfo) -> Order:
        return replace(
            self._seat(chat).order,
            session=info.session_id,
            go_on=False,
            folder=info.cwd or chat.folder,
            begun_in=chat.folder,
            mode=None,
            model=None,
        )

    async def fork(self, chat: Chat) -> Chat:
        """A chat that goes on from this one, which stays as it is."""
        return await self._fork(chat, chat, self._session(chat))

    async def fork_stored(self, chat: Chat, info: SessionInfo) -> Chat:
        """A chat that goes on from a session of the agent that is not shown anywhere."""
        from accord.terminal.engine.session_opener import open_known

        order = replace(self._stored(chat, info), session=None)
        before = Chat(order.folder, clock=self._clock)
        before.listed_title = info.title or ""
        session = await open_known(self._client(chat), before, order, info.session_id)
        try:
            return await self._fork(chat, before, session)
        finally:
            with suppress(AccordError):
                await session.close()

    async def _fork(self, chat: Chat, before: Chat, session: Session) -> Chat:
        """A chat on a fork of a session, which `before` shows; with the agent of `chat`."""
        from accord.terminal.engine.session_opener import open_fork

        seat, client = self._seat(chat), self._client(chat)
        order = replace(seat.order, session=None, go_on=False, folder=before.folder)
        other = Chat(order.folder, clock=self._clock)
        other.agent_name = chat.agent_name
        other.listed_title = f"{before.title} (fork)" if before.title else ""
        forked = await open_fork(client, other, session)
        self._settle(self._take_in(other, order, seat.link), client, forked)
        other.set_phase("ready")
        self.on_change()
        if not other.entries:
            # The agent tells nothing again, but it was all said here.
            other.entries.extend(before.entries)
        other.loaded()
        other.remark("This session goes on from another one.")
        return other

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


__all__ = ["Desk"]
