"""What else people write: rows that are tried after those of `sentences.py`.

These are wider: a program's name and what only programs take, questions that an overview answers.
What is English as well as a command (`make it faster`, `go there`) is not taken for a command.
"""

from __future__ import annotations

import re
from re import Match, Pattern

from accord.builtin.brain.offline.arguments import (
    command_of,
    name_of,
    path_of,
    spoken_command,
    target_of,
)
from accord.builtin.brain.offline.intent import Intent
from accord.builtin.brain.offline.sentences import (
    ASK,
    KIND,
    LINE_CHARACTERS_MAX,
    PROJECT,
    SOURCE,
    THE,
    Make,
    command_pattern,
    pattern,
    plain_intent,
    rename_intent,
    with_arguments,
)

_DEFINED = r"(?:functions?|methods?|classes|symbols?|names?|definitions?)"
_FILE_WORD = r"\S+\.\w{1,5}"
_SUBCOMMANDS = (
    "add|audit|build|check|ci|clean|clippy|compose|doc|exec|fmt|format|freeze|images|info|init|"
    "install|list|lock|ls|outdated|pip|ps|run|show|start|sync|t|test|tree|uninstall|update|"
    "upgrade|version|vet|why"
)
_PROGRAMS = (
    "bun|cargo|deno|docker|go|hatch|node|npm|npx|pip3?|pnpm|poetry|python3?|rustc|tsc|uv|uvx|yarn"
)
_TOOLS = "black|eslint|flake8|isort|jest|mypy|nox|prettier|pylint|pyright|pytest|ruff|tox|vitest"
_TARGETS = (
    "all|build|check|clean|dev|dist|docs?|fmt|format|install|lint|release|run|serve|setup|start|"
    "test|tests"
)


def _rename(match: Match[str]) -> Intent | None:
    return rename_intent(match)


MORE: tuple[tuple[Pattern[str], Make], ...] = (
    # ---- commands without the sign for one
    (
        command_pattern(
            rf"(?P<command>(?:{_PROGRAMS}) (?:-\S+|{_FILE_WORD}|(?:{_SUBCOMMANDS})\b).*)"
        ),
        with_arguments("run", command=spoken_command),
    ),
    (
        command_pattern(rf"(?P<command>(?:{_TOOLS}) .+)"),
        with_arguments("run", command=spoken_command),
    ),
    (pattern(rf"(?P<command>make (?:{_TARGETS}))"), with_arguments("run", command=command_of)),
    (
        command_pattern(r"(?P<command>ls \S.*|\./\S.*)"),
        with_arguments("run", command=spoken_command),
    ),
    (
        pattern(
            rf"{ASK}(?:(?:show|list)(?: me)? )?{THE}(?:diff|(?:uncommitted |my |your )*changes)|"
            rf"what(?:'s| has| have| did)? ?(?:i |you |we )?(?:been )?changed?(?: here| so far)?"
        ),
        lambda match: Intent("run", {"command": "git diff"}),
    ),
    # ---- changes and repairs
    (
        pattern(
            rf"{ASK}rename {THE}{KIND}(?P<old>{SOURCE})\s+(?:to|into|as)\s+(?P<new>{SOURCE})"
            r",?\s+(?:and|then)\s+(?:re-?run|run|execute) .*tests?"
        ),
        _rename,
    ),
    (
        pattern(
            rf"{ASK}(?:fix|repair|mend|solve|debug) {THE}(?:failing |broken |failed )?"
            rf"(?:tests? |bugs? in |errors? in |problems? (?:in|with) )?(?:test_\w+|{_FILE_WORD})"
        ),
        plain_intent("fix"),
    ),
    # ---- looking
    (
        pattern(
            rf"{ASK}(?:list|show|what|which)(?: me| are)? {THE}{_DEFINED}"
            rf" (?:are |does |do )?(?:there )?(?:in |of |from )?{THE}{KIND}(?P<target>\S+?)"
            r"(?: (?:have|has|define|defines|contain|contains))?"
        ),
        with_arguments("explain", target=target_of),
    ),
    (
        pattern(
            rf"{ASK}(?:outline|signature|docs?|docstring|source)(?: (?:of|for))? {THE}{KIND}"
            r"(?P<target>\S+?)"
        ),
        with_arguments("explain", target=target_of),
    ),
    (
        pattern(
            rf"{ASK}what (?:does|do|can|should|will) {THE}{KIND}(?P<target>\S+?) (?:return|returns|"
            r"take|takes|accept|accepts|expect|expects|need|needs|require|contain|contains|define|"
            r"raise|raises|look like)"
        ),
        with_arguments("explain", target=target_of),
    ),
    (
        pattern(
            rf"how (?:do i|do you|to|can i|do we) (?:run|start|use|build|launch|install)"
            rf"(?: (?:this|it|{THE}{PROJECT}|{THE}app))?|"
            r"how (?:many|much) (?:lines|files|code|tests|modules|functions|classes)\b.*|"
            r"how (?:big|large) is .*|"
            r"(?:what|which) (?:programming )?languages?\b.*|"
            r"(?:what|which|list|show)(?: me)?(?: the| all)? (?:tests|entry ?points?|modules)\b.*|"
            rf"(?:what can|what does|how does) (?:this|it|{THE}{PROJECT}) (?:do|work)|"
            r"(?:where|how) (?:do|should|can) i (?:start|begin)|tell me more about (?:this|it)"
        ),
        plain_intent("map"),
    ),
    (
        pattern(rf"{ASK}(?:who|what) (?:depends on|is using|is calling) {THE}{KIND}(?P<name>\S+?)"),
        with_arguments("callers", name=name_of),
    ),
    # ---- files whose names have no ending that is known
    (
        pattern(
            rf"{ASK}(?:show|read|open|cat|print|display|view|explain)(?: me)? {THE}(?:file )?"
            r"(?P<path>(?:~|\.\.?)?/\S+?)"
        ),
        with_arguments("show", path=path_of),
    ),
    (pattern(r"(?:good ?)?bye|exit|quit|q|:q|see you(?: later)?|stop"), plain_intent("thanks")),
)


def more_of(line: str) -> Intent | None:
    """What a sentence means by these rows; None where none fits."""
    if len(line) > LINE_CHARACTERS_MAX:
        return None
    for row, make in MORE:
        match = row.fullmatch(re.sub(r"\s+", " ", line) if "\n" not in line else line)
        intent = None if match is None else make(match)
        if intent is not None:
            return intent
    return None
