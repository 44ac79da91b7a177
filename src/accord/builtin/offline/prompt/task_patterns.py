"""Sentences that ask to run, repair or change something, as rows of patterns.

The `BROAD_` rows are tried after command lines: they also cover tasks of a project, such as
`run the linter`.
"""

from __future__ import annotations

from re import Match

from accord.builtin.offline.prompt.arguments import path_of, target_of, unquoted
from accord.builtin.offline.prompt.command_lines import PROSE, command_line, quoted_command
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.prompt.pattern_parts import (
    ASK,
    KIND,
    PROJECT,
    QUOTED,
    SOURCE,
    THE,
    Row,
    command_pattern,
    first_match,
    pattern,
    plain_intent,
    rename_intent,
    row,
    with_arguments,
)

# After an article, "file" means a script, not the program `file`.
_THE_SCRIPT = (
    r"(?:the|a|this|that|my|our) (?:(?:python|node|ruby|perl|bash|shell|js|javascript) )?"
    r"(?:file|script|program) "
)
_FILE_WORD = r"\S+\.\w{1,5}"
_END = r"(?: (?:again|now|please|for me|first|once more|here|too|on it|on this))*"
_IT = rf"(?: (?:it|this|everything|all|the files|{THE}{PROJECT}|{THE}source|{THE}app))?"
_DO = r"(?:re-?run|run|execute|start|launch|do|use|try)"

# The noun behind “run the”, and the sentence that means the same.
_TASKS = {
    "lint": (
        r"(?:linters?|linting|lints?|lint checks?|style checks?|style checker)",
        rf"lint{_IT}|check (?:the )?(?:code )?(?:style|linting)|(?:are there )?any lint errors",
    ),
    "format": (
        r"(?:(?:code )?formatters?|(?:code )?formatting)",
        rf"(?:re)?format{_IT}",
    ),
    "types": (
        r"(?:type ?-?checkers?|type ?-?checking|type ?-?checks?|typing checks?)",
        rf"(?:type ?-?check|check (?:the )?types(?: (?:in|of))?){_IT}",
    ),
    "build": (r"(?:builds?|build script|compiler|compilation)", rf"(?:build|compile){_IT}"),
    "start": (
        r"(?:(?:dev |development |web )?server|app|application|program|website|site)",
        r"serve(?: it| this)?",
    ),
}


def _task(name: str) -> Row:
    noun, sentence = _TASKS[name]
    found = pattern(rf"{ASK}(?:{_DO} {THE}(?:{PROJECT}'?s? )?{noun}|{sentence}){_END}")
    return found, lambda match: Intent("task", {"task": name})


def _change(match: Match[str]) -> Intent | None:
    old, new = unquoted(match["old"]), match["new"]
    if not old:
        return None
    arguments = {"old": old}
    # An empty new text in quotes deletes the old one.
    replaced = unquoted(new)
    if replaced:
        arguments["new"] = replaced
    path = match.groupdict().get("path")
    if path:
        arguments["path"] = target_of(path)
    return Intent("change", arguments)


def _run(match: Match[str]) -> Intent | None:
    """A quoted command, or a plain one; “run” before a sentence does not make it a command."""
    said = match["command"]
    quoted = quoted_command(said.rstrip(".!? "))
    if quoted is not None and "\n" in quoted:
        return Intent("several_lines", {"command": quoted})
    if quoted is not None:
        spoken = first_match(TESTS_AND_REPAIRS, f"run {quoted}")
        is_test = spoken is not None and spoken.name == "test"
        return spoken if is_test else Intent("run", {"command": quoted})
    command = command_line(said, is_marked=True)
    return None if command is None else Intent("run", {"command": command})


def _not_a_command(match: Match[str]) -> Intent | None:
    """A short text after “run” that is not a command."""
    text = match["text"].strip().rstrip("!?.").rstrip()
    words = text.lower().split()
    if not words or "\n" in text or len(words) > 3 or PROSE.intersection(words):
        return None
    return Intent("not_a_command", {"text": text})


TESTS_AND_REPAIRS: tuple[Row, ...] = (
    row(
        rf"{ASK}(?:(?:re-?)?run|execute|start|do) {THE}(?:unit )?tests?(?: suite)?"
        r"(?: again| now| once more)?",
        plain_intent("test"),
    ),
    row(
        rf"{ASK}(?:re-?)?tests?(?: (?:it|again|everything|all|this|the {PROJECT}))?|"
        r"pytest|do (?:the |all )?tests pass|are the tests (?:green|red|ok|passing)|"
        r"check (?:the )?tests",
        plain_intent("test"),
    ),
    row(
        rf"{ASK}(?:run )?(?:the )?(?:tests? (?:in|of|for|from) |test |pytest )"
        r"(?P<target>\S+)",
        with_arguments("test", target=path_of),
    ),
    row(
        rf"{ASK}run (?:the )?(?:tests? )?(?P<target>(?:\S*/)?(?:test_\w+|\w+_test)\.py)",
        with_arguments("test", target=path_of),
    ),
    row(
        r"why|(?:tell me )?more|details|"
        rf"{ASK}(?:why|what)(?:'s| is| does| do| did| are)? {THE}"
        r"(?:(?:tests? )?(?:fail(?:s|ed|ing|ures?)?|wrong|broken|errors?)|"
        r"(?:it|tests?|that) (?:fail(?:s|ed|ing)?|broken|red|wrong)|tests? wrong)",
        plain_intent("why"),
    ),
    row(
        rf"{ASK}(?:fix|repair|mend|solve|correct|debug)(?: (?:it|this|that|them|{THE}"
        rf"(?:failing |broken |failed |red )?(?:tests?|bugs?|errors?|failures?|"
        rf"problems?|issues?|"
        rf"{PROJECT}|build)))?(?: in \S+)?(?: (?:please|now|for me))?|"
        r"(?:make|get|turn) (?:it|the tests?|them|tests?|all tests?) (?:to "
        r")?(?:pass|green|work)",
        plain_intent("fix"),
    ),
)

