"""The process of one agent, and the requests that it makes of the user.

This module does not know how anything is shown, nor the content of a chat.

Invariants
    * The process belongs to one task, and ends with it.
    * Every waiter for the start learns its outcome, and `on_lost` is called once if the process
      ends on its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from accord.client.audit.log import AuditLog
from accord.client.audit.services import AuditedTerminals, record_decision, why_denied
from accord.client.client import Client
from accord.client.connection.extensions import Extensions
from accord.client.credential import Credential, from_environment
from accord.client.login import TerminalRunner
from accord.client.options import ClientOptions, DialectMemory, DraftOptions
from accord.client.people import People, PeopleEvent
from accord.client.permissions.permissions import Permissions
from accord.client.permissions.request import CANCELLED, Decided, Decision, PermissionRequest
from accord.client.services.elicitation import Elicitations, FormRequest, UrlRequest
from accord.client.wire.wire_interface import AuthMethod
from accord.connection.limits import Limits
from accord.errors import AccordError
from accord.terminal.engine.agent_mistakes import hears_mistakes
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.model.chat import Chat
from accord.terminal.model.people import others_answer, take_event
from accord.terminal.model.permissions.denied_request import subject_words
from accord.terminal.model.traffic import Traffic
from accord.transport.subprocess import ConnectNotices


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedServices:
    """Services that all agents of one client share.

    `run_in_terminal` runs a login program in the user's terminal.
    """

    permissions: Permissions
    refresh_grants: Callable[[], None] | None = None
    log: AuditLog | None = None
    dialects: DialectMemory | None = None
    run_in_terminal: TerminalRunner | None = None
    limits: Limits | None = None


class AgentProcess:
    """One run of one agent.  Guards: `client` is set from the handshake until the agent ends."""

    def __init__(self, launch: LaunchOptions, surroundings: SharedServices, files: Any) -> None:
        self.launch = launch
        self.client: Client | None = None
        self.chats: list[Chat] = []
        self.traffic = Traffic()
        self.traffic.command = launch.command
        # Why it could not start, or how it ended.
        self.error: AccordError | None = None
        # Called when the agent ends on its own.
        self.on_lost: Callable[[AgentProcess], None] = lambda _: None
        # The chat that shows requests without a session, such as logins.
        self.asking: Chat | None = None
        self._extensions = Extensions()
        # The people in the sessions that a gateway shares.
        self.people = People(self._extensions, on_event=self._happened)
        self._surroundings = surroundings
        self._files = files
        self.permissions = surroundings.permissions.derived(
            ask=self._decide,
            per_session=True,
            on_decided=self._decided,
            before_decision=surroundings.refresh_grants,
        )
        self._starting = anyio.CancelScope()
        self._closing = anyio.Event()
        self._ready = anyio.Event()
        self._gone = anyio.Event()

    async def run(self) -> None:
        """Run the agent until `aclose` is called or it ends on its own."""
        hears_mistakes.set(self._mistake)
        try:
            with self._starting:
                await self._live()
        except AccordError as error:
            self.error = error
        finally:
            was_ready, self.client = self.client is not None, None
            self._ready.set()
            self._gone.set()
        if was_ready and not self._closing.is_set():
            self.on_lost(self)

    def _mistake(self, words: str) -> None:
        chat = self.chat_of(None)
        if chat is not None:
            chat.remark(words, "warning")

    async def _live(self) -> None:
        launch = self.launch
        async with Client.spawn(
            *launch.start_command(),
            cwd=launch.agent_cwd,
            env=launch.env,
            stderr=ConnectNotices.of(launch.command, self._mistake),
            login_terminal=self._surroundings.run_in_terminal or False,
            **self._options(),
        ) as client:
            self.client = client
            self._ready.set()
            await self._until_the_end(client)

    async def _until_the_end(self, client: Client) -> None:
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                self.error = await client.wait_closed()
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            await self._closing.wait()
            tasks.cancel_scope.cancel()

    @property
    def is_over(self) -> bool:
        """Whether the process has ended or never started."""
        return self._gone.is_set()

    def waiting(self, chat: Chat) -> int:
        """The number of requests that wait behind the one that a chat shows."""
        return self.permissions.waiting(chat.session_id) if chat.session_id else 0

    async def started(self) -> Client:
        """Wait for the handshake.

        Raises:
            AccordError: the agent could not be started.
        """
        await self._ready.wait()
        if self.client is None:
            raise self.error or AccordError("the agent was stopped")
        return self.client

    async def aclose(self) -> None:
        """End the process and wait until it has exited."""
        self.stop()
        await self._gone.wait()

    def stop(self) -> None:
        """Ask the process to end; do not wait for an unfinished handshake."""
        self._closing.set()
        if self.client is None:
            self._starting.cancel()

    # ---- requests of the agent

    def _options(self) -> ClientOptions:
        around = self._surroundings
        options = ClientOptions(
            permissions=self.permissions,
            files=self._files,
            elicitation=Elicitations(
                on_form=self._fill_in, on_url=self._visit, on_complete=self._visited
            ),
            versions=self.launch.versions,
            unstable=True,
            login=self._choose_login,
            draft=DraftOptions(
                credential=self._credential,
                dialects=around.dialects,
                ui=("diff_viewer", "code_navigation"),
            ),
            traffic=self.traffic.record,
            extensions=self._extensions,
        )
        if self.launch.sandbox is not None:
            # What the client does for an agent would happen outside.
            options["files"] = options["terminals"] = False
        elif around.log is not None:
            options["terminals"] = AuditedTerminals(around.log)
        if around.limits is not None:
            options["limits"] = around.limits
        return options

    def chat_of(self, session_id: str | None) -> Chat | None:
        """The chat of a session; requests without one go to the chat that is being opened."""
        for chat in self.chats:
            if session_id is not None and chat.session_id == session_id:
                return chat
        return self.asking or (self.chats[0] if self.chats else None)

    def _happened(self, event: PeopleEvent) -> None:
        for chat in self.chats:
            if chat.session_id == event.session_id:
                take_event(chat, event)

    async def _decide(self, request: PermissionRequest) -> Decision:
        chat = self.chat_of(request.session_id)
        if chat is None:
            return CANCELLED
        answer = await chat.questions.ask("permission", request)
        return answer if isinstance(answer, Decision) else CANCELLED

    def _decided(self, decided: Decided, agent: str | None) -> None:
        if self._surroundings.log is not None:
            record_decision(self._surroundings.log, decided, agent)
        chat = self.chat_of(decided.request.session_id)
        if decided.allowed or chat is None or chat.phase == "stopping":
            return
        if decided.by == "cancelled" and others_answer(chat):
            # Somebody else has answered, perhaps with yes; the gateway says who.
            return
        why, call = why_denied(decided), decided.request.tool_call
        chat.denied_request = decided.request
        is_told = call is not None and chat.deny(call.tool_call_id, why)
        if not is_told:
            chat.remark(f"Denied: {subject_words(decided.request)} ({why})", "warning")

    async def _fill_in(self, form: FormRequest) -> Any:
        chat = self.chat_of(form.session_id)
        return None if chat is None else await chat.questions.ask("form", form)

    async def _visit(self, page: UrlRequest) -> bool | None:
        chat = self.chat_of(page.session_id)
        answer = None if chat is None else await chat.questions.ask("url", page)
        return answer if isinstance(answer, bool) else None

    def _visited(self, page: UrlRequest) -> None:
        chat = self.chat_of(page.session_id)
        if chat is not None:
            chat.page_done(page.elicitation_id)

    async def _choose_login(self, methods: Sequence[AuthMethod]) -> str | None:
        chat = self.chat_of(None)
        if chat is None or not methods:
            return None
        answer = await chat.questions.ask("login", tuple(methods))
        return answer if isinstance(answer, str) else None

    async def _credential(self) -> Credential | None:
        found = from_environment()
        if found is not None:
            return found
        variable = self.launch.api_key_env
        key = os.environ.get(variable) if variable else None
        chat = self.chat_of(None)
        if not key and chat is not None:
            key = await chat.questions.ask("credential", f"{chat.agent_name} needs an API key")
        return Credential.api_key(key) if key else None
