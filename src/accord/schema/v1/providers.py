"""`providers/*`: which service runs the agent's model.  All of it is unstable."""

from typing import ClassVar, Literal, TypeAlias

from accord.schema.struct import ES, UNSET, Omit, Patch, WireStruct

ProviderId: TypeAlias = str
LlmProtocol: TypeAlias = Literal["anthropic", "openai", "azure", "vertex", "bedrock"] | str


class ProviderCurrentConfig(WireStruct, frozen=True, kw_only=True):
    """What a provider slot is set to."""

    __unstable__: ClassVar[bool] = True

    api_type: LlmProtocol
    base_url: str


class ProviderInfo(WireStruct, frozen=True, kw_only=True):
    """A provider slot; without `current` it is disabled."""

    __unstable__: ClassVar[bool] = True

    provider_id: ProviderId
    supported: ES[list[LlmProtocol]]
    required: bool
    current: Patch[ProviderCurrentConfig] = UNSET


class ListProvidersRequest(WireStruct, frozen=True, kw_only=True):
    """Ask for the provider slots."""

    __unstable__: ClassVar[bool] = True


class ListProvidersResponse(WireStruct, frozen=True, kw_only=True):
    __unstable__: ClassVar[bool] = True

    providers: list[ProviderInfo]


class SetProviderRequest(WireStruct, frozen=True, kw_only=True):
    """Set up a slot from scratch.  The headers may hold secrets."""

    __unstable__: ClassVar[bool] = True

    provider_id: ProviderId
    api_type: LlmProtocol
    base_url: str
    headers: Omit[dict[str, str]] = UNSET


class SetProviderResponse(WireStruct, frozen=True, kw_only=True):
    """The slot is set up."""

    __unstable__: ClassVar[bool] = True


class DisableProviderRequest(WireStruct, frozen=True, kw_only=True):
    """Switch a slot off."""

    __unstable__: ClassVar[bool] = True

    provider_id: ProviderId


class DisableProviderResponse(WireStruct, frozen=True, kw_only=True):
    """The slot is off."""

    __unstable__: ClassVar[bool] = True
