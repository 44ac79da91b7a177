"""The model of one session: the chosen one, another in place of it, and what is said of it.

What always holds
    * A session stays with the model that answered it first, unless the user chooses another.
    * A model that cannot be had any more is reported once, with the one in its place.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from accord.builtin.model_login import require_key
from accord.builtin.models.providers import AUTO_DETECTED
from accord.builtin.options_and_commands import model_option

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.agent.session.agent_session import AgentSession
    from accord.agent.session.options_and_commands import OptionValue
    from accord.agent.turn import Turn
    from accord.builtin.models.providers import ModelChoice
    from accord.builtin.user_setup import Setup


class SessionModel:
    """The model that answers the prompts of one session.  Guards: each change is told once."""

    def __init__(
        self,
        agent: Agent,
        session: AgentSession,
        setup: Setup,
        ask_servers: Callable[[], Awaitable[None]],
        tell: Callable[[Turn, str], Awaitable[None]],
    ) -> None:
        self._agent = agent
        self._session = session
        self._setup = setup
        self._ask_servers = ask_servers
        self._tell = tell
        self._misses_model = False

    async def offer(self, *, announce: bool) -> None:
        """Offer models that were found since, and select the one that the session had."""
        option = model_option(self._setup)
        self._agent.offer.options["model"] = option
        await self._session.settle_options(announce=announce)

    async def chosen(self, turn: Turn) -> OptionValue:
        """Return the session's model; it may be on a server that was not asked yet."""
        stored = self._session.chosen_options.get("model")
        if self._setup.is_undecided if stored is None else stored != turn.options["model"]:
            await self._ask_servers()
        now = turn.options["model"]
        if stored is not None and stored != now and not self._misses_model:
            self._misses_model = True
            await self._tell(turn, f"The model {stored} is not available; using {now} instead.")
        return now

    async def usable(self, turn: Turn, chosen: object) -> ModelChoice | None:
        """Return the chosen model, or None and tell the user if it is gone.

        Raises:
            AuthenticationRequired: it has no key.
        """
        choice = self._setup.choice(chosen)
        if choice is None:
            await turn.say(
                f"The model `{chosen}` is no longer available. Choose another one, or "
                "`offline`, in the model picker."
            )
            return None
        require_key(self._agent, choice, terminals=turn.session.features.terminal_login)
        if self._session.chosen_options.get("model") is None:
            await self._announce(turn, choice)
            # From now on the conversation stays with this model.
            await self._session.set_option("model", choice.value, announce=False)
        return choice

    async def _announce(self, turn: Turn, choice: ModelChoice) -> None:
        """Name the model if the user did not choose it; clients without notices have a picker."""
        others = self._setup.others(choice)
        if self._session.features.notices and (others or choice.found == AUTO_DETECTED):
            more = f" You can also choose {' or '.join(others)}." if others else ""
            where = f" ({choice.found})" if choice.found else ""
            await turn.notice("info", f"Using {choice.value}{where}.{more}")
