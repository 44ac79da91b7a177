"""`accord run`: sends one prompt to an agent, for scripts, CI and pipes."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from argparse import ArgumentError, ArgumentParser, ArgumentTypeError, Namespace
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio

from accord.cli.agent_setup.agent_argument import named_agent, with_model
from accord.cli.agent_setup.login_choice import login_command
from accord.cli.agent_setup.mcp_servers import servers_of
from accord.cli.agent_setup.permissions import (
    KIND_WORDS,
    KindError,
    PermissionFlags,
    PermissionSetup,
    deciding,
    read_kinds,
)
from accord.cli.agent_setup.project_mcp_servers import project_servers, tell
from accord.cli.agent_setup.remote_agent_command import add_remote_arguments
from accord.cli.agent_setup.sandbox import (
    add_sandbox_arguments,
    sandbox_for,
    sandbox_options,
    working_sandbox,
)
from accord.cli.agent_setup.session_arguments import add_session_arguments
from accord.cli.console import complain
from accord.cli.run.exit_status import ExitCode, Outcome
from accord.cli.run.interruptible_turn import Run
from accord.cli.run.job import Job
from accord.cli.run.permission_prompt import PermissionPrompt
from accord.cli.run.prompt import PromptError, read_prompt
from accord.cli.run.report_formats import FORMATS, Report
from accord.cli.typed_answers import has_keyboard
from accord.cli.usage_error import UsageError
from accord.client.audit.log import AuditLog
from accord.configuration.config_file import Config, load_config
from accord.configuration.user_paths import audit_file
from accord.errors import ConfigError, SpawnFailed
from accord.machine.console.control_characters import visible
from accord.machine.sandbox.options import SandboxRefused
from accord.transport.remote_address import is_url, shown_url

RETRY_SECONDS = 120.0
"""The default of --retry."""

DESCRIPTION = """\
Sends one prompt to an agent, shows what the agent does, and exits when the turn ends.

Without --agent, the configured default agent is used, or the built-in one; `-- COMMAND` starts any
other, and --agent takes the URL of a remote one.  PROMPT may mention files in the session's folder
(`@src/main.py`); `-` is standard input, which is also read if there is no PROMPT; `@FILE` alone
reads the prompt from a file.

On a terminal everything is shown.  In a pipe, standard output has the agent's messages and standard
error its actions.  --format json prints one event per line, --format quiet only the last message.

Without --allow, --deny, --policy and --ask, you are asked for permissions at the terminal; without
a terminal, reading the session's folders is allowed and everything else is denied.

If the agent needs a login, you are asked at the terminal; otherwise run `accord login` first.

