"""What a program says in the words of v1 or v2, as the 2026-02 draft says it.

Content blocks and MCP servers; what is in the draft's words already stays as it is.  What the draft
has no field for goes along in `_meta`, under the key that all bridges use.

Must not know: when anything is sent.
"""

from base64 import b64encode
from typing import Any

from accord.errors import LocalProtocolError
from accord.schema import draft
from accord.schema.codec import encode
from accord.schema.struct import UNSET, Raw, UnknownVariant
from accord.translate.meta_store import DRAFT

_DRAFT_BLOCKS = (
    draft.TextContent,
    draft.ImageContent,
    draft.AudioContent,
    draft.ResourceLink,
    draft.EmbeddedResource,
    draft.Attachment,
)


def draft_block(block: Any) -> Any:
    """A block for a prompt; a string is a text block.

    Raises:
        LocalProtocolError: the draft has no such content.
    """
    if isinstance(block, str):
        return draft.TextContent(text=block)
    if isinstance(block, _DRAFT_BLOCKS):
        return block
    if isinstance(block, UnknownVariant):
        raise LocalProtocolError(f"the draft has no content of type {block.tag!r}")
    convert = _BLOCKS.get(type(block).__name__)
    if convert is None:
        raise LocalProtocolError(f"{type(block).__name__} is neither text nor a content block")
    return convert(block)


def _text(block: Any) -> draft.TextContent:
    return draft.TextContent(text=block.text, meta=_meta(block, annotations=block.annotations))


def _image(block: Any) -> draft.ImageContent:
    meta = _meta(block, annotations=block.annotations, uri=block.uri)
    return draft.ImageContent(source=_source(block), meta=meta)


def _audio(block: Any) -> draft.AudioContent:
    return draft.AudioContent(
        source=_source(block), meta=_meta(block, annotations=block.annotations)
    )


def _source(block: Any) -> draft.MediaSource:
    return draft.MediaSource(type="base64", media_type=block.mime_type, data=block.data)


def _link(block: Any) -> draft.ResourceLink:
    return draft.ResourceLink(
        uri=block.uri,
        mime_type=block.mime_type or UNSET,
        title=block.title or block.name or UNSET,
        meta=_meta(
            block,
            annotations=block.annotations,
            description=block.description,
            size=block.size,
            name=block.name if block.title else UNSET,
        ),
    )


def _resource(block: Any) -> draft.EmbeddedResource:
    held = block.resource
    is_text = held.text is not UNSET
    return draft.EmbeddedResource(
        uri=held.uri,
        mime_type=held.mime_type or UNSET,
        content=held.text if is_text else b64encode(held.blob).decode("ascii"),
        meta=_meta(block, annotations=block.annotations, encoding=UNSET if is_text else "base64"),
    )


# The classes of v1 and of v2 have the same names and the same fields.
_BLOCKS = {
    "TextContent": _text,
    "ImageContent": _image,
    "AudioContent": _audio,
    "ResourceLink": _link,
    "EmbeddedResource": _resource,
}


def _meta(block: Any, **lost: Any) -> Any:
    """The block's own `_meta`, with what the draft has no field for."""
    kept = {name: value for name, value in lost.items() if value is not UNSET and value is not None}
    if not kept:
        return block.meta
    return {**(block.meta or {}), DRAFT: Raw(encode(kept))}


def draft_server(server: Any) -> draft.McpServer:
    """An MCP server.

    Raises:
        LocalProtocolError: the draft cannot say where it is.
    """
    if isinstance(server, draft.McpServer):
        return server
    config = type(server).__struct_config__
    kind = config.tag or getattr(server, "type", UNSET) or "stdio"
    transport: draft.McpTransport
    if kind == "stdio":
        transport = draft.McpStdio(
            command=server.command, args=server.args or UNSET, env=_map(server.env)
        )
    elif kind == "http":
        transport = draft.McpHttp(url=server.url, headers=_map(server.headers))
    elif kind == "sse":
        transport = draft.McpSse(url=server.url, headers=_map(server.headers))
    else:
        raise LocalProtocolError(f"the draft has no MCP servers of type {kind!r}")
    return draft.McpServer(name=server.name, transport=transport, meta=server.meta)


def _map(pairs: Any) -> Any:
    return {pair.name: pair.value for pair in pairs} if pairs else UNSET


__all__ = ["draft_block", "draft_server"]
