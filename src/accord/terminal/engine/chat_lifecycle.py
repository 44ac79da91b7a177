"""How chats begin and end: starting agents, opening sessions, and losing either.

A slot holds the process, the session and the journal behind a chat that is shown.

This module does not know any screen.  It imports the client late, because the screen is drawn
before an agent starts.

Invariants
    * A failure is shown in its chat or raised to the caller; it never ends the other chats.
    * When `run` returns, for whatever reason, no agent is left running.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup, TaskStatus

from accord.errors import AccordError, LocalProtocolError
from accord.machine.redacted_logs import logger
from accord.terminal.engine.agent_mistakes import logging_in_chats
from accord.terminal.model.chat import Chat
from accord.terminal.model.people import may_close
from accord.transcript import ToolCall

if TYPE_CHECKING:
    from accord.client.audit.log import AuditLog
    from accord.client.client import Client
    from accord.client.login import TerminalRunner
    from accord.client.options import DialectMemory
    from accord.client.permissions.permissions import Permissions
    from accord.client.session.session import Session
    from accord.connection.limits import Limits
    from accord.terminal.engine.agent_process import AgentProcess
    from accord.terminal.engine.launch_options import LaunchOptions
    from accord.terminal.engine.turns import Turns
    from accord.terminal.model.changes.journal import Journal
    from accord.transcript import Update


class ChatSlot:
    """A chat and what is behind it.  `turns` is set while its session is open."""

    def __init__(self, chat: Chat, launch: LaunchOptions) -> None:
        self.chat = chat
        self.launch = launch
        self.process: AgentProcess | None = None
        self.turns: Turns | None = None
        # Ids of the tool calls that are in the audit log.
        self.recorded: set[str] = set()
        self._journal: Journal | None = None

    @property
    def journal(self) -> Journal:
        """The journal of the agent's file changes, created on first use."""
        if self._journal is None:
            # Imported here: the screen is drawn before anything of this is needed.
            from accord.terminal.model.changes.journal import Journal

            self._journal = Journal(self.chat)
        return self._journal

    @property
    def client(self) -> Client | None:
        """The connection to the agent, while it is running."""
        return None if self.process is None else self.process.client


class ChatSlots:
    """All slots in the order of their tabs.

    Guards: a chat has exactly one slot as long as it is shown.
    """

    def __init__(self) -> None:
        self._slots: dict[int, ChatSlot] = {}

    def __iter__(self) -> Iterator[ChatSlot]:
        # A copy: chats may be closed while somebody iterates.
        return iter(tuple(self._slots.values()))

    @property
    def chats(self) -> list[Chat]:
        """The chats in the order of their tabs."""
        return [slot.chat for slot in self]

    def add(self, slot: ChatSlot) -> None:
        """Add a slot behind the others."""
        self._slots[id(slot.chat)] = slot

    def remove(self, chat: Chat) -> ChatSlot:
        """Remove the slot of a chat and return it."""
        return self._slots.pop(id(chat))

    def of(self, chat: Chat) -> ChatSlot:
        """The slot of a chat."""
        return self._slots[id(chat)]

    def client(self, chat: Chat) -> Client:
        """The connection to the agent of a chat.

        Raises:
            LocalProtocolError: the agent is not running.
        """
        client = self.of(chat).client
        if client is None:
            raise LocalProtocolError("the agent is not running")
        return client

    def session(self, chat: Chat) -> Session:
        """The open session of a chat.

        Raises:
            LocalProtocolError: no session is open.
        """
        turns = self.of(chat).turns
        if turns is None:
            raise LocalProtocolError("there is no session yet")
        return turns.session


_log = logger("accord.terminal")


