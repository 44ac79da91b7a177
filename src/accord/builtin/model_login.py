"""Logins for the provider of the model that was chosen, while it has no key.

Each has two ways: the client runs us in a terminal, where the user pastes the key; or the user
sets the key up elsewhere, and the login only checks that it is there.

What always holds
    * A session never needs a login: the offline brain works without.  A prompt for a model that
      has no key is refused with the code that makes clients offer the login.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from accord.builtin.models.api_keys import Credentials
from accord.errors import RequestError

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.builtin.models.providers import ModelChoice
    from accord.builtin.user_setup import Setup


KEY_NAMES = {"api_key": "apiKey", "custom": "key"}
"""The credential of a login that holds the key, by login method."""


def add_logins(agent: Agent, setup: Setup) -> None:
    """Offer a login for the default model, and a logout for a pasted key."""
    choice = setup.default
    if choice is None or (choice.is_usable and choice.provider not in Credentials().providers()):
        return
    provider = choice.about
    agent.add_auth_method(
        f"{provider.id}-login",
        f"Paste a key for {provider.name}",
        "Opens a terminal. The key is stored in a file that only you can read.",
        terminal_args=("--login", provider.id),
        required=False,
    )
    agent.add_auth_method(
        f"{provider.id}-key",
        f"Use a key for {provider.name}",
        provider.ways_to_key(),
        required=False,
    )

    @agent.on_authenticate
    async def look_for_the_key(method: str, credentials: Mapping[str, Any]) -> None:
        if credentials:
            # Only clients of the 2026-02 draft send a key; it is kept where pasted ones are.
            keep_key(provider.id, method, credentials)
        setup.look_for_models()
        if setup.default is None or not setup.default.is_usable:
            raise RequestError.invalid_params(
                f"there is no key for {provider.name} yet. {provider.ways_to_key()}", "$.methodId"
            )

    @agent.on_logout
    async def forget_the_key() -> None:
        Credentials().forget(provider.id)
        setup.look_for_models()


def keep_key(provider: str, method: str, credentials: Mapping[str, Any]) -> None:
    """Keep a key that came with a login, in the user's own file and nowhere else."""
    name = KEY_NAMES.get(method)
    key = None if name is None else credentials.get(name)
    if not isinstance(key, str):
        wanted = " or ".join(f"{one} with {method!r}" for method, one in KEY_NAMES.items())
        raise RequestError.invalid_params(f"a login needs {wanted}", "$.credentials")
    Credentials().keep(provider, key)


def require_key(agent: Agent, choice: ModelChoice, *, terminals: bool) -> None:
    """Refuse a prompt for a model without a key."""
    if choice.is_usable:
        return
    offered = [
        method.described()
        for method in agent.auth_methods.values()
        if terminals or not method.is_terminal
    ]
    error = RequestError.authentication_required(auth_methods=offered)
    text = f"{choice.about.name} requires a key for {choice.model}. {choice.about.ways_to_key()}"
    raise RequestError(error.code, text, error.data)
