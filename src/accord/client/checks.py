"""What a program may not ask for, found before anything is sent.

Each check raises `LocalProtocolError` with a sentence that names the mistake.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from accord.client.capabilities import AgentCapabilities
from accord.client.options import Options
from accord.client.wire import Setup
from accord.errors import LocalProtocolError, SpawnFailed

# Which capability a content block needs; text and links need none.
_BLOCK_NEEDS = {"image": "image", "audio": "audio", "resource": "embedded_context"}
_ALWAYS = ("text", "resource_link")
_SERVER_NEEDS = {
    "stdio": "mcp_stdio",
    "http": "mcp_http",
    "sse": "mcp_sse",
    "acp": "mcp_acp",
}


def prompt_items(content: Iterable[Any]) -> list[Any]:
    """Text and blocks in order, lists of them opened up."""
    items: list[Any] = []
    for item in content:
        if isinstance(item, list | tuple):
            items.extend(prompt_items(item))
        elif item != "":
            items.append(item)
    return items


def check_blocks(items: Sequence[Any], capabilities: AgentCapabilities) -> None:
    """A prompt says something, and only what the agent takes."""
    if not items:
        raise LocalProtocolError("an empty prompt cannot be sent")
    for item in items:
        if isinstance(item, str):
            continue
        tag = tag_of(item)
        if tag is None:
            raise LocalProtocolError(f"{type(item).__name__} is neither text nor a content block")
        if tag in _ALWAYS or tag.startswith("_"):
            continue
        need = _BLOCK_NEEDS.get(tag)
        if need is None:
            raise LocalProtocolError(f"{tag!r} is no content type that may be sent")
        if not getattr(capabilities, need):
            raise LocalProtocolError(f"the agent takes no {tag} content in prompts")


def tag_of(value: Any) -> str | None:
    """The `type` that a wire struct has on the wire; None for anything else."""
    config = getattr(type(value), "__struct_config__", None)
    tag = getattr(value, "tag", None) if config is None else config.tag
    return tag if isinstance(tag, str) else None


def make_setup(
    options: Options,
    capabilities: AgentCapabilities,
    *,
    cwd: str | os.PathLike[str],
    additional_directories: Iterable[str | os.PathLike[str]],
    mcp_servers: Iterable[Any],
    system_prompt: str | None = None,
    system_prompt_mode: str = "append",
) -> Setup:
    """Where and with what a session works; relative paths become absolute."""
    root = _folder(cwd)
    others: list[str] = []
    for directory in additional_directories:
        folder = _folder(directory)
        if folder != root and folder not in others:
            others.append(folder)
    if others and not capabilities.additional_directories:
        raise LocalProtocolError("the agent takes no additional directories")
    servers = tuple(mcp_servers)
    for server in servers:
        _check_server(server, capabilities)
    if system_prompt is not None:
        unstable = options.unstable
        _check_system_prompt(system_prompt, system_prompt_mode, capabilities, unstable=unstable)
    return Setup(root, tuple(others), servers, system_prompt, system_prompt_mode)


def absolute(path: str | os.PathLike[str]) -> str:
    """The one form in which paths are sent: absolute, without `.` and `..`, links as they are."""
    return os.path.abspath(path)


def command_words(command: Sequence[object]) -> tuple[str, ...]:
    """The words of an agent's command, as `Client.spawn` was given them."""
    if not command:
        raise LocalProtocolError("the command of the agent is empty")
    words: list[str] = []
    for word in command:
        if not isinstance(word, str | os.PathLike):
            raise LocalProtocolError(
                f"the command of an agent is given word by word, and {type(word).__name__} is no"
                " word; of a list, write Client.spawn(*words)"
            )
        words.append(os.fsdecode(word))
    return tuple(words)


def explain_spawn(error: SpawnFailed, command: Sequence[str]) -> SpawnFailed:
    """The error to raise where a program did not start, with the usual mistake named."""
    if len(command) != 1 or len(split := command[0].split()) < 2 or os.path.exists(command[0]):
        return error
    words = ", ".join(map(repr, split))
    return SpawnFailed(f"{error}; give one argument per word: Client.spawn({words})")


def _folder(path: str | os.PathLike[str]) -> str:
    folder = absolute(path)
    if os.path.isfile(folder):
        raise LocalProtocolError(f"{folder} is a file, not a folder")
    if not os.path.isdir(folder):
        raise LocalProtocolError(f"there is no folder {folder}")
    return folder


def _check_server(server: Any, capabilities: AgentCapabilities) -> None:
    # v1 names no type for a program.
    tag = tag_of(server) or getattr(server, "type", None) or "stdio"
    if tag.startswith("_"):
        return
    need = _SERVER_NEEDS.get(tag)
    if need is None or not hasattr(server, "name"):
        raise LocalProtocolError(f"{server!r} is no MCP server that can be described")
    if not getattr(capabilities, need):
        raise LocalProtocolError(f"the agent cannot use MCP servers of type {tag!r}")


def _check_system_prompt(
    text: str, mode: str, capabilities: AgentCapabilities, *, unstable: bool
) -> None:
    if not unstable:
        raise LocalProtocolError("system prompts are unstable: ask for them by unstable=True")
    if not capabilities.system_prompt:
        raise LocalProtocolError("the agent takes no system prompt")
    if mode not in ("append", "override"):
        raise LocalProtocolError(f"a system prompt is appended or overrides, not {mode!r}")
    if mode == "override" and not capabilities.system_prompt_override:
        raise LocalProtocolError("the agent does not let its system prompt be overridden")
    if not text:
        raise LocalProtocolError("an empty system prompt cannot be sent")


__all__ = [
    "absolute",
    "check_blocks",
    "command_words",
    "explain_spawn",
    "make_setup",
    "prompt_items",
    "tag_of",
]
