"""One turn of a chat: sent, waited for, stopped, and what went wrong with it in words.

Must not know tabs, screens or how an agent is started.

What always holds
    * A chat has at most one turn of ours; what is sent meanwhile waits in its queue, in order.
    * However a turn ends, the chat says so, and the next queued prompt is sent unless it failed.
    * A turn that the person leaves is over for the chat in that moment, whatever the agent does.
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
from accord.terminal.model.prompt.draft import Draft

RETRY_SECONDS = 30.0
"""When to try again where the agent says: too many, and not until when."""


class Turns:
    """The turns of one chat on one session."""

    def __init__(self, chat: Chat, session: Session, capabilities: AgentCapabilities) -> None:
        self._chat = chat
        self.session = session
        self._capabilities = capabilities
        # The turn that runs, to be left where the agent does not stop.
        self._scope: anyio.CancelScope | None = None

    async def run(self, draft: Draft) -> None:
        """Send this, and what is queued behind it, until all is done or something fails."""
        chat = self._chat
        going_on: Draft | None = draft
        while going_on is not None:
            done = await self._take(going_on)
            going_on = chat.queue.pop(0) if done and chat.queue else None

    async def _take(self, draft: Draft) -> bool:
        """One turn; whether the next one may follow."""
        chat = self._chat
        chat.set_problem(None)
        chat.last_sent = draft
        chat.stop_reason = None
        # What was not allowed before is not what Retry means from now on.
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
            # Whoever watches the agent says how it ended.
            if self._scope is scope:
                chat.set_phase("lost")
        except AccordError as error:
            problem = problem_of(error, chat)
        except (OSError, ValueError) as error:
            problem = Problem("turn_failed", f"It could not be sent: {error}", "", ("retry",))
        if self._scope is not scope:
            # It was left, and another one may run by now.
            return False
        if scope.cancelled_caught:
            # It had not been sent yet.
            self._leave()
            return False
        self._scope = None
        return self._ended(problem)

    async def _wait(self, blocks: Sequence[Any], scope: anyio.CancelScope) -> str | None:
        """Send it and wait for its end; why it ended."""
        async with self.session.prompt(blocks) as turn:
            self._chat.sent()
            try:
                await turn.wait()
            except anyio.get_cancelled_exc_class():
                if scope.cancel_called:
                    # Here, just before the agent is told once more: what is said next comes after
                    # that.  How long it may still take to stop is of no matter to the person.
                    self._leave()
                raise
        return turn.stop_reason

    def _leave(self) -> None:
        """The turn is over for the person; what still comes of it is shown as it comes."""
        self._scope = None
        chat = self._chat
        chat.stop_reason = "cancelled"
        if chat.phase != "lost":
            chat.set_phase("ready")
        chat.remark("You left the turn; the agent had not stopped yet.", "warning")

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
        # Who stopped it wants to think, and what failed would fail again.
        return problem is None and not stopped and chat.phase == "ready"

    async def add(self, draft: Draft) -> None:
        """Send something into the turn that runs; what the agent makes of it is its matter."""
        blocks = await blocks_of(draft, self._capabilities, self.session.roots)
        try:
            async with self.session.prompt(blocks) as turn:
                self._chat.sent()
                await turn.wait()
        except AccordError as error:
            if not isinstance(error, RequestCancelled | ConnectionLost):
                self._chat.remark(f"It was not taken: {error}", "error")

    async def stop(self) -> None:
        """Cancel the turn; once more leaves it where the agent does not stop."""
        chat = self._chat
        if chat.phase == "stopping":
            if self._scope is not None:
                self._scope.cancel()
            return
        try:
            await self.session.cancel()
        except AccordError:
            # It is gone, which ends the turn too.
            return
        if chat.is_busy:
            chat.turn_cancelled()


def problem_of(error: AccordError, chat: Chat) -> Problem:
    """What a failure means for the person, and what can be done about it."""
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
        text = f"The agent wants a login first: {error.message}"
        return Problem("login_needed", text, "", ("log_in", "dismiss"))
    if isinstance(error, NotFound):
        text = f"The agent does not have this session any more: {error.message}"
        return Problem("session_lost", text, "", ("new_session", "dismiss"))
    if isinstance(error, RequestFailed):
        said = error.stderr.strip()
        known = [f"{error.method} was answered with the code {error.code}."]
        detail = "\n".join([*known, *([f"It said on stderr:\n{said}"] if said else [])])
        return Problem("turn_failed", f"It failed: {error.message}", detail, ("retry", "dismiss"))
    return Problem("turn_failed", f"It failed: {error}", "", ("retry", "dismiss"))


def lost_problem(error: AccordError) -> Problem:
    """The agent is gone: how it ended, and what it said last."""
    if not isinstance(error, ConnectionLost):
        return Problem("agent_lost", f"The agent is gone: {error}", "", ("restart",))
    detail = "\n".join(_last_words(error))
    # The status is enough: which agent it was, the person knows.
    how = error.exit_status or error.message
    return Problem("agent_lost", f"The agent is gone: {how}", detail, ("restart",))


def _last_words(error: ConnectionLost) -> list[str]:
    said = error.stderr_tail.strip()
    return [f"Its last words:\n{said}"] if said else []


def _how(error: ConnectionLost) -> str:
    """How it ended; the message mostly says it already."""
    status = error.exit_status
    return error.message if not status or status in error.message else f"{error.message} ({status})"


def gone_problem(launch: LaunchOptions) -> Problem:
    """A session cannot begin in folders that are not there; it can where the person is."""
    words = "The folder is not there" if len(launch.missing) == 1 else "These folders are not there"
    there = launch.standing().folder
    detail = f"A new session would work in {there}."
    text = f"{words}: {', '.join(launch.missing)}"
    return Problem("session_lost", text, detail, ("new_session",))


def start_problem(
    error: AccordError, *, is_running: bool = False, is_wish: bool = False
) -> Problem:
    """The agent could not be started, or, where `is_running`, gave no session.

    With `is_wish` it could not do what was asked for at the start: going on with a session, a
    mode, a model.  Asked again it cannot either; without that it mostly can.
    """
    if isinstance(error, AuthenticationRequired):
        text = f"The agent wants a login first: {error.message}"
        return Problem("login_needed", text, "", ("log_in", "restart"))
    words = list(getattr(error, "__notes__", ()))
    text = str(error)
    if is_running and not isinstance(error, ConnectionLost):
        # Other tabs may have sessions with it: it is not said to be gone.
        # What it refused it may allow later, such as a session that is open elsewhere.
        is_hopeless = is_wish and not isinstance(error, RequestFailed)
        again: tuple[Remedy, ...] = () if is_hopeless else ("restart",)
        remedies: tuple[Remedy, ...] = ("new_session", *again)
        detail = "\n".join(words)
        return Problem("session_lost", f"It did not begin: {text}", detail, remedies)
    if isinstance(error, ConnectionLost):
        text = _how(error)
        words += _last_words(error)
    return Problem("start_failed", f"It did not start: {text}", "\n".join(words), ("restart",))


__all__ = ["Turns", "gone_problem", "lost_problem", "problem_of", "start_problem"]
