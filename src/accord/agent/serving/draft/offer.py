"""What an agent offers a client of the 2026-02 draft, and what it reads from what that offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from accord.agent.serving.wire import Features
from accord.errors import RequestError
from accord.protocol.capabilities import lacking, supports
from accord.protocol.extensions import advertised, read_advertised
from accord.schema import draft
from accord.schema.codec import to_raw
from accord.schema.struct import UNSET
from accord.store import MemoryStore
from accord.translate.draft.mode_names import ModeNames

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition

# The draft's names for what an agent may require; the rest its clients do not have.
_REQUIRED = {
    "fs": "fs",
    "fs.readTextFile": "fs.read",
    "fs.writeTextFile": "fs.write",
    "terminal": "terminal.create",
}


class Offered(NamedTuple):
    """What the client will do for us."""

    features: Features
    # None is any number of terminals at once.
    terminals_max: int | None
    has_dialogs: bool
    # Whether updates that the draft has no kind for are wanted in v1's words.
    wants_official_updates: bool


def modes_of(agent: AgentDefinition) -> ModeNames:
    """The draft's names for the agent's modes."""
    return ModeNames.of_official(
        {"id": mode.mode_id, "name": mode.name, "description": mode.description}
        for mode in agent.offer.modes.values()
    )


def answer(agent: AgentDefinition, modes: ModeNames) -> draft.InitializeResponse:
    """The result of `initialize`."""
    required = {_REQUIRED[path]: True for path in agent.requires if path in _REQUIRED}
    return draft.InitializeResponse(
        protocol_version=1,
        agent_info=draft.Implementation(name=agent.name, version=agent.version),
        capabilities=_capabilities(agent, modes),
        required_client_capabilities=_nested(required) if required else UNSET,
    )


def _capabilities(agent: AgentDefinition, modes: ModeNames) -> draft.AgentCapabilities:
    custom = advertised(agent.extensions)
    return draft.AgentCapabilities(
        load_session=True,
        mcp_capabilities=draft.McpCapabilities(
            servers=True,
            transport=[one for one in ("stdio", "http", "sse") if one in agent.mcp],
        ),
        prompt_capabilities=draft.PromptCapabilities(
            streaming=True,
            cancellation=True,
            attachments="embedded_context" in agent.accepts,
        ),
        session_capabilities=draft.SessionCapabilities(
            modes=modes.draft_names,
            config_options=list(agent.offer.options),
            # What is kept in memory is gone with the process.
            persistence=not isinstance(agent.store, MemoryStore),
        ),
        custom={key: to_raw(value) for key, value in custom.items()} or UNSET,
    )


def _nested(required: Mapping[str, bool]) -> draft.ClientCapabilities:
    files = draft.FileSystemCapabilities(
        read=required.get("fs.read", UNSET), write=required.get("fs.write", UNSET)
    )
    wants_files = any(path.startswith("fs") for path in required)
    return draft.ClientCapabilities(
        fs=files if wants_files else UNSET,
        terminal=draft.TerminalCapabilities(create=True)
        if "terminal.create" in required
        else UNSET,
    )


def require(agent: AgentDefinition, capabilities: Mapping[str, Any]) -> None:
    """Refuse a client that cannot do what the agent needs.

    Raises:
        RequestError: what the draft calls -32007, with what is missing.
    """
    wanted = [
        f"_custom.{path.removeprefix('_meta.')}"
        if path.startswith("_meta.")
        else _REQUIRED.get(path, path)
        for path in agent.requires
    ]
    missing = lacking(capabilities, wanted, booleans=True)
    if missing:
        raise RequestError(
            -32601,
            f"this agent needs client capabilities that are missing: {', '.join(missing)}",
            {
                "reason": "capability_not_supported",
                "missing": missing,
                "suggestion": "offer them in `capabilities` of initialize",
            },
        )


def offered_by(capabilities: Mapping[str, Any]) -> Offered:
    """What the client offers, read from its capabilities as they came."""

    def has(path: str) -> bool:
        return supports(capabilities, path, booleans=True)

    terminal, ui = _part(capabilities, "terminal"), _part(capabilities, "ui")
    custom = _part(capabilities, "_custom")
    most = terminal.get("maxConcurrent")
    most = most if isinstance(most, int) and not isinstance(most, bool) and most >= 0 else None
    return Offered(
        Features(
            read_files=has("fs.read"),
            write_files=has("fs.write"),
            terminals=has("terminal.create") and most != 0,
            boolean_options=True,
            notices=False,
            compaction=False,
            plans=False,
            subagents=False,
            auth_status=False,
            extensions=read_advertised({"_meta": custom}),
        ),
        most,
        # Who says nothing about dialogs is asked: the draft's first example has no `ui` at all.
        ui.get("permissionDialogs") is not False,
        custom.get("acpUpdates") is True,
    )


def _part(capabilities: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = capabilities.get(name)
    return found if isinstance(found, Mapping) else {}


def from_official(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """v1's client capabilities in the draft's names, for a client that mixed the two at first."""

    def has(path: str) -> bool:
        return supports(capabilities, path, booleans=True)

    return {
        "fs": {"read": has("fs.readTextFile"), "write": has("fs.writeTextFile")},
        "terminal": {"create": has("terminal")},
    }


__all__ = ["Offered", "answer", "from_official", "modes_of", "offered_by", "require"]
