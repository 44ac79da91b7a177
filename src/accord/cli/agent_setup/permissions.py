"""Who decides during `accord run`: flags, policy files, remembered answers, and perhaps a person.

Must not know the connection or how rules match.

What always holds
    * Without a word from anybody, only reading beneath the session's folders is allowed.
    * Nothing in the project can allow anything: rules are the user's, answers are in the user's
      state folder.
    * `--policy FILE` decides alone, with the flags beside it: a run in CI depends on nothing else.
"""

from __future__ import annotations

import contextlib
import os
import sys
import termios
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import anyio

from accord import Decision, PermissionRequest, Permissions, Rule
from accord.cli.typed_answers import ATTEMPTS_MAX, Answers
from accord.client.permissions.patterns import WILD
from accord.client.permissions.permissions import Callback
from accord.client.permissions.rules import Effect
from accord.discovery.config import Config
from accord.discovery.grants_file import GrantsFile
from accord.discovery.policy_file import Policy, load_policy
from accord.discovery.user_paths import grants_file, policy_file
from accord.errors import ConfigError
from accord.terminal.model.permissions.permission_options import closing
from accord.terminal.plain.dialogs.question_dialogs import (
    choice_words,
    explained,
    key_name,
    keyed_choices,
    question_words,
)
from accord.terminal.plain.display.output_stream import Output
from accord.terminal.plain.display.turn_printer import TurnPrinter
from accord.transcript.items.tool_call import KINDS_OF_TOOL

# Short words of the command line for several kinds of the protocol.
GROUPS = {
    "all": tuple(sorted(KINDS_OF_TOOL)),
    "write": ("edit", "delete", "move"),
    "run": ("execute",),
}
KIND_WORDS = (
    "read, search, edit, delete, move, execute, fetch, think, switch_mode, other, write, run, all"
)
"""The kinds and groups, in the order in which they are shown."""
# What a rule for a kind may be limited to, on the command line: `edit=PATH`, `execute=COMMAND`.
_SUBJECTS = {
    "read": "path",
    "search": "path",
    "edit": "path",
    "delete": "path",
    "move": "path",
    "execute": "command",
    "fetch": "host",
    "other": "mcp_tool",
}
_ALWAYS_READABLE = ("read", "search")


class KindError(Exception):
    """A word that is no kind of tool."""


def read_kinds(words: Iterable[str]) -> tuple[str, ...]:
    """The kinds that `--allow read,edit=PATH` names, each with what follows its `=`.

    Raises:
        KindError: one is none.
    """
    found: dict[str, None] = {}
    for word in words:
        before, equals, what = word.partition("=")
        names = [one.strip() for one in before.split(",") if one.strip()]
        for number, name in enumerate(names, 1):
            if name not in KINDS_OF_TOOL and name not in GROUPS:
                known = ", ".join(sorted((*KINDS_OF_TOOL, *GROUPS)))
                raise KindError(f"{name!r} is no kind of tool; there are {known}")
            # What follows belongs to the last name; it may have commas of its own.
            rest = f"={what}" if equals and number == len(names) else ""
            for kind in GROUPS.get(name, (name,)):
                if rest and (kind not in _SUBJECTS or name == "all"):
                    raise KindError(f"nothing can follow `{name}=`; write {name} alone")
                found[f"{kind}{rest}"] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line says about permissions."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    policy: Path | None = None
    ask: bool = False

    @property
    def are_none(self) -> bool:
        """Whether it says nothing."""
        return not (self.allow or self.deny or self.policy or self.ask)


@dataclass(frozen=True, slots=True)
class Deciding:
    """The permissions of a run, before it is known how a person is asked."""

    rules: tuple[Rule, ...]
    otherwise: Effect
    grants: GrantsFile | None
    may_ask: bool

    def permissions(self, ask: Callback | None) -> Permissions:
        """The permissions; without a way to ask whatever needs a person is denied."""
        return Permissions(
            self.rules,
            otherwise=self.otherwise,
            ask=ask if self.may_ask else None,
            grants=None if self.grants is None else self.grants.open(),
        )


def deciding(wishes: Wishes, config: Config, roots: Sequence[str], *, attended: bool) -> Deciding:
    """Put together who decides; `attended` means that a person sits there.

    Raises:
        ConfigError: a policy or the remembered answers cannot be read.
        KindError: what follows the `=` of a kind cannot be a rule.
    """
    policy = _policy(wishes, config)
    rules = [
        *_of_kinds("reject", wishes.deny, roots[0]),
        *_of_kinds("allow", wishes.allow, roots[0]),
    ]
    rules += policy.rules_in(roots[0])
    if policy.otherwise is None or policy.otherwise == "ask":
        rules += _reading(roots)
    if policy.otherwise is not None:
        otherwise = policy.otherwise
    else:
        otherwise = "ask" if wishes.ask or (wishes.are_none and attended) else "reject"
    if wishes.ask and otherwise == "reject":
        otherwise = "ask"
    grants = None if wishes.policy is not None else GrantsFile(grants_file())
    return Deciding(tuple(rules), otherwise, grants, may_ask=wishes.ask or attended)


