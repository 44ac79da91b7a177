"""The answers to a permission request, of the agent and of Accord, in one short list.

This module does not know any screen; the dialog, the line mode and `accord run --ask` offer the
same.

Invariants
    * Each answer says what it covers and for how long; `covers` also says who remembers it.
    * A decision made here names an option that was offered and can be chosen, or none.
    * An option of the agent that lasts is offered in the agent's words and never with a scope of
      ours; our own lasting answers go to the agent as "once", and Accord remembers them.
    * Closing a question never approves.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from accord.client.permissions.callback_answers import refusal
from accord.client.permissions.request import Decision, PermissionOption, PermissionRequest, Scope
from accord.client.permissions.rule_matcher import Facts, rules_of
from accord.client.permissions.rules import Rule
from accord.terminal.model.permissions.rule_text import SCOPE_WORDS, near, rule_words
from accord.terminal.model.text.display_text import exact_line, one_line

Tone: TypeAlias = Literal["allow", "reject", "other"]
Effect: TypeAlias = Literal["allow", "reject"]

SUBJECT_CHARACTERS_MAX = 24
"""A longer subject is named by its kind in an answer; the question shows it."""

NAME_CHARACTERS_MAX = 200
"""The most characters of an option's name: longer ones would hide the question."""

_DIGITS_MAX = 9
# What we offer if the agent did not ask, and so has no options of its own.
_EVERY = {"execute": "every command", "edit": "every edit in this folder"}
# How agents name their options.  A name without these words may mean the opposite of its effect.
_YES = "accept|agree|allow|always|approve|confirm|continue|grant|ok|permit|proceed|run|sure|yes"
_NO = "abort|cancel|decline|deny|disallow|do not|don[’']t|keep|never|no|refuse|reject|skip|stop"
_SAYS_YES = re.compile(rf"\b(?:{_YES})(?:s|d|ed|ing)?\b", re.IGNORECASE)
_SAYS_NO = re.compile(rf"\b(?:{_NO})(?:s|d|ed|ing)?\b", re.IGNORECASE)
_BEGINS_WITH_NO = re.compile(rf"\W*(?:{_NO})\b", re.IGNORECASE)

_AGENT_REMEMBERS = "The agent remembers this; only the agent can forget it."


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: clean words, the keys that choose it, and what it decides.

    `letter` is the key that means the same in every question: y once, s session, f folder, e every,
    a the agent's own, n no, v never.  `covers` says exactly what would be remembered.
    """

    words: str
    tone: Tone
    decision: Decision
    letter: str = ""
    keys: tuple[str, ...] = ()
    remark: str = ""
    covers: str = "Nothing is remembered."
    is_usable: bool = True


def choices_of(request: PermissionRequest, folder: str) -> tuple[Choice, ...]:
    """All answers: those that allow first, then those that refuse, the shortest first."""
    found = [_unusable(option) for option in request.options if _is_twice(request, option)]
    usable = request.usable_options
    for effect in ("allow", "reject"):
        found += _of_effect(request, effect, folder)
    found += [_odd(option) for option in usable if not (option.allows or option.rejects)]
    return _with_keys(found)


def closing(request: PermissionRequest) -> Decision:
    """The answer for Esc: the option that rejects once, or else cancelled."""
    return refusal(request, "user")


# ---- internals


def _of_effect(request: PermissionRequest, effect: Effect, folder: str) -> list[Choice]:
    kinds = {"allow": ("allow_once", "allow_always"), "reject": ("reject_once", "reject_always")}
    once_kind, lasting_kind = kinds[effect]
    usable = request.usable_options
    once = [option for option in usable if option.kind == once_kind]
    # Options with a scope, and those of our own questions, mean what our scopes mean.
    lasting = [
        option
        for option in usable
        if option.kind == lasting_kind and option.scope is None and request.origin == "agent"
    ]
    found = [
        # Of several that refuse any is a no; of several that allow none is the plain yes.
        _once(option, effect, has_letter=len(once) == 1 or (effect, at) == ("reject", 0))
        for at, option in enumerate(once)
    ]
    ours: list[Choice] = []
    if len(once) == 1:
        ours = _remembered(request, once[0], effect, folder, theirs=bool(lasting))
    if not ours and request.origin == "agent":
        scoped = [one for one in usable if one.kind == lasting_kind and one.scope is not None]
        ours = [_scoped(option, effect) for option in scoped]
    found += ours
    letter = "a" if effect == "allow" else "v"
    return found + [
        Choice(
            _named(option, effect),
            effect,
            Decision(option.option_id),
            letter if number == 0 else "",
            remark="the agent remembers",
            covers=f"{_named(option, effect)}. {_AGENT_REMEMBERS}",
        )
        for number, option in enumerate(lasting)
    ]


def _named(option: PermissionOption, effect: Effect) -> str:
    """Return the agent's name of an option, with its effect first if the name is unclear."""
    words = _name(option)
    says = _SAYS_YES if effect == "allow" else _SAYS_NO
    is_opposite = effect == "allow" and _BEGINS_WITH_NO.match(words) is not None
    is_plain = says.search(words) is not None and not is_opposite
    return words if is_plain else f"{effect.capitalize()}: “{words}”"


