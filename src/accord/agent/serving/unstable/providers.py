"""The services behind an agent's model, which a client may replace (unstable).

An agent registers slots; a client sets or disables them.  The settings live only in this process:
nothing is written to disk, and headers, which may be secrets, are never sent to a client.

What always holds
    * A slot that is required is never disabled.
    * A slot is changed only after the agent's own function has agreed.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from accord.errors import LocalProtocolError, RequestError
from accord.schema import v2
from accord.schema.struct import UNSET


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """How a provider is reached.  The headers are not shown when this is printed."""

    api_type: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class Provider:
    """A slot: the APIs that it supports, and its current setting.  None is disabled."""

    provider_id: str
    supported: tuple[str, ...]
    required: bool = False
    current: ProviderConfig | None = None

    def info(self) -> v2.ProviderInfo:
        """Return the description of the provider for clients."""
        current = self.current
        return v2.ProviderInfo(
            provider_id=self.provider_id,
            supported=list(self.supported),
            required=self.required,
            current=UNSET
            if current is None
            else v2.ProviderCurrentConfig(api_type=current.api_type, base_url=current.base_url),
        )


# Called with a slot and its new setting before the change; raises to refuse it.
ProviderHook = Callable[[Provider, ProviderConfig | None], Awaitable[None]]


class Providers:
    """All slots of an agent, for the whole process."""

    def __init__(self) -> None:
        self._slots: dict[str, Provider] = {}
        self.hook: ProviderHook | None = None

    def __bool__(self) -> bool:
        return bool(self._slots)

    def __getitem__(self, provider_id: str) -> Provider:
        return self._slots[provider_id]

    def all(self) -> list[Provider]:
        """All slots in the order of their registration."""
        return list(self._slots.values())

    def add(
        self,
        provider_id: str,
        supported: Iterable[str],
        required: bool,
        current: ProviderConfig | None,
    ) -> Provider:
        """Register a slot that clients may set."""
        slot = Provider(provider_id, tuple(supported), required, current)
        if provider_id in self._slots:
            raise LocalProtocolError(f"there is already a provider {provider_id!r}")
        if not slot.supported:
            raise LocalProtocolError(f"provider {provider_id!r} supports no API")
        if required and current is None:
            raise LocalProtocolError(f"provider {provider_id!r} is required but disabled")
        if current is not None and current.api_type not in slot.supported:
            raise LocalProtocolError(
                f"provider {provider_id!r} does not support {current.api_type!r}"
            )
        self._slots[provider_id] = slot
        return slot

    async def set(self, provider_id: str, wanted: ProviderConfig) -> None:
        """Replace the setting of a slot.

        Raises:
            RequestError: unknown slot, unsupported API, or not a URL; nothing changed.
        """
        slot = self._slots.get(provider_id)
        if slot is None:
            raise RequestError.invalid_params(f"unknown provider {provider_id!r}", "$.providerId")
        if wanted.api_type not in slot.supported:
            raise RequestError.invalid_params(
                f"provider {provider_id!r} does not support {wanted.api_type!r}", "$.apiType"
            )
        if not _is_url(wanted.base_url):
            raise RequestError.invalid_params("not a full URL", "$.baseUrl")
        await self._change(slot, wanted)

    async def disable(self, provider_id: str) -> None:
        """Disable a slot; an unknown one counts as disabled.

        Raises:
            RequestError: the slot is required; nothing changed.
        """
        slot = self._slots.get(provider_id)
        if slot is None:
            return
        if slot.required:
            raise RequestError.invalid_params(
                f"provider {provider_id!r} is required", "$.providerId"
            )
        await self._change(slot, None)

    async def _change(self, slot: Provider, wanted: ProviderConfig | None) -> None:
        if self.hook is not None:
            await self.hook(slot, wanted)
        slot.current = wanted


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc)
