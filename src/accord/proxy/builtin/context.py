"""`context`: adds AGENTS.md and chosen files to the first prompt of each session.

An agent that takes embedded resources gets the files as such; any other gets them as text inside a
`<file>` element.

What always holds: the user's own text follows the files unchanged.  A slash command is forwarded
as it is, and the files are added to the next prompt.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from accord.errors import RequestFailed
from accord.proxy.builtin.conversation_state import ConversationState
from accord.proxy.message import Message, Response
from accord.proxy.proxy import Proxy

AGENTS_FILE: Final = "AGENTS.md"
FILE_BYTES_MAX: Final = 256 * 1024
"""How much of a longer file is added."""
UPWARD_MAX: Final = 64

Say = Callable[[str], None]


def context(
    files: Sequence[str | Path] = (), *, agents_md: bool = True, say: Say | None = None
) -> Proxy:
    """Return a proxy that adds these files, and AGENTS.md from the session's folder up to the root.

    Relative names start at the session's folder.  `say` gets a sentence about each file that cannot
    be read.
    """
    proxy = Proxy("context")
    state = ConversationState()
    state.watch(proxy)
    tell = _to_stderr if say is None else say
    fresh: set[str] = set()

    @proxy.on_response("session/new", of="client")
    def made(response: Response) -> None:
        found = response.result.get("sessionId") if isinstance(response.result, dict) else None
        if isinstance(found, str):
            fresh.add(found)

    @proxy.on_request("session/prompt", of="client")
    @state.checked
    async def prompt(message: Message, forward: Any) -> Any:
        session_id, blocks = message.session_id, message.params.get("prompt")
        if session_id not in fresh or not isinstance(blocks, list) or _is_command(blocks):
            return await forward(message)
        folder = state.folders.get(session_id)
        paths = _wanted(folder, files, agents_md)
        added = [block for path in paths for block in _blocks(path, state.takes_resources, tell)]
        message.params["prompt"] = [*added, *blocks]
        fresh.discard(session_id)
        try:
            return await forward(message)
        except RequestFailed:
            # The agent refused the prompt, so the next one is the first again.
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
    """Return the files to add, each once, the outermost first."""
    here = Path(folder) if folder is not None else Path()
    found = agents_files(here) if agents_md and folder is not None else []
    chosen = [here / file for file in files]
    return list(dict.fromkeys([*found, *chosen]))


def agents_files(folder: Path) -> list[Path]:
    """Find AGENTS.md from the repository's root down to a folder, outermost first.

    Outside a repository, only the folder itself is searched.
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
        tell(f"{path} was skipped: {error.strerror}")
        return []
    text = data[:FILE_BYTES_MAX].decode("utf-8", "replace")
    if len(data) > FILE_BYTES_MAX:
        tell(f"only the first {FILE_BYTES_MAX} bytes of {path} were added")
        text += "\n[the file continues]"
    if takes_resources:
        resource: dict[str, Any] = {"uri": path.absolute().as_uri(), "text": text}
        if path.suffix == ".md":
            resource["mimeType"] = "text/markdown"
        return [{"type": "resource", "resource": resource}]
    framed = f'<file path="{path}">\n{text.rstrip()}\n</file>\n'
    return [{"type": "text", "text": framed}]
