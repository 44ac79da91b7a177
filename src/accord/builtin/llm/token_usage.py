"""Token counts of a turn, the cost of the session, and how full the window is.

What always holds
    * A model with an unknown price shows no cost, which is not a cost of zero.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage, ModelResponse

from accord.agent.turn import Turn
from accord.builtin.llm.message_history import occupied_tokens
from accord.builtin.models.model_loader import LoadedModel

KEPT_AS = "model_cost"


class Accounts:
    """Counts the tokens and the cost of one turn."""

    def __init__(self, turn: Turn, loaded: LoadedModel, cost: float | None) -> None:
        self._turn = turn
        self._loaded = loaded
        # Of the session, in dollars.
        self._cost = cost
        self.requests = 0
        # Tokens that the model wrote in this turn.
        self.written = 0
        # How much of the window the conversation takes.
        self.used = 0

    @classmethod
    async def open(cls, turn: Turn, loaded: LoadedModel) -> Accounts:
        """Start with the stored cost of the session."""
        kept = await turn.session.kept(KEPT_AS)
        try:
            cost = float(kept) if kept else None
        except ValueError:
            cost = None
        return cls(turn, loaded, cost)

    async def count(self, response: ModelResponse, *, aside: bool = False) -> None:
        """Count an answer and report it; one asked `aside` does not fill the window."""
        usage = response.usage
        self.requests += 1
        self.written += usage.output_tokens
        self._turn.count_tokens(
            input=usage.input_tokens,
            output=usage.output_tokens,
            thought=usage.details.get("reasoning_tokens"),
            cached_read=usage.cache_read_tokens or None,
            cached_write=usage.cache_write_tokens or None,
        )
        price = self._price(response)
        if price is not None:
            self._cost = (self._cost or 0.0) + price
            await self._turn.session.keep(KEPT_AS, repr(self._cost).encode())
        if not aside:
            self.used = usage.input_tokens + usage.output_tokens
        await self.tell()

    async def tell(self) -> None:
        """Tell the client how full the window is."""
        size = self._loaded.context_window
        if self.used > 0:
            await self._turn.usage(self.used, size, cost=self._cost)

    def fill(self, messages: Sequence[ModelMessage]) -> float:
        """How full the window is, from 0 to 1 and beyond."""
        return occupied_tokens(messages) / self._loaded.context_window

    def _price(self, response: ModelResponse) -> float | None:
        choice = self._loaded.choice
        if choice.provider == "ollama" or (choice.provider == "openai" and choice.base_url):
            # A private server has no known price, whatever its models are called.
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return float(response.cost().total_price)
            except (LookupError, ValueError, AssertionError):
                return None
