"""Requests of five formats, read into one form."""

import json
from dataclasses import dataclass
from typing import Any

from tests.fake_llm.directives import Action, after_failures, parse_directives, split_turns

Json = dict[str, Any]
RESULT_CHARACTERS_MAX = 2000


@dataclass(frozen=True)
class Message:
    """A block of a message: `role` is user, assistant or tool."""

    role: str
    text: str = ""


@dataclass(frozen=True)
class Request:
    """A request, independent of its format."""

    form: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...]
    model: str
    stream: bool
    # Of structured output, where the request wants that.
    schema: Any = None


def flat(content: Any) -> str:
    """The text of any content, however deep."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, (flat(one) for one in content)))
    if isinstance(content, dict):
        for key in ("text", "content", "output", "parts", "response", "result", "error"):
            if content.get(key) is not None:
                return flat(content[key])
        return json.dumps(content)
    return str(content)


def _blocks(role: str, content: Any) -> list[Message]:
    parts = content if isinstance(content, list) else [content]
    return [Message(role, flat(part)) for part in parts] or [Message(role)]


def read_chat(body: Json, form: str = "chat") -> Request:
    """OpenAI's chat completions, and Ollama's own."""
    messages: list[Message] = []
    for message in body.get("messages", []):
        role = message.get("role")
        if role not in ("system", "developer"):
            said_by = "tool" if role in ("tool", "function") else role
            messages.extend(_blocks(said_by, message.get("content")))
    tools = tuple(tool.get("function", tool).get("name", "") for tool in body.get("tools") or [])
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    stream = bool(body.get("stream", form == "ollama"))
    return Request(form, tuple(messages), tools, body.get("model", ""), stream, schema)


def read_responses(body: Json, items: list[Any]) -> Request:
    """OpenAI's responses; `items` is the whole input, with what earlier responses kept."""
    messages: list[Message] = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "message":
            if item.get("role") not in ("system", "developer"):
                messages.extend(_blocks(item.get("role", "user"), item.get("content")))
        elif kind.endswith("_call_output"):
            messages.append(Message("tool", flat(item.get("output"))))
        elif kind.endswith("_call"):
            messages.append(Message("assistant"))
    tools: list[str] = []
    for tool in body.get("tools") or []:
        tools.append(tool.get("name") or tool.get("type", ""))
        # A namespace has tools of its own.
        tools.extend(inner.get("name", "") for inner in tool.get("tools") or [])
    schema = ((body.get("text") or {}).get("format") or {}).get("schema")
    model, stream = body.get("model", ""), bool(body.get("stream"))
    return Request("responses", tuple(messages), tuple(tools), model, stream, schema)


def read_anthropic(body: Json) -> Request:
    """Anthropic's messages: results of tools are blocks of the user's message there."""
    messages: list[Message] = []
    for message in body.get("messages", []):
        content = message.get("content")
        if message.get("role") == "user" and isinstance(content, list):
            results = [one for one in content if one.get("type") == "tool_result"]
            others = [one for one in content if one.get("type") != "tool_result"]
            if results:
                messages.append(Message("tool", flat([one.get("content") for one in results])))
            if others:
                messages.extend(_blocks("user", others))
        else:
            messages.append(Message(message.get("role", "user"), flat(content)))
    tools = tuple(tool.get("name", "") for tool in body.get("tools") or [])
    wanted = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    model, stream = body.get("model", ""), bool(body.get("stream"))
    return Request("anthropic", tuple(messages), tools, model, stream, wanted.get("schema"))


def read_gemini(body: Json, path: str) -> Request:
    """Gemini's contents; the model and whether to stream are in the path."""
    messages: list[Message] = []
    for content in body.get("contents") or []:
        message = content if isinstance(content, dict) else {"parts": [{"text": content}]}
        parts = message.get("parts") or []
        texts = [part for part in parts if "text" in part]
        if message.get("role") == "model":
            messages.append(Message("assistant", flat(texts)))
            continue
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if results:
            messages.append(Message("tool", flat([one.get("response") for one in results])))
        if texts:
            messages.extend(_blocks("user", texts))
    declared = [one for tool in body.get("tools") or [] for one in _declarations(tool)]
    tools = tuple(one.get("name", "") for one in declared)
    model = path.rsplit("/", 1)[-1].split(":")[0]
    config = body.get("generationConfig") or {}
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    stream = "streamGenerateContent" in path
    return Request("gemini", tuple(messages), tools, model, stream, schema)


def _declarations(tool: Json) -> list[Json]:
    found: list[Json] = tool.get("functionDeclarations") or []
    return found


def smallest(schema: Any) -> Any:
    """A small value that fits a JSON schema, as far as its commonest keywords go."""
    if not isinstance(schema, dict):
        return "fake"
    if schema.get("enum"):
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return smallest(schema[key][0])
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = (kind[0] if isinstance(kind, list) else kind).lower()
    if kind == "object":
        properties = schema.get("properties") or {}
        return {key: smallest(properties.get(key)) for key in schema.get("required") or properties}
    if kind == "array":
        return [smallest(schema.get("items"))] * schema.get("minItems", 0)
    numbers = {"integer": int(schema.get("minimum", 0)), "number": schema.get("minimum", 0)}
    return {"string": "fake", "boolean": False, **numbers}.get(kind)


def plan(request: Request, default: str, title: str) -> list[Action]:
    """What the model does in answer to a request."""
    if request.schema and not request.tools:
        return [Action("say", text=json.dumps(smallest(request.schema)))]
    at, actions = _in_force(request.messages)
    if at < 0:
        return [Action("say", text=default if request.tools else title)]
    turns = split_turns(after_failures(actions))
    turn = _turns_taken(request.messages[at + 1 :])
    if turn >= len(turns):
        return [Action("say", text=default)]
    if any(action.kind == "tool" for action in turns[turn]) and not request.tools:
        return [Action("say", text=title)]
    results = [message.text for message in request.messages if message.role == "tool"]
    newest = results[-1][:RESULT_CHARACTERS_MAX] if results else ""
    return [_spoken(action, request.tools, newest) for action in turns[turn]]


def _in_force(messages: tuple[Message, ...]) -> tuple[int, list[Action]]:
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "user":
            found = parse_directives(messages[index].text)
            if found:
                return index, found
    return -1, []


def _turns_taken(messages: tuple[Message, ...]) -> int:
    """A run of blocks by the assistant is one turn."""
    count, last = 0, "user"
    for message in messages:
        count += message.role == "assistant" and last != "assistant"
        last = message.role
    return count


def _spoken(action: Action, tools: tuple[str, ...], result: str) -> Action:
    if action.kind == "tools":
        return Action("say", text="tools: " + " ".join(tools))
    if action.kind == "say":
        return Action("say", text=action.text.replace("$RESULT", result))
    return action
