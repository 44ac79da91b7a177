"""Messages of features that the agent of version 1 uses only to break a rule about them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from tests.kit_accuracy.line_peer import Json, RpcError

if TYPE_CHECKING:
    from tests.kit_accuracy.agent_v1_turn import Turn

WINDOW = 200_000


def before_work(turn: Turn) -> None:
    """Send what an agent says or asks at the beginning of a turn."""
    broken, first = turn.broken, turn.session.turns == 0
    if broken == "V1-ELIC-27" and first:
        due = {"type": "date", "title": "Due"}
        _ask(turn, "When is this work due?", {"due": due})
    elif broken == "V1-ELIC-11" and first:
        token = {"type": "string", "title": "GitHub token", "minLength": 1}
        _ask(turn, "Enter a GitHub token, so that I can open pull requests.", {"token": token})
    elif broken == "V1-USAGE-06" and _offered(turn, "session", "notices"):
        said = {"severity": "info", "title": "", "description": "The small model is in use."}
        turn.agent.update(turn.session, {"sessionUpdate": "notice", **said})
    elif broken == "V1-USAGE-10" and not first and _offered(turn, "session", "compaction"):
        _compact(turn)
    elif broken == "V1-PROXY-09":
        _delegate(turn, {"title": "Search", "state": {"state": "running"}})


def after_work(turn: Turn) -> None:
    """Send what an agent says at the end of a turn."""
    if turn.broken == "V1-USAGE-04":
        used = 1000 * (turn.session.turns + 1)
        usage = {"used": used, "size": WINDOW, "cost": {"amount": used / 1_000_000}}
        turn.agent.update(turn.session, {"sessionUpdate": "usage_update", **usage})
    elif turn.broken == "V1-PROXY-09":
        _delegate(turn, {"state": {"state": "idle", "stopReason": "end_turn"}})


def _offered(turn: Turn, *path: str) -> bool:
    told: Any = turn.agent.client
    for key in path:
        told = told.get(key) if isinstance(told, dict) else None
    return isinstance(told, dict)


def _ask(turn: Turn, message: str, properties: Json) -> None:
    if not _offered(turn, "elicitation", "form"):
        return
    form = {"type": "object", "properties": properties, "required": list(properties)}
    params = {"sessionId": turn.session.id, "mode": "form", "message": message}
    try:
        turn.agent.peer.call("elicitation/create", {**params, "requestedSchema": form}, turn.work)
    except RpcError:
        turn.say("I go on without it. ")


def _compact(turn: Turn) -> None:
    named = {"compactionId": "compaction-" + secrets.token_hex(6)}
    for status in ("in_progress", "completed"):
        said = {"sessionUpdate": "compaction_update", **named, "status": status}
        turn.agent.update(turn.session, said)
    content = {"type": "text", "text": "The user and the agent talked about files."}
    chunk = {"sessionUpdate": "compaction_summary_chunk", **named, "content": content}
    turn.agent.update(turn.session, chunk)


def _delegate(turn: Turn, changes: Json) -> None:
    child = {"sessionUpdate": "subagent_update", "sessionId": turn.session.id + "-search"}
    turn.agent.update(turn.session, {**child, **changes})
