"""What a natural sentence means: an ordered table of patterns, the first match wins.

It must not know the project: whether a name or a file exists is found out by whoever acts.

What always holds
    * Every sentence gives exactly one intent; what no row matches is `unknown` with its words.
    * An argument of an intent is never empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from re import Match, Pattern

from accord.builtin.offline.prompt.arguments import (
    name_of,
    path_of,
    target_of,
    unquoted,
    words_of,
)
from accord.builtin.offline.prompt.command_lines import command_line, quoted_command
from accord.builtin.offline.prompt.intent import Intent

# Nobody types more than this as a command; a longer text is a task for a model.
LINE_CHARACTERS_MAX = 2_000

# More words without quotes are a sentence, not a text that stands somewhere.
SEARCHED_WORDS_MAX = 4
_ASKING = frozenset(
    {"all", "at", "how", "if", "into", "out", "what", "where", "which", "who", "why"}
)

# Makes an intent of a match; None when the row does not fit after all.
Make = Callable[[Match[str]], Intent | None]


def plain_intent(name: str) -> Make:
    """An intent without arguments."""
    return lambda match: Intent(name)


def with_arguments(intent: str, /, **readers: Callable[[str], str | None]) -> Make:
    """An intent with the groups of the match as arguments, each read by its reader."""

    def make(match: Match[str]) -> Intent | None:
        arguments: dict[str, str] = {}
        for key, read in readers.items():
            group = match[key]
            if group is None:
                continue
            value = read(group)
            if not value:
                return None
            arguments[key] = value
        return Intent(intent, arguments)

    return make


def rename_intent(match: Match[str]) -> Intent | None:
    """A symbol's new name, or a file's."""
    old, new = target_of(match["old"]), target_of(match["new"])
    if not old or not new:
        return None
    if path_of(old) and (path_of(new) or "/" in new):
        return Intent("move", {"path": old, "target": new})
    if name_of(old) and name_of(new):
        return Intent("rename", {"old": old, "new": new})
    return None


def _change(match: Match[str]) -> Intent | None:
    old, new = unquoted(match["old"]), match["new"]
    if not old:
        return None
    arguments = {"old": old}
    # Nothing in quotes is a new text too: what is replaced by it goes away.
    replaced = unquoted(new)
    if replaced:
        arguments["new"] = replaced
    path = match.groupdict().get("path")
    if path:
        arguments["path"] = target_of(path)
    return Intent("change", arguments)


def _run(match: Match[str]) -> Intent | None:
    """What is quoted, or a command by itself; “run” alone makes no command of a sentence."""
    said = match["command"]
    quoted = quoted_command(said.rstrip(".!? "))
    if quoted is not None and "\n" in quoted:
        return Intent("several_lines", {"command": quoted})
    if quoted is not None:
        spoken = parse_sentence(f"run {quoted}")
        return spoken if spoken.name == "test" else Intent("run", {"command": quoted})
    command = command_line(said, is_marked=True)
    return None if command is None else Intent("run", {"command": command})


def _searched(text: str) -> str | None:
    """A text to search for; a question about the code is not one."""
    bare = unquoted(text)
    if bare != text.strip():
        return bare
    words = bare.split()
    asks = words[0].lower() in _ASKING or {"that", "which", "where"}.intersection(words)
    if len(words) > SEARCHED_WORDS_MAX or asks:
        return None
    return bare


def _tool_call(match: Match[str]) -> Intent | None:
    """`add a=1 b=2`: the tool of an MCP server, if there is one of that name."""
    return Intent("call", {"tool": match["tool"], "values": match["values"].strip()})


def pattern(text: str) -> Pattern[str]:
    """A row's pattern: the whole line, in any case, with whatever mark at its end."""
    return re.compile(rf"\s*(?:{text})[\s.!?]*", re.IGNORECASE | re.DOTALL)


def command_pattern(text: str) -> Pattern[str]:
    """The same for a line that ends with a command, where a mark may be a part of it."""
    return re.compile(rf"\s*(?:{text})", re.IGNORECASE | re.DOTALL)


