"""What a natural sentence means: ordered tables of patterns, the first match wins.

It must not know the project: the action finds out whether a name or a file exists.

What always holds
    * `parse_sentence` returns exactly one intent; a line that no row matches is `unknown`.
"""

from __future__ import annotations

import re
from re import Match

from accord.builtin.offline.prompt.arguments import target_of, words_of
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.prompt.pattern_parts import (
    ASK,
    THE,
    Row,
    first_match,
    plain_intent,
    row,
    with_arguments,
)
from accord.builtin.offline.prompt.question_patterns import BROAD_QUESTIONS, QUESTIONS
from accord.builtin.offline.prompt.task_patterns import (
    BROAD_COMMANDS,
    BROAD_TASKS,
    COMMANDS,
    EDITS,
    TESTS_AND_REPAIRS,
)

LINE_CHARACTERS_MAX = 2_000
"""A longer text is not a command: it is a task for a model."""


def _tool_call(match: Match[str]) -> Intent | None:
    """`add a=1 b=2`: the tool of an MCP server, if there is one of that name."""
    return Intent("call", {"tool": match["tool"], "values": match["values"].strip()})


_TALK: tuple[Row, ...] = (
    row(
        r"(?:hi|hello|hey|hallo|good (?:morning|evening|day|afternoon))(?: there| accord)?",
        plain_intent("hello"),
    ),
    row(
        r"(?:many )?(?:thanks?|thank you|thx|great|nice|cool|perfect|ok|okay|yes|no)(?: you)?"
        r"(?: (?:very|so) much| a lot)?",
        plain_intent("thanks"),
    ),
    row(
        rf"{ASK}help(?: me)?|\?+|commands|what can (?:you|i) (?:do|type|say|ask)(?: here)?|"
        r"how do(?:es)? (?:i|this) (?:use this|use you|work)|who are you|what are you",
        plain_intent("help"),
    ),
    row(
        r"(?:which |what |use |set |choose |change |pick |select )?(?:a |the |an? llm )?model"
        r"(?: (?:are you|do you use|is this))?|how (?:do i|to|can i) (?:set|use|choose|pick)"
        r" (?:a |the )?model",
        plain_intent("model"),
    ),
    row(
        rf"{ASK}(?:undo|revert|roll ?back|take (?:it|that|this) back)"
        rf"(?: (?:it|that|this|everything|(?:the |your |my )?(?:last |latest |previous )?"
        r"(?:changes?|edits?|turn|rename|fix)))?",
        plain_intent("undo"),
    ),
)

_TOOLS_AND_PLANS: tuple[Row, ...] = (
    row(
        rf"{ASK}(?:list|show|what|which)(?: me)? {THE}mcp(?: (?:servers?|tools?))*"
        r"(?: are there| do you have)?|mcp(?: (?:servers?|tools?))*",
        plain_intent("mcp"),
    ),
    row(
        r"(?:call "
        r")?(?P<tool>[\w.:/-]+)(?P<values>(?:\s+[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|\S+))+)",
        _tool_call,
    ),
    row(
        r"call (?P<tool>[\w.:/-]+)\s*(?P<values>\{.*\})?",
        with_arguments("call", tool=target_of, values=str.strip),
    ),
    row(
        rf"{ASK}(?:make |draw up |draft |write )?(?:a )?plan(?: to| for|:)?\s+(?P<text>.+?)",
        with_arguments("plan", text=str.strip),
    ),
)

_GOODBYE: tuple[Row, ...] = (
    row(r"(?:good ?)?bye|exit|quit|q|:q|see you(?: later)?|stop", plain_intent("thanks")),
)

TABLE: tuple[Row, ...] = (
    *_TALK,
    *TESTS_AND_REPAIRS,
    *EDITS,
    *QUESTIONS,
    *COMMANDS,
    *_TOOLS_AND_PLANS,
)
BROAD_TABLE: tuple[Row, ...] = (*BROAD_TASKS, *BROAD_QUESTIONS, *BROAD_COMMANDS, *_GOODBYE)


def parse_sentence(line: str) -> Intent:
    """What a natural sentence means."""
    if not line.strip():
        return Intent("help")
    intent = first_match(TABLE, line) if len(line) <= LINE_CHARACTERS_MAX else None
    words = words_of(line)
    return intent or Intent("unknown", {"words": words} if words else {})


def parse_broadly(line: str) -> Intent | None:
    """What a sentence means by the broader rows; None if none fits."""
    if len(line) > LINE_CHARACTERS_MAX:
        return None
    return first_match(BROAD_TABLE, line if "\n" in line else re.sub(r"\s+", " ", line))
