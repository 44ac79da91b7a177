"""A conversation with an agent in the lines of a terminal.

Whoever speaks is behind `Speaker`: a person at a keyboard, or a script.

What always holds
    * Nobody is asked before the screen shows what for: updates and questions come in one line.
    * Ctrl-C cancels the turn; pressed again before the next prompt, it leaves.  A question that is
      open is then answered with neither yes nor no.
    * Whatever ends the conversation, a closed terminal too, the agent's process is gone.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from math import inf
from typing import Protocol, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from accord import Client, Decision, PermissionRequest, Permissions, Session, Update
from accord.cli.draft_agents import credential_of, remembering
from accord.client.turn import PromptTurn
from accord.errors import RequestFailed
from accord.terminal.plain.printing import Printer

CANCELLED = Decision(None)

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end the conversation at once: somebody wants us gone, or the terminal is."""


class Speaker(Protocol):
    """Who talks to the agent."""

    async def prompt(self) -> str | None:
        """The next prompt; None to leave."""
        ...

    async def answer(self, request: PermissionRequest) -> Decision:
        """The answer to a question that the screen shows already."""
        ...

    def interrupted(self) -> None:
        """Ctrl-C was pressed where there is nothing to cancel; once more will leave."""
        ...


class _Question:
    """A request of the agent on its way to the screen, and the answer on its way back."""

    def __init__(self, request: PermissionRequest) -> None:
        self.request = request
        self.answered = anyio.Event()
        self.decision = CANCELLED


Event: TypeAlias = Update | _Question | None


class Chat:
    """One conversation.  Guards: what Ctrl-C means now."""

    def __init__(self, printer: Printer, speaker: Speaker) -> None:
        self._printer = printer
        self._speaker = speaker
        self._turn: PromptTurn | None = None
        self._asking: anyio.CancelScope | None = None
        # Ctrl-C was pressed and no prompt came since.
        self._wants_to_leave = False
        self._events: MemoryObjectSendStream[Event]
        self._shown: MemoryObjectReceiveStream[Event]
        self.stop_reasons: list[str] = []
        # The signal that ended the conversation, if one did.
        self.ended_by: signal.Signals | None = None

    async def run(self, command: Sequence[str], folder: str) -> bool:
        """Talk until the speaker leaves; False when that was by Ctrl-C or another signal."""
        left = False
        self._events, self._shown = anyio.create_memory_object_stream[Event](inf)
        with anyio.open_signal_receiver(signal.SIGINT, *ENDING) as signals:
            async with anyio.create_task_group() as tasks:

                async def listen() -> None:
                    async for number in signals:
                        if number in ENDING:
                            self.ended_by = number
                            tasks.cancel_scope.cancel()
                            return
                        await self._interrupt(tasks.cancel_scope)

                tasks.start_soon(listen)
                # Outermost: the agent may speak until it is gone.
                with self._events, self._shown:
                    permissions = Permissions.ask(self._decide)
                    async with Client.spawn(
                        *command,
                        permissions=permissions,
                        credential=credential_of(may_ask=True),
                        ui=("diff_viewer",),
                        **remembering(),
                    ) as client:
                        await self._talk(client, folder)
                left = True
                tasks.cancel_scope.cancel()
        return left

    async def _talk(self, client: Client, folder: str) -> None:
        session = await client.new_session(cwd=folder, on_update=self._events.send_nowait)
        while (text := await self._speaker.prompt()) is not None:
            self._wants_to_leave = False
            await self._take_turn(session, text)

    async def _take_turn(self, session: Session, text: str) -> None:
        turn = self._turn = session.prompt(text)
        try:
            async with anyio.create_task_group() as tasks, turn:
                tasks.start_soon(self._screen)
                try:
                    await turn.wait()
                except RequestFailed as error:
                    self._printer.finished(f"error: {error.message}")
                finally:
                    self._events.send_nowait(None)
        finally:
            self._turn = None
        reason = turn.stop_reason or "error"
        self.stop_reasons.append(reason)
        self._printer.pause()
        if reason not in ("end_turn", "error"):
            self._printer.finished(reason)

    async def _interrupt(self, everything: anyio.CancelScope) -> None:
        if self._wants_to_leave:
            self.ended_by = signal.SIGINT
            everything.cancel()
            return
        self._wants_to_leave = True
        turn = self._turn
        if turn is None:
            self._speaker.interrupted()
            return
        if self._asking is not None:
            self._asking.cancel()
        await turn.cancel()

    async def _decide(self, request: PermissionRequest) -> Decision:
        question = _Question(request)
        self._events.send_nowait(question)
        await question.answered.wait()
        return question.decision

    async def _screen(self) -> None:
        """Show what comes and ask what is asked, one thing at a time, until None comes."""
        while (event := await self._shown.receive()) is not None:
            if not isinstance(event, _Question):
                self._printer.show(event)
                continue
            self._printer.question(event.request)
            with anyio.CancelScope() as asking:
                self._asking = asking
                event.decision = await self._speaker.answer(event.request)
            self._asking = None
            if asking.cancelled_caught:
                self._printer.answered("cancelled")
            chosen = event.decision.option_id
            option = None if chosen is None else event.request.option(chosen)
            if option is not None and not option.allows:
                self._printer.declined(event.request)
            event.answered.set()


def decision_of(request: PermissionRequest, *kinds: str) -> Decision:
    """The answer of the first kind that was offered; nothing where none was."""
    option = request.of_kind(*kinds)
    return CANCELLED if option is None else Decision(option.option_id)


__all__ = ["CANCELLED", "Chat", "Speaker", "decision_of"]
