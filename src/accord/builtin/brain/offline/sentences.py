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

from accord.builtin.brain.offline.arguments import (
    command_of,
    name_of,
    path_of,
    target_of,
    unquoted,
    words_of,
)
from accord.builtin.brain.offline.intent import Intent

# Nobody types more than this as a command; a longer text is a task for a model.
LINE_CHARACTERS_MAX = 2_000

# Makes an intent of a match; None when the row does not fit after all.
Make = Callable[[Match[str]], Intent | None]


def _plain(name: str) -> Make:
    return lambda match: Intent(name)


def _with(intent: str, /, **readers: Callable[[str], str | None]) -> Make:
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


def _tool_call(match: Match[str]) -> Intent | None:
    """`add a=1 b=2`: the tool of an MCP server, if there is one of that name."""
    return Intent("call", {"tool": match["tool"], "values": match["values"].strip()})


def _p(pattern: str) -> Pattern[str]:
    return re.compile(rf"\s*(?:{pattern})[\s.!?]*", re.IGNORECASE | re.DOTALL)


_ASK = r"(?:(?:please|can you|could you|would you|will you|now|ok|okay|and|then|just)[,\s]+)*"
_THE = r"(?:the |a |an |this |that |my |our |all |all the )?"
_KIND = (
    r"(?:(?:function|method|class|symbol|name|variable|constant|module|file|word|text|string) )?"
)
_PROJECT = r"(?:project|repo|repository|code ?base|package|code|program|folder|directory|library)"
_QUOTED = r"""'[^']*'|"[^"]*"|`[^`]*`|“[^”]*”|‘[^’]*’"""
_SOURCE = rf"{_QUOTED}|\S+"

