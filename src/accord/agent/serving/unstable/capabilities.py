"""What an agent offers of the unstable parts, for the answer to `initialize`.

Both versions name these capabilities alike; `schema` is the module of the version's types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition


def session_offers(agent: AgentDefinition, schema: Any) -> dict[str, Any]:
    """The unstable fields of the session capabilities."""
    if not agent.unstable:
        return {}
    offers: dict[str, Any] = {
        "fork": schema.SessionForkCapabilities(),
        "archive": schema.SessionArchiveCapabilities(),
        "status": schema.SessionStatusCapabilities(),
        "title": schema.SessionTitleCapabilities(),
    }
    if agent.takes_system_prompt:
        override = schema.SessionSystemPromptModeCapabilities(
            override=schema.SessionSystemPromptOverrideCapabilities()
        )
        offers["system_prompt"] = schema.SessionSystemPromptCapabilities(
            mode=override if agent.takes_system_prompt_override else UNSET
        )
    return offers


def agent_offers(agent: AgentDefinition, schema: Any) -> dict[str, Any]:
    """The unstable fields of the agent's capabilities."""
    if not agent.unstable or not agent.providers:
        return {}
    return {"providers": schema.ProvidersCapabilities()}
