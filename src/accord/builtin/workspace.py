"""The state of one session that survives between its turns.

It must not know brains or tools; both read and write it.

What always holds
    * `seen` has the hash of a file's text as the agent last read or wrote it.
    * The journal is stored after each change, so that undo works after a restart.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from accord.builtin.newlines_and_bom import Sending

if TYPE_CHECKING:
    from accord.agent.session.agent_session import AgentSession
    from accord.builtin.undo_journal import Journal
    from accord.mcp.servers import McpServers


@dataclass(frozen=True)
class WorkspaceSettings:
    """Settings of the tools of a session."""

    # Values that no output may show, beside those found in the environment.
    secrets: frozenset[str] = frozenset()


@dataclass
class Workspace:
    """One per session; made with `open_workspace`."""

    session: AgentSession
    journal: Journal
    settings: WorkspaceSettings = field(default_factory=WorkspaceSettings)
    seen: dict[str, str] = field(default_factory=dict)
    # The offline brain's last test run, restored by that brain from `kept("last_run")`.
    last_run: Any = None
    # What the offline brain understood last, for "try again".
    last_intent: Any = None
    # The form in which the client must receive text so that it saves it unchanged.
    sending: Sending = field(default_factory=Sending)
    # Set once the session's servers are being connected.
    mcp: McpServers | None = None


async def open_workspace(
    session: AgentSession, settings: WorkspaceSettings | None = None
) -> Workspace:
    """Create the workspace of a new or resumed session, with its stored journal."""
    from accord.builtin.undo_journal import Journal

    return Workspace(session, await Journal.restore(session), settings or WorkspaceSettings())


def text_hash(text: str) -> str:
    """The hash that `seen` keeps of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
