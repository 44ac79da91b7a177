"""`context`: adds AGENTS.md and chosen files to the first prompt of each session.

An agent that takes embedded resources gets the files as such, another one as text with a frame
around it that says what it is.

What always holds: what the user wrote stays as it is, behind the files; a prompt that is a slash
command is left alone, and the files come with the next one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from accord.errors import RequestFailed
from accord.proxy.builtin.conversation_state import Agreed
from accord.proxy.message import Message, Response
from accord.proxy.proxy import Proxy

AGENTS_FILE: Final = "AGENTS.md"
FILE_BYTES_MAX: Final = 256 * 1024
"""Of a longer file, only so much is added."""
UPWARD_MAX: Final = 64

Say = Callable[[str], None]


def context(
    files: Sequence[str | Path] = (), *, agents_md: bool = True, say: Say | None = None
) -> Proxy:
    """A proxy that adds these files, and AGENTS.md from the session's folder up to the repository.

    Relative names are beneath the session's folder.  `say` is told of files that cannot be read.
    """
    proxy = Proxy("context")
    agreed = Agreed()
    agreed.watch(proxy)
    tell = _to_stderr if say is None else say
    fresh: set[str] = set()

    @proxy.on_response("session/new", of="client")
    def made(response: Response) -> None:
        found = response.result.get("sessionId") if isinstance(response.result, dict) else None
        if isinstance(found, str):
            fresh.add(found)

    @proxy.on_request("session/prompt", of="client")
    @agreed.checked
    async def prompt(message: Message, forward: Any) -> Any:
        session_id, blocks = message.session_id, message.params.get("prompt")
        if session_id not in fresh or not isinstance(blocks, list) or _is_command(blocks):
            return await forward(message)
        folder = agreed.folders.get(session_id)
        paths = _wanted(folder, files, agents_md)
        added = [block for path in paths for block in _blocks(path, agreed.takes_resources, tell)]
        message.params["prompt"] = [*added, *blocks]
        fresh.discard(session_id)
        try:
            return await forward(message)
        except RequestFailed:
            # The agent has not taken it, so the next one is the first again.
            fresh.add(session_id)
            raise

    return proxy


def _to_stderr(sentence: str) -> None:
    from accord.machine.console.control_characters import visible

    sys.stderr.write(f"accord proxy context: {visible(sentence)}\n")


def _is_command(blocks: list[Any]) -> bool:
    first = blocks[0] if blocks else None
    text = first.get("text") if isinstance(first, dict) else None
    return isinstance(text, str) and text.lstrip().startswith("/")


def _wanted(folder: str | None, files: Sequence[str | Path], agents_md: bool) -> list[Path]:
    """What is to be added, the widest first, each once."""
    here = Path(folder) if folder is not None else Path()
    found = agents_files(here) if agents_md and folder is not None else []
    chosen = [here / file for file in files]
    return list(dict.fromkeys([*found, *chosen]))


def agents_files(folder: Path) -> list[Path]:
    """AGENTS.md of a folder and of those above it up to the repository's root, outermost first.

    Outside of a repository, only that of the folder itself.
    """
    upward = [folder, *folder.parents][:UPWARD_MAX]
    root = next((at for at, one in enumerate(upward) if (one / ".git").exists()), 0)
    within = upward[: root + 1]
    return [one / AGENTS_FILE for one in reversed(within) if (one / AGENTS_FILE).is_file()]


def _blocks(path: Path, takes_resources: bool, tell: Say) -> list[dict[str, Any]]:
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        tell(f"{path} is left out: {error.strerror}")
        return []
    text = data[:FILE_BYTES_MAX].decode("utf-8", "replace")
    if len(data) > FILE_BYTES_MAX:
        tell(f"of {path}, only the first {FILE_BYTES_MAX} bytes are added")
        text += "\n[the file goes on]"
    if takes_resources:
        resource: dict[str, Any] = {"uri": path.absolute().as_uri(), "text": text}
        if path.suffix == ".md":
            resource["mimeType"] = "text/markdown"
        return [{"type": "resource", "resource": resource}]
    framed = f'<file path="{path}">\n{text.rstrip()}\n</file>\n'
    return [{"type": "text", "text": framed}]


__all__ = ["agents_files", "context"]
