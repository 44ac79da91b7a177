"""Find a session, mode or model of an agent by what the user typed."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from accord.client.client import Client
from accord.client.session.session import Session
from accord.client.wire.wire_interface import SessionInfo
from accord.errors import LocalProtocolError
from accord.transcript import ConfigOption

MODEL_LIST_SECONDS_MAX = 6.0
"""How long to wait for an unlisted model; model servers have five seconds to list theirs."""
SESSIONS_SEEN_MAX = 10_000
"""The number of sessions that are read from the agent."""
ID_CHARACTERS_MIN = 4
"""The minimum length of an id prefix; a shorter one is probably a typo."""


async def sessions_of(client: Client, folder: str | None) -> list[SessionInfo]:
    """The agent's sessions, of one folder or of all, most recently used first.

    Raises:
        LocalProtocolError: the agent does not list its sessions.
    """
    if not client.capabilities.listing:
        raise LocalProtocolError("the agent does not list its sessions; name one with --session")
    found: list[SessionInfo] = []
    async for info in client.list_sessions(cwd=folder):
        found.append(info)
        if len(found) >= SESSIONS_SEEN_MAX:
            break
    return sorted(found, key=lambda info: info.updated_at or "", reverse=True)


async def last_session(client: Client, folder: str) -> str:
    """The most recently used session of this folder.

    Raises:
        LocalProtocolError: the folder has no session.
    """
    found = await sessions_of(client, folder)
    if not found:
        raise LocalProtocolError(f"there is no session to continue in {folder}")
    return found[0].session_id


async def whole_id(client: Client, beginning: str) -> str | None:
    """The id of the only session whose id has this prefix; None if there is not exactly one."""
    if len(beginning) < ID_CHARACTERS_MIN or not client.capabilities.listing:
        return None
    found = await sessions_of(client, None)
    fitting = [one.session_id for one in found if one.session_id.startswith(beginning)]
    return fitting[0] if len(fitting) == 1 and fitting[0] != beginning else None


async def choose_model(session: Session, wanted: str) -> None:
    """Set the model by its id or its name.

    Waits for a model that is not listed yet, because an agent may have to ask servers for theirs.

    Raises:
        LocalProtocolError: the agent has no such model.
    """
    option_id, value = await _listed(session, wanted)
    await session.set_option(option_id, value)


async def _listed(session: Session, wanted: str) -> tuple[str, str]:
    updates = session.updates()
    option: ConfigOption | None = None
    try:
        with anyio.move_on_after(MODEL_LIST_SECONDS_MAX):
            while True:
                option = option_of(session.transcript.config_options, "model")
                value = _meant(option, wanted) if option is not None else None
                if option is not None and value is not None:
                    return option.option_id, value
                await anext(updates)
    except StopAsyncIteration:
        pass
    finally:
        updates.close()
    if option is None:
        raise LocalProtocolError("the agent does not offer a choice of models")
    values = ", ".join(choice.value for choice in option.choices)
    raise LocalProtocolError(f"the agent has no model {wanted!r}; it has {values}")


def option_of(options: Sequence[ConfigOption], category: str) -> ConfigOption | None:
    """The first option of a category."""
    return next((one for one in options if one.category == category), None)


def _meant(option: ConfigOption, wanted: str) -> str | None:
    if option.type == "unknown" or any(choice.value == wanted for choice in option.choices):
        # An agent of the 2026-02 draft does not list the possible values.
        return wanted
    named = [one.value for one in option.choices if one.name.lower() == wanted.lower()]
    return named[0] if len(named) == 1 else None
