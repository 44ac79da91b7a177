"""Content blocks and attachments of the 2026-02 draft.

Must not know: the blocks of other versions.  Images and audio keep their bytes in a `source`,
where the official versions put them on the block itself.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.schema.struct import UNSET, Omit, UnknownVariant, WireStruct, Z

SourceType: TypeAlias = Literal["base64", "url"] | str


class MediaSource(WireStruct, frozen=True, kw_only=True):
    """Where the bytes of an image or a sound are: here, or behind an address.

    With both, `data` is the one to use.  Which of them is there counts, not what `type` says.
    """

    type: SourceType
    media_type: str
    data: Z[Omit[bytes]] = UNSET
    url: Z[Omit[str]] = UNSET

    def __post_init__(self) -> None:
        if self.data is UNSET and self.url is UNSET:
            raise ValueError("a source needs `data` or `url`")


class TextContent(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="text"):
    text: str


class ImageContent(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="image"):
    source: MediaSource


class AudioContent(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="audio"):
    source: MediaSource


class ResourceLink(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="resource_link"):
    """A resource that the reader fetches itself, if it wants it."""

    uri: str
    mime_type: Z[Omit[str]] = UNSET
    title: Z[Omit[str]] = UNSET


class EmbeddedResource(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="resource"):
    """A resource with its text."""

    uri: str
    content: str
    mime_type: Z[Omit[str]] = UNSET
    title: Z[Omit[str]] = UNSET


if TYPE_CHECKING:
    ContentBlock: TypeAlias = (
        TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownVariant
    )
else:
    ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource


class Attachment(WireStruct, frozen=True, kw_only=True):
    """A file that goes with a prompt.  The draft names the type and leaves it undefined.

    So this is what senders can be expected to write: an address or a path, perhaps the text.
    """

    uri: Z[Omit[str]] = UNSET
    path: Z[Omit[str]] = UNSET
    name: Z[Omit[str]] = UNSET
    mime_type: Z[Omit[str]] = UNSET
    content: Z[Omit[str]] = UNSET

    def __post_init__(self) -> None:
        if self.uri is UNSET and self.path is UNSET:
            raise ValueError("an attachment needs `uri` or `path`")
