"""Forms that an agent shows to the user, and what comes back.

v2 wants the type and the properties of a form to be there, and no empty list of choices; v1 takes
back strings, numbers, truth values and lists of strings only.
"""

from __future__ import annotations

from typing import Any, Final

from accord.translate.message import Answer, Failure, Json, Result
from accord.translate.meta_store import OFFICIAL, is_text, keep, restore

ACTIONS: Final = frozenset({"accept", "decline", "cancel"})
# Where the choices of a property stand.
CHOICES: Final = ("enum", "oneOf")


def form_to_v2(params: Json) -> None:
    """Fill in what v1 may leave out, and take out what v2 does not allow."""
    schema = params.get("requestedSchema")
    if params.get("mode") != "form" or not isinstance(schema, dict):
        return
    schema["type"] = "object"
    properties: Json = schema.setdefault("properties", {})
    dropped: Json = {}
    for name, wanted in list(properties.items()):
        kind = wanted["type"]
        if kind == "string":
            restore(wanted, {"format": is_text})
            for choice in CHOICES:
                if wanted.get(choice) == []:
                    # Nothing to choose from: v1 clients show a field for any text.
                    keep(wanted, OFFICIAL, choice, wanted.pop(choice))
        elif kind == "array" and _is_empty(wanted["items"]):
            dropped[name] = properties.pop(name)
    if dropped:
        keep(schema, OFFICIAL, "properties", dropped)
        required = schema.get("required") or []
        if not dropped.keys().isdisjoint(required):
            schema["required"] = [name for name in required if name not in dropped]
            keep(schema, OFFICIAL, "required", required)


def _is_empty(items: Json) -> bool:
    return items.get("enum") == [] or ("type" not in items and items.get("anyOf") == [])


def answer_to_v1(answer: Answer) -> Answer:
    """What the user did; an action that v1 does not know is the same as closing the form."""
    if isinstance(answer, Failure):
        return answer
    result: Json = answer.result
    action = result["action"]
    if action not in ACTIONS:
        closed: Json = {"action": "cancel"}
        keep(closed, OFFICIAL, "raw", result)
        return Result(answer.key, closed)
    content = result.get("content")
    if isinstance(content, dict):
        odd = {name: value for name, value in content.items() if not _is_simple(value)}
        if odd:
            result["content"] = {name: value for name, value in content.items() if name not in odd}
            keep(result, OFFICIAL, "content", odd)
    return answer


def _is_simple(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | int | float)