def _of_kinds(effect: Effect, kinds: Sequence[str], folder: str) -> list[Rule]:
    """Rules for kinds; all of them together are more: a call of whatever kind is meant."""
    if set(kinds) >= KINDS_OF_TOOL:
        return [Rule(effect=effect)]
    return [_of_kind(effect, kind, folder) for kind in kinds]


def _of_kind(effect: Effect, word: str, folder: str) -> Rule:
    kind, equals, what = word.partition("=")
    if not equals:
        return Rule(effect=effect, kind=kind)
    subject = _SUBJECTS[kind]
    if subject == "path" and os.path.isdir(os.path.join(folder, os.path.expanduser(what))):
        # A folder means what is in it.
        what = f"{what.rstrip('/')}/"
    try:
        named: dict[str, Any] = {subject: what}
        return Rule(effect=effect, kind=kind, **named)
    except ValueError as error:
        raise KindError(f"{word!r}: {error}") from None


def _policy(wishes: Wishes, config: Config) -> Policy:
    named = wishes.policy or config.permissions.policy
    found = load_policy(named if named is not None else policy_file())
    if found is None and named is not None:
        raise ConfigError(f"there is no policy {named}", file=str(named))
    return found or Policy()


def _reading(roots: Sequence[str]) -> list[Rule]:
    """What needs nobody: looking at files of the session, and thinking."""
    # Relative ones are beneath the session's folder.  A folder whose own name looks like a pattern
    # could mean others too.
    more = [f"{os.path.realpath(one)}/**" for one in roots[1:] if not WILD & set(one)]
    rules = [
        Rule(effect="allow", kind=kind, path=pattern)
        for kind in _ALWAYS_READABLE
        for pattern in ("**", *more)
    ]
    return [*rules, Rule(effect="allow", kind="think")]


class Asker:
    """A person at a terminal, asked one question at a time.

    Where neither output goes to a terminal the question is put to the controlling one.
    """

    def __init__(
        self, descriptor: int, roots: Sequence[str], printer: TurnPrinter, out: Output
    ) -> None:
        self._folder, self._add_dirs = roots[0], roots[1:]
        self._descriptor = descriptor
        self._answers = Answers(descriptor, is_terminal=True)
        self._printer = printer
        self._out = out

    @classmethod
    def at_terminal(
        cls, roots: Sequence[str], shown: tuple[TurnPrinter, Output] | None
    ) -> Asker | None:
        """Somebody to ask; `shown` is where they look already.  None where nobody is.

        `roots` are the folders of the session: what is elsewhere is told to be.
        """
        if has_keyboard():
            descriptor = sys.stdin.fileno()
        else:
            try:
                descriptor = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
            except OSError:
                return None
        if shown is None:
            try:
                out = Output(open("/dev/tty", "w"))  # noqa: SIM115 - as long as we run
            except OSError:
                return None
            shown = TurnPrinter(out), out
        return cls(descriptor, roots, *shown)

    async def ask(self, request: PermissionRequest) -> Decision:
        """The person's answer; silence and what is not understood are a no."""
        choices = keyed_choices(request, self._folder)
        meant = {word: one for key, one in choices.items() for word in (key, key_name(key))}
        self._printer.question(request, self._folder, self._add_dirs)
        self._printer.answers((key, choice_words(one)) for key, one in choices.items())
        self._answers = Answers(self._descriptor, is_terminal=True)
        forget_what_was_typed(self._descriptor)
        remark = ""
        try:
            for _ in range(ATTEMPTS_MAX):
                self._printer.ask(remark, question_words(choices))
                await self._out.drain()
                line = await self._answers.line()
                if line is None:
                    # Ctrl-D ends no line.
                    self._out.write("\n")
                else:
                    self._out.answered()
                said = (line or "").strip().lower()
                # No is always an answer, also where no option of the agent is one.
                if not said or (said in ("n", "no") and said not in meant):
                    break
                if said == "?":
                    self._printer.answers(explained(choices), whole=True)
                    remark = ""
                    continue
                if said in meant:
                    return meant[said].decision
                remark = f"Please answer {', '.join(choices)}; ? explains them, Enter is a no."
        except anyio.get_cancelled_exc_class():
            self._out.write("\n")
            raise
        return closing(request)


def forget_what_was_typed(descriptor: int) -> None:
    """An answer that was typed before the question was seen is none."""
    with contextlib.suppress(termios.error):
        termios.tcflush(descriptor, termios.TCIFLUSH)


def has_keyboard() -> bool:
    """Whether standard input is a terminal; it may also be closed."""
    stdin: TextIO | None = sys.stdin
    return stdin is not None and not stdin.closed and stdin.isatty()


__all__ = [
    "GROUPS",
    "KIND_WORDS",
    "Asker",
    "Deciding",
    "KindError",
    "Wishes",
    "deciding",
    "forget_what_was_typed",
    "has_keyboard",
    "read_kinds",
]
