"""Describe what went wrong in a chat: a failed turn, an agent that ended or did not start."""

from __future__ import annotations

from accord.errors import (
    AccordError,
    AuthenticationRequired,
    ConnectionLost,
    NotFound,
    RateLimited,
    RequestFailed,
)
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.model.chat import Chat, Problem, Remedy

RETRY_SECONDS = 30.0
"""The wait after a rate limit for which the agent gave no time."""


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


def lost_problem(error: AccordError, *, is_remote: bool = False) -> Problem:
    """Describe how the agent ended, with its last output; a remote one may go on."""
    if is_remote:
        return Problem("agent_lost", f"Not connected any more: {error}", "", ("connect",))
    if not isinstance(error, ConnectionLost):
        return Problem("agent_lost", f"The agent stopped: {error}", "", ("restart",))
    detail = "\n".join(_stderr_lines(error))
    if error.exit_status is None:
        # It may go on elsewhere.
        return Problem("agent_lost", f"The agent is gone: {error.message}", detail, ("restart",))
    # The exit status is enough: the user knows which agent it was.
    text = f"The agent stopped: {error.exit_status}"
    return Problem("agent_lost", text, detail, ("restart",))


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
    error: AccordError, *, is_running: bool = False, is_wish: bool = False, is_remote: bool = False
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
    what = "No connection" if is_remote else "The agent could not be started"
    remedy: Remedy = "connect" if is_remote else "restart"
    return Problem("start_failed", f"{what}: {text}", "\n".join(words), (remedy,))
