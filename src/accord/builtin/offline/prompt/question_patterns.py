"""Sentences that ask about the code or that show files, as rows of patterns.

`QUESTIONS` name what they ask about.  `BROAD_QUESTIONS` are tried later: they describe it in words
that need not be names in the project (`where is the signature checked?`).
"""

from __future__ import annotations

from re import Match

from accord.builtin.offline.prompt.arguments import name_of, path_of, target_of, unquoted, words_of
from accord.builtin.offline.prompt.intent import Intent
from accord.builtin.offline.prompt.pattern_parts import (
    ASK,
    KIND,
    PROJECT,
    QUOTED,
    THE,
    Row,
    plain_intent,
    row,
    with_arguments,
)

SEARCHED_WORDS_MAX = 4
"""A longer text without quotes is a sentence, not a text to search for."""

_ASKING = frozenset(
    {"all", "at", "how", "if", "into", "out", "what", "where", "which", "who", "why"}
)

_DEFINED = r"(?:functions?|methods?|classes|symbols?|names?|definitions?)"


def _searched(text: str) -> str | None:
    """A text to search for; a question about the code is not one."""
    bare = unquoted(text)
    if bare != text.strip():
        return bare
    words = bare.split()
    if not words:
        return None
    asks = words[0].lower() in _ASKING or {"that", "which", "where"}.intersection(words)
    if len(words) > SEARCHED_WORDS_MAX or asks:
        return None
    return bare


def _about(match: Match[str]) -> Intent | None:
    """A question in words, with at least two telling words."""
    words = words_of(match["words"])
    return Intent("about", {"words": words}) if len(words.split()) > 1 else None


QUESTIONS: tuple[Row, ...] = (
    row(
        rf"{ASK}(?:what(?:'s| is| does)|explain|describe|summari[sz]e|tell me "
        rf"about|show(?: me)?|"
        rf"give me an overview of|overview of|map|analy[sz]e|look at) "
        rf"{THE}(?:whole )?{PROJECT}"
        r"(?: (?:about|do|does|for|made of|structure|map|all about|here))*|"
        r"(?:project )?(?:map|overview|structure|summary)|what(?:'s| is) (?:this|here|in here)|"
        r"what (?:do we have|is there)(?: here)?|where am i",
        plain_intent("map"),
    ),
    row(
        rf"{ASK}(?:list|show|what)(?: me)? {THE}files(?: (?:are )?(?:there|here))?|ls|files",
        plain_intent("files"),
    ),
    row(
        rf"{ASK}(?:show|list|find|what)(?: me)? {THE}(?:open )?todos?(?: "
        rf"(?:are there|left))?|"
        r"todos?",
        lambda match: Intent("find", {"text": "TODO"}),
    ),
    row(
        rf"{ASK}(?:who|what|which (?:code|functions?|files?)) (?:calls?|uses?|"
        rf"invokes?|imports?|"
        rf"references?|needs?) {THE}{KIND}(?P<name>\S+?)",
        with_arguments("callers", name=name_of),
    ),
    row(
        rf"{ASK}(?:(?:find|show|list)(?: me)? )?{THE}(?:callers?|uses?|usages?|"
        rf"references?|calls?)"
        rf" (?:of|to|for) {THE}{KIND}(?P<name>\S+?)",
        with_arguments("callers", name=name_of),
    ),
    row(
        rf"{ASK}where (?:is|are|do (?:we|you|i)|does) {THE}{KIND}(?P<name>\S+?) "
        r"(?:used|called|referenced|imported|invoked)",
        with_arguments("callers", name=name_of),
    ),
    row(
        rf"{ASK}where(?:'s| is| are| can i find| do (?:we|you|i) (?:define|"
        rf"have)| did .* define) "
        rf"{THE}{KIND}(?P<name>\S+?)(?: (?:defined|declared|implemented|from|located))?",
        with_arguments("where", name=target_of),
    ),
    row(
        rf"{ASK}(?:(?:find|show|go to|goto|jump to)(?: me)? )?{THE}"
        rf"(?:definition|declaration|def) of {THE}{KIND}(?P<name>\S+?)",
        with_arguments("where", name=name_of),
    ),
    row(
        rf"{ASK}(?:find|locate|where is) {THE}(?:function|method|class|symbol) (?P<name>\S+?)",
        with_arguments("where", name=name_of),
    ),
    row(
        rf"{ASK}(?:show|read|open|cat|print|display|view)(?: me)? {THE}(?:file "
        rf"|contents? of )*"
        r"(?P<path>\S+?)(?::(?P<line>\d+))?",
        with_arguments("show", path=path_of, line=str),
    ),
    row(
        rf"{ASK}(?:explain|describe|summari[sz]e|document|tell me about|show|"
        rf"understand)(?: me)?"
        rf"(?: to me)? {THE}{KIND}(?P<target>\S+?)(?: (?:to me|please))*",
        with_arguments("explain", target=target_of),
    ),
    row(
        rf"{ASK}(?:what(?:'s| is| does)|how does|how do) {THE}{KIND}(?P<target>\S+?)"
        r"(?: (?:do|does|for|about|work|works|mean|doing))+",
        with_arguments("explain", target=target_of),
    ),
    row(
        rf"{ASK}what(?:'s| is) {THE}{KIND}(?P<target>\S+?)",
        with_arguments("explain", target=target_of),
    ),
    row(
        rf"{ASK}(?:find|search|grep|look|locate)(?: me)?(?: for| up| through)? "
        rf"{THE}{KIND}(?P<text>{QUOTED}|.+?)(?: (?:everywhere|in all files|in "
        rf"{THE}{PROJECT}))?",
        with_arguments("find", text=_searched),
    ),
)

