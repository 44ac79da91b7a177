"""MCP servers of a project's `.mcp.json`, used only with the user's consent.

Otherwise anybody who can write to a project could start programs for everybody who opens it.

What always holds
    * Consent is for one exact entry of one file: after any change the user is asked again.
    * If nobody can be asked, the answer is no, and nothing is remembered.
    * The question shows everything that determines what would run: the command and the variables.
      Secrets, values of headers and expanded `${NAME}` variables are not shown.
    * Remembered answers contain none of these values.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import join, quote
from typing import Any

from accord.errors import ConfigError
from accord.machine.redaction.redactor import Redactor

FILE_NAME = ".mcp.json"
FILE_BYTES_MAX = 1 << 20
TRANSPORTS = ("stdio", "http", "sse")

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
# Names of the same transport in other programs.
_OTHER_NAMES = {"streamable-http": "http", "streamableHttp": "http", "streamable_http": "http"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectServer:
    """One server of the file.  It is an `Entry` with expanded variables (`${NAME}`)."""

    name: str
    file: Path
    digest: str
    type: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    described: str = ""
    # Required variables that are not set.
    unset: tuple[str, ...] = ()


# Asks the user whether a server may be used; None means that there was no answer.
Ask = Callable[[ProjectServer], bool | None]


def read_project_file(
    folder: Path, environ: Mapping[str, str] = os.environ
) -> dict[str, ProjectServer]:
    """Return the servers of the folder's file by name; empty if there is no file.

    Raises:
        ConfigError: the file is invalid.
    """
    path = folder / FILE_NAME
    try:
        data = _content(path)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", file=str(path)) from None
    if len(data) > FILE_BYTES_MAX:
        raise ConfigError(f"{path}: larger than {FILE_BYTES_MAX} bytes", file=str(path))
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise ConfigError(f"{path}: not valid JSON", file=str(path)) from None
    servers = value.get("mcpServers") if isinstance(value, dict) else None
    if not isinstance(servers, dict):
        raise _wrong(path, "mcpServers", "must be an object of servers by their names")
    return {name: _server(path, name, one, environ) for name, one in servers.items()}


def _content(path: Path) -> bytes:
    # Non-blocking: it may be a named pipe without a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return file.read(FILE_BYTES_MAX + 1)


class Consents:
    """The user's answers about servers of projects, stored in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def said(self, server: ProjectServer) -> bool | None:
        """Return the answer for exactly this entry of this file, if there is one."""
        answer = self._read().get(_key(server))
        same = isinstance(answer, dict) and answer.get("digest") == server.digest
        return bool(answer.get("allowed")) if same and isinstance(answer, dict) else None

    def remember(self, server: ProjectServer, *, allowed: bool) -> None:
        """Store an answer, in place of an older one about the same entry."""
        answers = self._read()
        answers[_key(server)] = {"digest": server.digest, "allowed": allowed}
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = self._file.with_name(f".{self._file.name}.{os.getpid()}.new")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(answers, file, indent=1, sort_keys=True)
        beside.replace(self._file)

    def _read(self) -> dict[str, Any]:
        try:
            value = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            # Without a record there is no consent.
            return {}
        return value if isinstance(value, dict) else {}


def consented(
    servers: Mapping[str, ProjectServer], consents: Consents, ask: Ask | None = None
) -> tuple[dict[str, ProjectServer], list[str]]:
    """Return the servers with the user's consent, and sentences about the others.

    `ask` is given only at a terminal; in a pipe nobody is asked.
    """
    allowed: dict[str, ProjectServer] = {}
    left_out: list[str] = []
    for name, server in servers.items():
        if server.unset:
            names = ", ".join(server.unset)
            left_out.append(f"the MCP server {name} of {server.file} needs {names} (not set)")
            continue
        answer = consents.said(server)
        if answer is None and ask is not None:
            answer = ask(server)
            if answer is not None:
                try:
                    consents.remember(server, allowed=answer)
                except OSError as error:
                    # It counts for now; the user will be asked again.
                    left_out.append(f"cannot store the answer about {name}: {error.strerror}")
        if answer:
            allowed[name] = server
        else:
            why = "was refused" if answer is False else "needs your consent first"
            left_out.append(f"the MCP server {name} of {server.file} {why}")
    return allowed, left_out


def _server(path: Path, name: str, value: Any, environ: Mapping[str, str]) -> ProjectServer:
    key = f"mcpServers.{name}"
    if not isinstance(value, dict):
        raise _wrong(path, key, "must be an object")
    kind = value.get("type", "http" if "url" in value else "stdio")
    kind = _OTHER_NAMES.get(kind, kind) if isinstance(kind, str) else kind
    if kind not in TRANSPORTS:
        raise _wrong(path, f"{key}.type", f"must be one of {', '.join(TRANSPORTS)}")
    needed = "command" if kind == "stdio" else "url"
    texts = {one: value.get(one) for one in ("command", "url")}
    if not isinstance(texts[needed], str) or not texts[needed]:
        raise _wrong(path, f"{key}.{needed}", "is missing; it must be text")
    args = value.get("args", [])
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        raise _wrong(path, f"{key}.args", "must be a list of texts")
    env, headers = (_texts(path, key, value, one) for one in ("env", "headers"))
    stable = json.dumps(value, sort_keys=True, ensure_ascii=True)
    unset: list[str] = []

    def filled(text: object) -> str:
        def variable(found: re.Match[str]) -> str:
            name, default = found.group(1), found.group(2)
            if name not in environ and found.end(2) < 0:
                unset.append(name)
            return environ.get(name, default or "")

        return _VARIABLE.sub(variable, str(text))

    return ProjectServer(
        name=name,
        file=path,
        digest=hashlib.sha256(stable.encode()).hexdigest(),
        type=kind,
        command=filled(texts["command"]) if kind == "stdio" else None,
        args=tuple(map(filled, args)),
        env={one: filled(text) for one, text in env.items()},
        url=None if kind == "stdio" else filled(texts["url"]),
        headers={one: filled(text) for one, text in headers.items()},
        described=_described(kind, texts, args, env, headers),
        unset=tuple(unset),
    )


def _described(kind: str, texts: Mapping[str, Any], args: list[str], env: Any, headers: Any) -> str:
    """Describe what the server would do, without secrets; headers by name only."""
    if kind == "stdio":
        line, given = f"runs {join((texts['command'], *args))}", env
        # Variables such as PATH, LD_PRELOAD or NODE_OPTIONS can change which program runs.
        hide = Redactor().line
        shown = [hide(f"{name}={quote(value)}") for name, value in sorted(env.items())]
    else:
        line, given = f"connects to {texts['url']}", headers
        shown = sorted(headers)
    line = f"{line} with {', '.join(shown)}" if shown else line
    # The name of a header says little; what matters is whose key is in it.
    yours = sorted({found for one in given.values() for found, _ in _VARIABLE.findall(one)})
    return f"{line}, and gets your {', '.join(yours)}" if yours else line


def _texts(path: Path, key: str, value: Mapping[str, Any], name: str) -> dict[str, str]:
    given = value.get(name, {})
    if not isinstance(given, dict) or not all(isinstance(one, str) for one in given.values()):
        raise _wrong(path, f"{key}.{name}", "must be an object of texts")
    return given


def _wrong(path: Path, key: str, reason: str) -> ConfigError:
    return ConfigError(f"{path}: {key}: {reason}", file=str(path), key=key)


def _key(server: ProjectServer) -> str:
    return f"{server.file.resolve()}#{server.name}"
