"""The messages that the kit sends to an agent, for each version.

Must not know: any rule.  What differs by version between two agents is a member here, so that the
rest of the stage needs no branches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from accord.conformance.agent.fake_client import Host
from accord.conformance.agent.fake_draft_client import DraftHost
from accord.conformance.frames.raw_peer import Frame, Message
from accord.conformance.rule_definition import Version

INFO = {"name": "accord-check", "version": "1"}
V1_CAPABILITIES: Message = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}, "url": {}},
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    "plan": {},
}
DRAFT_CAPABILITIES: Message = {
    "fs": {"read": True, "write": True},
    "terminal": {"create": True},
    "ui": {"permissionDialogs": True},
}
V2_CAPABILITIES: Message = {"elicitation": {"form": {}, "url": {}}}


def update_of(frame: Frame) -> Message:
    """Return the update in a `session/update`, or an empty object."""
    if frame.method != "session/update":
        return {}
    update = frame.params.get("update")
    return update if isinstance(update, dict) else {}


def draft_update_of(frame: Frame) -> Message:
    """Return the update of the draft, which has a type and data."""
    data = frame.params.get("data")
    if frame.method != "session/update" or not isinstance(data, dict):
        return {}
    return {**data, "sessionUpdate": frame.params.get("type")}


@dataclass(frozen=True, slots=True)
class Dialect:
    """One version: its number, the names of its methods and members, and how a turn ends."""

    number: int
    hello: Message
    # The client that the kit plays.
    host: type[Host] = Host
    # Where the agent's answer to `initialize` has its capabilities.
    capabilities: str = "capabilities"
    # A member without which that answer is one of another version.
    mark: str = "protocolVersion"
    login: str = "authenticate"
    # The error code of an agent that needs a login first.
    login_needed: int = -32000
    folder: str = "cwd"
    # How a session is opened again, the capability for it, and whether the agent knows the folder.
    load: str = "session/load"
    load_capability: str | None = "loadSession"
    load_knows_folder: bool = False
    prompt: str = "prompt"
    # The members of a stdio MCP server besides its name and command.
    server: Message = field(default_factory=dict)
    # Whether sessions can be closed without a capability.
    always_closes: bool = False
    # Whether a prompt is answered when it is inserted, and its turn ends with an idle state.
    ends_idle: bool = False
    update_of: Callable[[Frame], Message] = update_of

    def load_params(self, capabilities: Message, session: str, folder: str) -> Message | None:
        """The params that open a session again; None if the agent cannot do that."""
        needed = self.load_capability
        if needed is not None and capabilities.get(needed) is not True:
            return None
        more = {} if self.load_knows_folder else {self.folder: folder, "mcpServers": []}
        return {"sessionId": session, **more}


DIALECTS: dict[Version, Dialect] = {
    "1": Dialect(
        1,
        {"protocolVersion": 1, "clientInfo": INFO, "clientCapabilities": V1_CAPABILITIES},
        capabilities="agentCapabilities",
    ),
    "2": Dialect(
        2,
        {"protocolVersion": 2, "info": INFO, "capabilities": V2_CAPABILITIES},
        login="auth/login",
        load="session/resume",
        load_capability=None,
        server={"type": "stdio"},
        always_closes=True,
        ends_idle=True,
    ),
    "draft": Dialect(
        1,
        {"protocolVersion": 1, "clientInfo": INFO, "capabilities": DRAFT_CAPABILITIES},
        host=DraftHost,
        mark="capabilities",
        login_needed=-32001,
        folder="workingDirectory",
        load_knows_folder=True,
        prompt="content",
        update_of=draft_update_of,
    ),
}
