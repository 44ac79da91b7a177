"""What an agent offers of v1's unstable parts, for the answer to `initialize`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.schema import v1
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.agent.agent import Agent


def session_offers(agent: Agent) -> dict[str, Any]:
    """More fields of `sessionCapabilities`."""
    if not agent.unstable:
        return {}
    offers: dict[str, Any] = {
        "fork": v1.SessionForkCapabilities(),
        "archive": v1.SessionArchiveCapabilities(),
        "status": v1.SessionStatusCapabilities(),
        "title": v1.SessionTitleCapabilities(),
    }
    if agent.takes_system_prompt:
        override = v1.SessionSystemPromptModeCapabilities(
            override=v1.SessionSystemPromptOverrideCapabilities()
        )
        offers["system_prompt"] = v1.SessionSystemPromptCapabilities(
            mode=override if agent.takes_system_prompt_override else UNSET
        )
    return offers


def auth_offers(agent: Agent) -> dict[str, Any]:
    """More fields of `auth`."""
    return {"status": v1.AuthStatusCapabilities()} if agent.unstable else {}


def agent_offers(agent: Agent) -> dict[str, Any]:
    """More fields of `agentCapabilities`."""
    if not agent.unstable or not agent.providers:
        return {}
    return {"providers": v1.ProvidersCapabilities()}