class ChatLifecycle:
    """Starts agents and opens their sessions.  Guards the invariants of this module."""

    def __init__(
        self,
        slots: ChatSlots,
        *,
        permissions: Permissions,
        refresh_grants: Callable[[], None] | None = None,
        log: AuditLog | None = None,
        dialects: DialectMemory | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        # Called when a chat is added or removed, and when its session is ready.
        self.on_change: Callable[[], None] = lambda: None
        # Runs a login program in the user's terminal; set by the screen that owns the terminal.
        self.run_in_terminal: TerminalRunner | None = None
        # Agents start when this is set; a screen that wants to draw first replaces it.
        self.may_start = anyio.Event()
        self.may_start.set()
        self._slots = slots
        self._permissions = permissions
        self._log = log
        self._limits = limits
        self._clock = clock
        self._refresh_grants = refresh_grants
        self._dialects = dialects
        self._tasks: TaskGroup | None = None
        self._leaving = anyio.Event()

    # ---- tasks

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until `leave` is called, then end every agent."""
        with logging_in_chats():
            await self._serve(task_status)

    async def _serve(self, task_status: TaskStatus[None]) -> None:
        async with anyio.create_task_group() as self._tasks:
            task_status.started()
            await self._leaving.wait()
            for slot in self._slots:
                if slot.process is not None:
                    slot.process.stop()
            for slot in self._slots:
                if slot.process is not None:
                    await slot.process.aclose()
            self._tasks.cancel_scope.cancel()

    def leave(self) -> None:
        """End all agents and let `run` return."""
        self._leaving.set()

    def start(self, work: Callable[[], Awaitable[None]], chat: Chat | None = None) -> None:
        """Run something in the background and show a failure in its chat."""
        assert self._tasks is not None, "the controller is not running"

        async def safely() -> None:
            try:
                await work()
            except AccordError as error:
                self._report(chat, str(error))
            except Exception as error:  # noqa: BLE001 - a bug of ours must not end all other chats
                _log.exception("something in a chat failed")
                self._report(chat, f"Internal error in Accord: {error!r}")

        self._tasks.start_soon(safely)

    def _report(self, chat: Chat | None, text: str) -> None:
        if chat is not None:
            chat.remark(text, "error")

    # ---- chats

    def new_chat(self, launch: LaunchOptions) -> Chat:
        """Create a chat that is not shown yet."""
        chat = Chat(launch.folder, clock=self._clock)
        chat.agent, chat.agent_name = launch.agent, launch.label
        chat.is_remote = launch.url is not None
        return chat

    def begin(self, launch: LaunchOptions, process: AgentProcess | None) -> Chat:
        """Add a chat and open its session in the background.

        Prompts that are sent before the session is ready are queued.
        """
        chat = self.new_chat(launch)
        slot = self.add(chat, launch, process)
        self.on_change()
        self.start(lambda: self.open_session(slot), chat)
        return chat

    def add(self, chat: Chat, launch: LaunchOptions, process: AgentProcess | None) -> ChatSlot:
        """Give a chat its slot."""
        slot = ChatSlot(chat, launch)
        self._slots.add(slot)
        slot.process = process
        if process is not None:
            # At once: a process ends when its last chat is closed.
            process.chats.append(chat)
        chat.hearers.append(lambda update: self._on_update(slot, update))
        chat.questions.count_behind = lambda: self._questions_behind(slot)
        return slot

    async def close(self, chat: Chat) -> None:
        """Remove a chat, and end its agent if no other chat uses it.

        A session that others share goes on: closing it would end it for all of them.
        """
        slot = self._slots.remove(chat)
        self.on_change()
        process = slot.process
        if process is None:
            return
        if chat in process.chats:
            process.chats.remove(chat)
        if not process.chats:
            await process.aclose()
        elif slot.turns is not None and may_close(chat):
            await slot.turns.session.close()

    def _questions_behind(self, slot: ChatSlot) -> int:
        return 0 if slot.process is None else slot.process.waiting(slot.chat)

    def _on_update(self, slot: ChatSlot, update: Update) -> None:
        """Record an update in the journal of changes and in the audit log."""
        slot.journal.hear(update)
        call = update.item
        if self._log is None or not isinstance(call, ToolCall) or not call.is_final:
            return
        if call.tool_call_id not in slot.recorded:
            from accord.client.audit.services import record_tool_call

            slot.recorded.add(call.tool_call_id)
            record_tool_call(self._log, slot.chat.session_id or "", call)

    # ---- agents

    def shared_process(self, like: Chat | None, launch: LaunchOptions) -> AgentProcess | None:
        """The process of another chat, if it runs the same command in the same environment.

        In a sandbox it must have the same folders too.
        """
        process = None if like is None else self._slots.of(like).process
        if process is None or process.client is None:
            return None
        return process if process.launch.can_share(launch) else None

    def new_process(self, launch: LaunchOptions) -> AgentProcess:
        """Start an agent in the background."""
        from accord.terminal.engine.agent_process import AgentProcess, SharedServices
        from accord.terminal.model.changes.journaled_file_service import JournaledFiles

        def journal_of(session_id: str) -> Journal | None:
            for slot in self._slots:
                if slot.process is process and slot.chat.session_id == session_id:
                    return slot.journal
            return None

        services = SharedServices(
            permissions=self._permissions,
            refresh_grants=self._refresh_grants,
            log=self._log,
            dialects=self._dialects,
            run_in_terminal=self._run_in_terminal,
            limits=self._limits,
        )
        process = AgentProcess(launch, services, JournaledFiles(journal_of, self._log))
        process.on_lost = self._on_lost
        self.start(process.run)
        return process

    async def _run_in_terminal(self, command: Sequence[str], env: Mapping[str, str]) -> int:
        if self.run_in_terminal is None:
            raise LocalProtocolError("there is no terminal for this login")
        return await self.run_in_terminal(command, env)

    def _on_lost(self, process: AgentProcess) -> None:
        from accord.terminal.engine.problems import lost_problem

        error = process.error or AccordError("for an unknown reason")
        problem = lost_problem(error, is_remote=process.launch.url is not None)
        for slot in self._slots:
            if slot.process is process:
                slot.turns = None
                slot.chat.set_phase("lost")
                slot.chat.remark(problem.text, "error", problem.detail)
                slot.chat.set_problem(problem)

    # ---- sessions

    async def open_session(self, slot: ChatSlot, *, again: bool = False) -> None:
        """Start the agent if it is not running, open the session, and send what is queued.

        With `again` the session that the chat showed is opened again.
        """
        await self.may_start.wait()
        from accord.terminal.engine.problems import gone_problem, start_problem

        chat = slot.chat
        chat.set_problem(None)
        chat.set_phase("starting")
        process = slot.process
        if process is None or (process.client is None and process.is_over):
            process = slot.process = self.new_process(slot.launch)
        if chat not in process.chats:
            process.chats.append(chat)
        try:
            client = await process.started()
            chat.agent_name = _name_of(client) or slot.launch.label
            process.asking = chat
            chat.meets = process.people
            opened = await (self._reopen if again else self._open)(slot, client)
            turns = self.attach_session(slot, client, opened)
        except AccordError as error:
            chat.set_phase("lost")
            is_running, is_wish = process.client is not None, _has_wish(slot.launch)
            problem = start_problem(
                error, is_running=is_running, is_wish=is_wish, is_remote=chat.is_remote
            )
            if problem.kind == "session_lost" and slot.launch.missing:
                problem = gone_problem(slot.launch)
            chat.set_problem(problem)
            return
        finally:
            process.asking = None
        chat.set_phase("ready")
        self.on_change()
        if chat.queue:
            await turns.run(chat.queue.pop(0))

    def attach_session(self, slot: ChatSlot, client: Client, session: Session) -> Turns:
        """Let a chat take turns on its open session, and watch its files."""
        from accord.terminal.engine.turns import Turns

        turns = slot.turns = Turns(slot.chat, session, client.capabilities)
        slot.journal.set_roots(session.roots)
        slot.chat.roots = tuple(session.roots[1:])
        slot.journal.watch()
        return turns

    async def _open(self, slot: ChatSlot, client: Client) -> Session:
        from accord.terminal.engine.session_opener import open_new

        session = await open_new(client, slot.chat, slot.launch)
        if not slot.chat.entries:
            where = f"{session.cwd}{slot.launch.sandbox_words()}"
            slot.chat.remark(f"Connected to {_introduced(client, slot.launch)} in {where}")
        return session

    async def _reopen(self, slot: ChatSlot, client: Client) -> Session:
        """Open the session that the chat showed, or else a new one below what is shown."""
        from accord.terminal.engine.session_opener import open_known, open_new

        chat = slot.chat
        if chat.session_id is None:
            return await self._open(slot, client)
        try:
            session = await open_known(client, chat, slot.launch, chat.session_id, keep=True)
        except LocalProtocolError as error:
            session = await open_new(client, chat, replace(slot.launch, session=None, go_on=False))
            chat.remark(f"Started a new session: {error}", "warning")
            return session
        again = "Connected again" if chat.is_remote else "The agent is running again"
        chat.remark(f"{again}, and the session continues.", "success")
        return session


def _has_wish(launch: LaunchOptions) -> bool:
    """Whether the agent was asked for more than a new session."""
    wishes = (launch.session, launch.go_on or None, launch.mode, launch.model)
    return any(wish is not None for wish in wishes)


def _introduced(client: Client, launch: LaunchOptions) -> str:
    """The agent's name and version."""
    info = client.agent_info
    version = "" if info is None or not info.version else f" {info.version}"
    return f"{_name_of(client) or launch.label}{version}"


def _name_of(client: Client) -> str:
    info = client.agent_info
    return "" if info is None else (info.title or info.name)
