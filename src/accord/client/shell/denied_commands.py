"""Decides whether a rule that rejects a command applies to a line, and why.

A rule is a program and the arguments after it.  Others may come between them, so `git push` applies
to `git -C . push` as well.  Rejecting fails closed: every rule applies to a line that cannot be
parsed completely.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from accord.client.shell.parse_limits import WORDS_MAX
from accord.client.shell.programs.arguments import means_verb, program_name, verb_of
from accord.client.shell.programs.program_lists import VERB_ALIASES
from accord.client.shell.syntax_tree import (
    GLOB,
    HOLES,
    HandedText,
    ParsedLine,
    Program,
    Word,
    literal,
    option_values,
    overlap,
)

SHOWN_MAX = 60
"""The most characters of a command in a reason."""

_TOKEN = re.compile(rf"[\w.+@%{HOLES}-]+(?![\w.+@%/{HOLES}-])")
_QUOTED = re.compile(r"[\s;&|<>()$`'\"\\]")
_SIGNS = "@+%!-"
_SHORT_OPTIONS = re.compile(r"-[A-Za-z]+")


def concern(reading: ParsedLine, pattern: Sequence[str]) -> str | None:
    """Return why a rule with these words applies to the line; None if it does not."""
    if not pattern:
        return None
    first, rest = pattern[0].rstrip("/").rpartition("/")[2] or pattern[0], pattern[1:]
    for program in reading.programs:
        if _fits(program.words, first, rest) or _fits(_unsigned(program), first, rest):
            return _runs(program)
    for program in reading.programs:
        named = _handed_on(program, first, rest)
        if named is not None:
            return f"{program.hands_on}, and {named}"
    for text in reading.texts:
        if _names(text, first, rest):
            return f"{text.where} names `{first}`"
    if reading.unclear:
        return f"it cannot be parsed completely: {reading.unclear[0]}"
    return None


def _runs(program: Program) -> str:
    shown = " ".join(word.raw for word in program.words)
    if len(shown) > SHOWN_MAX:
        shown = f"{shown[:SHOWN_MAX]}…"
    runs = "runs" if program.is_certain else "may run"
    return f"it {runs} `{shown}`" + ("" if program.road is None else f", {program.road}")


def _unsigned(program: Program) -> tuple[Word, ...]:
    """Return the words of a program without the prefix of make or git."""
    word = program.words[0]
    if program.is_certain or word.text[:1] not in _SIGNS:
        return program.words
    return (replace(word, text=word.text.lstrip(_SIGNS)), *program.words[1:])


def _fits(words: Sequence[Word], first: str, rest: Sequence[str]) -> bool:
    """Whether a rule matches a program and its arguments."""
    if _is_program(words[0], first):
        verb = verb_of(words) if rest and not rest[0].startswith("-") else None
        tool, following = program_name(words[0]), list(words[1:])
        if rest and tool in VERB_ALIASES:
            following = [
                literal(rest[0]) if word.is_known and means_verb(tool, word.text, rest[0]) else word
                for word in following
            ]
            verb = following[words.index(verb) - 1] if verb is not None else None
        # `git stash push` is not `git push`.
        return (verb is None or overlap(verb.text, rest[0])) and _follow(following, rest)
    # `git-push` is the program behind `git push`.
    joined = f"{first}-{rest[0]}" if rest else ""
    return bool(joined) and _is_program(words[0], joined) and _follow(words[1:], rest[1:])


def _is_program(word: Word, wanted: str) -> bool:
    return word.could_be(wanted) or overlap(program_name(word).casefold(), wanted.casefold())


def _follow(words: Sequence[Word], wanted: Sequence[str]) -> bool:
    """Whether the wanted words come in this order, with any others between them.

    Options may be anywhere.  A word that is known only at run time matches if only options come
    before it, since it would be the next word of the command.
    """
    at = 0
    for want in wanted:
        if want.startswith("-"):
            if not _has_option(words, want):
                return False
            continue
        is_next, after_option = True, False
        while at < len(words):
            word = words[at]
            at += 1
            if word.is_known and overlap(word.text, want):
                break
            if not word.is_known and is_next and word.could_be(want):
                break
            is_option = word.text.startswith("-")
            is_next &= is_option or after_option or not word.is_known
            after_option = is_option
        else:
            return False
    return True


def _has_option(words: Sequence[Word], want: str) -> bool:
    if _SHORT_OPTIONS.fullmatch(want):
        letters = {
            letter for word in words if _SHORT_OPTIONS.match(word.text) for letter in word.text[1:]
        }
        if set(want[1:]) <= letters:
            return True
    return any(
        overlap(word.text, want)
        or word.text.startswith(f"{want}=")
        or (len(word.text) > 3 and want.startswith(word.text))
        or (word.splits and not word.is_known)
        for word in words
    )


def _handed_on(program: Program, first: str, rest: Sequence[str]) -> str | None:
    """The word of a program that hands its words on with which the rule begins."""
    if program.hands_on is None or len(program.words) > WORDS_MAX:
        return None
    for at, word in enumerate(program.words[1:], 1):
        may_begin = not word.is_known and word.could_be(first)
        if may_begin and (word.splits or _follow(program.words[at + 1 :], rest)):
            return f"{word.raw} is known only at run time"
        # Names of files are whole words, and no value of an option: `--x=*` stays as it is.
        is_file = GLOB in word.text and _QUOTED.search(word.text) is None and "=" not in word.text
        values = [] if is_file else option_values(word.text)
        if any(_begins_in(_tokens(one), program.words[at + 1 :], first, rest) for one in values):
            return f"`{first}` is one of them"
        if _ends_cluster(word.text, first) and _follow(program.words[at + 1 :], rest):
            return f"`{first}` is one of them"
    return None


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _begins_in(
    tokens: Sequence[str], following: Sequence[Word], first: str, rest: Sequence[str]
) -> bool:
    """Whether one of the tokens is the program, and the rest follows it there or behind."""
    for at, token in enumerate(tokens):
        if any(overlap(one.casefold(), first.casefold()) for one in _names_in(token)):
            words = [*(Word(one, one) for one in tokens[at + 1 :]), *following]
            if _follow(words, rest):
                return True
    return False


def _names_in(token: str) -> list[str]:
    """A token without the signs that some languages put before a command, as make does."""
    bare = token.lstrip(_SIGNS.replace("-", ""))
    return [token, bare, *([bare[1:]] if re.match(r"-[^-]", bare) else [])]


def _ends_cluster(text: str, first: str) -> bool:
    """Whether options with a value joined to them, as in `-qcrm x`, end in the program."""
    head = re.match(r"-[A-Za-z]{1,3}?" + re.escape(first) + r"(?![\w.+@%-])", text)
    return head is not None


def _names(text: HandedText, first: str, rest: Sequence[str]) -> bool:
    tokens = _tokens(text.text)
    if _begins_in(tokens, (), first, rest):
        return True
    if not text.is_code:
        return False
    tokens = re.findall(r"\w+", text.text)
    return _begins_in(tokens, (), first, rest)
