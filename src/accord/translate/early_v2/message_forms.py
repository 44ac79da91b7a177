"""Messages that early v2 writes differently from today's v2, in both directions.

Today's form is made in place of the early one.  Nothing is looked at but the kinds of updates
that differ, since every streamed message passes here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from accord.schema.codec import encode, to_python
from accord.translate.diffs import diff_of, wire_diff
from accord.translate.message import Json

UNTITLED = "Permission requested"


def update_of_today(update: Json) -> None:
    """Make today's form of an update; one that has it already is left alone."""
    change = _CHANGES.get(update.get("sessionUpdate", ""))
    if change is not None:
        change(update)


def _plan(update: Json) -> None:
    plan = update.get("plan")
    if isinstance(plan, dict) and "id" in plan and "planId" not in plan:
        plan["planId"] = plan.pop("id")


def _tool_call(update: Json) -> None:
    content = update.get("content")
    if isinstance(content, list):
        update["content"] = [diff_of_today(item) for item in content]
    for place in update.get("locations") or ():
        if isinstance(place, dict) and place.get("line") == 0:
            del place["line"]


def _content_chunk(update: Json) -> None:
    update["content"] = diff_of_today(update.get("content"))


_CHANGES: dict[str, Callable[[Json], None]] = {
    "plan_update": _plan,
    "tool_call_update": _tool_call,
    "tool_call_content_chunk": _content_chunk,
}


def diff_of_today(item: Any) -> Any:
    """A diff of two texts as changes and a patch; anything else as it is."""
    # One that was read already has an empty list of changes beside the texts.
    if not isinstance(item, dict) or item.get("type") != "diff" or item.get("changes"):
        return item
    path, new_text = item.get("path"), item.get("newText")
    if not isinstance(path, str) or not isinstance(new_text, str):
        return item
    old_text = item.get("oldText")
    made: Json = to_python(encode(wire_diff(diff_of(path, old_text, new_text))))
    rest = {key: item[key] for key in item.keys() - {"path", "oldText", "newText"}}
    return {**rest, **made}


def permission_of_today(params: Json) -> None:
    """A question about a tool call beside the options becomes one about a subject."""
    tool_call = params.get("toolCall")
    if not isinstance(tool_call, dict) or "subject" in params:
        return
    del params["toolCall"]
    _tool_call(tool_call)
    params["subject"] = {"type": "tool_call", "toolCall": tool_call}
    params["title"] = params.get("title") or tool_call.get("title") or UNTITLED