exit codes: 0 done, 1 the agent failed, 2 wrong usage, 3 the agent refused, 4 a permission was
denied, 5 the agent reached a limit, 6 the check failed, 124 timeout, 130 cancelled
"""
EPILOG = """\
examples:
  accord run "what is this project?"
  accord run "run the tests and fix what fails" --allow edit,execute
  accord run "fix the tests" --allow edit=src --allow 'execute=pytest *' --check 'pytest -q'
  git diff | accord run "review this change:" - --format quiet
  accord run "explain @src/main.py" -- codex-acp
  accord run "fix the tests" --allow all --sandbox -- codex-acp
  accord run "hello" --agent wss://agents.example.com/acp --token-env AGENT_TOKEN
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord run`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord run PROMPT [options] [--agent NAME|URL | -- COMMAND]"
    add = parser.add_argument
    add("prompt", nargs="*", metavar="PROMPT", help="the prompt; - is standard input")
    add("--agent", metavar="NAME|URL", help="an agent from the configuration, or a remote one")
    add_session_arguments(parser)
    allow = f"{KIND_WORDS}; edit covers files in the session's folders that are not executed"
    limits = "edit=PATH or execute=COMMAND allows only that"
    add("--allow", metavar="KINDS", action="append", default=[], help=f"allow: {allow}; {limits}")
    add(
        "--deny",
        metavar="KINDS",
        action="append",
        default=[],
        help="deny these kinds; overrides --allow",
    )
    add("--policy", metavar="FILE", type=Path, help="use only the rules in this file")
    add("--ask", action="store_true", help="ask at the terminal if no rule applies")
    add(
        "--format", choices=tuple(FORMATS), default="text", help="the output format (default: text)"
    )
    going_on = parser.add_mutually_exclusive_group()
    going_on.add_argument("--session", metavar="ID", help="resume this session")
    going_on.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="resume the last session in this folder",
    )
    add("--timeout", metavar="SECONDS", type=_seconds, help="cancel the turn after this time")
    waits = f"total time to wait for rate limits (default: {RETRY_SECONDS:g}; 0: do not wait)"
    add("--retry", metavar="SECONDS", type=_wait, default=RETRY_SECONDS, help=waits)
    after = "a shell command to run in the folder after the turn; if it fails, the exit code is 6"
    add("--check", metavar="COMMAND", action=_CheckCommand, help=after)
    add_sandbox_arguments(parser)
    add_remote_arguments(parser)


def run(arguments: Namespace) -> int:
    """Send the prompt; the exit code says how the run ended."""
    _log_to_stderr()
    try:
        config = load_config()
        for warning in config.warnings:
            complain(f"accord: {warning}")
        job = _job(arguments, config)
        with suppress(SpawnFailed):
            # An agent that cannot be put into its sandbox is wrong usage; nothing is started.
            job.start_command()
        report: Report = FORMATS[arguments.format]()
        decides, asker = _deciding(arguments, config, job, report)
        log = _audit_log(config, job)

        async def work() -> Outcome:
            return await Run(job, decides, report, asker, log).run()

        outcome = anyio.run(work)
    except (UsageError, PromptError, KindError, ConfigError, SandboxRefused) as error:
        complain(f"accord run: {error}")
        return ExitCode.USAGE
    sentence = outcome.sentence()
    if sentence is not None:
        complain(f"accord: {sentence}")
    return outcome.code


class _Visible(logging.Formatter):
    """Escapes control characters, since a log message may quote an agent."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Visible("accord: %(message)s"))
    logging.basicConfig(level=logging.ERROR, handlers=[handler])


def _tell_url(words: list[str]) -> None:
    """Say how to name a remote agent if the prompt ends with what looks like one."""
    url = words[-1] if len(words) > 1 else ""
    shown = shown_url(url)
    is_websocket = url.lower().startswith(("ws://", "wss://"))
    if is_url(url) and (is_websocket or shown.endswith("/acp")):
        tell(f"{shown} is part of the prompt; --agent {shown} would send the prompt there")


def _job(arguments: Namespace, config: Config) -> Job:
    folder = os.path.expanduser(arguments.cwd)
    for one in (folder, *arguments.add_dir):
        if not os.path.isdir(one):
            raise UsageError(f"{one} is not a folder")
    agent = named_agent(arguments, config)
    sandbox = sandbox_for(sandbox_options(arguments, config), agent.command)
    if sandbox is not None and working_sandbox().kind == "landlock":
        tell("the sandbox is Landlock, since bubblewrap does not work here; it covers less")
    here = Path.cwd()
    # The real path, so that a folder has one list of sessions.
    cwd = os.path.realpath(folder)
    prompt = read_prompt(arguments.prompt, Path(cwd))
    for name in prompt.unmatched:
        tell(f"@{name} is not a file in {cwd}; sent as plain text")
    if arguments.agent is None and arguments.after is None:
        _tell_url(arguments.prompt)
    return Job(
        command=with_model(agent.command, arguments.model),
        env=agent.env,
        agent_cwd=agent.cwd,
        api_key_env=agent.api_key_env,
        prompt=prompt,
        cwd=cwd,
        add_dirs=tuple(map(os.path.abspath, arguments.add_dir)),
        mcp_servers=servers_of(arguments.mcp, config, here),
        project_servers=project_servers(Path(os.path.abspath(folder))),
        mode=arguments.mode,
        model=arguments.model,
        session=arguments.session,
        go_on=arguments.go_on,
        timeout=arguments.timeout,
        retry=arguments.retry,
        check=arguments.check,
        sandbox=sandbox,
        login_command=login_command(arguments.agent or config.agent, arguments.after),
    )


def _deciding(
    arguments: Namespace, config: Config, job: Job, report: Report
) -> tuple[PermissionSetup, PermissionPrompt | None]:
    wishes = PermissionFlags(
        allow=read_kinds(arguments.allow),
        deny=read_kinds(arguments.deny),
        policy=arguments.policy,
        ask=arguments.ask,
    )
    # A user who sees the output and can type; with --ask, a terminal is enough.
    attended = has_keyboard() and report.asking is not None
    asker = (
        PermissionPrompt.at_terminal(job.roots, report.asking) if wishes.ask or attended else None
    )
    if wishes.ask and asker is None:
        raise UsageError("--ask needs a terminal")
    return deciding(wishes, config, job.roots, attended=attended), asker


def _audit_log(config: Config, job: Job) -> AuditLog | None:
    if not config.permissions.audit:
        return None
    facts = {"program": job.command[0], "workspace": job.cwd}
    return AuditLog(audit_file(), bytes_max=config.permissions.audit_bytes_max, facts=facts)


class _CheckCommand(argparse.Action):
    """Refuses an empty or repeated command: a check that is ignored would seem to pass."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, _option: object = None
    ) -> None:
        if not values.strip():
            raise ArgumentError(self, "the command is empty")
        if getattr(namespace, self.dest) is not None:
            raise ArgumentError(self, "may be given only once; join commands with &&")
        setattr(namespace, self.dest, values)


def _seconds(text: str) -> float:
    seconds = _wait(text)
    if not seconds:
        raise ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return seconds


def _wait(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds
