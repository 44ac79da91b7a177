"""`accord proxy`: runs an agent behind a chain of proxies."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from accord.cli.console import complain
from accord.cli.usage_error import UsageError

if TYPE_CHECKING:
    from accord.proxy.chain.conductor import Component
    from accord.proxy.proxy import Proxy

DESCRIPTION = """\
Runs an agent behind one or more proxies; together they look like one agent.

Put this before the agent's command in the settings of an editor.  Each component is one argument: a
command as in a shell, a URL with its options (see accord connect), or one of the built-in proxies
below with its options.  The last component is
the agent; after -- it is given as separate words.  A chain without an agent is itself a proxy, for
use in a larger chain.  A client or an agent that speaks the 2026-02 draft is translated at its end
of the chain, so that every proxy sees version 1 or 2.

built-in proxies:
  "context [--file FILE]... [--no-agents-md]"
        adds AGENTS.md (from the session's folder and its parents, up to the repository) and the
        given files to the first prompt of each session
  "guard [--policy FILE] [--otherwise allow|ask|reject] [--keep-secrets] [--pass METHOD]..."
        applies the rules of a file (default: your permissions.toml) to permissions, files,
        terminals and tool calls, asks you for agents that never ask, cancels turns that do
        something forbidden, and removes secrets from what the agent says and reads; methods
        outside the protocol are blocked unless --pass allows them (--pass "_zed/*")
  "budget [--minutes N] [--prompts N] [--tokens N] [--cost X]"
        cancels the turn and refuses prompts when one of these limits is reached

exit codes: 0 the client disconnected, 1 a component exited first, 2 wrong usage, 127 a component
cannot be started
"""
EPILOG = """\
examples:
  accord proxy context guard "budget --minutes 30 --cost 2.50" -- my-agent --stdio
  accord proxy "python shout.py" "accord agent"
  accord proxy guard "wss://agents.example.com/acp --token-env AGENT_TOKEN"
"""
CANNOT_START = 127
INTERRUPTED = 130


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord proxy`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord proxy [--on-death WHAT] COMPONENT ... [-- AGENT COMMAND]"
    parser.add_argument(
        "components",
        nargs="*",
        metavar="COMPONENT",
        help="a command or a built-in proxy, as described above",
    )
    parser.add_argument(
        "--on-death",
        choices=("fail", "restart", "bypass"),
        default="fail",
        help="what to do when a component exits; its open requests fail in any case (default: "
        "fail, which ends the chain)",
    )


def run(arguments: Namespace) -> int:
    """Run the chain until the client disconnects or a component exits."""
    import anyio

    from accord.errors import AccordError, SpawnFailed
    from accord.proxy.chain.conductor import conduct

    if not arguments.components and not arguments.after:
        complain("accord proxy: no component given; see accord proxy --help")
        return 2
    try:
        components, has_agent = _chain(arguments.components, arguments.after)
    except (AccordError, UsageError, ValueError) as error:
        complain(f"accord proxy: {error}")
        return 2

    async def serve() -> str | None:
        from accord.transport.stdio import StdioTransport

        outcome = await conduct(
            components, StdioTransport(), on_death=arguments.on_death, has_agent=has_agent
        )
        return outcome.failed

    try:
        failed = anyio.run(serve)
    except SpawnFailed as error:
        complain(f"accord proxy: {error}")
        return CANNOT_START
    if failed is not None:
        complain(f"accord proxy: {failed}")
    return int(failed is not None)


def _chain(given: Sequence[str], after: Sequence[str] | None) -> tuple[list[Component], bool]:
    """Return the components, and whether the last of them is an agent.

    Raises:
        ValueError: a component is invalid.
        ConfigError: a policy cannot be read.
    """
    from accord.cli.agent_setup.remote_agent_command import agent_command
    from accord.machine.console.stderr_passthrough import PassedOutput
    from accord.proxy.chain.component import in_process, program

    made: list[Component] = []
    is_built_in = False
    for text in given:
        words = shlex.split(text)
        if not words:
            raise ValueError("a component is empty")
        is_built_in = words[0] in BUILT_IN
        if is_built_in:
            made.append(in_process(BUILT_IN[words[0]](words[1:])))
        else:
            made.append(program(agent_command(words), stderr=PassedOutput()))
    if after:
        made.append(program(agent_command(after), stderr=PassedOutput()))
    return made, bool(after) or not is_built_in


class _Options(ArgumentParser):
    """The options of a built-in proxy; a mistake raises ValueError instead of exiting."""

    def __init__(self, name: str) -> None:
        super().__init__(prog=name, add_help=False)

    def error(self, message: str) -> None:  # type: ignore[override]
        raise ValueError(f"{self.prog}: {message}")


def _context(words: Sequence[str]) -> Callable[[], Proxy]:
    from accord.proxy.builtin.context import context

    options = _Options("context")
    options.add_argument("--file", action="append", default=[])
    options.add_argument("--no-agents-md", action="store_true")
    given = options.parse_args(words)
    return lambda: context(given.file, agents_md=not given.no_agents_md)


def _guard(words: Sequence[str]) -> Callable[[], Proxy]:
    import os

    from accord.configuration.policy_file import Policy, load_policy, policy_path
    from accord.machine.redaction.known_values import secret_values
    from accord.proxy.builtin.guard.guard import guard

    options = _Options("guard")
    options.add_argument("--policy", type=Path)
    options.add_argument("--otherwise", choices=("allow", "ask", "reject"))
    options.add_argument("--keep-secrets", action="store_true")
    options.add_argument("--pass", dest="passing", action="append", default=[])
    given = options.parse_args(words)
    policy = load_policy(given.policy or policy_path())
    if policy is None and given.policy is not None:
        raise ValueError(f"guard: {str(given.policy)!r} does not exist")
    rules = policy or Policy()
    return lambda: guard(
        rules.rules_in,
        otherwise=given.otherwise or rules.otherwise or "ask",
        redact=not given.keep_secrets,
        secrets=secret_values(os.environ),
        passing=given.passing,
    )


def _budget(words: Sequence[str]) -> Callable[[], Proxy]:
    from accord.proxy.builtin.budget import Limits, budget

    options = _Options("budget")
    options.add_argument("--minutes", type=_positive)
    options.add_argument("--prompts", type=int)
    options.add_argument("--tokens", type=int)
    options.add_argument("--cost", type=_positive)
    given = options.parse_args(words)
    limits = Limits(given.minutes, given.prompts, given.tokens, given.cost)
    if limits == Limits():
        raise ValueError("budget: needs at least one of --minutes, --prompts, --tokens, --cost")
    return lambda: budget(limits)


def _positive(text: str) -> float:
    number = float(text)
    if not number >= 0:
        raise ValueError(text)
    return number


BUILT_IN: dict[str, Callable[[Sequence[str]], Callable[[], Proxy]]] = {
    "context": _context,
    "guard": _guard,
    "budget": _budget,
}
