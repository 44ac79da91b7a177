"""The capabilities of both sides in v1: what the agent offers, and what the client does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from accord.agent.extensions import extension_meta
from accord.agent.serving.unstable.capabilities import agent_offers, session_offers
from accord.agent.serving.wire import Features
from accord.protocol.capabilities import supports
from accord.protocol.extensions import read_advertised
from accord.schema import v1
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition


def offer(agent: AgentDefinition, features: Features) -> v1.InitializeResponse:
    """The result of `initialize`."""
    return v1.InitializeResponse(
        protocol_version=1,
        agent_capabilities=_capabilities(agent),
        auth_methods=_auth_methods(agent, features),
        agent_info=v1.Implementation(
            name=agent.name, version=agent.version, title=agent.title or UNSET
        ),
    )


def _capabilities(agent: AgentDefinition) -> v1.AgentCapabilities:
    return v1.AgentCapabilities(
        load_session=True,
        prompt_capabilities=v1.PromptCapabilities(
            image="image" in agent.accepts,
            audio="audio" in agent.accepts,
            embedded_context="embedded_context" in agent.accepts,
        ),
        mcp_capabilities=v1.McpCapabilities(
            http="http" in agent.mcp, sse="sse" in agent.mcp, acp="acp" in agent.mcp
        ),
        session_capabilities=v1.SessionCapabilities(
            list=v1.SessionListCapabilities(),
            delete=v1.SessionDeleteCapabilities(),
            resume=v1.SessionResumeCapabilities(),
            close=v1.SessionCloseCapabilities(),
            additional_directories=v1.SessionAdditionalDirectoriesCapabilities(),
            **session_offers(agent, v1),
        ),
        auth=v1.AgentAuthCapabilities(
            logout=v1.LogoutCapabilities() if agent.auth_methods else UNSET,
            status=v1.AuthStatusCapabilities() if agent.unstable else UNSET,
        ),
        meta=extension_meta(agent),
        **agent_offers(agent, v1),
    )


def _auth_methods(agent: AgentDefinition, features: Features) -> list[v1.AuthMethod]:
    return [
        v1.AuthMethod(
            type="terminal" if method.is_terminal else UNSET,
            id=method.method_id,
            name=method.name,
            description=method.description or UNSET,
            args=UNSET if method.terminal_args is None else list(method.terminal_args),
            env=method.terminal_env or UNSET,
        )
        for method in agent.auth_methods.values()
        if not method.is_terminal or features.terminal_login
    ]


def features_of(capabilities: Mapping[str, Any]) -> Features:
    """Read what the client offers to do for the agent."""

    def has(path: str) -> bool:
        return supports(capabilities, path, booleans=True)

    return Features(
        read_files=has("fs.readTextFile"),
        write_files=has("fs.writeTextFile"),
        terminals=has("terminal"),
        elicit_form=has("elicitation.form"),
        elicit_url=has("elicitation.url"),
        terminal_login=has("auth.terminal"),
        boolean_options=has("session.configOptions.boolean"),
        notices=has("session.notices"),
        compaction=has("session.compaction"),
        plans=has("plan"),
        subagents=has("subagents"),
        extensions=read_advertised(capabilities),
    )
