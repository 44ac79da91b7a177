"""Early v2, which `Agent(early_v2=True)` serves.

A prompt is answered when its turn is over, with the stop reason; everything else is as in v2.
"""

from __future__ import annotations

from dataclasses import replace

from accord.agent.serving.early_v2.wire import EarlyWire
from accord.agent.serving.v2.differences import V2


def _prompt_response(reason: str, _usage: object) -> dict[str, str]:
    return {"stopReason": reason}


EARLY_V2 = replace(
    V2,
    make_wire=EarlyWire,
    ends_turn_by_answer=True,
    prompt_response=_prompt_response,
)
