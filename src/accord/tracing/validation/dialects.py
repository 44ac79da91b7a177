"""What the validator must know of each dialect, as a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from accord.protocol.negotiation import Dialect
from accord.protocol.tool_status import may_follow

# The draft has statuses of its own; a call may skip steps on its way to the end.
_DRAFT_FINAL: Final = frozenset({"completed", "failed", "denied", "cancelled"})
_DRAFT_ORDER: Final = ("pending", "awaiting_permission", "in_progress")
_FINAL: Final = frozenset({"completed", "failed", "cancelled"})


class DialectFacts(NamedTuple):
    """The differences of one dialect that a recording can show."""

    # The place of the dialect's rule ids in the table of rules.
    rule_column: int
    # The names of method tables in the dialect's schema, besides those of the two sides.
    more_methods: tuple[str, ...] = ()
    client_capabilities: str = "capabilities"
    agent_capabilities: str = "capabilities"
    takes_arrays: bool = False
    has_absolute_paths: bool = True
    has_boolean_capabilities: bool = True
    # Whether a cancelled prompt must be answered with a stop reason.
    cancelled_prompt_has_result: bool = False
    final_statuses: frozenset[str] = _FINAL
    status_may_follow: Callable[[str, str], bool] = may_follow


def _draft_may_follow(before: str, status: str) -> bool:
    if before in _DRAFT_FINAL:
        return status == before
    if status in _DRAFT_FINAL or before not in _DRAFT_ORDER or status not in _DRAFT_ORDER:
        return True
    return _DRAFT_ORDER.index(status) >= _DRAFT_ORDER.index(before)


DIALECTS: Final[dict[Dialect, DialectFacts]] = {
    "v1": DialectFacts(
        rule_column=0,
        more_methods=("PROXY_METHODS",),
        client_capabilities="clientCapabilities",
        agent_capabilities="agentCapabilities",
        cancelled_prompt_has_result=True,
    ),
    "v2": DialectFacts(
        rule_column=1,
        more_methods=("PROXY_METHODS",),
        takes_arrays=True,
        has_boolean_capabilities=False,
    ),
    "draft": DialectFacts(
        rule_column=2,
        has_absolute_paths=False,
        final_statuses=_DRAFT_FINAL,
        status_may_follow=_draft_may_follow,
    ),
}
