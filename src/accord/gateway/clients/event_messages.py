"""What each event of a session's log is on the wire to one client.

What always holds
    * A client that is sent history gets what was said, and nothing about what is long over.
    * A client is not sent its own prompt again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accord.gateway.sessions import log_events
from accord.gateway.sessions.attachment import Attachment
from accord.gateway.sessions.hosted_session import HostedSession
from accord.gateway.sessions.log_events import Event, content_of
from accord.gateway.sessions.session_versions import VERSIONS
from accord.gateway.sessions.turns import AUTHOR_META
from accord.jsonrpc.envelope import notification_frame
from accord.schema.codec import encode, to_python
from accord.schema.method import SESSION_UPDATE

_STATE = b'"state_update"'


def shown(session: HostedSession, attachment: Attachment, event: Event) -> Iterator[bytes]:
    """Yield the frames that an event means to a client."""
    match event.kind:
        case log_events.UPDATE:
            if not (attachment.is_replaying and _is_state(event.body)):
                yield notification_frame(SESSION_UPDATE, event.body)
        case log_events.NOTIFICATION:
            content = content_of(event)
            yield notification_frame(content["method"], encode(content["params"]))
        case log_events.PROMPT if VERSIONS[session.facts.version].answer_ends_turn:
            content = content_of(event)
            is_own = content.get("connection") == attachment.client.token
            if attachment.is_replaying or not is_own:
                for update in _repeated(content, event.seq):
                    yield update_frame(session, update)
        case log_events.REMARK:
            text = content_of(event)["text"]
            yield update_frame(session, VERSIONS[session.facts.version].remark(text, event.seq))
        case _:
            pass


def told(
    session: HostedSession, attachment: Attachment, event: Event
) -> tuple[str, dict[str, Any]] | None:
    """Return the gateway's own notification that an event means to a client that knows it."""
    if attachment.is_replaying:
        return None
    about: dict[str, Any] = {"sessionId": session.session_id}
    ends_turn = VERSIONS[session.facts.version].answer_ends_turn
    match event.kind:
        case log_events.MEMBERS:
            about["members"] = session.people.listed()
            return "_accord.session/members", about
        case log_events.SETTLED:
            return "_accord.session/settled", {**about, **content_of(event)}
        case log_events.PROMPT if ends_turn:
            return "_accord.session/turn", {**about, "turn": content_of(event)["author"]}
        case log_events.ANSWER if ends_turn:
            return "_accord.session/turn", {**about, "turn": None}
        case _:
            return None


def update_frame(session: HostedSession, update: dict[str, Any]) -> bytes:
    """Return the frame of an update that the gateway makes."""
    params = {"sessionId": session.session_id, "update": update}
    return notification_frame(SESSION_UPDATE, encode(params))


def _repeated(content: dict[str, Any], seq: int) -> Iterator[dict[str, Any]]:
    """Yield the message that shows a prompt, where the agent does not repeat it."""
    for block in content.get("prompt") or ():
        yield {
            "sessionUpdate": "user_message_chunk",
            "messageId": f"prompt-{seq}",
            "content": block,
            "_meta": {AUTHOR_META: content["author"]},
        }


def _is_state(body: bytes) -> bool:
    """Whether an update reports a state: few have the word, and not all of them as their kind."""
    if _STATE not in body:
        return False
    read = to_python(body)
    update = read.get("update") if isinstance(read, dict) else None
    return isinstance(update, dict) and update.get("sessionUpdate") == "state_update"