ASK = r"(?:(?:please|can you|could you|would you|will you|now|ok|okay|and|then|just)[,\s]+)*"
THE = r"(?:the |a |an |this |that |my |our |all |all the )?"
# Behind an article “file” is what a script is, and not the program of that name.
_THE_SCRIPT = (
    r"(?:the|a|this|that|my|our) (?:(?:python|node|ruby|perl|bash|shell|js|javascript) )?"
    r"(?:file|script|program) "
)
KIND = r"(?:(?:function|method|class|symbol|name|variable|constant|module|file|word|text|string) )?"
PROJECT = r"(?:project|repo|repository|code ?base|package|code|program|folder|directory|library)"
QUOTED = r"""'[^']*'|"[^"]*"|`[^`]*`|“[^”]*”|‘[^’]*’"""
SOURCE = rf"{QUOTED}|\S+"

TABLE: tuple[tuple[Pattern[str], Make], ...] = (
    (
        pattern(
            r"(?:hi|hello|hey|hallo|good (?:morning|evening|day|afternoon))(?: there| accord)?"
        ),
        plain_intent("hello"),
    ),
    (
        pattern(
            r"(?:many )?(?:thanks?|thank you|thx|great|nice|cool|perfect|ok|okay|yes|no)(?: you)?"
            r"(?: (?:very|so) much| a lot)?"
        ),
        plain_intent("thanks"),
    ),
    (
        pattern(
            rf"{ASK}help(?: me)?|\?+|commands|what can (?:you|i) (?:do|type|say|ask)(?: here)?|"
            r"how do(?:es)? (?:i|this) (?:use this|use you|work)|who are you|what are you"
        ),
        plain_intent("help"),
    ),
    (
        pattern(
            r"(?:which |what |use |set |choose |change |pick |select )?(?:a |the |an? llm )?model"
            r"(?: (?:are you|do you use|is this))?|how (?:do i|to|can i) (?:set|use|choose|pick)"
            r" (?:a |the )?model"
        ),
        plain_intent("model"),
    ),
    (
        pattern(
            rf"{ASK}(?:undo|revert|roll ?back|take (?:it|that|this) back)"
            rf"(?: (?:it|that|this|everything|(?:the |your |my )?(?:last |latest |previous )?"
            r"(?:changes?|edits?|turn|rename|fix)))?"
        ),
        plain_intent("undo"),
    ),
    # ---- tests, before `run` and `fix` take them for something else
    (
        pattern(
            rf"{ASK}(?:(?:re-?)?run|execute|start|do) {THE}(?:unit )?tests?(?: suite)?"
            r"(?: again| now| once more)?"
        ),
        plain_intent("test"),
    ),
    (
        pattern(
            rf"{ASK}(?:re-?)?tests?(?: (?:it|again|everything|all|this|the {PROJECT}))?|"
            r"pytest|do (?:the |all )?tests pass|are the tests (?:green|red|ok|passing)|"
            r"check (?:the )?tests"
        ),
        plain_intent("test"),
    ),
    (
        pattern(
            rf"{ASK}(?:run )?(?:the )?(?:tests? (?:in|of|for|from) |test |pytest )"
            r"(?P<target>\S+)"
        ),
        with_arguments("test", target=path_of),
    ),
    (
        pattern(rf"{ASK}run (?:the )?(?:tests? )?(?P<target>(?:\S*/)?(?:test_\w+|\w+_test)\.py)"),
        with_arguments("test", target=path_of),
    ),
    (
        pattern(
            r"why|(?:tell me )?more|details|"
            rf"{ASK}(?:why|what)(?:'s| is| does| do| did| are)? {THE}"
            r"(?:(?:tests? )?(?:fail(?:s|ed|ing|ures?)?|wrong|broken|errors?)|"
            r"(?:it|tests?|that) (?:fail(?:s|ed|ing)?|broken|red|wrong)|tests? wrong)"
        ),
        plain_intent("why"),
    ),
    (
        pattern(
            rf"{ASK}(?:fix|repair|mend|solve|correct|debug)(?: (?:it|this|that|them|{THE}"
            rf"(?:failing |broken |failed |red )?(?:tests?|bugs?|errors?|failures?|"
            rf"problems?|issues?|"
            rf"{PROJECT}|build)))?(?: in \S+)?(?: (?:please|now|for me))?|"
            r"(?:make|get|turn) (?:it|the tests?|them|tests?|all tests?) (?:to "
            r")?(?:pass|green|work)"
        ),
        plain_intent("fix"),
    ),
    # ---- changes
    (
        pattern(
            rf"{ASK}(?:rename|refactor) {THE}{KIND}(?P<old>{SOURCE})\s+"
            rf"(?:to|into|as|=>|->|→)\s+(?P<new>{SOURCE})(?: (?:everywhere|in all files|please))?"
        ),
        rename_intent,
    ),
    (
        pattern(rf"{ASK}move {THE}{KIND}(?P<path>\S+) (?:to|into) (?P<target>\S+?)"),
        with_arguments("move", path=path_of, target=target_of),
    ),
    (
        pattern(rf"{ASK}(?:delete|remove|rm) {THE}(?:file )?(?P<path>\S+)"),
        with_arguments("delete", path=path_of),
    ),
    (
        pattern(
            rf"{ASK}(?:change|replace|substitute) (?P<old>{QUOTED})\s+"
            rf"(?:to|with|by|into|for|=>|->|→)\s+(?P<new>{QUOTED})"
            rf"(?:\s+(?:in|inside|of)\s+{THE}(?:file )?(?P<path>{SOURCE}))?"
        ),
        _change,
    ),
    (
        pattern(
            rf"{ASK}(?:change|replace|substitute) (?P<old>\S+)\s+(?:to|with|by|into|=>|->|→)\s+"
            rf"(?P<new>{SOURCE})\s+(?:in|inside|of)\s+{THE}(?:file )?(?P<path>{SOURCE})"
        ),
        _change,
    ),
    # ---- looking
    (
        pattern(
            rf"{ASK}(?:what(?:'s| is| does)|explain|describe|summari[sz]e|tell me "
            rf"about|show(?: me)?|"
            rf"give me an overview of|overview of|map|analy[sz]e|look at) "
            rf"{THE}(?:whole )?{PROJECT}"
            r"(?: (?:about|do|does|for|made of|structure|map|all about|here))*|"
            r"(?:project )?(?:map|overview|structure|summary)|what(?:'s| is) (?:this|here|in here)|"
            r"what (?:do we have|is there)(?: here)?|where am i"
        ),
        plain_intent("map"),
    ),
    (
        pattern(
            rf"{ASK}(?:list|show|what)(?: me)? {THE}files(?: (?:are )?(?:there|here))?|ls|files"
        ),
        plain_intent("files"),
    ),
    (
        pattern(
            rf"{ASK}(?:show|list|find|what)(?: me)? {THE}(?:open )?todos?(?: "
            rf"(?:are there|left))?|"
            r"todos?"
        ),
        lambda match: Intent("find", {"text": "TODO"}),
    ),
    (
        pattern(
            rf"{ASK}(?:who|what|which (?:code|functions?|files?)) (?:calls?|uses?|"
            rf"invokes?|imports?|"
            rf"references?|needs?) {THE}{KIND}(?P<name>\S+?)"
        ),
        with_arguments("callers", name=name_of),
    ),
    (
        pattern(
            rf"{ASK}(?:(?:find|show|list)(?: me)? )?{THE}(?:callers?|uses?|usages?|"
            rf"references?|calls?)"
            rf" (?:of|to|for) {THE}{KIND}(?P<name>\S+?)"
        ),
        with_arguments("callers", name=name_of),
    ),
    (
        pattern(
            rf"{ASK}where (?:is|are|do (?:we|you|i)|does) {THE}{KIND}(?P<name>\S+?) "
            r"(?:used|called|referenced|imported|invoked)"
        ),
        with_arguments("callers", name=name_of),
    ),
    (
        pattern(
            rf"{ASK}where(?:'s| is| are| can i find| do (?:we|you|i) (?:define|"
            rf"have)| did .* define) "
            rf"{THE}{KIND}(?P<name>\S+?)(?: (?:defined|declared|implemented|from|located))?"
        ),
        with_arguments("where", name=target_of),
    ),
    (
        pattern(
            rf"{ASK}(?:(?:find|show|go to|goto|jump to)(?: me)? )?{THE}"
            rf"(?:definition|declaration|def) of {THE}{KIND}(?P<name>\S+?)"
        ),
        with_arguments("where", name=name_of),
    ),
    (
        pattern(
            rf"{ASK}(?:find|locate|where is) {THE}(?:function|method|class|symbol) (?P<name>\S+?)"
        ),
        with_arguments("where", name=name_of),
    ),
    (
        pattern(
            rf"{ASK}(?:show|read|open|cat|print|display|view)(?: me)? {THE}(?:file "
            rf"|contents? of )*"
            r"(?P<path>\S+?)(?::(?P<line>\d+))?"
        ),
        with_arguments("show", path=path_of, line=str),
    ),
    (
        pattern(
            rf"{ASK}(?:explain|describe|summari[sz]e|document|tell me about|show|"
            rf"understand)(?: me)?"
            rf"(?: to me)? {THE}{KIND}(?P<target>\S+?)(?: (?:to me|please))*"
        ),
        with_arguments("explain", target=target_of),
    ),
    (
        pattern(
            rf"{ASK}(?:what(?:'s| is| does)|how does|how do) {THE}{KIND}(?P<target>\S+?)"
            r"(?: (?:do|does|for|about|work|works|mean|doing))+"
        ),
        with_arguments("explain", target=target_of),
    ),
    (
        pattern(rf"{ASK}what(?:'s| is) {THE}{KIND}(?P<target>\S+?)"),
        with_arguments("explain", target=target_of),
    ),
    (
        pattern(
            rf"{ASK}(?:find|search|grep|look|locate)(?: me)?(?: for| up| through)? "
            rf"{THE}{KIND}(?P<text>{QUOTED}|.+?)(?: (?:everywhere|in all files|in "
            rf"{THE}{PROJECT}))?"
        ),
        with_arguments("find", text=_searched),
    ),
    # ---- commands and tools
    (
        command_pattern(
            rf"{ASK}(?:run|execute):? (?:{_THE_SCRIPT}|{THE}(?:command )?)(?P<command>\S.*)"
        ),
        _run,
    ),
    (
        pattern(
            rf"{ASK}(?:list|show|what|which)(?: me)? {THE}mcp(?: (?:servers?|tools?))*"
            r"(?: are there| do you have)?|mcp(?: (?:servers?|tools?))*"
        ),
        plain_intent("mcp"),
    ),
    (
        pattern(
            r"(?:call "
            r")?(?P<tool>[\w.:/-]+)(?P<values>(?:\s+[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|\S+))+)"
        ),
        _tool_call,
    ),
    (
        pattern(r"call (?P<tool>[\w.:/-]+)\s*(?P<values>\{.*\})?"),
        with_arguments("call", tool=target_of, values=str.strip),
    ),
    (
        pattern(
            rf"{ASK}(?:make |draw up |draft |write )?(?:a )?plan(?: to| for|:)?\s+(?P<text>.+?)"
        ),
        with_arguments("plan", text=str.strip),
    ),
)


def parse_sentence(line: str) -> Intent:
    """What a natural sentence means."""
    if not line.strip():
        return Intent("help")
    if len(line) <= LINE_CHARACTERS_MAX:
        for row, make in TABLE:
            match = row.fullmatch(line)
            intent = None if match is None else make(match)
            if intent is not None:
                return intent
    return Intent("unknown", {"words": words_of(line)} if words_of(line) else {})
