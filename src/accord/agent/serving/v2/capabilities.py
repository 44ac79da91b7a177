"""The capabilities of both sides in v2: what the agent offers, and what the client does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from accord.agent.extensions import extension_meta
from accord.agent.serving.unstable.capabilities import agent_offers, session_offers
from accord.agent.serving.wire import Features
from accord.protocol.capabilities import supports
from accord.protocol.extensions import read_advertised
from accord.schema import v2
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition


def offer(agent: AgentDefinition, features: Features) -> v2.InitializeResponse:
    """The result of `initialize`."""
    return v2.InitializeResponse(
        protocol_version=2,
        info=v2.Implementation(name=agent.name, version=agent.version, title=agent.title or UNSET),
        capabilities=v2.AgentCapabilities(
            session=_session_capabilities(agent),
            auth=v2.AgentAuthCapabilities(status=v2.AuthStatusCapabilities())
            if agent.unstable
            else UNSET,
            meta=extension_meta(agent),
            **agent_offers(agent, v2),
        ),
        auth_methods=_auth_methods(agent, features) or UNSET,
    )


def _session_capabilities(agent: AgentDefinition) -> v2.SessionCapabilities:
    takes = agent.accepts
    return v2.SessionCapabilities(
        prompt=v2.PromptCapabilities(
            image=v2.PromptImageCapabilities() if "image" in takes else UNSET,
            audio=v2.PromptAudioCapabilities() if "audio" in takes else UNSET,
            embedded_context=v2.PromptEmbeddedContextCapabilities()
            if "embedded_context" in takes
            else UNSET,
        ),
        mcp=v2.McpCapabilities(
            stdio=v2.McpStdioCapabilities(),
            http=v2.McpHttpCapabilities() if "http" in agent.mcp else UNSET,
            acp=v2.McpAcpCapabilities() if "acp" in agent.mcp else UNSET,
        ),
        delete=v2.SessionDeleteCapabilities(),
        additional_directories=v2.SessionAdditionalDirectoriesCapabilities(),
        **session_offers(agent, v2),
    )


def _auth_methods(agent: AgentDefinition, features: Features) -> list[v2.AuthMethod]:
    methods: list[v2.AuthMethod] = []
    for method in agent.auth_methods.values():
        about: dict[str, Any] = {
            "method_id": method.method_id,
            "name": method.name,
            "description": method.description or UNSET,
        }
        if method.terminal_args is None:
            methods.append(v2.AuthMethodAgent(**about))
        elif features.terminal_login:
            env = [v2.EnvVariable(name=k, value=v) for k, v in method.terminal_env.items()]
            methods.append(
                v2.AuthMethodTerminal(
                    **about, args=list(method.terminal_args) or UNSET, env=env or UNSET
                )
            )
    return methods


def features_of(capabilities: Mapping[str, Any]) -> Features:
    """Read what the client offers to do for the agent; v2 gates less than v1 does."""
    return Features(
        elicit_form=supports(capabilities, "elicitation.form", booleans=False),
        elicit_url=supports(capabilities, "elicitation.url", booleans=False),
        terminal_login=supports(capabilities, "auth.terminal", booleans=False),
        extensions=read_advertised(capabilities),
    )
