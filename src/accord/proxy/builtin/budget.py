"""`budget`: limits the time, prompts, tokens and cost of a conversation.

When a budget is spent, running turns are cancelled, the next prompt is refused, and a message in
the conversation says which budget it was.

Tokens are what the agent reports: the size of the context (`usage_update`) and the usage of turns
(v1 reports the sum of a session in the prompt's result, v2 the usage of each turn in its `idle`
state); the larger of the two counts.  Cost is the amount in `usage_update`, a sum per session; the
amounts of all sessions are added whatever their currency.  Time counts while a turn runs.

What always holds: a prompt that was forwarded is not refused afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import anyio

from accord.errors import RequestError
from accord.jsonrpc.error_codes import PERMISSION_DENIED
from accord.proxy.builtin.conversation_state import ConversationState
from accord.proxy.message import Message
from accord.proxy.proxy import Proxy


@dataclass(frozen=True, slots=True)
class Limits:
    """The budget of one conversation; None means no limit."""

    minutes: float | None = None
    prompts: int | None = None
    tokens: int | None = None
    cost: float | None = None


@dataclass(slots=True)
class Spent:
    """What the sessions of a conversation have used."""

    now: Callable[[], float]
    prompts: int = 0
    seconds: float = 0.0
    contexts: dict[str, int] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)
    costs: dict[str, float] = field(default_factory=dict)
    running: dict[str, float] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """The tokens of all sessions."""
        sessions = {*self.contexts, *self.turns}
        return sum(max(self.contexts.get(one, 0), self.turns.get(one, 0)) for one in sessions)

    @property
    def cost(self) -> float:
        """The cost of all sessions."""
        return sum(self.costs.values())

    @property
    def minutes(self) -> float:
        """The time in which at least one turn was running."""
        begun = min(self.running.values(), default=None)
        return (self.seconds + (0.0 if begun is None else self.now() - begun)) / 60

    def begin(self, session_id: str) -> None:
        """Note that a turn of the session starts."""
        self.running.setdefault(session_id, self.now())

    def end(self, session_id: str) -> None:
        """Note that the turn of the session has ended."""
        if session_id in self.running:
            before = self.minutes * 60
            del self.running[session_id]
            left = min(self.running.values(), default=None)
            self.seconds = before - (0.0 if left is None else self.now() - left)


class Budget:
    """Counts what one conversation uses, and stops it at the limits."""

    def __init__(self, limits: Limits, now: Callable[[], float]) -> None:
        self.limits = limits
        self.spent = Spent(now)
        self.state = ConversationState()
        self._is_told = False
        self._watching = False

    def which(self, *, with_next: bool = False) -> str | None:
        """Return a sentence about the budget that is spent, or None."""
        spent, limits = self.spent, self.limits
        if limits.prompts is not None and spent.prompts + with_next > limits.prompts:
            return f"The budget of {limits.prompts} prompts is spent."
        if limits.tokens is not None and spent.tokens >= limits.tokens:
            return f"The budget of {limits.tokens} tokens is spent ({spent.tokens} were used)."
        if limits.cost is not None and spent.cost >= limits.cost:
            return f"The budget of {limits.cost:g} is spent (the cost is {spent.cost:g})."
        if limits.minutes is not None and spent.minutes >= limits.minutes:
            return f"The budget of {limits.minutes:g} minutes is spent."
        return None

    async def prompt(self, message: Message, forward: Any) -> Any:
        """Forward a prompt, or refuse it."""
        session_id = message.session_id or ""
        why = self.which(with_next=True)
        if why is not None:
            self.state.say(message, session_id, why)
            data = {"reason": "budget_spent", "proxy": "budget"}
            raise RequestError(PERMISSION_DENIED, why, data)
        self.spent.prompts += 1
        self.spent.begin(session_id)
        if self.limits.minutes is not None and not self._watching:
            self._watching = True
            message.conversation.start_soon(self._watch_time, message)
        is_over = self.state.form.answer_ends_turn
        try:
            answer = await forward(message)
        except BaseException:
            self.spent.end(session_id)
            raise
        if is_over or (isinstance(answer, dict) and "stopReason" in answer):
            self.spent.end(session_id)
            self._used(session_id, answer, is_sum=is_over)
        return answer

    def update(self, update: dict[str, Any], message: Message) -> None:
        """Count the usage that an update reports."""
        session_id = message.session_id or ""
        kind = update.get("sessionUpdate")
        if kind == "usage_update":
            used, cost = update.get("used"), update.get("cost")
            if isinstance(used, int):
                known = self.spent.contexts.get(session_id, 0)
                self.spent.contexts[session_id] = max(known, used)
            amount = cost.get("amount") if isinstance(cost, dict) else None
            if isinstance(amount, int | float):
                self.spent.costs[session_id] = float(amount)
        elif kind == "state_update":
            if update.get("state") == "idle":
                if session_id in self.spent.running:
                    self._used(session_id, update, is_sum=False)
                self.spent.end(session_id)
            else:
                self.spent.begin(session_id)
        self.stop_if_spent(message)

    def _used(self, session_id: str, told: Any, *, is_sum: bool) -> None:
        usage = told.get("usage") if isinstance(told, dict) else None
        total = usage.get("totalTokens") if isinstance(usage, dict) else None
        if isinstance(total, int):
            before = 0 if is_sum else self.spent.turns.get(session_id, 0)
            self.spent.turns[session_id] = before + total

    def stop_if_spent(self, message: Message) -> None:
        """Cancel running turns, once, when a budget is spent."""
        why = self.which() if self.spent.running and not self._is_told else None
        if why is None:
            return
        self._is_told = True
        for session_id in self.spent.running:
            self.state.say(message, session_id, f"{why} The turn is cancelled.")
            message.agent.notify("session/cancel", {"sessionId": session_id})

    async def _watch_time(self, message: Message) -> None:
        assert self.limits.minutes is not None
        # Turns may end and start during the sleep, so some time may be left.
        while self.limits.minutes > self.spent.minutes and self.spent.running:  # noqa: ASYNC110
            await anyio.sleep((self.limits.minutes - self.spent.minutes) * 60)
        self._watching = False
        self.stop_if_spent(message)


def budget(limits: Limits, *, now: Callable[[], float] = monotonic) -> Proxy:
    """Return a proxy that keeps one conversation within these limits."""
    proxy = Proxy("budget")
    watched = Budget(limits, now)
    watched.state.watch(proxy)
    proxy.on_request("session/prompt", of="client")(watched.state.checked(watched.prompt))
    for kind in ("usage_update", "state_update"):
        proxy.on_update(kind)(watched.update)
    return proxy
