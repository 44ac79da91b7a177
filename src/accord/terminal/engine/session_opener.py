"""How a chat comes to its session: a new one, one that goes on, one that is opened again.

Must not know tabs or screens.

What always holds
    * The chat shows a session only when it is open, with all that came before the answer.
    * What the configuration wishes and the agent cannot take is left out and said; what the person
      named and it cannot take is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from anyio import to_thread

from accord.client.client import Client
from accord.client.session.session import Session
from accord.discovery.user_paths import consents_file
from accord.errors import AccordError, ConfigError, LocalProtocolError, NotFound
from accord.mcp.project_file import Consents, ProjectServer, read_project_file
from accord.mcp.server_handoff import HandedOn, hand_on
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.engine.name_lookup import choose_model, last_session, whole_id
from accord.terminal.model.chat import Chat
from accord.transcript import Update


class Listener:
    """Hears a session for a chat; before it is open, only that something came."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.is_open = False

    def __call__(self, update: Update) -> None:
        if self.is_open:
            self._chat.listen(update)


async def open_new(client: Client, chat: Chat, launch: LaunchOptions) -> Session:
    """A session as the order says: new, the named one, or the last one of the folder.

    Raises:
        AccordError: the agent cannot do what the person asked for.
    """
    session_id = launch.session
    if launch.go_on:
        session_id = await last_session(client, launch.folder)
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
    # What stands there stays: a word of ours, or what was said in a session that is lost.
    _show(chat, session, hears, keep=True)
    return session


async def _open_named(client: Client, chat: Chat, launch: LaunchOptions, named: str) -> Session:
    """The session with this id, or the only one whose id begins so: lists show no more of it."""
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
    """A session that the agent has: with its history where that can be had.

    With `keep` what the chat shows already is the history where the agent does not tell it again.

    Raises:
        AccordError: the agent cannot go on with sessions, or not with this one.
    """
    able = client.capabilities
    if not (able.load or able.resume):
        raise LocalProtocolError("the agent cannot go on with an earlier session")
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
    _show(chat, session, hears, keep=keep and not session.transcript.timeline)
    chat.loaded()
    return session


async def open_fork(client: Client, chat: Chat, session: Session) -> Session:
    """A session that goes on from another one."""
    hears = Listener(chat)
    other = await client.fork_session(session, on_update=hears)
    _show(chat, other, hears)
    return other


def _show(chat: Chat, session: Session, hears: Listener, *, keep: bool = False) -> None:
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
            # Nothing was said in it: `--continue` would go on with it.
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
    """The servers of the folder's own file that the person agrees to, asked once for each."""
    try:
        found = await to_thread.run_sync(read_project_file, Path(folder))
        consents = Consents(consents_file()) if found else None
    except ConfigError as error:
        # Not the person's own file, so it does not keep them from their work.
        chat.remark(str(error), "warning")
        return {}
    allowed: dict[str, ProjectServer] = {}
    for name, server in found.items():
        assert consents is not None
        if server.unset:
            names = ", ".join(server.unset)
            chat.remark(f"The MCP server {name} needs {names}, which is not set here.", "warning")
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
            # It counts for now; the question comes again.
            chat.remark(f"Your answer about {server.name} is not kept: {error.strerror}", "warning")
    return said is True


__all__ = ["Listener", "open_fork", "open_known", "open_new"]
