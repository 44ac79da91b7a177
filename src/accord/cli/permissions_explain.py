"""`accord permissions explain`: what would be decided about a command, by which rule, and why.

It uses the same rules and remembered answers as `accord run`, and runs nothing.
"""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from accord.cli.agent_setup.permissions import PermissionFlags, deciding
from accord.cli.console import say, say_json
from accord.client.audit.services import shown_rule
from accord.client.permissions.grants import Grant, Place
from accord.client.permissions.request import own_request
from accord.client.permissions.rule_matcher import Facts, ReadRule, judge, read_rules
from accord.client.permissions.rules import Effect
from accord.client.shell.syntax_tree import ParsedLine, Program
from accord.configuration.config_file import Config, load_config
from accord.configuration.grants_file import GrantsFile, grants_path
from accord.configuration.policy_file import policy_path
from accord.errors import ConfigError
from accord.machine.console.control_characters import visible_line

DESCRIPTION = """\
Explains what would be decided about a command, by which rule, and how the command was parsed. It
uses the same rules and remembered answers as `accord run`, and runs nothing.

exit codes: 0 allowed, 2 wrong usage, 3 you would be asked, 4 refused
"""
EPILOG = """\
examples:
  accord permissions explain "git push --force"
  accord permissions explain "env FOO=1 rm x" --policy ci.toml --json
"""


class ExitCode(IntEnum):
    """The exit codes; a refusal has the same code as in `accord run`."""

    ALLOWED = 0
    USAGE = 2
    ASKED = 3
    REFUSED = 4


_CODES: dict[Effect, ExitCode] = {
    "allow": ExitCode.ALLOWED,
    "ask": ExitCode.ASKED,
    "reject": ExitCode.REFUSED,
}
_VERDICTS: dict[Effect, str] = {
    "allow": "allow: the command would run without a question",
    "ask": "ask: you would be asked; without a terminal the command would be refused",
    "reject": "reject: the command would be refused",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord permissions explain`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.add_argument("line", metavar="COMMAND", help="the command line, as one argument")
    parser.add_argument("--policy", type=Path, metavar="FILE", help="use only this policy")
    parser.add_argument("--cwd", metavar="DIR", default=".", help="the folder it would run in")
    parser.add_argument("--agent", metavar="NAME", help="include the answers for this agent")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


@dataclass(frozen=True, slots=True)
class _Explained:
    """A decision, the rule behind it, and the place of that rule."""

    effect: Effect
    rule: str | None
    source: str
    why: str | None
    others: int


def explain(arguments: Namespace) -> int:
    """Explain one command.

    Raises:
        ConfigError: the policy, the remembered answers or the folder cannot be read.
    """
    folder = os.path.realpath(arguments.cwd)
    if not os.path.isdir(folder):
        raise ConfigError(f"there is no folder {arguments.cwd}")
    if not arguments.line.strip():
        raise ConfigError("the command is empty")
    request = own_request("", "Run", "execute", "terminal", command=arguments.line, cwd=folder)
    facts = Facts.of(request, folder)
    assert facts.command is not None, "the request has a command"
    found = _explained(arguments, load_config(), facts, folder)
    reading = facts.command.reading
    if arguments.json:
        say_json(json.dumps(_as_json(arguments.line, folder, found, reading), indent=2))
    else:
        say("\n".join(_as_text(arguments.line, found, reading)))
    return _CODES[found.effect]


def _explained(arguments: Namespace, config: Config, facts: Facts, folder: str) -> _Explained:
    wishes = PermissionFlags(policy=arguments.policy)
    decides = deciding(wishes, config, [folder], attended=True)
    path = str(arguments.policy or config.permissions.policy or policy_path())
    rules = read_rules(decides.rules)
    grants: Sequence[Grant] = () if decides.grants is None else GrantsFile(grants_path()).read()
    here = Place(session_id="", workspace=folder, agent=arguments.agent)
    held = [(grant, ReadRule(grant.rule)) for grant in grants if here.has(grant)]
    others = sum(1 for grant in grants if _is_of_another_agent(grant, here))
    effect, grounds = judge(rules, [read for _, read in held], facts, decides.otherwise)
    read = grounds[0] if grounds else None
    if read is None and effect == "ask":
        doubtful = (one for one in (*rules, *(read for _, read in held)) if _asks(one, facts))
        read = next(doubtful, None)
    if read is None:
        where = f"nothing in {path} applies" if os.path.exists(path) else f"there is no {path}"
        answers = "" if decides.grants is None else ", and no remembered answer applies"
        return _Explained(effect, None, f"{where}{answers}", None, others)
    source = path
    for grant, one in held:
        if one is read:
            source = f"remembered answer {grant.grant_id} in {grants_path()}"
    return _Explained(effect, shown_rule(read.rule), source, _why(read, facts, effect), others)


def _is_of_another_agent(grant: Grant, here: Place) -> bool:
    there = Place(session_id="", workspace=here.workspace, agent=grant.agent)
    return not here.has(grant) and there.has(grant)


def _asks(read: ReadRule, facts: Facts) -> bool:
    return read.rule.effect != "allow" and read.touches(facts) != "no"


def _why(read: ReadRule, facts: Facts, effect: Effect) -> str | None:
    if effect == "allow":
        return None
    why = read.why(facts)
    command = facts.command
    if why is None and command is not None and command.reading.unclear and read.rule.command:
        return f"the rule may apply: {command.reading.unclear[0]}"
    return why


def _as_text(command: str, found: _Explained, reading: ParsedLine) -> list[str]:
    lines = [f"command: {command.strip()}", _VERDICTS[found.effect]]
    if found.rule is None:
        lines.append(f"rule: none; {found.source}")
    else:
        lines.append(f"rule: {found.rule}  ({found.source})")
    if found.why is not None:
        lines.append(f"why: {found.why}")
    if found.others:
        lines.append(f"not included: answers for one agent ({found.others}); use --agent NAME")
    lines.append("programs:" if reading.programs else "programs: none")
    for program in reading.programs:
        notes = "; ".join(filter(None, (program.road, program.hands_on)))
        lines.append(f"  {_shown(program)}" + (f"  ({notes})" if notes else ""))
    if reading.texts:
        lines.append("text that may be executed:")
        lines += [f"  {text.where}: {text.text.strip()}" for text in reading.texts]
    if reading.unclear:
        lines.append("not understood:")
        lines += [f"  {reason}" for reason in reading.unclear]
    # A line break in a command must not look like a line of ours.
    return [visible_line(line) for line in lines]


def _shown(program: Program) -> str:
    return " ".join(word.raw for word in program.words)


def _as_json(command: str, folder: str, found: _Explained, reading: ParsedLine) -> dict[str, Any]:
    return {
        "command": command,
        "cwd": folder,
        "decision": found.effect,
        "rule": found.rule,
        "source": found.source,
        "why": found.why,
        "programs": [
            {
                "words": [word.text if word.is_known else word.raw for word in program.words],
                "how": program.road,
                "handsOn": program.hands_on,
            }
            for program in reading.programs
        ],
        "texts": [{"where": text.where, "text": text.text} for text in reading.texts],
        "notUnderstood": list(reading.unclear),
    }