def _name(option: PermissionOption) -> str:
    """The agent's name of an option; of a very long one the two ends."""
    words = one_line(option.name) or one_line(option.kind) or "(unnamed)"
    half = NAME_CHARACTERS_MAX // 2
    if len(words) <= 2 * half:
        return words
    return f"{words[:half]} ⟨{len(words) - 2 * half:,} characters not shown⟩ {words[-half:]}"


def _once(option: PermissionOption, effect: Effect, *, has_letter: bool) -> Choice:
    words = _named(option, effect)
    letter = {"allow": "y", "reject": "n"}[effect] if has_letter else ""
    remark = "" if "once" in words.lower() or effect == "reject" else "once"
    return Choice(words, effect, Decision(option.option_id), letter, remark=remark)


def _scoped(option: PermissionOption, effect: Effect) -> Choice:
    """An option that says how long it holds, where we cannot remember it ourselves."""
    words = _named(option, effect)
    return Choice(words, effect, Decision(option.option_id), covers=f"{words}.")


def _remembered(
    request: PermissionRequest,
    option: PermissionOption,
    effect: Effect,
    folder: str,
    *,
    theirs: bool,
) -> list[Choice]:
    """Return our own lasting answers; the agent gets "once" and will ask again."""
    facts = Facts.of(request, os.path.realpath(folder))
    rules = rules_of(facts, effect, bind_cwd=True)
    if not rules:
        return []
    verb, what = ("Allow" if effect == "allow" else "Reject"), _subject(rules, folder)
    ways: list[tuple[str, Scope]] = [("s", "session"), ("f", "workspace")]
    if effect == "reject":
        ways = [("v", "workspace")]
    if theirs:
        # What the agent offers for its session takes that place.
        ways = [way for way in ways if way[0] == "f"]
    found = [
        Choice(
            _answer(verb, what, scope),
            effect,
            Decision(option.option_id, scope),
            letter,
            remark="Accord remembers",
            covers=_covers(rules, effect, scope, folder),
        )
        for letter, scope in ways
    ]
    if effect == "allow" and request.origin != "agent" and facts.kind in _EVERY:
        wide = Rule(effect="allow", kind=facts.kind)
        found.append(
            Choice(
                f"Allow {_EVERY[facts.kind]} for this session",
                effect,
                Decision(option.option_id, "session", wide),
                "e",
                remark="Accord remembers",
                covers=_covers([wide], effect, "session", folder),
            )
        )
    return found


def _answer(verb: str, what: str, scope: Scope) -> str:
    if scope == "session":
        return f"{verb} {what} for this session"
    return f"Always {verb.lower()} {what} in this folder"


def _covers(rules: Sequence[Rule], effect: Effect, scope: Scope, folder: str) -> str:
    words = [rule_words(rule, folder) for rule in rules[:3]]
    if len(rules) > 3:
        words.append(f"{len(rules) - 3} more")
    verb = "Allows" if effect == "allow" else "Rejects"
    return f"{verb} {'; '.join(words)}: {SCOPE_WORDS[scope]}. Accord remembers it."


def _subject(rules: Sequence[Rule], folder: str) -> str:
    """The subject of an answer in a few words."""
    rule = rules[0]
    if rule.command is not None:
        here = os.path.realpath(folder)
        where = "" if rule.cwd in (None, here) else f" in {exact_line(near(rule.cwd, folder))}"
        return _short(f"`{exact_line(rule.command)}`{where}", f"this exact command{where}")
    if rule.path is not None:
        doing = rule_words(replace(rule, path="/"), folder).removesuffix(" /")
        if len(rules) > 1:
            return f"{doing} these {len(rules)} files"
        return _short(rule_words(rule, folder), f"{doing} this file")
    if rule.mcp_tool is not None:
        return _short(f"the tool {exact_line(rule.mcp_tool)}", "this tool of this server")
    if rule.host is not None:
        return _short(rule_words(rule, folder), "fetching from this host")
    return _short(f"“{exact_line(rule.title or '')}”", "requests with this title")


def _short(words: str, otherwise: str) -> str:
    return words if len(words) <= SUBJECT_CHARACTERS_MAX else otherwise


def _is_twice(request: PermissionRequest, option: PermissionOption) -> bool:
    return request.option(option.option_id) is None


def _unusable(option: PermissionOption) -> Choice:
    words = _name(option)
    tone: Tone = "allow" if option.allows else "reject" if option.rejects else "other"
    remark = "duplicate, cannot be chosen"
    return Choice(words, tone, Decision(None), remark=remark, covers=remark, is_usable=False)


def _odd(option: PermissionOption) -> Choice:
    words = _name(option)
    kind = one_line(option.kind, 20)
    remark = f"unknown kind: {kind}, approves nothing"
    return Choice(words, "other", Decision(option.option_id), remark=remark, covers=remark)


def _with_keys(found: Iterable[Choice]) -> tuple[Choice, ...]:
    """Give each answer the next digit, and its letter."""
    made: list[Choice] = []
    number = 0
    for choice in found:
        if not choice.is_usable:
            made.append(choice)
            continue
        number += 1
        digit = (str(number),) if number <= _DIGITS_MAX else ()
        made.append(replace(choice, keys=(*digit, *filter(None, (choice.letter,)))))
    return tuple(made)
