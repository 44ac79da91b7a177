"""Answers in the formats that are simple: OpenAI chat, Gemini, Ollama."""

import itertools
import json
import time
from collections.abc import Iterator
from typing import Any

from tests.fake_llm.directives import Piece, Usage
from tests.fake_llm.request_parser import Json, Request

Pieces = Iterator[Piece]
_ids = itertools.count(1)


def new_id(kind: str) -> str:
    """An id that no other answer has."""
    return f"{kind}{next(_ids)}"


def halves(text: str) -> tuple[str, str]:
    """The arguments of a tool come in two pieces."""
    return text[: len(text) // 2], text[len(text) // 2 :]


# ---- OpenAI chat

_CHAT_ENDS = {"max_tokens": "length", "refusal": "content_filter"}


def _chat_usage(usage: Usage) -> Json:
    total = usage.input + usage.output
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": total,
    }


def chat_events(request: Request, pieces: Pieces, usage: Usage) -> Iterator[Json]:
    """The chunks of a chat completion."""
    head = {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": request.model,
    }
    calls = 0

    def chunk(delta: Json, finish: str | None = None) -> Json:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces:
        if piece.kind == "say":
            yield chunk({"content": piece.text})
        elif piece.kind == "think":
            yield chunk({"reasoning_content": piece.text})
        elif piece.kind == "tool":
            call = _chat_call(piece, "")
            yield chunk({"tool_calls": [{"index": calls, **call}]})
            for half in halves(json.dumps(piece.action.arguments)):
                part = {"index": calls, "function": {"arguments": half}}
                yield chunk({"tool_calls": [part]})
            calls += 1
        else:
            yield chunk({}, "tool_calls" if calls else _CHAT_ENDS.get(piece.text, "stop"))
    yield {**head, "choices": [], "usage": _chat_usage(usage)}


def _chat_call(piece: Piece, arguments: str) -> Json:
    function = {"name": piece.action.name, "arguments": arguments}
    return {"id": new_id("call_"), "type": "function", "function": function}


def chat_whole(request: Request, pieces: Pieces, usage: Usage) -> Json:
    """A chat completion in one."""
    message: Json = {"role": "assistant", "content": None}
    finish = "stop"
    for piece in pieces:
        if piece.kind == "say":
            message["content"] = (message["content"] or "") + piece.text
        elif piece.kind == "think":
            message["reasoning_content"] = message.get("reasoning_content", "") + piece.text
        elif piece.kind == "tool":
            call = _chat_call(piece, json.dumps(piece.action.arguments))
            message.setdefault("tool_calls", []).append(call)
        else:
            called = "tool_calls" in message
            finish = "tool_calls" if called else _CHAT_ENDS.get(piece.text, "stop")
    return {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _chat_usage(usage),
    }


# ---- Gemini


def gemini_events(request: Request, pieces: Pieces, usage: Usage) -> Iterator[Json]:
    """The chunks of generated content."""
    counted = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output,
        "totalTokenCount": usage.input + usage.output,
    }
    head = {"usageMetadata": counted, "modelVersion": request.model, "responseId": new_id("resp")}

    def chunk(part: Json, finish: str | None = None) -> Json:
        candidate: Json = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        return {"candidates": [candidate], **head}

    for piece in pieces:
        if piece.kind == "say":
            yield chunk({"text": piece.text})
        elif piece.kind == "think":
            yield chunk({"text": piece.text, "thought": True})
        elif piece.kind == "tool":
            call = {"id": new_id("call_"), "name": piece.action.name}
            call["args"] = piece.action.arguments  # type: ignore[assignment]
            yield chunk({"functionCall": call, "thoughtSignature": "ZmFrZQ=="})
        else:
            ends = {"max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}
            yield chunk({"text": ""}, ends.get(piece.text, "STOP"))


def gemini_whole(request: Request, pieces: Pieces, usage: Usage) -> Json:
    """Generated content in one."""
    chunks = list(gemini_events(request, pieces, usage))
    parts: list[Json] = []
    for chunk in chunks:
        for part in chunk["candidates"][0]["content"]["parts"]:
            last = parts[-1] if parts else {}
            alike = last.get("thought") == part.get("thought")
            if "text" in part and "text" in last and alike:
                last["text"] += part["text"]
            else:
                parts.append(dict(part))
    chunks[-1]["candidates"][0]["content"]["parts"] = parts
    return chunks[-1]


# ---- Ollama


def ollama_events(request: Request, pieces: Pieces, usage: Usage) -> Iterator[Json]:
    """The lines of Ollama's own format."""
    head = {"model": request.model, "created_at": "2026-01-01T00:00:00Z"}
    for piece in pieces:
        message: Json = {"role": "assistant", "content": ""}
        if piece.kind == "say":
            message["content"] = piece.text
        elif piece.kind == "think":
            message["thinking"] = piece.text
        elif piece.kind == "tool":
            function = {"name": piece.action.name, "arguments": piece.action.arguments}
            message["tool_calls"] = [{"function": function}]
        else:
            counts = {"prompt_eval_count": usage.input, "eval_count": usage.output}
            end = {"done": True, "done_reason": "stop", "total_duration": 1, **counts}
            yield {**head, "message": message, **end}
            return
        yield {**head, "message": message, "done": False}


def ollama_whole(request: Request, pieces: Pieces, usage: Usage) -> Json:
    """The same in one."""
    message: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": []}
    last: Json = {}
    for event in ollama_events(request, pieces, usage):
        message["content"] += event["message"]["content"]
        message["tool_calls"].extend(event["message"].get("tool_calls", []))
        last = event
    return {**last, "message": message}
