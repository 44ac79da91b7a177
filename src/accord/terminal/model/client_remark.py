"""Remarks of the client in a conversation: how a turn ended, what was denied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["info", "success", "warning", "error"]


@dataclass(frozen=True, slots=True, eq=False)
class Remark:
    """One remark between the agent's entries; `detail` is folded below it."""

    text: str
    tone: Tone = "info"
    detail: str = ""
