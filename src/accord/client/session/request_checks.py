"""Checks what a program asks for, before anything is sent.

Each check raises `LocalProtocolError` with a sentence that names the mistake.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from accord.client.connection.capabilities import AgentCapabilities
from accord.client.options import Options
from accord.client.wire.wire_interface import Setup
from accord.errors import LocalProtocolError, RemoteProtocolError, SpawnFailed
from accord.machine.processes.program_lookup import find_program
from accord.schema import codec
from accord.schema.codec import conform
from accord.transcript import ConfigOption

# The capability that a content block needs; text and links need none.
_BLOCK_NEEDS = {"image": "image", "audio": "audio", "resource": "embedded_context"}
_ALWAYS = ("text", "resource_link")
_SERVER_NEEDS = {
    "stdio": "mcp_stdio",
    "http": "mcp_http",
    "sse": "mcp_sse",
    "acp": "mcp_acp",
}
# POSIX, drive letter or UNC: the agent may run on another kind of machine.
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")


def encode(value: object) -> bytes:
    """The JSON of a value that the program handed over.

    Raises:
        LocalProtocolError: a part of the value has no JSON form.
    """
    with blaming_caller():
        return codec.encode(value)


@contextmanager
def blaming_caller() -> Generator[None]:
    """Turn errors of the codec in this block into errors of the program."""
    try:
        yield
    except codec.Invalid as error:
        raise LocalProtocolError(f"this cannot be sent: {error}") from None
    except UnicodeEncodeError as error:
        raise LocalProtocolError(
            f"this text cannot be sent: {error.object[error.start]!a} at {error.start} is a lone"
            " surrogate, as in file names that are not UTF-8"
        ) from None
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise LocalProtocolError(f"this cannot be sent as JSON: {error}") from None


def prompt_items(content: Iterable[Any]) -> list[Any]:
    """Text and blocks in order, with nested lists flattened."""
    items: list[Any] = []
    for item in content:
        if isinstance(item, list | tuple):
            items.extend(prompt_items(item))
        elif item != "":
            items.append(item)
    return items


def check_blocks(
    items: Sequence[Any], capabilities: AgentCapabilities, *, takes_draft: bool = False
) -> None:
    """Check that a prompt is not empty and has only content that the agent accepts."""
    if not items:
        raise LocalProtocolError("an empty prompt cannot be sent")
    for item in items:
        if isinstance(item, str):
            continue
        if type(item).__module__.startswith("accord.schema.draft"):
            # The wire form checks whether the agent accepts it.
            if not takes_draft:
                raise LocalProtocolError(
                    f"{type(item).__name__} of the 2026-02 draft is only for agents that speak it"
                )
            continue
        tag = tag_of(item)
        if tag is None:
            raise LocalProtocolError(f"{type(item).__name__} is neither text nor a content block")
        if tag in _ALWAYS or tag.startswith("_"):
            continue
        need = _BLOCK_NEEDS.get(tag)
        if need is None:
            raise LocalProtocolError(f"{tag!r} is not a content type that may be sent")
        if not getattr(capabilities, need):
            raise LocalProtocolError(f"the agent does not accept {tag} content in prompts")
    for item in items:
        _check_fields(item)


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
    takes_draft: bool = False,
) -> Setup:
    """Check how a session is to be opened; relative paths become absolute.

    The 2026-02 draft has its own form of MCP servers, and its system prompts are not unstable.
    """
    root = _folder(cwd, options)
    others: list[str] = []
    for directory in _several(additional_directories, "additional_directories", "folders"):
        folder = _folder(directory, options)
        if folder != root and folder not in others:
            others.append(folder)
    if others and not capabilities.additional_directories:
        raise LocalProtocolError("the agent does not accept additional directories")
    servers = tuple(
        _checked_server(server, capabilities, takes_draft)
        for server in _several(mcp_servers, "mcp_servers", "servers")
    )
    if system_prompt is not None:
        unstable = options.unstable or takes_draft
        _check_system_prompt(system_prompt, system_prompt_mode, capabilities, unstable=unstable)
    return Setup(root, tuple(others), servers, system_prompt, system_prompt_mode)


def check_place(place: str | None, setup: Setup) -> None:
    """Check that the agent has a stored session in the same folder as we do, where it says so.

    Raises:
        RemoteProtocolError: the session is in another folder.
    """
    if place is not None and os.path.realpath(place) != os.path.realpath(setup.cwd):
        raise RemoteProtocolError(
            f"the agent has this session in {place} and not in {setup.cwd}: load it with that cwd"
        )


def absolute(path: object) -> str:
    """The form in which paths are sent: absolute, without `.` and `..`, links unresolved."""
    if not isinstance(path, str | os.PathLike):
        raise LocalProtocolError(f"a path is text or a Path, not {path!r}")
    return os.path.abspath(path)


def checked_id(session_id: object) -> str:
    """Check that this is the id of a session, and not something else."""
    if not isinstance(session_id, str) or not session_id:
        raise LocalProtocolError(f"a session is named by its id, which is text, not {session_id!r}")
    return session_id


def command_words(command: Sequence[object]) -> tuple[str, ...]:
    """The words of an agent's command, as text."""
    if not command or command[0] == "":
        raise LocalProtocolError("the command of the agent is empty")
    words: list[str] = []
    for word in command:
        if not isinstance(word, str | os.PathLike):
            raise LocalProtocolError(
                f"the command of an agent is given word by word, and {type(word).__name__} is not"
                " a word; for a list, write Client.spawn(*words)"
            )
        words.append(os.fsdecode(word))
    return tuple(words)


