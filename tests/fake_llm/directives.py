"""What a prompt tells the fake model to do: finding directives and cutting them into turns."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Event as Flag
from typing import Any

_START = re.compile(
    r"\[\[(&?)(say|think|tools|tool|sleep|slow|hang|error|flaky|garbage|drop|stop|usage)\b"
)
_TOOL_NAME = re.compile(r"\s+(\S+?)(?=\s|\{|\]\])\s*")
_SLOW = ("20", "0.1", "word")
_PIECES = 4

INPUT_TOKENS = 11
OUTPUT_TOKENS = 7


@dataclass(frozen=True)
class Action:
    """One directive."""

    kind: str
    text: str = ""
    name: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    # A tool call in the same turn as the one before it.
    joined: bool = False

    def summary(self) -> str:
        """For the record of a request."""
        return f"{self.kind} {self.name or self.text}".strip()[:200]


@dataclass(frozen=True)
class Usage:
    """How many tokens a request is said to have cost."""

    input: int = INPUT_TOKENS
    output: int = OUTPUT_TOKENS


@dataclass(frozen=True)
class Piece:
    """A part of an answer: of kind `say`, `think`, `tool`, or at its very end `stop`."""

    kind: str
    text: str = ""
    action: Action = Action("")


class Dropped(Exception):
    """Tells the server to close the connection here."""


def parse_directives(text: str) -> list[Action]:
    """All directives of a text, in order.  The arguments of a tool may hold `]]`."""
    found: list[Action] = []
    at = 0
    while (match := _START.search(text, at)) is not None:
        kind, rest = match.group(2), text[match.end() :]
        if kind == "tool":
            action, used = _tool(rest, joined=bool(match.group(1)))
            if action is not None:
                found.append(action)
            at = match.end() + used
            continue
        end = rest.find("]]")
        if end < 0:
            break
        found.append(Action(kind, text=rest[:end].strip()))
        at = match.end() + end + 2
    return found


def _tool(rest: str, *, joined: bool) -> tuple[Action | None, int]:
    """A tool call, and how much of the text it takes; none when it cannot be read."""
    named = _TOOL_NAME.match(rest)
    if named is None:
        return None, 0
    body = rest[named.end() :]
    arguments: Any = {}
    used = 0
    if body.startswith("{"):
        try:
            arguments, used = json.JSONDecoder().raw_decode(body)
        except ValueError:
            try:
                # The agent passed the prompt on as JSON inside of JSON.
                arguments, _ = json.JSONDecoder().raw_decode(body.replace('\\"', '"'))
            except ValueError:
                return None, 0
            used = body.find("]]")
    end = body.find("]]", used)
    whole = named.end() + (end + 2 if end >= 0 else len(body))
    return Action("tool", name=named.group(1), arguments=arguments, joined=joined), whole


def split_turns(actions: list[Action]) -> list[list[Action]]:
    """Directives as turns of the model: a tool call ends one."""
    turns: list[list[Action]] = [[]]
    for action in actions:
        called = bool(turns[-1]) and turns[-1][-1].kind == "tool"
        if called and not (action.kind == "tool" and action.joined):
            turns.append([])
        turns[-1].append(action)
    return [turn for turn in turns if turn]


def after_failures(actions: list[Action]) -> list[Action]:
    """What is still in force: what follows a failure is a later prompt that was glued on."""
    for index in range(len(actions) - 2, -1, -1):
        if actions[index].kind in ("error", "drop", "garbage"):
            return actions[index + 1 :]
    return actions


def usage_of(actions: list[Action]) -> Usage:
    """What the turn is said to have cost."""
    for action in actions:
        if action.kind == "usage":
            numbers = [int(word) for word in action.text.split()]
            return Usage(*numbers)
    return Usage()


def perform(actions: list[Action], closing: Flag) -> Iterator[Piece]:
    """The pieces of an answer, as time goes by."""
    stop = ""
    for action in actions:
        if action.kind in ("say", "think"):
            for text in _pieces(action.text):
                yield Piece(action.kind, text)
        elif action.kind == "sleep":
            closing.wait(float(action.text or 1))
        elif action.kind == "hang":
            closing.wait()
            raise Dropped
        elif action.kind == "slow":
            words = action.text.split(None, 2)
            count, gap, word = (*words, *_SLOW[len(words) :])
            for index in range(int(count)):
                yield Piece("say", f"{word}{index} ")
                if closing.is_set():
                    raise Dropped
                time.sleep(float(gap))
        elif action.kind == "tool":
            yield Piece("tool", action=action)
        elif action.kind == "drop":
            raise Dropped
        elif action.kind == "stop":
            stop = action.text
    yield Piece("stop", stop)


def _pieces(text: str) -> list[str]:
    """A text in a few parts, so that there is something to stream."""
    size = max(1, -(-len(text) // _PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]
