"""The services that run an agent's model, as a client may point them elsewhere (unstable).

An agent registers slots; a client sets or disables them.  What it sets lives in this process
alone: nothing here writes to disk, and headers, which may be secrets, are never told to anyone.

What always holds
    * A slot that is required is never disabled.
    * A slot is changed only after the agent's own function has agreed.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from accord.errors import LocalProtocolError, RequestError


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """How a provider is reached.  The headers are not shown when this is printed."""

    api_type: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class Provider:
    """A slot: what it could use, and what it uses now.  Without `current` it is disabled."""

    provider_id: str
    supported: tuple[str, ...]
    required: bool = False
    current: ProviderConfig | None = None


# Told before a slot changes, with what it is to be; raises to refuse.
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
        """The slots in the order of their registration, disabled ones too."""
        return list(self._slots.values())

    def add(
        self,
        provider_id: str,
        supported: Iterable[str],
        required: bool,
        current: ProviderConfig | None,
    ) -> Provider:
        """Register a slot."""
        slot = Provider(provider_id, tuple(supported), required, current)
        if provider_id in self._slots:
            raise LocalProtocolError(f"there is already a provider {provider_id!r}")
        if not slot.supported:
            raise LocalProtocolError(f"provider {provider_id!r} supports no API at all")
        if required and current is None:
            raise LocalProtocolError(f"provider {provider_id!r} is required but disabled")
        if current is not None and current.api_type not in slot.supported:
            raise LocalProtocolError(f"{current.api_type!r} is not what {provider_id!r} supports")
        self._slots[provider_id] = slot
        return slot

    async def set(self, provider_id: str, wanted: ProviderConfig) -> None:
        """Replace the whole setup of a slot.

        Raises:
            RequestError: no such slot, an API that it does not speak, or no URL; nothing changed.
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
        """Switch a slot off; one that is unknown is as good as off.

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
