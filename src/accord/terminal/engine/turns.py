"""The turns of a chat: sending, waiting and stopping.

This module does not know tabs, screens or how an agent is started.

Invariants
    * A chat has at most one turn of ours; prompts sent meanwhile are queued in order.
    * The chat shows how each turn ended; unless it failed, the next queued prompt is sent.
    * A turn that the user abandons is over for the chat at once, whatever the agent does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio

from accord.client.connection.capabilities import AgentCapabilities
from accord.client.session.session import Session
from accord.errors import (
    AccordError,
    ConnectionLost,
    RequestCancelled,
)
from accord.terminal.engine.problems import problem_of
from accord.terminal.model.chat import Chat, Problem
from accord.terminal.model.labels.stop_reasons_and_exit_codes import turn_end_words
from accord.terminal.model.prompt.content_blocks import blocks_of
from accord.terminal.model.prompt.unsent_prompts import Draft


class Turns:
    """The turns of one chat on one session."""

    def __init__(self, chat: Chat, session: Session, capabilities: AgentCapabilities) -> None:
        self._chat = chat
        self.session = session
        self._capabilities = capabilities
        # The scope of the running turn, to abandon it if the agent does not stop.
        self._scope: anyio.CancelScope | None = None

    async def run(self, draft: Draft) -> None:
        """Send a prompt and those queued behind it, until all are done or one fails."""
        chat = self._chat
        going_on: Draft | None = draft
        while going_on is not None:
            done = await self._take(going_on)
            going_on = chat.queue.pop(0) if done and chat.queue else None

    async def _take(self, draft: Draft) -> bool:
        """Run one turn; return whether the next one may follow."""
        chat = self._chat
        chat.set_problem(None)
        chat.last_sent = draft
        chat.stop_reason, chat.stopped_here = None, False
        # From now on Retry no longer refers to an earlier denial.
        chat.denied_request = None
        chat.set_phase("working")
        problem: Problem | None = None
        scope = self._scope = anyio.CancelScope()
        try:
            blocks = await blocks_of(draft, self._capabilities, self.session.roots)
            with scope:
                chat.stop_reason = await self._wait(blocks, scope)
        except RequestCancelled:
            chat.stop_reason = "cancelled"
        except ConnectionLost:
            # The lifecycle reports how the agent ended.
            if self._scope is scope:
                chat.set_phase("lost")
        except AccordError as error:
            problem = problem_of(error, chat)
        except (OSError, ValueError) as error:
            problem = Problem(
                "turn_failed", f"The prompt could not be sent: {error}", "", ("retry",)
            )
        if self._scope is not scope:
            # It was abandoned, and another turn may be running by now.
            return False
        if scope.cancelled_caught:
            # It was abandoned before it was sent.
            self._leave()
            return False
        self._scope = None
        return self._ended(problem)

    async def _wait(self, blocks: Sequence[Any], scope: anyio.CancelScope) -> str | None:
        """Send the prompt, wait for the end of the turn and return the stop reason."""
        async with self.session.prompt(blocks) as turn:
            self._chat.sent()
            try:
                await turn.wait()
            except anyio.get_cancelled_exc_class():
                if scope.cancel_called:
                    # Here, just before the agent is told to cancel again, so that the next
                    # prompt comes after that.  How long it takes to stop does not matter.
                    self._leave()
                raise
        return turn.stop_reason

    def _leave(self) -> None:
        """Abandon the turn; later updates of it are still shown."""
        self._scope = None
        chat = self._chat
        chat.stop_reason, chat.stopped_here = "cancelled", True
        if chat.phase != "lost":
            chat.set_phase("ready")
        chat.remark("You abandoned the turn before the agent stopped.", "warning")

    def _ended(self, problem: Problem | None) -> bool:
        chat = self._chat
        stopped = chat.phase == "stopping"
        if chat.phase != "lost":
            chat.set_phase("ready")
        if problem is not None:
            chat.remark(problem.text, "error", problem.detail)
            chat.set_problem(problem)
        elif chat.stop_reason not in (None, "end_turn"):
            words = turn_end_words(chat)
            chat.remark(words.text, "info" if words.is_good else "warning")
        # After a stop the user wants to think; after a failure the next would fail too.
        return problem is None and not stopped and chat.phase == "ready"

    async def add(self, draft: Draft) -> None:
        """Send a prompt into the running turn; the agent decides what to do with it."""
        blocks = await blocks_of(draft, self._capabilities, self.session.roots)
        try:
            async with self.session.prompt(blocks) as turn:
                self._chat.sent()
                await turn.wait()
        except AccordError as error:
            if not isinstance(error, RequestCancelled | ConnectionLost):
                self._chat.remark(f"The agent did not accept the prompt: {error}", "error")

    async def stop(self) -> None:
        """Cancel the turn; a second call abandons it if the agent has not stopped."""
        chat = self._chat
        if chat.phase == "stopping":
            if self._scope is not None:
                self._scope.cancel()
            return
        try:
            await self.session.cancel()
        except AccordError:
            # The agent has ended, and the turn with it.
            return
        if chat.is_busy:
            chat.stopped_here = True
            chat.turn_cancelled()
        elif chat.works_alone:
            chat.remark("You asked the agent to stop.")
