"""Content blocks: what prompts, messages, thoughts and tool calls are made of."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta

from accord.schema.struct import (
    ES,
    UNSET,
    E,
    Omit,
    Patch,
    Uint64,
    UnknownVariant,
    WireStruct,
    check_uint64,
)
from accord.schema.v2.identifiers import MediaType

Role: TypeAlias = Literal["assistant", "user"] | str
IconTheme: TypeAlias = Literal["light", "dark"] | str
Priority = Annotated[float, Meta(ge=0, le=1)]


class Annotations(WireStruct, frozen=True, kw_only=True):
    """Hints on who should see a block and how much it matters."""

    audience: ES[Patch[list[Role]]] = UNSET
    last_modified: E[Patch[str]] = UNSET
    priority: E[Patch[Priority]] = UNSET


class Icon(WireStruct, frozen=True, kw_only=True):
    """A picture for a link; only `https:` and `data:` sources may be fetched."""

    src: str
    mime_type: E[Patch[MediaType]] = UNSET
    sizes: ES[Patch[list[str]]] = UNSET
    theme: E[Patch[IconTheme]] = UNSET


class TextContent(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """Text, which is Markdown unless stated otherwise."""

    text: str
    annotations: E[Patch[Annotations]] = UNSET


class ImageContent(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """A picture; `data` is its bytes, base64 only on the wire."""

    data: bytes
    mime_type: MediaType
    uri: E[Patch[str]] = UNSET
    annotations: E[Patch[Annotations]] = UNSET


class AudioContent(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="audio"):
    """A sound; `data` is its bytes, base64 only on the wire."""

    data: bytes
    mime_type: MediaType
    annotations: E[Patch[Annotations]] = UNSET


class ResourceLink(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="resource_link"):
    """A pointer to something that the reader can fetch."""

    name: str
    uri: str
    title: E[Patch[str]] = UNSET
    description: E[Patch[str]] = UNSET
    icons: ES[Patch[list[Icon]]] = UNSET
    mime_type: E[Patch[MediaType]] = UNSET
    size: E[Patch[Uint64]] = UNSET
    annotations: E[Patch[Annotations]] = UNSET

    def __post_init__(self) -> None:
        check_uint64(self.size)


class EmbeddedResourceResource(WireStruct, frozen=True, kw_only=True):
    """The contents of a resource: `text` or `blob`, whichever key is there.

    One struct for the protocol's two, because nothing but that key tells them apart.  If both are
    there the text counts.
    """

    uri: str
    text: Omit[str] = UNSET
    blob: Omit[bytes] = UNSET
    mime_type: E[Patch[MediaType]] = UNSET

    def __post_init__(self) -> None:
        if self.text is UNSET and self.blob is UNSET:
            raise ValueError("Expected `text` or `blob`")


class EmbeddedResource(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="resource"):
    """A resource with its contents."""

    resource: EmbeddedResourceResource
    annotations: E[Patch[Annotations]] = UNSET


if TYPE_CHECKING:
    ContentBlock: TypeAlias = (
        TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownVariant
    )
else:
    ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
