"""A scenario: the prompts that make a program do what a rule is about.

A black box cannot be made to call a tool; a scenario has, for each purpose, the prompt that makes
this program do it.  A purpose without a prompt is not exercised.

The prompts of one that only `tries` are for any agent: what they do not bring about is not
exercised, and never a failure.  `never` names what this program never does
(see `optional_behaviour.py`).

    name = "my agent"

    [environment]           # added to the program's environment
    MY_AGENT_OFFLINE = "1"

    [files]                 # put into the folder of each session
    "notes.txt" = "one apple\\n"

    [prompts]
    edit = "change 'apple' to 'pear' in notes.txt"
    long = "run sleep 60"

    [options]               # what an option can be set to; only the 2026-02 draft does not tell
    model = ["small", "large"]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from accord.conformance.frames.raw_peer import Message
from accord.conformance.optional_behaviour import OCCASIONS

# The purposes of prompts, and what the program must do for each.
PURPOSES = {
    "say": "answer with some text",
    "stream": "answer with a long text",
    "tool": "make at least one tool call that succeeds",
    "fail": "make a tool call that fails",
    "read": "read `notes.txt` in the session's folder and say what is in it",
    "edit": "change the target (`notes.txt`) in the session's folder, after asking for permission",
    "terminal": "run a command that prints `accord-check` and ends",
    "where": "run a command that prints the working directory",
    "copy": "copy `notes.txt` to `copied.txt` by a command, after asking for permission",
    "long": "work for a minute or until cancelled",
    "long_command": "run a command for a minute or until cancelled; `long` where there is none",
    "link": "read `link.txt`, which points out of the session's folder",
    "outside": "write `../outside.txt`",
    "plan": "make a plan and work through it",
    "mode": "change the session's mode on its own",
    "config": "change a config option on its own",
    "command": "run one of its slash commands",
    "elicitation": "ask the user something with a form",
    "url": "ask the user something with a URL",
    "mcp": "call the tool `recall` of the MCP server `accord-check`",
    "usage": "report its usage",
    "compaction": "compact its context",
    "notice": "send a notice",
    "background": "start a command in the background and end the turn",
    "cancellable": "make a tool call that can be cancelled alone and takes a minute",
    "rename": "rename `notes.txt` to `renamed.txt`",
    "subagent": "start a subagent",
    "secret": "need a secret of the user",
    "crash": "fail in the middle of its work",
}
# Purposes that only an agent with tools can serve.
TOOL_PURPOSES = frozenset(
    {
        "tool", "fail", "read", "edit", "terminal", "where", "copy", "long_command", "link",
        "outside", "mcp", "background", "cancellable", "rename",
    }
)  # fmt: skip
DEFAULT_SAY = "Say hello in one short sentence. Do not use any tools."
# The image for prompts with one: eight by eight grey pixels, as a PNG.
IMAGE: Message = {
    "type": "image",
    "mimeType": "image/png",
    "data": "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAADklEQVR42mOohwIG"
    "yhgAd4QfwYuWm4wAAAAASUVORK5CYII=",
}
DEFAULT_FILES = {"notes.txt": "one apple\n"}
SHIPPED = ("builtin", "generic", "none")
# The default scenario, and the purposes whose prompts replace one that is missing.
DEFAULT = "generic"
INSTEAD = {"long_command": ("long",), "cancellable": ("long_command", "long")}


class BadScenario(Exception):
    """The scenario cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """The prompts of one program, its environment and the files of its sessions."""

    name: str = "none"
    prompts: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_FILES))
    login: str = ""
    seconds: float = 30.0
    # The file that the prompt for `edit` changes.
    target: str = "notes.txt"
    tries: bool = False
    never: frozenset[str] = frozenset()
    # Values for options of a session that the protocol does not list.
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # The purposes that a client can be started for; `client/scenario.py` reads how.
    client: frozenset[str] = frozenset()

    def prompt(self, purpose: str) -> str | None:
        """Return the prompt for a purpose, if there is one; `say` always has one."""
        assert purpose in PURPOSES, purpose
        names = (purpose, *INSTEAD.get(purpose, ()))
        found = next((self.prompts[name] for name in names if name in self.prompts), None)
        return DEFAULT_SAY if found is None and purpose == "say" else found


def load_scenario(name: str) -> Scenario:
    """Load a scenario from a file, or one that comes with the kit (`builtin`, `generic`).

    Raises:
        BadScenario: the file does not exist, is not TOML, or has an unknown key.
    """
    if name == "none":
        return Scenario()
    try:
        if name in SHIPPED:
            text = files("accord.conformance").joinpath("scenarios", f"{name}.toml").read_text()
        else:
            text = Path(name).read_text("utf-8")
        table = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadScenario(f"{name}: {error}") from None
    return _scenario(table, name)


def _scenario(table: Mapping[str, Any], name: str) -> Scenario:
    known = {"name", "prompts", "environment", "files", "login", "seconds", "client", "target"}
    known |= {"tries", "never", "options"}
    for key in table:
        if key not in known:
            raise BadScenario(f"{name}: unknown key {key!r}; known: {', '.join(sorted(known))}")
    prompts = _texts(table, "prompts", name)
    for purpose in prompts:
        if purpose not in PURPOSES:
            raise BadScenario(f"{name}: unknown purpose {purpose!r}; known: {', '.join(PURPOSES)}")
    seconds = table.get("seconds", 30.0)
    if not isinstance(seconds, int | float) or not 0 < seconds <= 600:
        raise BadScenario(f"{name}: seconds is a number up to 600")
    return Scenario(
        name=str(table.get("name", name)),
        prompts=prompts,
        environment=_texts(table, "environment", name),
        files=DEFAULT_FILES | _texts(table, "files", name),
        login=str(table.get("login", "")),
        seconds=float(seconds),
        target=str(table.get("target", "notes.txt")),
        tries=table.get("tries") is True,
        never=_never(table.get("never", []), name),
        options=_options(table.get("options", {}), name),
        client=frozenset(table["client"]) if isinstance(table.get("client"), dict) else frozenset(),
    )


def _never(found: object, name: str) -> frozenset[str]:
    if not isinstance(found, list) or not all(one in OCCASIONS for one in found):
        raise BadScenario(f"{name}: never is a list of {', '.join(OCCASIONS)}")
    return frozenset(found)


def _options(found: object, name: str) -> dict[str, tuple[str, ...]]:
    values = found.values() if isinstance(found, dict) else (None,)
    if not all(isinstance(one, list) and all(isinstance(v, str) for v in one) for one in values):
        raise BadScenario(f"{name}: [options] takes only lists of texts")
    assert isinstance(found, dict)
    return {str(key): tuple(one) for key, one in found.items()}


def _texts(table: Mapping[str, Any], key: str, name: str) -> dict[str, str]:
    found = table.get(key, {})
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise BadScenario(f"{name}: [{key}] takes only texts")
    return found
