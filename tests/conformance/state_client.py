"""A client on the library that shows the kit its state: `state_client.py AGENT`.

docs/how-to/test-with-the-kit.md describes the method.  With `cancel` before the agent it cancels
its turn once the agent has said something.
"""

import sys
from typing import Any

import anyio

from accord import Client, Permissions
from accord.client.connection.extensions import Extensions
from accord.client.session.session import Session
from accord.schema.codec import to_python

extensions = Extensions()
sessions: list[Session] = []


def plain(raw: dict[str, Any]) -> dict[str, Any]:
    return {key: to_python(bytes(value)) for key, value in raw.items()}


def item_text(item: Any) -> str:
    block = getattr(item, "content", None)
    text = getattr(block, "text", None)
    if isinstance(text, str):
        return text
    # The name of its variant on the wire.
    return str(item.__struct_config__.tag)


@extensions.method("_accord.dev/state")
def state(_params: dict[str, Any]) -> dict[str, Any]:
    """What the updates of the session have added up to so far."""
    view = sessions[-1].transcript
    places = {id(entry): at for at, entry in enumerate(view.timeline)}
    messages = [*view.messages, *view.thoughts]
    cost = view.usage.cost
    return {
        "messages": [
            {
                "id": one.message_id,
                "role": "thought" if one in view.thoughts else one.role,
                "text": one.text,
                "at": places.get(id(one), 0),
            }
            for one in messages
        ],
        "toolCalls": [
            {
                "id": one.tool_call_id,
                "title": one.title,
                "kind": one.kind,
                "status": "cancelled" if one.cancelled else one.status,
                "content": [item_text(item) for item in one.content],
                "meta": plain(one.meta),
            }
            for one in view.tool_calls
        ],
        "plans": [
            {"id": one.plan_id or "main", "entries": [entry.content for entry in one.entries]}
            for one in view.plans
        ],
        "commands": [one.name for one in view.commands],
        "title": view.info.title,
        "usage": {"cost": None if cost is None else {"amount": cost.amount}},
        "compactions": [
            {
                "id": one.compaction_id,
                "status": one.status,
                "summary": [one.text] if one.text else [],
                "at": places.get(id(one), 0),
            }
            for one in view.compactions
        ],
        "terminals": [
            {"id": one.terminal_id, "text": one.text, "exited": one.exit_status is not None}
            for one in view.terminals
        ],
        "state": view.state.confirmed or view.state.reported,
        "stopReason": view.state.stop_reason,
        "background": None
        if view.state.background is None
        else [one.item_id for one in view.state.background],
    }


async def main(words: list[str]) -> None:
    cancels = words[0] == "cancel"
    async with Client.spawn(
        *words[1 if cancels else 0 :], permissions=Permissions.allow_all(), extensions=extensions
    ) as client:
        session = await client.new_session(cwd=".")
        sessions.append(session)
        async with session.prompt("hello") as turn:
            async for _update in turn:
                if cancels and session.transcript.messages[-1].role == "agent":
                    cancels = False
                    await session.cancel()


anyio.run(main, sys.argv[1:])
