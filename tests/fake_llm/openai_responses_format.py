"""Answers in the format of OpenAI's responses: items that are opened, grow and are closed."""

import itertools
import json
import time
from collections.abc import Iterator
from typing import Any

from tests.fake_llm.directives import Action, Usage
from tests.fake_llm.request_parser import Json, Request
from tests.fake_llm.simple_formats import Pieces, new_id

Events = Iterator[Json]

_EMPTY_TEXT: Json = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
_EMPTY_SUMMARY: Json = {"type": "summary_text", "text": ""}


class ResponseSpeaker:
    """One response.  `output` has its closed items, in order."""

    def __init__(self, request: Request, tools: list[Json]) -> None:
        self.id = new_id("resp_")
        self.output: list[Json] = []
        self._request = request
        self._tools = tools
        self._open: Json | None = None
        self._numbers = itertools.count()

    def events(self, pieces: Pieces, usage: Usage) -> Events:
        """All events; the type of each is also its name."""
        yield self._event("response.created", response=self._response("in_progress"))
        yield self._event("response.in_progress", response=self._response("in_progress"))
        stop = ""
        for piece in pieces:
            if piece.kind == "say":
                yield from self._grow("message", piece.text)
            elif piece.kind == "think":
                yield from self._grow("reasoning", piece.text)
            elif piece.kind == "tool":
                yield from self._close()
                yield from self._call(piece.action)
            else:
                stop = piece.text
        yield from self._close()
        yield self._end(stop, usage)

    def _event(self, kind: str, **more: Any) -> Json:
        return {"type": kind, "sequence_number": next(self._numbers), **more}

    def _response(self, status: str, **more: Any) -> Json:
        return {
            "id": self.id,
            "object": "response",
            "created_at": int(time.time()),
            "status": status,
            "model": self._request.model,
            "output": list(self.output),
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            **more,
        }

    def _grow(self, kind: str, text: str) -> Events:
        if self._open is not None and self._open["type"] != kind:
            yield from self._close()
        if self._open is None:
            yield from self._begin(kind)
        item = self._open
        assert item is not None
        where = {"item_id": item["id"], "output_index": len(self.output)}
        if kind == "message":
            item["content"][0]["text"] += text
            more = {**where, "content_index": 0, "delta": text, "logprobs": []}
            yield self._event("response.output_text.delta", **more)
        else:
            item["summary"][0]["text"] += text
            more = {**where, "summary_index": 0, "delta": text}
            yield self._event("response.reasoning_summary_text.delta", **more)

    def _begin(self, kind: str) -> Events:
        index = len(self.output)
        if kind == "message":
            said = {"role": "assistant", "status": "in_progress", "content": [dict(_EMPTY_TEXT)]}
            self._open = {"type": kind, "id": new_id("msg_"), **said}
            added = {**self._open, "content": []}
            part = {"content_index": 0, "part": dict(_EMPTY_TEXT)}
            name = "response.content_part.added"
        else:
            self._open = {"type": kind, "id": new_id("rs_"), "summary": [dict(_EMPTY_SUMMARY)]}
            added = {**self._open, "summary": []}
            part = {"summary_index": 0, "part": dict(_EMPTY_SUMMARY)}
            name = "response.reasoning_summary_part.added"
        yield self._event("response.output_item.added", output_index=index, item=added)
        yield self._event(name, item_id=self._open["id"], output_index=index, **part)

    def _close(self) -> Events:
        item, index = self._open, len(self.output)
        if item is None:
            return
        where = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            part = item["content"][0]
            done = {**where, "content_index": 0}
            text = {"text": part["text"], "logprobs": []}
            yield self._event("response.output_text.done", **done, **text)
            yield self._event("response.content_part.done", **done, part=part)
        else:
            part = item["summary"][0]
            done = {**where, "summary_index": 0}
            yield self._event("response.reasoning_summary_text.done", **done, text=part["text"])
            yield self._event("response.reasoning_summary_part.done", **done, part=part)
        item["status"] = "completed"
        self._open = None
        self.output.append(item)
        yield self._event("response.output_item.done", output_index=index, item=item)

    def _call(self, action: Action) -> Events:
        index = len(self.output)
        item = self._call_item(action)
        # A custom tool takes free text, any other one JSON.
        custom = item["type"] == "custom_tool_call"
        key = "input" if custom else "arguments"
        stem = "custom_tool_call_input" if custom else "function_call_arguments"
        where = {"item_id": item["id"], "output_index": index}
        added = {**item, key: "", "status": "in_progress"}
        yield self._event("response.output_item.added", output_index=index, item=added)
        yield self._event(f"response.{stem}.delta", **where, delta=item[key])
        yield self._event(f"response.{stem}.done", **where, **{key: item[key]})
        self.output.append(item)
        yield self._event("response.output_item.done", output_index=index, item=item)

    def _call_item(self, action: Action) -> Json:
        ids = {"id": new_id("fc_"), "call_id": new_id("call_")}
        item: Json = {"type": "function_call", **ids, "name": action.name, "status": "completed"}
        for tool in self._tools:
            if any(inner.get("name") == action.name for inner in tool.get("tools") or []):
                item["namespace"] = tool.get("name")
            if tool.get("type") == "custom" and tool.get("name") == action.name:
                text = action.arguments.get("input", "")
                return {**item, "type": "custom_tool_call", "input": text}
        return {**item, "arguments": json.dumps(action.arguments)}

    def _end(self, stop: str, usage: Usage) -> Json:
        counted = {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input + usage.output,
        }
        if not stop:
            whole = self._response("completed", usage=counted)
            return self._event("response.completed", response=whole)
        reason = "max_output_tokens" if stop == "max_tokens" else "content_filter"
        details = {"reason": reason}
        whole = self._response("incomplete", usage=counted, incomplete_details=details)
        return self._event("response.incomplete", response=whole)
