"""The session of a run: new, or one that goes on, with the mode and model that were asked for.

Must not know the turn.

What always holds: what the agent cannot do is a `UsageError` before anything is prompted.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from accord import Client, Session
from accord.cli.agent_setup.project_mcp_servers import tell
from accord.cli.run.job import Job
from accord.cli.usage_error import UsageError
from accord.errors import AccordError, LocalProtocolError, NotFound
from accord.mcp.server_handoff import hand_on
from accord.terminal.engine.name_lookup import choose_model, last_session


async def open_session(client: Client, job: Job) -> Session:
    """The session, ready for the prompt.

    Raises:
        UsageError: the agent has no such session, mode or model, or takes no such servers.
    """
    session: Session | None = None
    try:
        session = await _open(client, job)
        if job.model is not None:
            await choose_model(session, job.model)
        if job.mode is not None:
            await session.set_mode(job.mode)
    except (LocalProtocolError, UsageError) as error:
        if session is not None and job.session is None and not job.go_on:
            await _forget(client, session)
        raise UsageError(str(error)) from error
    return session


async def _forget(client: Client, session: Session) -> None:
    """Take back a session in which nothing was said: `--continue` would go on with it."""
    if client.capabilities.delete:
        # Not worth another error than the one that is told.
        with suppress(AccordError):
            await client.delete_session(session.id)


async def _open(client: Client, job: Job) -> Session:
    servers = _servers(client, job)
    session_id = job.session
    if job.go_on:
        session_id = await last_session(client, job.cwd)
    if session_id is None:
        return await client.new_session(
            job.cwd,
            mcp_servers=servers,
            additional_directories=job.add_dirs,
        )
    capabilities = client.capabilities
    if not (capabilities.resume or capabilities.load):
        raise UsageError("the agent cannot go on with a session")
    # What was said before is not shown again, so it need not be told.
    go_on = client.resume_session if capabilities.resume else client.load_session
    try:
        return await go_on(
            session_id,
            job.cwd,
            mcp_servers=servers,
            additional_directories=job.add_dirs,
        )
    except NotFound as error:
        raise UsageError(f"the agent has no session {session_id}: {error.message}") from error


def _servers(client: Client, job: Job) -> list[Any]:
    """What the user named, and of the project's own what the agent can take."""
    named = {server.name for server in job.mcp_servers}
    others = {name: one for name, one in job.project_servers.items() if name not in named}
    handed = hand_on(client.capabilities, others, required=False)
    for warning in handed.warnings:
        tell(warning)
    return [*job.mcp_servers, *handed.servers]


__all__ = ["open_session"]
