"""The turns of a chat: sending, waiting, stopping, and problems in words.

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
    AuthenticationRequired,
    ConnectionLost,
    NotFound,
    RateLimited,
    RequestCancelled,
    RequestFailed,
)
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.model.chat import Chat, Problem, Remedy
from accord.terminal.model.labels.turn_activity import stop_words
from accord.terminal.model.prompt.content_blocks import blocks_of
from accord.terminal.model.prompt.unsent_prompt import Draft

RETRY_SECONDS = 30.0
"""The wait after a rate limit for which the agent gave no time."""


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
        chat.stop_reason = None
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
        chat.stop_reason = "cancelled"
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
            words = stop_words(chat.stop_reason)
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
            chat.turn_cancelled()


def problem_of(error: AccordError, chat: Chat) -> Problem:
    """Describe a failure to the user, with its remedies."""
    if isinstance(error, RateLimited):
        wait = error.retry_after or RETRY_SECONDS
        return Problem(
            "rate_limited",
            f"Too many requests: {error.message}",
            "",
            ("retry", "dismiss"),
            retry_at=chat.clock() + wait,
        )
    if isinstance(error, AuthenticationRequired):
        text = f"The agent requires a login: {error.message}"
        return Problem("login_needed", text, "", ("log_in", "dismiss"))
    if isinstance(error, NotFound):
        text = f"The agent no longer has this session: {error.message}"
        return Problem("session_lost", text, "", ("new_session", "dismiss"))
    if isinstance(error, RequestFailed):
        said = error.stderr.strip()
        known = [f"{error.method} failed with code {error.code}."]
        detail = "\n".join([*known, *([f"On stderr:\n{said}"] if said else [])])
        return Problem(
            "turn_failed", f"The turn failed: {error.message}", detail, ("retry", "dismiss")
        )
    return Problem("turn_failed", f"The turn failed: {error}", "", ("retry", "dismiss"))


def lost_problem(error: AccordError) -> Problem:
    """Describe how the agent ended, with its last output."""
    if not isinstance(error, ConnectionLost):
        return Problem("agent_lost", f"The agent stopped: {error}", "", ("restart",))
    detail = "\n".join(_stderr_lines(error))
    # The exit status is enough: the user knows which agent it was.
    how = error.exit_status or error.message
    return Problem("agent_lost", f"The agent stopped: {how}", detail, ("restart",))


def _stderr_lines(error: ConnectionLost) -> list[str]:
    said = error.stderr_tail.strip()
    return [f"Last output on stderr:\n{said}"] if said else []


def _how(error: ConnectionLost) -> str:
    """How the agent ended; the message mostly includes the exit status."""
    status = error.exit_status
    return error.message if not status or status in error.message else f"{error.message} ({status})"


def gone_problem(launch: LaunchOptions) -> Problem:
    """Describe missing folders, with the folder that a new session would use."""
    words = (
        "The folder does not exist" if len(launch.missing) == 1 else "These folders do not exist"
    )
    there = launch.standing().folder
    detail = f"A new session would work in {there}."
    text = f"{words}: {', '.join(launch.missing)}"
    return Problem("session_lost", text, detail, ("new_session",))


def start_problem(
    error: AccordError, *, is_running: bool = False, is_wish: bool = False
) -> Problem:
    """Describe why the agent did not start or, if `is_running`, opened no session.

    With `is_wish` the launch options asked for more than a new session: an existing one, a mode
    or a model.  Retrying would fail again; a plain new session mostly works.
    """
    if isinstance(error, AuthenticationRequired):
        text = f"The agent requires a login: {error.message}"
        return Problem("login_needed", text, "", ("log_in", "restart"))
    words = list(getattr(error, "__notes__", ()))
    text = str(error)
    if is_running and not isinstance(error, ConnectionLost):
        # The agent is still running; other tabs may have sessions with it.
        # A refused request may succeed later, such as a session that is open elsewhere.
        is_hopeless = is_wish and not isinstance(error, RequestFailed)
        again: tuple[Remedy, ...] = () if is_hopeless else ("restart",)
        remedies: tuple[Remedy, ...] = ("new_session", *again)
        detail = "\n".join(words)
        return Problem("session_lost", f"The session could not be opened: {text}", detail, remedies)
    if isinstance(error, ConnectionLost):
        text = _how(error)
        words += _stderr_lines(error)
    return Problem(
        "start_failed", f"The agent could not be started: {text}", "\n".join(words), ("restart",)
    )