EDITS: tuple[Row, ...] = (
    row(
        rf"{ASK}(?:rename|refactor) {THE}{KIND}(?P<old>{SOURCE})\s+"
        rf"(?:to|into|as|=>|->|→)\s+(?P<new>{SOURCE})(?: (?:everywhere|in all files|please))?",
        rename_intent,
    ),
    row(
        rf"{ASK}move {THE}{KIND}(?P<path>\S+) (?:to|into) (?P<target>\S+?)",
        with_arguments("move", path=path_of, target=target_of),
    ),
    row(
        rf"{ASK}(?:delete|remove|rm) {THE}(?:file )?(?P<path>\S+)",
        with_arguments("delete", path=path_of),
    ),
    row(
        rf"{ASK}(?:change|replace|substitute) (?P<old>{QUOTED})\s+"
        rf"(?:to|with|by|into|for|=>|->|→)\s+(?P<new>{QUOTED})"
        rf"(?:\s+(?:in|inside|of)\s+{THE}(?:file )?(?P<path>{SOURCE}))?",
        _change,
    ),
    row(
        rf"{ASK}(?:change|replace|substitute) (?P<old>\S+)\s+(?:to|with|by|into|=>|->|→)\s+"
        rf"(?P<new>{SOURCE})\s+(?:in|inside|of)\s+{THE}(?:file )?(?P<path>{SOURCE})",
        _change,
    ),
)

COMMANDS: tuple[Row, ...] = (
    (
        command_pattern(
            rf"{ASK}(?:run|execute):? (?:{_THE_SCRIPT}|{THE}(?:command )?)(?P<command>\S.*)"
        ),
        _run,
    ),
)

BROAD_TASKS: tuple[Row, ...] = (
    row(
        rf"{ASK}(?:(?:show|list)(?: me)? )?{THE}(?:diff|(?:uncommitted |my |your )*changes)|"
        rf"what(?:'s| has| have| did)? ?(?:i |you |we )?(?:been )?changed?(?: here| so far)?",
        lambda match: Intent("run", {"command": "git diff"}),
    ),
    row(
        rf"{ASK}rename {THE}{KIND}(?P<old>{SOURCE})\s+(?:to|into|as)\s+(?P<new>{SOURCE})"
        r",?\s+(?:and|then)\s+(?:re-?run|run|execute) .*tests?",
        rename_intent,
    ),
    row(
        rf"{ASK}(?:fix|repair|mend|solve|debug) {THE}(?:failing |broken |failed )?"
        rf"(?:tests? |bugs? in |errors? in |problems? (?:in|with) )?(?:test_\w+|{_FILE_WORD})",
        plain_intent("fix"),
    ),
    row(
        rf"{ASK}(?:fix|repair|mend|solve|debug) (?:(?:what|whatever|everything|anything|all)"
        r"(?: (?:that|which))?(?:'s| is| are| was| has)?(?: still)? "
        r"(?:fail(?:s|ed|ing)?|broken|br(?:eaks|oke)|red|wrong|not working)|"
        rf"everything|all|{THE}(?:failing |broken |failed )?tests?"
        r"(?: (?:that|which) fail(?:s|ed)?)?|"
        rf"{THE}(?:failures?|errors?|bugs?|problems?|issues?))(?: (?:you|that you) find)?{_END}",
        plain_intent("fix"),
    ),
    row(
        rf"{ASK}{_DO} {THE}(?:(?:my|our|the|unit|whole|full|complete|entire) )*tests?"
        rf"(?: ?suite)?{_END}|"
        r"(?:do|did|will) (?:the |all |my |our |all the )?tests? (?:still )?(?:pass|work|run)|"
        r"are (?:the |all |my |our |all the )?tests? (?:still )?"
        r"(?:green|red|ok|okay|passing|failing|broken)",
        plain_intent("test"),
    ),
    *(_task(name) for name in _TASKS),
)

BROAD_COMMANDS: tuple[Row, ...] = (
    row(rf"{ASK}(?:run|execute|launch) {THE}(?:command |program )?(?P<text>\S.*)", _not_a_command),
)
