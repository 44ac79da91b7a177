"""What is sent to the agent: the words, and what goes with them in the best form it takes.

This module does not know any screen.  `accord run` and the terminal client both speak through this.

Invariants
    * A picture or a sound is sent as such only to an agent that says it takes them; otherwise a
      file is linked to, and what has no file is an error before anything is sent.
    * `@name` in the text that names a file below the session's folders brings it along, links
      that lead out of them excepted; `@word` that names none is just a word.  A file elsewhere
      comes along where the user attached it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread

from accord.client.connection.capabilities import AgentCapabilities
from accord.schema import v2
from accord.schema.struct import UNSET
from accord.terminal.model.prompt.media_types import HEAD_BYTES, media_type_of
from accord.terminal.model.prompt.unsent_prompts import Attachment, Draft

FILE_BYTES_MAX = 1 << 20
"""A larger file is sent as a link, without its content."""

IMAGE_BYTES_MAX = 8 << 20
"""The same for audio."""

FILES_MAX = 100
PROMPT_BYTES_MAX = 32 << 20
"""The maximum size of all attached files together."""

MENTION = re.compile(r"(?<![\w@/])@([^\s@][^\s]*)")
SENTENCE_END = ".,;:!?)]}'\""


class PromptError(ValueError):
    """The prompt cannot be built; the message is for the user."""


async def blocks_of(
    draft: Draft, capabilities: AgentCapabilities, roots: Sequence[str]
) -> list[Any]:
    """The prompt as text and content blocks, as far as the agent accepts them.

    Files are read here, in a thread.

    Raises:
        PromptError: something cannot be brought along; nothing was sent.
    """
    return await anyio.to_thread.run_sync(read_blocks, draft, capabilities, roots)


def read_blocks(draft: Draft, capabilities: AgentCapabilities, roots: Sequence[str]) -> list[Any]:
    """The same, here and now."""
    for one in draft.attachments:
        refused = refusal(one, capabilities)
        if refused is not None:
            raise PromptError(refused)
    text = with_pasted(draft)
    blocks: list[Any] = [text] if text else []
    paths: dict[Path, None] = {}
    for one in draft.attachments:
        if one.path is not None:
            paths[_allowed(one, roots)] = None
        elif one.kind != "text":
            blocks.append(_block_of_data(one))
    if roots:
        # Typed text, not pasted text.
        paths.update(dict.fromkeys(_typed(draft.text, roots)))
    if len(paths) > FILES_MAX:
        raise PromptError(f"More than {FILES_MAX} files are attached.")
    for path in paths:
        blocks.append(file_block(path, capabilities, roots))
        if _bytes_of(blocks) > PROMPT_BYTES_MAX:
            raise PromptError(
                f"The attached files are larger than {PROMPT_BYTES_MAX >> 20} MB in total."
            )
    return blocks


def refusal(one: Attachment, capabilities: AgentCapabilities | None) -> str | None:
    """Return why this cannot be sent to this agent; None if it can, or if that is unknown.

    Files are linked instead, so only content without a file is refused.
    """
    if capabilities is None or one.path is not None:
        return None
    if one.kind == "image" and not capabilities.image:
        return "This agent does not accept images."
    if one.kind == "audio" and not capabilities.audio:
        return "This agent does not accept audio."
    if one.kind == "binary" and not capabilities.embedded_context:
        return "This agent does not accept attached data, only files."
    return None


def with_pasted(draft: Draft) -> str:
    """The words with long pasted text in its places."""
    text = draft.text
    for one in draft.attachments:
        if one.kind == "text" and one.path is None:
            pasted = one.data.decode("utf-8", "replace")
            if one.mark and one.mark in text:
                text = text.replace(one.mark, pasted, 1)
            else:
                text = f"{text}\n\n{pasted}" if text.strip() else pasted
    return text.strip()


def place_of(mark: str, text: str) -> int:
    """Return the position of a mark in a text, unless a longer one starts there; -1 if none."""
    if not mark.startswith("@"):
        return text.find(mark) if mark else -1
    found = re.search(rf"(?<![\w@/]){re.escape(mark)}(?![\w/-]|\.\w)", text)
    return -1 if found is None else found.start()


# ---- files


def mentioned(text: str, folder: Path) -> list[Path]:
    """The files that a text names with an @ before them."""
    found: list[Path] = []
    for name in MENTION.findall(text):
        for one in (name, name.rstrip(SENTENCE_END)):
            path = file_named(one, folder)
            if path is not None:
                found.append(path)
                break
    return found


def file_named(name: str, folder: Path) -> Path | None:
    """The file of this name; None if it does not exist or is not a valid file name."""
    try:
        path = folder / os.path.expanduser(name)
        if not path.is_file():
            return None
        # `..` goes up from where a link leads, and hides whether a file is in a folder.
        return path.resolve() if ".." in path.parts else path.absolute()
    except (OSError, ValueError):
        return None


def is_beneath(path: Path, roots: Sequence[str]) -> bool:
    """Whether a file is in one of the folders, wherever links lead."""
    real = os.path.realpath(path)
    return any(_contains(os.path.realpath(root), real) for root in roots)


def _contains(root: str, path: str) -> bool:
    return os.path.commonpath((root, path)) == root


def _typed(text: str, roots: Sequence[str]) -> Iterator[Path]:
    """Files that are named in the text.

    Only below the session's folders: words may have been pasted without being read, and must
    not get a private file sent.
    """
    for path in mentioned(text, Path(roots[0])):
        if is_beneath(path, roots):
            yield path


def _is_explicit(name: str) -> bool:
    """Whether a name says on its own where the file is."""
    return name.startswith("~") or os.path.isabs(name)


def _allowed(one: Attachment, roots: Sequence[str]) -> Path:
    path = Path(one.path or "")
    name = one.mark.removeprefix("@")
    if one.mark.startswith("@") and not _is_explicit(name) and not is_beneath(path, roots):
        raise PromptError(
            f"{one.name} is outside the session's folders; attach it by its absolute path."
        )
    return path


def file_block(path: Path, capabilities: AgentCapabilities, roots: Sequence[str]) -> Any:
    """The file in the best form that the agent takes.

    Raises:
        PromptError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            kind = media_type_of(path.name, head)
            most = IMAGE_BYTES_MAX if _is_taken_whole(kind, capabilities) else FILE_BYTES_MAX
            found = head + file.read(max(most + 1 - len(head), 0))
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise PromptError(f"{path}: {error.strerror}") from None
    data = found if len(found) <= most else None
    if data is not None and _is_taken_whole(kind, capabilities):
        if kind.startswith("audio/"):
            return v2.AudioContent(data=data, mime_type=kind)
        return v2.ImageContent(data=data, mime_type=kind, uri=path.as_uri())
    text = _text_of(data)
    if text is not None and capabilities.embedded_context:
        resource = v2.EmbeddedResourceResource(
            uri=path.as_uri(), text=text, mime_type=kind or "text/plain"
        )
        return v2.EmbeddedResource(resource=resource)
    if text is not None and not any(_contains(root, str(path)) for root in roots):
        # A link to what the agent may not open would be no help.
        return f"{path}:\n\n{text}"
    if data is not None and capabilities.embedded_context and _is_binary(kind):
        blob = v2.EmbeddedResourceResource(
            uri=path.as_uri(), blob=data, mime_type=kind or "application/octet-stream"
        )
        return v2.EmbeddedResource(resource=blob)
    return v2.ResourceLink(name=path.name, uri=path.as_uri(), mime_type=kind or UNSET, size=size)


