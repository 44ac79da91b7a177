"""Which language models' services the agent uses.  Unstable."""

from typing import ClassVar, Literal, TypeAlias

from accord.schema.struct import ES, UNSET, Omit, Patch, UnstableStruct, WireStruct
from accord.schema.v2.identifiers import ProviderId

LlmProtocol: TypeAlias = Literal["anthropic", "openai", "azure", "vertex", "bedrock"] | str


class ProviderCurrentConfig(UnstableStruct, frozen=True, kw_only=True):
    """How a provider is reached now."""

    api_type: LlmProtocol
    base_url: str


class ProviderInfo(UnstableStruct, frozen=True, kw_only=True):
    """A slot for a provider; without `current` it is disabled."""

    provider_id: ProviderId
    supported: ES[list[LlmProtocol]]
    required: bool
    current: Patch[ProviderCurrentConfig] = UNSET


class ListProvidersRequest(UnstableStruct, frozen=True, kw_only=True):
    """Ask for all slots."""


class ListProvidersResponse(UnstableStruct, frozen=True, kw_only=True):
    providers: list[ProviderInfo]


class SetProviderRequest(UnstableStruct, frozen=True, kw_only=True):
    """Replace the whole configuration of a slot; headers may hold secrets."""

    provider_id: ProviderId
    api_type: LlmProtocol
    base_url: str
    headers: Omit[dict[str, str]] = UNSET


class SetProviderResponse(WireStruct, frozen=True, kw_only=True):
    __unstable__: ClassVar[bool] = True


class DisableProviderRequest(UnstableStruct, frozen=True, kw_only=True):
    """Switch a slot off."""

    provider_id: ProviderId


class DisableProviderResponse(WireStruct, frozen=True, kw_only=True):
    __unstable__: ClassVar[bool] = True
