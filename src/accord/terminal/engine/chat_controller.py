"""All chats of one running client, and what a user can do with them.

This module does not know any screen.  `lifecycle.on_change` tells the screen that chats were added
or removed; each chat tells when something in it changed.

Invariants
    * A failure is shown in its chat or raised to the caller; it never ends the other chats.
    * Prompts are sent in order, and no failure loses what was typed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskStatus

from accord.errors import AccordError, LocalProtocolError
from accord.terminal.engine.chat_lifecycle import ChatLifecycle, ChatSlots
from accord.terminal.model.chat import Chat
from accord.terminal.model.people import admin_words, refusal_words, stop_refusal, user_named
from accord.terminal.model.settings import Settings

if TYPE_CHECKING:
    from accord.client.audit.log import AuditLog
    from accord.client.connection.capabilities import AgentCapabilities
    from accord.client.options import DialectMemory
    from accord.client.people import Activity, Role, SessionPeople
    from accord.client.permissions.grants import Grant
    from accord.client.permissions.permissions import Permissions
    from accord.client.session.session import Session
    from accord.client.wire.wire_interface import SessionInfo
    from accord.connection.limits import Limits
    from accord.terminal.engine.launch_options import LaunchOptions
    from accord.terminal.model.changes.journal import Journal
    from accord.terminal.model.prompt.unsent_prompts import Draft
    from accord.terminal.model.traffic import Traffic


class ChatController:
    """All chats.  Guards the invariants of this module."""

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
        self.permissions = permissions
        self.settings = Settings() if settings is None else settings
        self._slots = ChatSlots()
        self.lifecycle = ChatLifecycle(
            self._slots,
            permissions=permissions,
            refresh_grants=refresh_grants,
            log=log,
            dialects=dialects,
            limits=limits,
            clock=clock,
        )

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until `leave` is called, then end every agent."""
        await self.lifecycle.run(task_status=task_status)

    def leave(self) -> None:
        """End all agents and let `run` return."""
        self.lifecycle.leave()

    # ---- chats

    @property
    def chats(self) -> list[Chat]:
        """The chats in the order of their tabs."""
        return self._slots.chats

    async def open_chat(
        self, like: Chat | None = None, launch: LaunchOptions | None = None
    ) -> Chat:
        """Add a chat and open its session in the background.

        Without launch options it is a new session next to another chat, with the same agent.
        """
        if launch is None:
            assert like is not None, "open_chat needs another chat or launch options"
            launch = replace(self._slots.of(like).launch, session=None, go_on=False)
        return self.lifecycle.begin(launch, self.lifecycle.shared_process(like, launch))

    async def close_chat(self, chat: Chat) -> None:
        """Remove a chat, and end its agent if no other chat uses it."""
        await self.lifecycle.close(chat)

    def capabilities(self, chat: Chat) -> AgentCapabilities | None:
        """The capabilities of a chat's agent; None while it is not running."""
        client = self._slots.of(chat).client
        return None if client is None else client.capabilities

    def launch(self, chat: Chat) -> LaunchOptions:
        """The options that the chat was started with."""
        return self._slots.of(chat).launch

    def roots(self, chat: Chat) -> tuple[str, ...]:
        """The folders of a chat's session, or those that it will have."""
        slot = self._slots.of(chat)
        return slot.launch.roots if slot.turns is None else slot.turns.session.roots

    def traffic(self, chat: Chat) -> Traffic:
        """All messages exchanged with the agent of a chat."""
        from accord.terminal.model.traffic import Traffic

        process = self._slots.of(chat).process
        return Traffic() if process is None else process.traffic

    def journal(self, chat: Chat) -> Journal:
        """The journal of the agent's file changes."""
        return self._slots.of(chat).journal

    def remembered(self) -> tuple[Grant, ...]:
        """The remembered permission answers of all agents."""
        return self.permissions.remembered()

    def revoke(self, grant_id: str) -> bool:
        """Forget a remembered answer, in running sessions too."""
        return self.permissions.revoke(grant_id)

    # ---- turns

    def send(self, chat: Chat, draft: Draft) -> None:
        """Send a prompt, or queue it while a turn is running or no session is open."""
        slot = self._slots.of(chat)
        refused = refusal_words(chat)
        if refused is not None and slot.turns is not None:
            # What was typed is kept in the queue.
            chat.queue.append(draft)
            chat.remark(refused, "warning")
            return
        if draft.text in chat.suggestions:
            del chat.suggestions[: chat.suggestions.index(draft.text) + 1]
        if slot.turns is None or chat.phase != "ready":
            chat.queue.append(draft)
            chat.changed()
            return
        # At once, so that a prompt that follows immediately is queued behind this one.
        chat.set_phase("working")
        turns = slot.turns
        self.lifecycle.start(lambda: turns.run(draft), chat)

    def send_queued_now(self, chat: Chat, index: int) -> None:
        """Send a queued prompt into the running turn."""
        turns = self._slots.of(chat).turns
        if turns is None or not 0 <= index < len(chat.queue):
            return
        draft = chat.queue.pop(index)
        chat.changed()
        self.lifecycle.start(lambda: turns.add(draft), chat)

    def stop(self, chat: Chat) -> None:
        """Stop the turn; a second call abandons it."""
        turns = self._slots.of(chat).turns
        if turns is None or not (chat.is_busy or chat.works_alone or turns.session.is_busy):
            return
        refused = stop_refusal(chat)
        if refused is not None:
            chat.remark(refused, "warning")
        else:
            self.lifecycle.start(turns.stop, chat)

    def retry(self, chat: Chat) -> None:
        """Repeat what failed: the turn, the start or the login."""
        problem = chat.problem
        if problem is None:
            return
        if problem.kind in ("agent_lost", "start_failed"):
            self.restart(chat)
        elif problem.kind == "session_lost":
            self.new_session(chat)
        elif problem.kind == "login_needed":
            self.lifecycle.start(lambda: self._log_in_and_continue(chat), chat)
        elif chat.last_sent is not None:
            chat.set_problem(None)
            self.send(chat, chat.last_sent)

    def restart(self, chat: Chat) -> None:
        """Start the agent again, and reopen the sessions of all its chats."""
        slot = self._slots.of(chat)
        process = slot.process
        slots = [slot]
        if process is not None and process.is_over:
            slots = [one for one in self._slots if one.process is process]
            fresh = self.lifecycle.new_process(slot.launch)
            for one in slots:
                one.process, one.turns = fresh, None
        for one in slots:
            self.lifecycle.start(partial(self.lifecycle.open_session, one, again=True), one.chat)

    # ---- sessions

    def new_session(self, chat: Chat) -> None:
        """Replace a lost session by a new one; the conversation stays on the screen.

        If the folder of the session no longer exists, the new one works in the user's folder.
        """
        slot = self._slots.of(chat)
        slot.launch = replace(slot.launch, session=None, go_on=False)
        if slot.turns is None:
            # The mode or the model may be the reason why it never started.
            slot.launch = replace(slot.launch, mode=None, model=None)
        chat.session_id = None
        if slot.launch.missing:
            gone, slot.launch = ", ".join(slot.launch.missing), slot.launch.standing()
            chat.folder = slot.launch.folder
            chat.remark(f"Started a new session in {chat.folder}: {gone} not found.", "warning")
        self.lifecycle.start(lambda: self.lifecycle.open_session(slot), chat)

    async def sessions(self, chat: Chat) -> list[SessionInfo]:
        """All sessions of the agent, most recently used first."""
        from accord.terminal.engine.name_lookup import sessions_of

        return await sessions_of(self._slots.client(chat), None)

    async def rename(self, chat: Chat, session_id: str, title: str) -> str:
        """Rename a session and return the title that the agent stored."""
        stored = await self._slots.client(chat).unstable.set_title(session_id, title)
        for other in self.chats:
            if other.session_id == session_id:
                other.own_title = stored
                other.changed()
        return stored

    async def delete(self, chat: Chat, session_id: str) -> None:
        """Delete a session of the agent."""
        await self._slots.client(chat).delete_session(session_id)

    async def open_stored(self, chat: Chat, info: SessionInfo) -> Chat:
        """Show a stored session: its open chat if there is one, or a new tab."""
        for other in self.chats:
            if other.session_id == info.session_id:
                return other
        launch = self._stored(chat, info)
        opened = self.lifecycle.begin(launch, self.lifecycle.shared_process(chat, launch))
        opened.listed_title = info.title or ""
        return opened

    def _stored(self, chat: Chat, info: SessionInfo) -> LaunchOptions:
        return replace(
            self._slots.of(chat).launch,
            session=info.session_id,
            go_on=False,
            folder=info.cwd or chat.folder,
            begun_in=chat.folder,
            mode=None,
            model=None,
        )

    async def fork(self, chat: Chat) -> Chat:
        """Open a copy of this chat's session in a new tab."""
        return await self._fork(chat, chat, self._slots.session(chat))

    async def fork_stored(self, chat: Chat, info: SessionInfo) -> Chat:
        """Open a copy of a stored session in a new tab."""
        from accord.terminal.engine.session_opener import open_known

        launch = replace(self._stored(chat, info), session=None)
        if not self._slots.of(chat).launch.can_share(launch):
            raise LocalProtocolError(
                f"the agent's sandbox does not contain {launch.folder}; open the session, and fork"
                " it there"
            )
        before = self.lifecycle.new_chat(launch)
        before.listed_title = info.title or ""
        client = self._slots.client(chat)
        session = await open_known(client, before, launch, info.session_id)
        try:
            return await self._fork(chat, before, session)
        finally:
            with suppress(AccordError):
                await session.close()

    async def _fork(self, chat: Chat, before: Chat, session: Session) -> Chat:
        """Fork a session that `before` shows, with the agent of `chat`."""
        from accord.terminal.engine.session_opener import open_fork

        slot, client = self._slots.of(chat), self._slots.client(chat)
        launch = replace(slot.launch, session=None, go_on=False, folder=before.folder)
        other = self.lifecycle.new_chat(launch)
        other.agent_name = chat.agent_name
        other.listed_title = f"{before.title} (fork)" if before.title else ""
        forked = await open_fork(client, other, session)
        added = self.lifecycle.add(other, launch, slot.process)
        self.lifecycle.attach_session(added, client, forked)
        other.set_phase("ready")
        self.lifecycle.on_change()
        if not other.entries:
            # The agent does not repeat the history, but we have it.
            other.entries.extend(before.entries)
        other.loaded()
        other.remark("This session is a fork of another one.")
        return other

    # ---- people

    async def people(self, chat: Chat) -> SessionPeople:
        """Ask the gateway who is in the session.

        Raises:
            LocalProtocolError: no gateway shares it.
        """
        if chat.people is None:
            raise LocalProtocolError("nobody else can be here: no gateway shares this session")
        await chat.people.refresh()
        return chat.people

    async def invite(self, chat: Chat, role: Role) -> str:
        """Return an address that lets one person in with a role, once."""
        from accord.client.invitation import Invitation, invitation_address

        people = self._administered(chat)
        invitation = Invitation(people.session_id, await people.invite(role))
        return invitation_address(self._slots.of(chat).launch.url or "URL", invitation)

    async def set_role(self, chat: Chat, user: str, role: Role | None) -> None:
        """Let somebody in, change what they may do, or (None) remove them."""
        people = await self.people(chat)
        user = user_named(people, user)
        if role is not None or user != people.user:
            self._administered(chat)
        await (people.remove(user) if role is None else people.set_role(user, role))
        chat.changed()

    def _administered(self, chat: Chat) -> SessionPeople:
        """The people of a session of which we are an admin."""
        refused = admin_words(chat)
        if refused is not None or chat.people is None:
            raise LocalProtocolError(refused or "")
        return chat.people

    def tell(self, chat: Chat, activity: Activity) -> None:
        """Tell the others in a shared session what the user does."""
        people = chat.people
        if people is not None and people.others and not people.is_over:
            self.lifecycle.start(lambda: people.tell(activity))

    # ---- settings of a session

    async def set_mode(self, chat: Chat, mode_id: str) -> None:
        """Switch the mode of the session."""
        await self._slots.session(chat).set_mode(mode_id)
        chat.changed()

    async def cycle_mode(self, chat: Chat) -> None:
        """Switch to the next mode."""
        from accord.terminal.engine.name_lookup import option_of

        option = option_of(chat.transcript.config_options, "mode")
        if option is not None:
            modes: Sequence[str] = [choice.value for choice in option.choices]
            current = option.value
        else:
            modes = [mode.mode_id for mode in chat.transcript.modes.available]
            current = chat.transcript.modes.current
        if len(modes) < 2:
            raise LocalProtocolError("the agent offers no other mode")
        at = modes.index(current) if current in modes else -1
        await self.set_mode(chat, modes[(at + 1) % len(modes)])

    async def set_option(self, chat: Chat, option_id: str, value: str | bool) -> None:
        """Set a config option."""
        await self._slots.session(chat).set_option(option_id, value)
        chat.changed()

    # ---- logins

    async def log_in(self, chat: Chat) -> None:
        """Log in by a method that the user chooses."""
        client = self._slots.client(chat)
        methods = client.auth_methods
        if not methods:
            raise LocalProtocolError("the agent offers no login method")
        chosen = await chat.questions.ask("login", methods)
        if chosen is not None:
            await client.authenticate(chosen)
            chat.remark("You are logged in.", "success")

    async def log_out(self, chat: Chat) -> None:
        """Log out of the agent."""
        await self._slots.client(chat).logout()
        chat.remark("You are logged out.")

    async def _log_in_and_continue(self, chat: Chat) -> None:
        slot = self._slots.of(chat)
        await self.log_in(chat)
        chat.set_problem(None)
        if slot.turns is None:
            await self.lifecycle.open_session(slot, again=True)
        elif chat.last_sent is not None:
            self.send(chat, chat.last_sent)