TABLE: tuple[tuple[Pattern[str], Make], ...] = (
    (_p(r"(?:\$|!)\s*(?P<command>\S.*?)"), _with("run", command=command_of)),
    (
        _p(r"(?:hi|hello|hey|hallo|good (?:morning|evening|day|afternoon))(?: there| accord)?"),
        _plain("hello"),
    ),
    (
        _p(
            r"(?:many )?(?:thanks?|thank you|thx|great|nice|cool|perfect|ok|okay|yes|no)(?: you)?"
            r"(?: (?:very|so) much| a lot)?"
        ),
        _plain("thanks"),
    ),
    (
        _p(
            rf"{_ASK}help(?: me)?|\?+|commands|what can (?:you|i) (?:do|type|say|ask)(?: here)?|"
            r"how do(?:es)? (?:i|this) (?:use this|use you|work)|who are you|what are you"
        ),
        _plain("help"),
    ),
    (
        _p(
            r"(?:which |what |use |set |choose |change |pick |select )?(?:a |the |an? llm )?model"
            r"(?: (?:are you|do you use|is this))?|how (?:do i|to|can i) (?:set|use|choose|pick)"
            r" (?:a |the )?model"
        ),
        _plain("model"),
    ),
    (
        _p(
            rf"{_ASK}(?:undo|revert|roll ?back|take (?:it|that|this) back)"
            rf"(?: (?:it|that|this|everything|(?:the |your |my )?(?:last |latest |previous )?"
            r"(?:changes?|edits?|turn|rename|fix)))?"
        ),
        _plain("undo"),
    ),
    # ---- tests, before `run` and `fix` take them for something else
    (
        _p(
            rf"{_ASK}(?:(?:re-?)?run|execute|start|do) {_THE}(?:unit )?tests?(?: suite)?"
            r"(?: again| now| once more)?"
        ),
        _plain("test"),
    ),
    (
        _p(
            rf"{_ASK}(?:re-?)?tests?(?: (?:it|again|everything|all|this|the {_PROJECT}))?|"
            r"pytest|do (?:the |all )?tests pass|are the tests (?:green|red|ok|passing)|"
            r"check (?:the )?tests"
        ),
        _plain("test"),
    ),
    (
        _p(
            rf"{_ASK}(?:run )?(?:the )?(?:tests? (?:in|of|for|from) |test |pytest )"
            r"(?P<target>\S+)"
        ),
        _with("test", target=path_of),
    ),
    (
        _p(rf"{_ASK}run (?:the )?(?:tests? )?(?P<target>(?:\S*/)?(?:test_\w+|\w+_test)\.py)"),
        _with("test", target=path_of),
    ),
    (
        _p(
            r"why|(?:tell me )?more|details|"
            rf"{_ASK}(?:why|what)(?:'s| is| does| do| did| are)? {_THE}"
            r"(?:(?:tests? )?(?:fail(?:s|ed|ing|ures?)?|wrong|broken|errors?)|"
            r"(?:it|tests?|that) (?:fail(?:s|ed|ing)?|broken|red|wrong)|tests? wrong)"
        ),
        _plain("why"),
    ),
    (
        _p(
            rf"{_ASK}(?:fix|repair|mend|solve|correct|debug)(?: (?:it|this|that|them|{_THE}"
            rf"(?:failing |broken |failed |red )?(?:tests?|bugs?|errors?|failures?|"
            rf"problems?|issues?|"
            rf"{_PROJECT}|build)))?(?: in \S+)?(?: (?:please|now|for me))?|"
            r"(?:make|get|turn) (?:it|the tests?|them|tests?|all tests?) (?:to "
            r")?(?:pass|green|work)"
        ),
        _plain("fix"),
    ),
    # ---- changes
    (
        _p(
            rf"{_ASK}(?:rename|refactor) {_THE}{_KIND}(?P<old>{_SOURCE})\s+"
            rf"(?:to|into|as|=>|->|→)\s+(?P<new>{_SOURCE})(?: (?:everywhere|in all files|please))?"
        ),
        rename_intent,
    ),
    (
        _p(rf"{_ASK}move {_THE}{_KIND}(?P<path>\S+) (?:to|into) (?P<target>\S+?)"),
        _with("move", path=path_of, target=target_of),
    ),
    (
        _p(rf"{_ASK}(?:delete|remove|rm) {_THE}(?:file )?(?P<path>\S+)"),
        _with("delete", path=path_of),
    ),
    (
        _p(
            rf"{_ASK}(?:change|replace|substitute) (?P<old>{_QUOTED})\s+"
            rf"(?:to|with|by|into|for|=>|->|→)\s+(?P<new>{_QUOTED})"
            rf"(?:\s+(?:in|inside|of)\s+{_THE}(?:file )?(?P<path>{_SOURCE}))?"
        ),
        _change,
    ),
    (
        _p(
            rf"{_ASK}(?:change|replace|substitute) (?P<old>\S+)\s+(?:to|with|by|into|=>|->|→)\s+"
            rf"(?P<new>{_SOURCE})\s+(?:in|inside|of)\s+{_THE}(?:file )?(?P<path>{_SOURCE})"
        ),
        _change,
    ),
    # ---- looking
    (
        _p(
            rf"{_ASK}(?:what(?:'s| is| does)|explain|describe|summari[sz]e|tell me "
            rf"about|show(?: me)?|"
            rf"give me an overview of|overview of|map|analy[sz]e|look at) "
            rf"{_THE}(?:whole )?{_PROJECT}"
            r"(?: (?:about|do|does|for|made of|structure|map|all about|here))*|"
            r"(?:project )?(?:map|overview|structure|summary)|what(?:'s| is) (?:this|here|in here)|"
            r"what (?:do we have|is there)(?: here)?|where am i"
        ),
        _plain("map"),
    ),
    (
        _p(rf"{_ASK}(?:list|show|what)(?: me)? {_THE}files(?: (?:are )?(?:there|here))?|ls|files"),
        _plain("files"),
    ),
    (
        _p(
            rf"{_ASK}(?:show|list|find|what)(?: me)? {_THE}(?:open )?todos?(?: "
            rf"(?:are there|left))?|"
            r"todos?"
        ),
        lambda match: Intent("find", {"text": "TODO"}),
    ),
    (
        _p(
            rf"{_ASK}(?:who|what|which (?:code|functions?|files?)) (?:calls?|uses?|"
            rf"invokes?|imports?|"
            rf"references?|needs?) {_THE}{_KIND}(?P<name>\S+?)"
        ),
        _with("callers", name=name_of),
    ),
    (
        _p(
            rf"{_ASK}(?:(?:find|show|list)(?: me)? )?{_THE}(?:callers?|uses?|usages?|"
            rf"references?|calls?)"
            rf" (?:of|to|for) {_THE}{_KIND}(?P<name>\S+?)"
        ),
        _with("callers", name=name_of),
    ),
    (
        _p(
            rf"{_ASK}where (?:is|are|do (?:we|you|i)|does) {_THE}{_KIND}(?P<name>\S+?) "
            r"(?:used|called|referenced|imported|invoked)"
        ),
        _with("callers", name=name_of),
    ),
    (
        _p(
            rf"{_ASK}where(?:'s| is| are| can i find| do (?:we|you|i) (?:define|"
            rf"have)| did .* define) "
            rf"{_THE}{_KIND}(?P<name>\S+?)(?: (?:defined|declared|implemented|from|located))?"
        ),
        _with("where", name=target_of),
    ),
    (
        _p(
            rf"{_ASK}(?:(?:find|show|go to|goto|jump to)(?: me)? )?{_THE}"
            rf"(?:definition|declaration|def) of {_THE}{_KIND}(?P<name>\S+?)"
        ),
        _with("where", name=name_of),
    ),
    (
        _p(
            rf"{_ASK}(?:find|locate|where is) {_THE}(?:function|method|class|symbol) (?P<name>\S+?)"
        ),
        _with("where", name=name_of),
    ),
    (
        _p(
            rf"{_ASK}(?:show|read|open|cat|print|display|view)(?: me)? {_THE}(?:file "
            rf"|contents? of )*"
            r"(?P<path>\S+?)(?::(?P<line>\d+))?"
        ),
        _with("show", path=path_of, line=str),
    ),
    (
        _p(
            rf"{_ASK}(?:explain|describe|summari[sz]e|document|tell me about|show|"
            rf"understand)(?: me)?"
            rf"(?: to me)? {_THE}{_KIND}(?P<target>\S+?)(?: (?:to me|please))*"
        ),
        _with("explain", target=target_of),
    ),
    (
        _p(
            rf"{_ASK}(?:what(?:'s| is| does)|how does|how do) {_THE}{_KIND}(?P<target>\S+?)"
            r"(?: (?:do|does|for|about|work|works|mean|doing))+"
        ),
        _with("explain", target=target_of),
    ),
    (
        _p(rf"{_ASK}what(?:'s| is) {_THE}{_KIND}(?P<target>\S+?)"),
        _with("explain", target=target_of),
    ),
    (
        _p(
            rf"{_ASK}(?:find|search|grep|look|locate)(?: me)?(?: for| up| through)? "
            rf"{_THE}{_KIND}(?P<text>{_QUOTED}|.+?)(?: (?:everywhere|in all files|in "
            rf"{_THE}{_PROJECT}))?"
        ),
        _with("find", text=unquoted),
    ),
    # ---- commands and tools
    (
        _p(rf"{_ASK}(?:run|execute) {_THE}(?:command )?(?P<command>\S.*?)"),
        _with("run", command=command_of),
    ),
    (
        _p(r"(?P<command>git (?:status|diff|log|show|branch|blame|stash|add|commit)\b.*?|pwd)"),
        _with("run", command=command_of),
    ),
    (
        _p(
            rf"{_ASK}(?:list|show|what|which)(?: me)? {_THE}mcp(?: (?:servers?|tools?))*"
            r"(?: are there| do you have)?|mcp(?: (?:servers?|tools?))*"
        ),
        _plain("mcp"),
    ),
    (
        _p(
            r"(?:call "
            r")?(?P<tool>[\w.:/-]+)(?P<values>(?:\s+[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|\S+))+)"
        ),
        _tool_call,
    ),
    (
        _p(r"call (?P<tool>[\w.:/-]+)\s*(?P<values>\{.*\})?"),
        _with("call", tool=target_of, values=str.strip),
    ),
    (
        _p(rf"{_ASK}(?:make |draw up |draft |write )?(?:a )?plan(?: to| for|:)?\s+(?P<text>.+?)"),
        _with("plan", text=str.strip),
    ),
)


def parse_sentence(line: str) -> Intent:
    """What a natural sentence means."""
    if not line.strip():
        return Intent("help")
    if len(line) <= LINE_CHARACTERS_MAX:
        for pattern, make in TABLE:
            match = pattern.fullmatch(line)
            intent = None if match is None else make(match)
            if intent is not None:
                return intent
    return Intent("unknown", {"words": words_of(line)} if words_of(line) else {})
