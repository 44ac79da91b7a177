"""One agent's program, for as long as it runs, and the questions that it asks.

Must not know how anything is shown, nor what is said in a chat.

What always holds
    * The program lives in one task; when that is over, so is the program.
    * Whoever waits for the start is told how it went, and `lost` is told once when it ends by
      itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from accord.client.audit.log import AuditLog
from accord.client.audit.services import AuditedTerminals, Decided, record_decision, why_denied
from accord.client.client import Client
from accord.client.credential import Credential, from_environment
from accord.client.login import TerminalRunner
from accord.client.options import ClientOptions, DialectMemory
from accord.client.permissions.permissions import Permissions
from accord.client.permissions.request import CANCELLED, Decision, PermissionRequest
from accord.client.services.elicitation import Elicitations, FormRequest, UrlRequest
from accord.client.wire.wire import AuthMethod
from accord.connection.limits import Limits
from accord.errors import AccordError
from accord.terminal.engine.chat_permissions import ChatPermissions
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.engine.log_handler import hears_mistakes
from accord.terminal.model.chat import Chat
from accord.terminal.model.permissions.request_text import subject_words
from accord.terminal.model.traffic import Traffic


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedServices:
    """What all agents of one client have in common.

    `run_in_terminal` runs a login where the person sees it; `files` makes the service that serves
    their files, for the journal that it is to tell.
    """

    permissions: Permissions
    refresh_grants: Callable[[], None] | None = None
    log: AuditLog | None = None
    dialects: DialectMemory | None = None
    run_in_terminal: TerminalRunner | None = None
    limits: Limits | None = None


class AgentProcess:
    """One start of one agent.  Guards: `client` is there from `ready` on until it is lost."""

    def __init__(self, launch: LaunchOptions, surroundings: SharedServices, files: Any) -> None:
        self.launch = launch
        self.client: Client | None = None
        self.chats: list[Chat] = []
        self.traffic = Traffic()
        self.traffic.command = launch.command
        # Why it could not be started, or how it ended.
        self.error: AccordError | None = None
        # Told when the agent ends by itself.
        self.on_lost: Callable[[AgentProcess], None] = lambda _: None
        # The chat that asks for what has no session: logins, forms of the agent itself.
        self.asking: Chat | None = None
        self._surroundings = surroundings
        self._files = files
        self.permissions = ChatPermissions.asking(
            surroundings.permissions,
            self._decide,
            self._decided,
            surroundings.refresh_grants,
        )
        self._starting = anyio.CancelScope()
        self._closing = anyio.Event()
        self._ready = anyio.Event()
        self._gone = anyio.Event()

    async def run(self) -> None:
        """Start it and live until `aclose`, or until it ends by itself."""
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
            *launch.command,
            cwd=launch.agent_cwd,
            env=launch.env,
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
        """Whether the program has ended, or never began."""
        return self._gone.is_set()

    def waiting(self, chat: Chat) -> int:
        """How many questions wait in line behind the one that a chat shows."""
        return self.permissions.waiting(chat.session_id) if chat.session_id else 0

    async def started(self) -> Client:
        """Wait for the handshake.

        Raises:
            AccordError: the agent could not be started; says why.
        """
        await self._ready.wait()
        if self.client is None:
            raise self.error or AccordError("the agent was ended")
        return self.client

    async def aclose(self) -> None:
        """End the program and wait until it is gone."""
        self.stop()
        await self._gone.wait()

    def stop(self) -> None:
        """End the program, soon; one that has not answered yet is not waited for."""
        self._closing.set()
        if self.client is None:
            self._starting.cancel()

    # ---- what the agent may ask

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
            credential=self._credential,
            ui=("diff_viewer", "code_navigation"),
            traffic=self.traffic.record,
        )
        if around.log is not None:
            options["terminals"] = AuditedTerminals(around.log)
        if around.dialects is not None:
            options["dialects"] = around.dialects
        if around.limits is not None:
            options["limits"] = around.limits
        return options

    def chat_of(self, session_id: str | None) -> Chat | None:
        """The chat of a session; what belongs to none is asked where something is being done."""
        for chat in self.chats:
            if session_id is not None and chat.session_id == session_id:
                return chat
        return self.asking or (self.chats[0] if self.chats else None)

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
        why, call = why_denied(decided), decided.request.tool_call
        chat.denied_request = decided.request
        is_told = call is not None and chat.deny(call.tool_call_id, why)
        if not is_told:
            chat.remark(f"Not allowed: {subject_words(decided.request)} ({why})", "warning")

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
            key = await chat.questions.ask("credential", f"{chat.agent_name} wants a key")
        return Credential.api_key(key) if key else None


__all__ = ["AgentProcess", "SharedServices"]
