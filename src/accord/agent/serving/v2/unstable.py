"""What an agent offers of v2's unstable parts, for the answer to `initialize`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.schema import v2
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.agent.agent import Agent


def session_offers(agent: Agent) -> dict[str, Any]:
    """More fields of `session`."""
    if not agent.unstable:
        return {}
    offers: dict[str, Any] = {
        "fork": v2.SessionForkCapabilities(),
        "archive": v2.SessionArchiveCapabilities(),
        "status": v2.SessionStatusCapabilities(),
        "title": v2.SessionTitleCapabilities(),
    }
    if agent.takes_system_prompt:
        override = v2.SessionSystemPromptModeCapabilities(
            override=v2.SessionSystemPromptOverrideCapabilities()
        )
        offers["system_prompt"] = v2.SessionSystemPromptCapabilities(
            mode=override if agent.takes_system_prompt_override else UNSET
        )
    return offers


def agent_offers(agent: Agent) -> dict[str, Any]:
    """More fields of `capabilities`."""
    if not agent.unstable:
        return {}
    offers: dict[str, Any] = {
        "auth": v2.AgentAuthCapabilities(status=v2.AuthStatusCapabilities()),
    }
    if agent.providers:
        offers["providers"] = v2.ProvidersCapabilities()
    return offers
