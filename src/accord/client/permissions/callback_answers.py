"""Reads the answer of a permission callback.

It must not know rules, queues or what is remembered.
Always holds: an answer that is not understood is `Unclear`, which is never an approval.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from accord.client.permissions.request import (
    CANCELLED,
    Decided,
    DecidedBy,
    Decision,
    PermissionOption,
    PermissionRequest,
)

Answer: TypeAlias = str | PermissionOption | Decision | bool | None

SCOPES: frozenset[str] = frozenset({"once", "session", "workspace", "always"})


@dataclass(frozen=True, slots=True)
class Unclear:
    """An answer that is not understood; the reason is for the log."""

    reason: str


def refusal(request: PermissionRequest, by: DecidedBy) -> Decision:
    """A refusal among the offered options: reject once, or else cancelled."""
    option = request.of_kind("reject_once")
    return Decision(None if option is None else option.option_id, by=by)


def read_answer(
    request: PermissionRequest, answer: object
) -> tuple[Decision, PermissionOption | None] | Unclear:
    """The decision and its option; no option means cancelled."""
    if isinstance(answer, bool):
        return _of_bool(request, allowed=answer)
    if answer is None:
        return CANCELLED, None
    if isinstance(answer, str):
        answer = Decision(answer)
    elif isinstance(answer, PermissionOption):
        if request.option(answer.option_id) != answer:
            return Unclear(f"{answer!r} was not offered")
        answer = Decision(answer.option_id)
    if not isinstance(answer, Decision):
        return Unclear(f"{answer!r} is neither an option nor a decision")
    return _of_decision(request, answer)


def _of_bool(
    request: PermissionRequest, *, allowed: bool
) -> tuple[Decision, PermissionOption | None] | Unclear:
    if not allowed:
        no = request.of_kind("reject_once")
        return refusal(request, "user"), no
    yes = request.of_kind("allow_once", "allow_always")
    return (
        Unclear("no allowing option was offered") if yes is None else (Decision(yes.option_id), yes)
    )


def _of_decision(
    request: PermissionRequest, decision: Decision
) -> tuple[Decision, PermissionOption | None] | Unclear:
    if decision.option_id is None:
        return decision, None
    option = request.option(decision.option_id)
    if option is None:
        offered = ", ".join(repr(one.option_id) for one in request.usable_options)
        return Unclear(f"option {decision.option_id!r} was not offered; offered are {offered}")
    if decision.scope not in SCOPES:
        return Unclear(f"there is no scope {decision.scope!r}")
    if decision.rule is not None and decision.rule.effect != _effect(option):
        return Unclear(f"a rule that says {decision.rule.effect} with an option of {option.kind}")
    return decision, option


def _effect(option: PermissionOption) -> str:
    return "allow" if option.allows else "reject" if option.rejects else "ask"


Callback: TypeAlias = Callable[[PermissionRequest], "Answer | Awaitable[Answer]"]

# Called with each decision and the agent's name.
DecisionListener: TypeAlias = Callable[[Decided, str | None], None]


def check_callback(callback: object) -> None:
    """Refuse a callback that cannot be called.

    Raises:
        ValueError: it is not callable.
    """
    if not callable(callback):
        raise ValueError(f"{callback!r} is not callable")
