"""The scenario of a client: a command for each purpose, or a signal.

Read from the `[client]` table of a scenario file:

    [environment]
    MY_CLIENT_OFFLINE = "1"

    [client]
    cancel = {signal = "INT"}
    list = ["my-client", "--list", "{agent}"]

Must not know: any check.  A purpose that is not named makes its checks `not_exercised`.
"""

from __future__ import annotations

import signal
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

# The purposes of a client.  All begin with `prompt`, the command as it was given.
PURPOSES: dict[str, str] = {
    "prompt": "opens a session, sends one prompt, waits for its end",
    "cancel": "as prompt, and cancels the turn once the agent has said something",
    "image": "as prompt, and attaches an image",
    "list": "lists the sessions of the agent, all pages",
    "load": "opens the session `kit-1`, with its history, and prompts",
    "resume": "opens the session `kit-1` again without its history, and prompts",
    "close": "closes its session after the prompt",
    "delete": "deletes the session `kit-1`",
    "mode": "sets the mode `code` before it prompts",
    "login": "logs in by the method `key` when the agent demands it, then prompts",
    "logout": "logs out",
    "roots": "as prompt, with one more folder beside the session's own",
    "mcp": "as prompt, and hands on an MCP server that is reached by HTTP",
    "empty": "sends a prompt without any content, if it can be made to",
}


class BadScenario(Exception):
    """The file cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """How to make the client do one thing: by its own command, by a signal, or by both.

    One that only `tries` promises nothing: a client that does something else is not judged by it.
    """

    command: tuple[str, ...]
    signal: int | None = None
    tries: bool = False


@dataclass(frozen=True, slots=True)
class ClientScenario:
    """Every purpose that the client can be started for."""

    purposes: Mapping[str, Purpose] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str) -> Purpose | None:
        return self.purposes.get(name)


def read_scenario(path: str | Path | None, command: Sequence[str]) -> ClientScenario:
    """Read a scenario; the given command is for `prompt` and for purposes with only a signal.

    Where nothing says how the client is made to cancel, it is interrupted as by Ctrl-C; where
    nothing says how it logs in, it may do so when the agent demands it.

    Raises:
        BadScenario: the file cannot be read, or names something unknown.
    """
    table: object = {}
    environment: object = {}
    if path is not None:
        try:
            whole = tomllib.loads(Path(path).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise BadScenario(f"{path}: {error}") from None
        table, environment = whole.get("client", {}), whole.get("environment", {})
    if not isinstance(table, dict):
        raise BadScenario(f"{path}: client is a table of purposes")
    if not isinstance(environment, dict) or not all(
        isinstance(value, str) for value in environment.values()
    ):
        raise BadScenario(f"{path}: environment is a table of texts")
    purposes = {
        "prompt": Purpose(tuple(command)),
        "cancel": Purpose(tuple(command), signal.SIGINT, tries=True),
        "login": Purpose(tuple(command), tries=True),
    }
    for name, value in table.items():
        if name not in PURPOSES:
            raise BadScenario(f"{path}: client.{name} is unknown; known: {', '.join(PURPOSES)}")
        purposes[name] = _purpose(f"{path}: client.{name}", value, tuple(command))
    return ClientScenario(purposes, environment)


def _purpose(where: str, value: object, command: tuple[str, ...]) -> Purpose:
    if _is_command(value):
        return Purpose(tuple(map(str, value)))
    if isinstance(value, dict) and value.keys() <= {"command", "signal"}:
        own = value.get("command", list(command))
        number = getattr(signal, f"SIG{value.get('signal')}", None) if "signal" in value else 0
        if _is_command(own) and isinstance(number, int):
            return Purpose(tuple(map(str, own)), number or None)
    raise BadScenario(f'{where} is a list of words, or a table such as {{signal = "INT"}}')


def _is_command(value: object) -> TypeGuard[list[str]]:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(word, str) and word for word in value)
    )
