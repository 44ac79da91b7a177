"""Content that grows block by block: the body of messages and of compaction summaries.

Must not know: which version a block came from.  A text block is one that has a `text`.

Invariant: appending costs the same however much is there already.  Chunks are laid aside as they
come and joined when somebody looks, so a message of many chunks is joined once, not once a chunk.
Where nobody looks they are joined now and then, so that many small chunks take little more memory
than their text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from accord.schema.struct import UNSET, Patch, Raw
from accord.transcript.items.meta import patch_meta

# A content block of whatever version the connection speaks, as it was received: for whoever
# reads it, and for the code here, which looks at nothing but a `text`.
if TYPE_CHECKING:
    from accord.schema import v1, v2

    ReceivedBlock: TypeAlias = v1.ContentBlock | v2.ContentBlock
Block: TypeAlias = Any

# The number of chunks between two checks whether to join what was laid aside; a power of two.
CHUNKS_ASIDE = 4096
_ASIDE_MASK = CHUNKS_ASIDE - 1
# What a chunk takes in memory beside its text.
CHUNK_BYTES = 128


def text_of(block: Block) -> str:
    """The text of a text block, and nothing of any other."""
    text: str = getattr(block, "text", "")
    return text


def joined_text(blocks: Sequence[Block]) -> str:
    """The text of several blocks, one after the other."""
    if len(blocks) == 1:
        return text_of(blocks[0])
    return "".join([text_of(block) for block in blocks])


def _is_plain_text(block: Block) -> bool:
    # Text with annotations or metadata stays a block of its own: joined, they would say
    # something about words that they were not meant for.
    return (
        hasattr(block, "text")
        and block.meta is UNSET
        and getattr(block, "annotations", UNSET) is UNSET
    )


class Content:
    """An ordered body of content blocks with metadata.

    Guards: `text` is always the concatenation of the text of all blocks, and blocks that came as
    one array stay apart while text that came in chunks is one block.
    """

    __slots__ = (
        "_blocks",
        "_counted",
        "_fresh",
        "_joinable",
        "_meta",
        "_size",
        "_text",
        "replacements",
    )

    def __init__(self) -> None:
        # Containers are made when they are needed: a long session has very many messages, and
        # what is not there need not be looked at by the garbage collector.
        self._meta: dict[str, Raw] | None = None
        self._blocks: Sequence[Block] = ()
        self._fresh: list[Block] | None = None
        # Whether the last of `_blocks` came in chunks, so that more text may be joined to it.
        self._joinable = False
        # The text of `_blocks`, if it is known.
        self._text: str | None = ""
        # The length of the text up to this many of the fresh ones.
        self._size = self._counted = 0
        # How often all was replaced: positions in the text from before mean nothing after.
        self.replacements = 0

    def append(self, block: Block) -> None:
        """Put one block at the end."""
        fresh = self._fresh
        if fresh is None:
            self._fresh = [block]
        else:
            fresh.append(block)
            if not len(fresh) & _ASIDE_MASK:
                self._join_many(len(fresh))

    def replace(self, blocks: Iterable[Block]) -> None:
        """Forget everything and hold these blocks; a list is held as it is and never changed."""
        self._blocks = blocks if isinstance(blocks, list) else list(blocks)
        self._fresh = None
        self._joinable = False
        self._text = None
        self._counted = 0
        self.replacements += 1

    def patch(self, blocks: Patch[Iterable[Block]]) -> None:
        """Keep the blocks when nothing is given, clear them for null, replace them otherwise."""
        if blocks is not UNSET:
            self.replace(blocks or ())

    def patch_meta(self, patch: Patch[dict[str, Raw]]) -> None:
        """Merge metadata by its top-level keys."""
        if patch is not UNSET:
            self._meta = self.meta
            patch_meta(self._meta, patch)

    def merge_meta(self, other: Content) -> None:
        """Take the metadata of another body, where it turned out to be this one."""
        if other._meta is not None:
            self._meta = self.meta | other._meta

    @property
    def meta(self) -> dict[str, Raw]:
        """The metadata that came with the content."""
        return {} if self._meta is None else self._meta

    @property
    def blocks(self) -> Sequence[ReceivedBlock]:
        """All blocks in order.  Text that came in adjacent chunks is one block."""
        if self._fresh:
            self._settle()
        return self._blocks

    @property
    def text(self) -> str:
        """The text of all blocks.  Looking costs its length; looking again costs nothing."""
        if self._fresh:
            self._settle()
        return self._settled_text()

    @property
    def size(self) -> int:
        """The length of `text`.  To ask after every chunk costs little."""
        if self._fresh is None:
            return len(self._settled_text())
        if self._counted == 0:
            self._size = len(self._settled_text())
        for block in self._fresh[self._counted :]:
            self._size += len(text_of(block))
        self._counted = len(self._fresh)
        return self._size

    def _settled_text(self) -> str:
        if self._text is None:
            self._text = joined_text(self._blocks)
        return self._text

    def _join_many(self, chunks: int) -> None:
        """Join the fresh ones when they waste more than it costs to copy what is there."""
        joined = len(self._blocks[-1].text) if self._joinable else 0
        if chunks * CHUNK_BYTES > joined + len(self._blocks):
            self._settle()

    def _settle(self) -> None:
        fresh = self._fresh
        assert fresh
        blocks, run = list(self._blocks), list[str]()
        if self._joinable:
            run.append(blocks[-1].text)
        plain = _plain_texts(fresh)
        if len(plain) == len(fresh):
            # What nearly all chunks are, without a look at each.
            if not run:
                blocks.append(fresh[0])
            run += plain
        else:
            run = _append_each(blocks, run, fresh)
        _close(blocks, run)
        self._blocks = blocks
        self._joinable = bool(run)
        self._fresh = None
        self._text = None
        self._counted = 0


def _plain_texts(blocks: Sequence[Block]) -> list[str]:
    """The texts of those blocks that are plain text, if they are like the first one."""
    kind = type(blocks[0])
    if not (hasattr(kind, "text") and hasattr(kind, "annotations")):
        return []
    return [
        block.text
        for block in blocks
        if type(block) is kind and block.meta is UNSET and block.annotations is UNSET
    ]


def _append_each(blocks: list[Block], run: list[str], fresh: Sequence[Block]) -> list[str]:
    """Append blocks of any kind.  Returns the run of text at the end, which is not joined yet."""
    for block in fresh:
        if not _is_plain_text(block):
            _close(blocks, run)
            run = []
            blocks.append(block)
        elif run:
            run.append(block.text)
        else:
            blocks.append(block)
            run.append(block.text)
    return run


def _close(blocks: list[Block], run: list[str]) -> None:
    """The run of text that the last block began becomes one block."""
    if len(run) > 1:
        blocks[-1] = type(blocks[-1])(text="".join(run))
