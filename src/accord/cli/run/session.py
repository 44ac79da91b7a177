"""Opens or resumes the session of a run, with the requested mode and model.

Must not know the turn.

What always holds: if the agent cannot do what was requested, a `UsageError` is raised before the
prompt.
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
    """Return the session, ready for the prompt.

    Raises:
        UsageError: the agent has no such session, mode or model, or cannot use the servers.
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
    """Delete an empty session, which `--continue` would resume otherwise."""
    if client.capabilities.delete:
        # The original error is more important.
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
        raise UsageError("the agent cannot resume sessions")
    # The history is not shown, so it need not be replayed.
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
    """Return the user's servers, and those of the project that the agent can use."""
    named = {server.name for server in job.mcp_servers}
    others = {name: one for name, one in job.project_servers.items() if name not in named}
    handed = hand_on(client.capabilities, others, required=False)
    for warning in handed.warnings:
        tell(warning)
    return [*job.mcp_servers, *handed.servers]
