"""A draft client in front of our own v1 agent, and short words for what the agent tells."""

from typing import Any

from accord.translate.message import AGENT, CLIENT, Json
from tests.translate.draft.open_sessions import Before, before

M = "acp.draft/2026-02"


def scene_of(**settings: Any) -> Before:
    return before(details=True, **settings)


def meta(**members: Any) -> Json:
    return {"_meta": {M: members}}


def kept(holder: Json) -> Any:
    return holder["_meta"][M]


def told(scene: Before, *kinds: str) -> list[Json]:
    """The data of the updates of some types since the last look; of all if none is named."""
    return [one["data"] for one in scene.wire.updates(CLIENT) if not kinds or one["type"] in kinds]


def tell(scene: Before, **update: Any) -> None:
    scene.wire.tell(AGENT, "session/update", {"sessionId": "s", "update": update})


def call(scene: Before, **fields: Any) -> None:
    tell(scene, sessionUpdate="tool_call", toolCallId="c", title="Look", **fields)


def patch(scene: Before, **fields: Any) -> None:
    tell(scene, sessionUpdate="tool_call_update", toolCallId="c", **fields)


def text(words: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": words}}
