"""What MCP servers offer and answer, in our own values.

Must not know how a server is reached.

What always holds
    * Content is mapped block by block and keeps its order; a block that ACP has no word for, or
      that is too large to send, is said in text, never left out without a word.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, UnknownVariant

if TYPE_CHECKING:
    import mcp_types

BLOCK_BYTES_MAX = 8 * 1024 * 1024
"""A block that is larger would not fit into one message to the client."""


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
        """The kind of tool call that shows it; what nobody vouches for is `other`."""
        if not self.read_only:
            return "other"
        return "fetch" if self.annotations.get("openWorldHint") is True else "read"


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
    """How a call ended.  `text` is what a model reads, `blocks` what the user sees."""

    ok: bool
    text: str
    blocks: Sequence[v2.ContentBlock] = ()
    structured: Any = None

    @classmethod
    def failure(cls, text: str) -> McpResult:
        """A call that came to nothing, for a reason that a person understands."""
        return cls(ok=False, text=text, blocks=[v2.TextContent(text=text)])


def tool_of(server: str, tool: mcp_types.Tool) -> McpTool:
    """A tool as we know it."""
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
    """A resource as we know it."""
    return McpResource(
        server=server,
        uri=str(resource.uri),
        name=resource.name,
        title=resource.title,
        description=resource.description or "",
        mime_type=resource.mime_type,
        size=resource.size,
    )


def result_of(answer: mcp_types.CallToolResult) -> McpResult:
    """The result of a tool call.  Structured content without text is shown as JSON."""
    blocks = [block_of(one.model_dump(by_alias=True, exclude_none=True)) for one in answer.content]
    text = text_of(blocks)
    if answer.structured_content is not None and not blocks:
        text = json.dumps(answer.structured_content, ensure_ascii=False, indent=2)
        blocks = [v2.TextContent(text=text)]
    return McpResult(
        ok=not answer.is_error, text=text, blocks=blocks, structured=answer.structured_content
    )


def contents_of(answer: mcp_types.ReadResourceResult) -> McpResult:
    """What was read from a resource."""
    blocks = [
        block_of({"type": "resource", "resource": one.model_dump(by_alias=True, exclude_none=True)})
        for one in answer.contents
    ]
    return McpResult(ok=True, text=text_of(blocks), blocks=blocks)


def block_of(members: dict[str, Any]) -> v2.ContentBlock:
    """A block of MCP's in the words of ACP, which are the same but for what is new in either."""
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
    """The blocks as a text: what is no text is named."""
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


__all__ = [
    "McpResource",
    "McpResult",
    "McpTool",
    "block_of",
    "contents_of",
    "resource_of",
    "result_of",
    "text_of",
    "tool_of",
]
