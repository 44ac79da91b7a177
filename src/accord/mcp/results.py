"""Converts tools, resources and results of MCP servers to our own types.

Must not know how a server is reached.

What always holds
    * Content is converted block by block, in order; a block without a counterpart in ACP, or one
      that is too large to send, is described in text and never dropped silently.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from accord.mcp.error_messages import McpFault
from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, UnknownVariant

if TYPE_CHECKING:
    import mcp_types

BLOCK_BYTES_MAX = 8 * 1024 * 1024
"""A larger block would not fit into one message to the client."""

Clean = Callable[[str], str]

BLOCKS_MAX = 200
"""The most blocks of a result; each is an update of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """A tool of a server.  `annotations` are hints of the server, not promises."""

    server: str
    name: str
    title: str | None = None
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    annotations: Mapping[str, Any] = field(default_factory=dict)

    @property
    def read_only(self) -> bool:
        """Whether the server says that the tool changes nothing."""
        return self.annotations.get("readOnlyHint") is True

    @property
    def kind(self) -> str:
        """The kind of its tool calls.

        Never `read`: a permission to read means the session's files, not what a third-party server
        calls reading.
        """
        return "fetch" if self.read_only else "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class McpResource:
    """Something that can be read from a server."""

    server: str
    uri: str
    name: str
    title: str | None = None
    description: str = ""
    mime_type: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpResult:
    """The result of a call.  `text` is for the model, `blocks` are for the user."""

    ok: bool
    text: str
    blocks: Sequence[v2.ContentBlock] = ()
    structured: Any = None

    @classmethod
    def failure(cls, text: str) -> McpResult:
        """Return the result of a failed call, with a reason for the user."""
        return cls(ok=False, text=text, blocks=[v2.TextContent(text=text)])


def tool_of(server: str, tool: mcp_types.Tool) -> McpTool:
    """Convert a tool of the MCP package."""
    hints = tool.annotations
    return McpTool(
        server=server,
        name=tool.name,
        title=tool.title or (hints.title if hints else None),
        description=tool.description or "",
        input_schema=tool.input_schema,
        annotations=hints.model_dump(by_alias=True, exclude_none=True) if hints else {},
    )


def resource_of(server: str, resource: mcp_types.Resource) -> McpResource:
    """Convert a resource of the MCP package."""
    return McpResource(
        server=server,
        uri=str(resource.uri),
        name=resource.name,
        title=resource.title,
        description=resource.description or "",
        mime_type=resource.mime_type,
        size=resource.size,
    )


def result_of(answer: mcp_types.CallToolResult, clean: Clean | None = None) -> McpResult:
    """Convert the result of a tool call.  Structured content without text is shown as JSON.

    Raises:
        McpFault: a block does not follow MCP.
    """
    content = (one.model_dump(by_alias=True, exclude_none=True) for one in answer.content)
    blocks = _blocks(content, clean)
    structured = _cleaned(answer.structured_content, clean)
    text = text_of(blocks)
    if structured is not None and not blocks:
        text = json.dumps(structured, ensure_ascii=False, indent=2)
        blocks = [v2.TextContent(text=text)]
    return McpResult(ok=not answer.is_error, text=text, blocks=blocks, structured=structured)


def contents_of(answer: mcp_types.ReadResourceResult, clean: Clean | None = None) -> McpResult:
    """Convert the content of a resource.

    Raises:
        McpFault: a part of it does not follow MCP.
    """
    content = (
        {"type": "resource", "resource": one.model_dump(by_alias=True, exclude_none=True)}
        for one in answer.contents
    )
    blocks = _blocks(content, clean)
    return McpResult(ok=True, text=text_of(blocks), blocks=blocks)


def _blocks(content: Iterable[dict[str, Any]], clean: Clean | None) -> list[v2.ContentBlock]:
    """Convert the blocks, up to the limit; count the rest."""
    blocks: list[v2.ContentBlock] = []
    left = 0
    for number, members in enumerate(content):
        if number >= BLOCKS_MAX:
            left += 1
            continue
        _check_bytes(number, members)
        blocks.append(block_of(_cleaned(members, clean)))
    if left:
        blocks.append(v2.TextContent(text=f"[{left} more blocks left out]"))
    return blocks


def _cleaned(value: Any, clean: Clean | None) -> Any:
    """Redact each text in a value: some servers quote the key that they were given."""
    if clean is None:
        return value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {name: _cleaned(one, clean) for name, one in value.items()}
    return [_cleaned(one, clean) for one in value] if isinstance(value, list) else value


def _check_bytes(number: int, members: dict[str, Any]) -> None:
    """Decode base64, which MCP requires and the package does not check."""
    holder = members.get("resource") if members.get("type") == "resource" else members
    for key in ("data", "blob"):
        data = holder.get(key) if isinstance(holder, dict) else None
        if isinstance(data, str):
            try:
                b64decode(data, validate=True)
            except ValueError:
                raise McpFault(
                    f"its answer is malformed (content.{number}.{key}: not base64)"
                ) from None


def block_of(members: dict[str, Any]) -> v2.ContentBlock:
    """Convert a block to ACP; most blocks are the same in both protocols."""
    data = encode(members)
    if len(data) > BLOCK_BYTES_MAX:
        kind = members.get("type")
        return v2.TextContent(text=f"[{kind} of {len(data)} bytes left out: too large to show]")
    try:
        block: v2.ContentBlock = decode(v2.ContentBlock, data)  # type: ignore[arg-type]
    except Invalid as error:
        return v2.TextContent(text=f"[{members.get('type')} that cannot be shown: {error.reason}]")
    if isinstance(block, UnknownVariant):
        return v2.TextContent(text=f"[{block.tag} that cannot be shown]")
    return block


def text_of(blocks: Iterable[v2.ContentBlock]) -> str:
    """Return the blocks as text, with a placeholder for each that is not text."""
    return "\n".join(_words(one) for one in blocks)


def _words(block: v2.ContentBlock) -> str:
    match block:
        case v2.TextContent():
            return block.text
        case v2.ImageContent():
            return f"[image {block.mime_type}, {len(block.data)} bytes]"
        case v2.AudioContent():
            return f"[audio {block.mime_type}, {len(block.data)} bytes]"
        case v2.ResourceLink():
            return f"[resource {block.name}: {block.uri}]"
        case v2.EmbeddedResource(resource=inner):
            if isinstance(inner.text, str):
                return inner.text
            size = 0 if inner.blob is UNSET else len(inner.blob)
            return f"[resource {inner.uri}, {size} bytes]"
        case _:
            return f"[{block.tag}]"