def explain_spawn(error: SpawnFailed, command: Sequence[str]) -> SpawnFailed:
    """The error for a program that did not start, with a hint at the usual mistakes."""
    if "://" in command[0]:
        from accord.transport.remote_address import is_url, shown_url

        if is_url(command[0]):
            return SpawnFailed(
                f"{shown_url(command[0])!r} is a URL and no program; write Client.connect(url)"
            )
    if len(command) != 1 or len(split := command[0].split()) < 2 or os.path.exists(command[0]):
        return error
    words = ", ".join(map(repr, split))
    return SpawnFailed(f"{error}; give one argument per word: Client.spawn({words})")


def _folder(path: object, options: Options) -> str:
    folder = absolute(path)
    if os.path.isfile(folder):
        raise LocalProtocolError(f"{folder} is a file, not a folder")
    if os.path.isdir(folder):
        return folder
    if not options.is_remote:
        raise LocalProtocolError(f"there is no folder {folder}")
    if options.files is not None or options.terminals is not None:
        raise LocalProtocolError(
            f"there is no folder {path} here; for a folder of the agent's machine, connect with"
            " files=False and terminals=False"
        )
    if not isinstance(path, str) or not _ABSOLUTE.match(path):
        raise LocalProtocolError(f"{path!r} is not an absolute path of the agent's machine")
    return path


def _several(given: object, option: str, what: str) -> Iterable[Any]:
    """Refuse text, which is a sequence of letters, and single values where a list is expected."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise LocalProtocolError(f"{option}= takes a list of {what}, not {given!r}")
    return given


def _check_fields(value: Any) -> None:
    """Check the fields of a struct, which accepts any value."""
    for holder, name in ((value, "data"), (getattr(value, "resource", None), "blob")):
        if isinstance(getattr(holder, name, b""), str):
            raise LocalProtocolError(
                f"{name} of {type(holder).__name__} is bytes, not base64, which is made when"
                " it is sent"
            )
    if getattr(type(value), "__struct_config__", None) is not None:
        with blaming_caller():
            conform(type(value), value)


def _checked_server(server: Any, capabilities: AgentCapabilities, takes_draft: bool) -> Any:
    # v1 has no type for stdio servers; the draft has a transport that has the type.
    transport = getattr(server, "transport", None)
    tag = tag_of(server) or tag_of(transport) or getattr(server, "type", None) or "stdio"
    if tag.startswith("_"):
        return server
    need = _SERVER_NEEDS.get(tag)
    if need is None or not hasattr(server, "name") or (transport is not None and not takes_draft):
        raise LocalProtocolError(f"{server!r} is not an MCP server that can be sent")
    if not getattr(capabilities, need):
        raise LocalProtocolError(f"the agent cannot use MCP servers of type {tag!r}")
    if tag == "stdio" and transport is None:
        server = _with_program(server)
    _check_fields(server)
    return server


def _with_program(server: Any) -> Any:
    """The server with an absolute command: the bare name of a program is looked up."""
    command = server.command
    if not isinstance(command, str) or _ABSOLUTE.match(command):
        return server
    found = None
    if command and os.sep not in command:
        found = find_program(command)
    if found is None:
        raise LocalProtocolError(
            f"the command of the MCP server {server.name!r} is neither an absolute path nor the"
            f" name of a program on the PATH: {command!r}"
        )
    fields = {name: getattr(server, name) for name in type(server).__struct_fields__}
    return type(server)(**fields | {"command": found})


def _check_system_prompt(
    text: str, mode: str, capabilities: AgentCapabilities, *, unstable: bool
) -> None:
    if not unstable:
        raise LocalProtocolError("system prompts are unstable: switch them on with unstable=True")
    if not capabilities.system_prompt:
        raise LocalProtocolError("the agent does not accept a system prompt")
    if mode not in ("append", "override"):
        raise LocalProtocolError(f"system_prompt_mode is append or override, not {mode!r}")
    if mode == "override" and not capabilities.system_prompt_override:
        raise LocalProtocolError("the agent does not allow its system prompt to be overridden")
    if not text:
        raise LocalProtocolError("an empty system prompt cannot be sent")


def check_value(option: ConfigOption, value: object) -> None:
    """Refuse a value that the option cannot have."""
    is_wrong = not isinstance(value, str | bool)
    if is_wrong or (option.type == "boolean") is not isinstance(value, bool):
        raise LocalProtocolError(
            f"the option {option.option_id!r} is of type {option.type} and cannot be {value!r}"
        )
    choices = [choice.value for choice in option.choices]
    if option.type == "select" and value not in choices:
        raise LocalProtocolError(
            f"the option {option.option_id!r} cannot be {value!r}; its values are {choices}"
        )