BROAD_QUESTIONS: tuple[Row, ...] = (
    row(
        rf"{ASK}(?:what(?:'s| is| does| stands)|show me what(?:'s| is)|tell me what(?:'s| is)) "
        rf"(?:in|inside|written in|contained in) {THE}{KIND}(?P<path>\S+?)(?: (?:file|folder))?",
        with_arguments("contents", path=target_of),
    ),
    row(
        rf"{ASK}(?:list|show|what|which)(?: me| are)? {THE}{_DEFINED}"
        rf" (?:are |does |do )?(?:there )?(?:in |of |from )?{THE}{KIND}(?P<target>\S+?)"
        r"(?: (?:have|has|define|defines|contain|contains))?",
        with_arguments("explain", target=target_of),
    ),
    row(
        rf"{ASK}(?:outline|signature|docs?|docstring|source)(?: (?:of|for))? {THE}{KIND}"
        r"(?P<target>\S+?)",
        with_arguments("explain", target=target_of),
    ),
    row(
        rf"{ASK}what (?:does|do|can|should|will) {THE}{KIND}(?P<target>\S+?) (?:return|returns|"
        r"take|takes|accept|accepts|expect|expects|need|needs|require|contain|contains|define|"
        r"raise|raises|look like)",
        with_arguments("explain", target=target_of),
    ),
    row(
        rf"how (?:do i|do you|to|can i|do we) (?:run|start|use|build|launch|install)"
        rf"(?: (?:this|it|{THE}{PROJECT}|{THE}app))?|"
        r"how (?:many|much) (?:lines|files|code|tests|modules|functions|classes)\b.*|"
        r"how (?:big|large) is .*|"
        r"(?:what|which) (?:programming )?languages?\b.*|"
        r"(?:what|which|list|show)(?: me)?(?: the| all)? (?:tests|entry ?points?|modules)\b.*|"
        rf"(?:what can|what does|how does) (?:this|it|{THE}{PROJECT}) (?:do|work)|"
        r"(?:where|how) (?:do|should|can) i (?:start|begin)|tell me more about (?:this|it)",
        plain_intent("map"),
    ),
    row(
        rf"{ASK}(?:who|what) (?:depends on|is using|is calling) {THE}{KIND}(?P<name>\S+?)",
        with_arguments("callers", name=name_of),
    ),
    # ---- files whose names have no ending that is known
    row(
        rf"{ASK}(?:show|read|open|cat|print|display|view|explain)(?: me)? {THE}(?:file )?"
        r"(?P<path>(?:~|\.\.?)?/\S+?)",
        with_arguments("show", path=path_of),
    ),
    # ---- questions in words
    row(
        rf"{ASK}(?:(?:find|show|tell)(?: me)? |do you know )?where(?:'s| is| are| was| were| do"
        r"| does| did| can| could| should| in the code)* (?:we |you |i |they |it |one )?"
        r"(?P<words>.+?)(?: (?:happening|located|done|going on))?",
        _about,
    ),
    row(
        rf"{ASK}(?:(?:find|show)(?: me)? )?(?:which|what|the) (?:functions?|methods?|code|"
        r"files?|modules?|class(?:es)?|parts?(?: of the code)?|places?|lines?) "
        r"(?:that |which |does |do |is |are )*(?P<words>.+?)",
        _about,
    ),
    row(
        rf"{ASK}how (?:is|are|do we|does it|do you|does {THE}{PROJECT}) (?P<words>.+?)"
        r"(?: (?:done|handled|implemented))?",
        _about,
    ),
)
