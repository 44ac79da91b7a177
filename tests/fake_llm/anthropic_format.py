"""Answers in the format of Anthropic's messages."""

import json
from collections.abc import Iterator
from typing import Any

from tests.fake_llm.directives import Usage
from tests.fake_llm.request_parser import Json, Request
from tests.fake_llm.simple_formats import Pieces, halves, new_id

_ENDS = {"max_tokens": "max_tokens", "refusal": "refusal"}
_BLOCKS: dict[str, Json] = {
    "say": {"type": "text", "text": ""},
    "think": {"type": "thinking", "thinking": "", "signature": ""},
}
# Which key of a delta adds to which key of its block.
_GROWS = {"text": "text", "thinking": "thinking", "signature": "signature", "partial_json": "_json"}

Events = Iterator[Json]


def anthropic_events(request: Request, pieces: Pieces, usage: Usage) -> Events:
    """The events of a message; the type of each is also its name."""
    counted = {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
    }
    yield {"type": "message_start", "message": _message(request, counted)}
    index, open_kind, called, stop = -1, "", False, ""
    for piece in pieces:
        if open_kind and piece.kind != open_kind:
            yield from _close(index, open_kind)
            open_kind = ""
        if piece.kind in ("say", "think"):
            if not open_kind:
                index, open_kind = index + 1, piece.kind
                block = _BLOCKS[piece.kind]
                yield {"type": "content_block_start", "index": index, "content_block": block}
            key = "text" if piece.kind == "say" else "thinking"
            delta = {"type": f"{key}_delta", key: piece.text}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        elif piece.kind == "tool":
            index, called = index + 1, True
            yield from _tool_use(index, piece.action.name, piece.action.arguments)
        else:
            stop = piece.text
    reason = "tool_use" if called else _ENDS.get(stop, "end_turn")
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {**counted, "output_tokens": usage.output},
    }
    yield {"type": "message_stop"}


def _message(request: Request, counted: Json) -> Json:
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": counted,
    }


def _close(index: int, kind: str) -> Events:
    if kind == "think":
        delta = {"type": "signature_delta", "signature": "ZmFrZQ=="}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _tool_use(index: int, name: str, arguments: dict[str, Any]) -> Events:
    block = {"type": "tool_use", "id": new_id("toolu_"), "name": name, "input": {}}
    yield {"type": "content_block_start", "index": index, "content_block": block}
    for half in halves(json.dumps(arguments)):
        delta = {"type": "input_json_delta", "partial_json": half}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def anthropic_whole(request: Request, pieces: Pieces, usage: Usage) -> Json:
    """A message in one."""
    content: list[Json] = []
    whole: Json = {}
    for event in anthropic_events(request, pieces, usage):
        if event["type"] == "message_start":
            whole = event["message"]
        elif event["type"] == "content_block_start":
            content.append({**event["content_block"], "_json": ""})
        elif event["type"] == "content_block_delta":
            for source, target in _GROWS.items():
                if source in event["delta"]:
                    grown = content[-1].get(target, "") + event["delta"][source]
                    content[-1][target] = grown
        elif event["type"] == "message_delta":
            whole = {**whole, **event["delta"], "usage": event["usage"]}
    for block in content:
        text = block.pop("_json")
        if block["type"] == "tool_use":
            block["input"] = json.loads(text or "{}")
    return {**whole, "content": content}