def _is_taken_whole(kind: str, capabilities: AgentCapabilities) -> bool:
    if kind == "image/svg+xml":
        # Clients do not draw it as an image; its text is more useful.
        return False
    return (kind.startswith("image/") and capabilities.image) or (
        kind.startswith("audio/") and capabilities.audio
    )


def _is_binary(kind: str) -> bool:
    """Whether the bytes are worth sending: not pictures that are not wanted, nor odd text."""
    return not kind.startswith(("image/", "audio/", "text/"))


def _text_of(data: bytes | None) -> str | None:
    if data is None or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _block_of_data(one: Attachment) -> Any:
    if one.kind == "image":
        return v2.ImageContent(data=one.data, mime_type=one.media_type or "image/png")
    if one.kind == "audio":
        return v2.AudioContent(data=one.data, mime_type=one.media_type or "audio/wav")
    resource = v2.EmbeddedResourceResource(
        uri=f"attachment:{one.name}",
        blob=one.data,
        mime_type=one.media_type or "application/octet-stream",
    )
    return v2.EmbeddedResource(resource=resource)


def _bytes_of(blocks: list[Any]) -> int:
    total = 0
    for block in blocks:
        if isinstance(block, v2.EmbeddedResource):
            block = block.resource
        for name in ("data", "blob", "text"):
            content = getattr(block, name, None)
            if isinstance(content, bytes | str):
                total += len(content)
    return total
