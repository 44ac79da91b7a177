"""What else people write: rows that are tried after those of `sentence_patterns.py`.

These are wider: tasks of a project (`run the linter`), questions that an overview answers, and
questions in words that no name of the project need have (`where is the signature checked?`).
"""

from __future__ import annotations

import re
from re import Match, Pattern

from accord.builtin.offline.prompt.arguments import (
    name_of,
    path_of,
    target_of,
    words_of,
)
from accord.builtin.offline.prompt.command_lines import PROSE
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.prompt.sentence_patterns import (
    ASK,
    KIND,
    LINE_CHARACTERS_MAX,
    PROJECT,
    SOURCE,
    THE,
    Make,
    pattern,
    plain_intent,
    rename_intent,
    with_arguments,
)

_DEFINED = r"(?:functions?|methods?|classes|symbols?|names?|definitions?)"
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


def _task(name: str) -> tuple[Pattern[str], Make]:
    noun, sentence = _TASKS[name]
    found = pattern(rf"{ASK}(?:{_DO} {THE}(?:{PROJECT}'?s? )?{noun}|{sentence}){_END}")
    return found, lambda match: Intent("task", {"task": name})


def _about(match: Match[str]) -> Intent | None:
    """A question in words: at least two that tell something, or one that is no name."""
    words = words_of(match["words"])
    return Intent("about", {"words": words}) if len(words.split()) > 1 else None


def _not_a_command(match: Match[str]) -> Intent | None:
    """A short text that somebody wants to run and that is no command by itself."""
    text = match["text"].strip().rstrip("!?.").rstrip()
    words = text.lower().split()
    if not words or "\n" in text or len(words) > 3 or PROSE.intersection(words):
        return None
    return Intent("not_a_command", {"text": text})


MORE: tuple[tuple[Pattern[str], Make], ...] = (
    # ---- commands that a sentence stands for
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
        rename_intent,
    ),
    (
        pattern(
            rf"{ASK}(?:fix|repair|mend|solve|debug) {THE}(?:failing |broken |failed )?"
            rf"(?:tests? |bugs? in |errors? in |problems? (?:in|with) )?(?:test_\w+|{_FILE_WORD})"
        ),
        plain_intent("fix"),
    ),
    (
        pattern(
            rf"{ASK}(?:fix|repair|mend|solve|debug) (?:(?:what|whatever|everything|anything|all)"
            r"(?: (?:that|which))?(?:'s| is| are| was| has)?(?: still)? "
            r"(?:fail(?:s|ed|ing)?|broken|br(?:eaks|oke)|red|wrong|not working)|"
            rf"everything|all|{THE}(?:failing |broken |failed )?tests?"
            r"(?: (?:that|which) fail(?:s|ed)?)?|"
            rf"{THE}(?:failures?|errors?|bugs?|problems?|issues?))(?: (?:you|that you) find)?{_END}"
        ),
        plain_intent("fix"),
    ),
    # ---- tests and other tasks of the project
    (
        pattern(
            rf"{ASK}{_DO} {THE}(?:(?:my|our|the|unit|whole|full|complete|entire) )*tests?"
            rf"(?: ?suite)?{_END}|"
            r"(?:do|did|will) (?:the |all |my |our |all the )?tests? (?:still )?(?:pass|work|run)|"
            r"are (?:the |all |my |our |all the )?tests? (?:still )?"
            r"(?:green|red|ok|okay|passing|failing|broken)"
        ),
        plain_intent("test"),
    ),
    *(_task(name) for name in _TASKS),
    # ---- looking
    (
        pattern(
            rf"{ASK}(?:what(?:'s| is| does| stands)|show me what(?:'s| is)|tell me what(?:'s| is)) "
            rf"(?:in|inside|written in|contained in) {THE}{KIND}(?P<path>\S+?)(?: (?:file|folder))?"
        ),
        with_arguments("contents", path=target_of),
    ),
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
    # ---- questions in words
    (
        pattern(
            rf"{ASK}(?:(?:find|show|tell)(?: me)? |do you know )?where(?:'s| is| are| was| were| do"
            r"| does| did| can| could| should| in the code)* (?:we |you |i |they |it |one )?"
            r"(?P<words>.+?)(?: (?:happening|located|done|going on))?"
        ),
        _about,
    ),
    (
        pattern(
            rf"{ASK}(?:(?:find|show)(?: me)? )?(?:which|what|the) (?:functions?|methods?|code|"
            r"files?|modules?|class(?:es)?|parts?(?: of the code)?|places?|lines?) "
            r"(?:that |which |does |do |is |are )*(?P<words>.+?)"
        ),
        _about,
    ),
    (
        pattern(
            rf"{ASK}how (?:is|are|do we|does it|do you|does {THE}{PROJECT}) (?P<words>.+?)"
            r"(?: (?:done|handled|implemented))?"
        ),
        _about,
    ),
    (
        pattern(rf"{ASK}(?:run|execute|launch) {THE}(?:command |program )?(?P<text>\S.*)"),
        _not_a_command,
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
