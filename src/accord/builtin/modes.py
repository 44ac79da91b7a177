"""What each mode lets the agent do: a table from mode and tool kind to a decision.

It must not know tools or turns.  A kind that no row names is asked for, or refused where the
mode changes nothing: what is not understood is never allowed.
"""

from __future__ import annotations

from typing import Literal

from accord.agent.session.options_and_commands import Mode, Option

Decision = Literal["allow", "ask", "refuse"]

READ_ONLY = "read-only"
ASK = "ask"
AUTO_EDIT = "auto-edit"
FULL_ACCESS = "full-access"
PLAN = "plan"
DEFAULT_MODE = ASK

LOOKING = frozenset({"read", "search", "think"})
EDITING = frozenset({"edit", "delete", "move"})
ASKED_EVERYWHERE = frozenset({"fetch", "switch_mode"})

_ALLOWED: dict[str, frozenset[str]] = {
    ASK: LOOKING,
    READ_ONLY: LOOKING,
    AUTO_EDIT: LOOKING | EDITING,
    FULL_ACCESS: LOOKING | EDITING | {"execute", "fetch", "other"},
    PLAN: LOOKING,
}
_CHANGES_NOTHING = frozenset({READ_ONLY, PLAN})

MODES: tuple[Mode, ...] = (
    Mode(ASK, "Ask", "Asks before changing a file or running a command.", _ALLOWED[ASK]),
    Mode(READ_ONLY, "Read only", "Reads and searches; changes nothing.", _ALLOWED[READ_ONLY]),
    Mode(
        AUTO_EDIT, "Auto-edit", "Edits without asking; asks before commands.", _ALLOWED[AUTO_EDIT]
    ),
    Mode(FULL_ACCESS, "Full access", "Edits and runs without asking.", _ALLOWED[FULL_ACCESS]),
    Mode(PLAN, "Plan", "Reads and makes a plan; asks before starting.", _ALLOWED[PLAN]),
)
"""The modes to register, in the order of a picker; sessions start in the first."""

AUTO_APPROVE = Option(
    "auto_approve",
    "Auto-approve",
    False,
    description="Approves what the mode would ask about; what the mode refuses stays refused.",
)


def decision(mode: str | None, kind: str, *, auto_approve: bool = False) -> Decision:
    """Whether a tool of this kind may work in this mode; unknown modes are as `ask`."""
    known = mode if mode in _ALLOWED else DEFAULT_MODE
    if kind in _ALLOWED[known]:
        return "allow"
    if known in _CHANGES_NOTHING and kind not in ASKED_EVERYWHERE:
        return "refuse"
    return "allow" if auto_approve and kind != "switch_mode" else "ask"


def refusal(mode: str | None, doing: str) -> str:
    """The sentence for what a mode refuses; it says how to change that."""
    name = next((m.name for m in MODES if m.mode_id == mode), mode or DEFAULT_MODE)
    if mode == PLAN:
        return (
            f"{doing} is not possible while planning: plan mode changes nothing. "
            "Approve the plan to leave it, or choose another mode."
        )
    return (
        f"{doing} is not possible in “{name}” mode, which changes nothing. "
        "Choose another mode (ask, auto-edit or full-access) to allow it."
    )
