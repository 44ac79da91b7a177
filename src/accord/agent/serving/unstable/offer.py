"""What an agent registers of the unstable parts of ACP.

All of it may be registered at any time; it does nothing unless the agent was made with
`Agent(unstable=True)`, and then only what was registered is advertised.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from accord.agent.login.auth_status import StatusHook
    from accord.agent.serving.service import Service
    from accord.agent.serving.unstable.providers import (
        Provider,
        ProviderConfig,
        ProviderHook,
        Providers,
    )


class UnstableOffer:
    """The part of `Agent` that is about unstable features."""

    unstable: bool

    def __init__(self) -> None:
        self.auth_status_hook: StatusHook | None = None
        self.takes_system_prompt = False
        self.takes_system_prompt_override = False
        # Every connection that is being served.
        self.services: WeakSet[Service] = WeakSet()

    # What is behind these two is loaded when it is first used: start-up time is the user's time.

    @cached_property
    def providers(self) -> "Providers":
        """The services behind the model that clients may set."""
        from accord.agent.serving.unstable.providers import Providers

        return Providers()

    def add_provider(
        self,
        provider_id: str,
        supported: Iterable[str],
        *,
        required: bool = False,
        current: "ProviderConfig | None" = None,
    ) -> "Provider":
        """Let clients choose the service behind the model; the slot's `current` is their choice.

        `supported` names API families, such as `anthropic` and `openai`.
        """
        return self.providers.add(provider_id, supported, required, current)

    def on_provider_change(self, handler: "ProviderHook") -> "ProviderHook":
        """Register what sees a slot before it changes; it raises to refuse the change."""
        self.providers.hook = handler
        return handler

    def accept_system_prompt(self, *, override: bool = False) -> None:
        """Let clients bring instructions: `session.system_prompt`; with `override`, instead of
        the agent's own, which `session.system_prompt_overrides` then says.
        """
        self.takes_system_prompt = True
        self.takes_system_prompt_override = override

    def on_auth_status(self, handler: "StatusHook") -> "StatusHook":
        """Register what knows whether the user is logged in, and as whom.

        Without it the status follows from `authenticate` and `logout`.
        """
        self.auth_status_hook = handler
        return handler

    async def auth_status_changed(self) -> None:
        """Tell every client whose knowledge of the login is out of date."""
        for service in list(self.services):
            await service.auth_status.announce()
