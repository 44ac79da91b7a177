"""`providers/*`: which service runs the agent's model.  All of it is unstable."""

from typing import Literal, TypeAlias

from accord.schema.struct import ES, UNSET, Omit, Patch, UnstableStruct

ProviderId: TypeAlias = str
LlmProtocol: TypeAlias = Literal["anthropic", "openai", "azure", "vertex", "bedrock"] | str


class ProviderCurrentConfig(UnstableStruct, frozen=True, kw_only=True):
    """What a provider slot is set to."""

    api_type: LlmProtocol
    base_url: str


class ProviderInfo(UnstableStruct, frozen=True, kw_only=True):
    """A provider slot; without `current` it is disabled."""

    provider_id: ProviderId
    supported: ES[list[LlmProtocol]]
    required: bool
    current: Patch[ProviderCurrentConfig] = UNSET


class ListProvidersRequest(UnstableStruct, frozen=True, kw_only=True):
    """Ask for the provider slots."""


class ListProvidersResponse(UnstableStruct, frozen=True, kw_only=True):
    providers: list[ProviderInfo]


class SetProviderRequest(UnstableStruct, frozen=True, kw_only=True):
    """Set up a slot from scratch.  The headers may hold secrets."""

    provider_id: ProviderId
    api_type: LlmProtocol
    base_url: str
    headers: Omit[dict[str, str]] = UNSET


class SetProviderResponse(UnstableStruct, frozen=True, kw_only=True):
    """The slot is set up."""


class DisableProviderRequest(UnstableStruct, frozen=True, kw_only=True):
    """Switch a slot off."""

    provider_id: ProviderId


class DisableProviderResponse(UnstableStruct, frozen=True, kw_only=True):
    """The slot is off."""
