"""Open the session of a chat: a new one, an existing one, or the same one again.

This module does not know tabs or screens.

Invariants
    * The chat shows a session only once it is open, including updates that came before the
      response.
    * Servers and folders of the configuration that the agent cannot take are left out with a
      warning; if the user named them, it is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from anyio import to_thread

from accord.client.client import Client
from accord.client.invitation import Invitation
from accord.client.session.session import Session
from accord.configuration.user_paths import consents_file
from accord.errors import AccordError, ConfigError, LocalProtocolError, NotFound
from accord.mcp.project_file import Consents, ProjectServer, read_project_file
from accord.mcp.server_handoff import HandedOn, hand_on
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.engine.name_lookup import choose_model, last_session, sessions_of, whole_id
from accord.terminal.model.chat import Chat
from accord.transcript import Update


class Listener:
    """Passes updates of a session on to its chat once the session is open."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.is_open = False

    def __call__(self, update: Update) -> None:
        if self.is_open:
            self._chat.listen(update)


async def open_new(client: Client, chat: Chat, launch: LaunchOptions) -> Session:
    """Open the session that the options ask for: new, named, or the latest of the folder.

    Raises:
        AccordError: the agent cannot do what the user asked for.
    """
    session_id = launch.session
    if launch.go_on:
        session_id = await last_session(client, launch.folder)
    if launch.invitation is not None and launch.invitation.session_id == session_id:
        launch = await _joined(client, chat, launch, launch.invitation)
    if session_id is not None:
        return await _open_named(client, chat, launch, session_id)
    handed = await _handed_on(client, chat, launch)
    hears = Listener(chat)
    session = await client.new_session(
        launch.folder,
        mcp_servers=handed.servers,
        additional_directories=handed.directories,
        on_update=hears,
    )
    await _choose(client, session, launch, is_new=True)
    # Keep what is shown: our remarks, or the conversation of a lost session.
    await _show(client, chat, session, hears, keep=True)
    return session


async def _joined(
    client: Client, chat: Chat, launch: LaunchOptions, invitation: Invitation
) -> LaunchOptions:
    """Become a member of the session, which may be in another folder; again does no harm."""
    assert chat.meets is not None
    try:
        await chat.meets.join(client, invitation.session_id, invitation.code)
    except NotFound as error:
        raise LocalProtocolError(
            "the invitation does not work here: it was used by somebody, it has expired, or it is"
            " for another gateway or agent; ask for a new one"
        ) from error
    if client.capabilities.listing:
        for info in await sessions_of(client, None):
            if info.session_id == invitation.session_id and info.cwd:
                return replace(launch, folder=info.cwd)
    return launch


async def _open_named(client: Client, chat: Chat, launch: LaunchOptions, named: str) -> Session:
    """Open the session with this id or id prefix; lists show only the beginning of an id."""
    try:
        return await open_known(client, chat, launch, named)
    except LocalProtocolError as error:
        is_missing = isinstance(error.__cause__, NotFound)
        whole = await whole_id(client, named) if is_missing else None
        if whole is None:
            raise
    return await open_known(client, chat, launch, whole)


async def open_known(
    client: Client, chat: Chat, launch: LaunchOptions, session_id: str, *, keep: bool = False
) -> Session:
    """Open an existing session, with its history if the agent can load it.

    With `keep`, what the chat already shows stays if the agent does not repeat the history.

    Raises:
        AccordError: the agent cannot resume sessions, or not this one.
    """
    able = client.capabilities
    if not (able.load or able.resume):
        raise LocalProtocolError("the agent cannot resume an earlier session")
    handed = await _handed_on(client, chat, launch)
    hears = Listener(chat)
    go_on = client.load_session if able.load else client.resume_session
    try:
        session = await go_on(
            session_id,
            launch.folder,
            mcp_servers=handed.servers,
            additional_directories=handed.directories,
            on_update=hears,
        )
    except NotFound as error:
        raise LocalProtocolError(
            f"the agent has no session {session_id}: {error.message}"
        ) from error
    if launch.session is not None or launch.go_on:
        await _choose(client, session, launch, is_new=False)
    await _show(client, chat, session, hears, keep=keep and not session.transcript.timeline)
    chat.loaded()
    return session


async def open_fork(client: Client, chat: Chat, session: Session) -> Session:
    """Open a fork of a session."""
    hears = Listener(chat)
    other = await client.fork_session(session, on_update=hears)
    await _show(client, chat, other, hears)
    return other


async def _show(
    client: Client, chat: Chat, session: Session, hears: Listener, *, keep: bool = False
) -> None:
    if chat.meets is not None:
        # Before anything is shown: what others wrote has their names.
        chat.people = await chat.meets.of(client, session.id)
        chat.own_role = "" if chat.people is None else chat.people.role
    hears.is_open = True
    chat.folder = session.cwd
    chat.adopt(session.transcript, session.id, keep=keep)


async def _choose(client: Client, session: Session, launch: LaunchOptions, *, is_new: bool) -> None:
    try:
        if launch.model is not None:
            await choose_model(session, launch.model)
        if launch.mode is not None:
            await session.set_mode(launch.mode)
    except AccordError:
        if is_new and client.capabilities.delete:
            # Delete the empty session, or `--continue` would pick it.
            with suppress(AccordError):
                await client.delete_session(session.id)
        raise


# ---- servers and folders


async def _handed_on(client: Client, chat: Chat, launch: LaunchOptions) -> HandedOn:
    named = {server.name for server in launch.mcp_servers}
    wished = dict(launch.wished_servers)
    wished.update(await _of_project(chat, launch.folder))
    others = {name: one for name, one in wished.items() if name not in named}
    handed = hand_on(client.capabilities, others, launch.wished_dirs, required=False)
    for warning in handed.warnings:
        chat.remark(warning, "warning")
    return HandedOn(
        servers=(*launch.mcp_servers, *handed.servers),
        directories=(*launch.add_dirs, *handed.directories),
    )


async def _of_project(chat: Chat, folder: str) -> Mapping[str, Any]:
    """The servers of the project's file that the user allows; each is asked about once."""
    try:
        found = await to_thread.run_sync(read_project_file, Path(folder))
        consents = Consents(consents_file()) if found else None
    except ConfigError as error:
        # An error in the project's file must not keep the user from working.
        chat.remark(str(error), "warning")
        return {}
    allowed: dict[str, ProjectServer] = {}
    for name, server in found.items():
        assert consents is not None
        if server.unset:
            names = ", ".join(server.unset)
            chat.remark(f"The MCP server {name} needs {names}, which is not set.", "warning")
            continue
        said = consents.said(server)
        if said is None:
            said = await _agreed(chat, server, consents)
        if said:
            allowed[name] = server
    return allowed


async def _agreed(chat: Chat, server: ProjectServer, consents: Consents) -> bool:
    said = await chat.questions.ask("servers", server)
    if isinstance(said, bool):
        try:
            consents.remember(server, allowed=said)
        except OSError as error:
            # The answer counts for now; the question will be asked again.
            chat.remark(
                f"Your answer about {server.name} was not saved: {error.strerror}", "warning"
            )
    return said is True
