"""Permission requests and forms of the agent in v1's form, and the client's answers in v2's.

What always holds
    * An option of a kind that v1 does not know is never shown as consent.
    * An answer that is not one of the options that were offered is not consent.
"""

from __future__ import annotations

from typing import Any, Final

from accord.jsonrpc.error_codes import INVALID_PARAMS, REQUEST_CANCELLED
from accord.translate.message import Answer, CannotTranslate, Failure, Json, Result
from accord.translate.meta_store import OFFICIAL, is_valid, keep, kept, restore, take
from accord.translate.permission_contents import asked_contents, first_text
from accord.translate.v2_agent.client_features import TranslationContext
from accord.translate.v2_agent.updates.diffs import text_item
from accord.translate.v2_agent.updates.tool_calls import ToolCalls

OPTION_KINDS: Final = frozenset({"allow_once", "allow_always", "reject_once", "reject_always"})
FORMATS: Final = frozenset({"email", "uri", "date", "date-time"})
MODES: Final = frozenset({"form", "url"})
ACTIONS: Final = frozenset({"accept", "decline", "cancel"})


def permission_to_v1(
    params: Json, calls: ToolCalls, context: TranslationContext
) -> tuple[list[Json], Json]:
    """Return the updates that the client needs first, and the request."""
    title: str = params.pop("title")
    description = params.pop("description", None)
    subject: Json = params.pop("subject", None) or {}
    if not subject and isinstance(params.get("toolCall"), dict):
        # The form of the early drafts of v2.
        subject = {"type": "tool_call", "toolCall": params["toolCall"]}
    kind = subject.get("type")
    told: list[Json] = []
    if kind == "tool_call":
        call: Json = subject["toolCall"]
        known = call.get("title", calls.title_of(call["toolCallId"]))
        names_itself = title in ("", known)
        if description is not None and description == first_text(call.get("content")):
            # The tool call already has the text.
            description = None
        told_first, call = calls.asked_about(call)
        told += told_first
        if "content" in call:
            call["content"] = asked_contents(call["content"])
        if description or not names_itself:
            spoken = [description] if names_itself else [title, description]
            keep(params, OFFICIAL, "title", title)
            if description:
                keep(params, OFFICIAL, "description", description)
            _say_why(call, [one for one in spoken if one], calls)
    elif kind == "command":
        call = _command(subject, title, context)
        if description:
            shown = calls.shown(call["toolCallId"])
            call["content"] = asked_contents(shown, text_item(description))
    else:
        call = {"toolCallId": f"perm-{context.around.fresh()}", "title": title, "kind": "other"}
        if description:
            call["content"] = [text_item(description)]
        if subject:
            context.lose(params, "raw", subject, "permission subject")
    params["toolCall"] = call
    params["options"] = [_option(option, context) for option in params["options"]]
    return told, params


def _say_why(call: Json, spoken: list[str], calls: ToolCalls) -> None:
    """Add the text of the request to the contents of the tool call."""
    item = text_item("\n".join(spoken))
    keep(item, OFFICIAL, "prompt", True)
    shown = call["content"] if "content" in call else calls.shown(call["toolCallId"])
    call["content"] = asked_contents(shown, item)


def _command(subject: Json, title: str, context: TranslationContext) -> Json:
    raw_input = {"command": subject["command"], "cwd": subject["cwd"]}
    call: Json = {
        "toolCallId": subject.get("toolCallId") or f"cmd-{context.around.fresh()}",
        "title": title,
        "kind": "execute",
        "rawInput": raw_input,
    }
    if subject.get("terminalId") is not None:
        keep(call, OFFICIAL, "terminalId", subject["terminalId"])
    return call


def _option(option: Json, context: TranslationContext) -> Json:
    kind = option["kind"]
    if kind not in OPTION_KINDS:
        option["kind"] = "reject_once"
        context.lose(option, "kind", kind, "permission option kind")
    return option


def permission_answer(answer: Answer, offered: frozenset[str]) -> Answer:
    """Convert the client's answer to v2."""
    if isinstance(answer, Failure):
        return _refused(answer, {}) if answer.code == REQUEST_CANCELLED else answer
    result: Json = answer.result
    outcome: Json = result["outcome"]
    kind = outcome["outcome"]
    if kind == "cancelled" or (kind == "selected" and outcome["optionId"] in offered):
        return answer
    return _refused(answer, result)


def _refused(answer: Answer, result: Json) -> Answer:
    return Result(answer.key, {**result, "outcome": {"outcome": "cancelled"}})


def form_to_v1(params: Json, context: TranslationContext) -> Json:
    """Convert `elicitation/create` to v1.

    Raises:
        CannotTranslate: a way of asking that v1 does not have.
    """
    if params["mode"] not in MODES:
        raise CannotTranslate(
            INVALID_PARAMS, f"the client does not support the elicitation mode {params['mode']!r}"
        )
    schema: Json = params.get("requestedSchema") or {}
    properties: Json = schema.get("properties") or {}
    dropped = kept(schema, OFFICIAL).get("properties")
    if isinstance(dropped, dict) and all(map(_is_field, dropped.values())):
        names = take(schema, OFFICIAL).get("required")
        schema["properties"] = properties = {**properties, **dropped}
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            schema["required"] = names
    for field in properties.values():
        restore(field, {"enum": _is_empty, "oneOf": _is_empty})
        shape = field.get("format") if field.get("type") == "string" else None
        if shape is not None and shape not in FORMATS:
            del field["format"]
            context.lose(field, "format", shape, "string format")
    return params


def _is_field(value: Any) -> bool:
    from accord.schema import v1

    return is_valid(v1.MultiSelectPropertySchema, value)


def _is_empty(value: Any) -> bool:
    """Whether this is an empty list of choices, which only v1 allows."""
    return isinstance(value, list) and not value


def form_answer(answer: Answer) -> Answer:
    """Convert the user's answer; an unknown action counts as no answer."""
    if isinstance(answer, Result) and answer.result["action"] not in ACTIONS:
        return Result(answer.key, {"action": "cancel"})
    return answer
