"""The words of tools with subcommands, such as git and npm: whether they may run one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from accord.client.shell.programs.arguments import could_execute, writes_commands
from accord.client.shell.programs.program_lists import GIT_COMMANDS, GLOBAL_VALUES, SUBCOMMANDS
from accord.client.shell.syntax_tree import Word

_NONE: frozenset[str] = frozenset()
_GIT_SETTINGS = ("-c", "--exec-path=", "--config-env")


@dataclass(slots=True)
class ToolCall:
    """How a tool is called.  `problems` say why it may do something else than its words say."""

    is_harmless: bool = False
    problems: list[str] = field(default_factory=list)


def read_tool_call(name: str, words: Sequence[Word]) -> ToolCall:
    """Read the words of a tool with subcommands, its name first."""
    call = ToolCall()
    at, values, executes = 1, GLOBAL_VALUES.get(name, _NONE), False
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        if name == "git" and text.startswith(_GIT_SETTINGS):
            _git_settings(call, words[at:])
            return call
        executes |= could_execute(name, [words[at]])
        at += 2 if text in values else 1
    if at >= len(words):
        call.is_harmless = not executes
        return call
    verb, rest = words[at], list(words[at + 1 :])
    if not verb.is_known:
        return call
    executes |= could_execute(f"{name} {verb.text}", rest) or could_execute(name, rest)
    # `npm run env` without such a script runs `env` with the words behind it.
    executes |= name == "npm" and verb.text.startswith(("r", "u")) and _names_env(rest)
    if name == "git":
        _git_command(call, verb.text, words)
        executes |= any("ext::" in word.text for word in rest)
    call.is_harmless = verb.text in SUBCOMMANDS[name] and not executes
    return call


def _names_env(words: Sequence[Word]) -> bool:
    return len(words) > 1 and any(word.text == "env" for word in words)


def _git_settings(call: ToolCall, words: Sequence[Word]) -> None:
    if any("alias." in word.text for word in words):
        call.problems.append("git is told an alias, so its command is another one")
    if any(word.text.startswith("--exec-path=") for word in words):
        call.problems.append("git is told where its commands are, so they may be others")
    if any(word.text.startswith("--config-env") for word in words):
        call.problems.append("git takes a setting from a variable")
    _git_values(call, words)


def _git_command(call: ToolCall, verb: str, words: Sequence[Word]) -> None:
    if verb not in GIT_COMMANDS:
        call.problems.append(f"`git {verb}` is not a command of git, so it may be an alias")
    if verb == "for-each-repo":
        call.problems.append("`git for-each-repo` runs another command of git")
    _git_values(call, words)


def _git_values(call: ToolCall, words: Sequence[Word]) -> None:
    for at, word in enumerate(words):
        name, _, value = word.text.partition("=")
        if name.casefold().endswith(("core.editor", "sequence.editor")):
            following = words[at + 1].text if at + 1 < len(words) else ""
            if writes_commands(value) or writes_commands(following):
                call.problems.append("the editor of git may write commands that it runs")
    if any("protocol." in word.text for word in words):
        call.problems.append("git is told to use other protocols, which may run programs")
