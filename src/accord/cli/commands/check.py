"""`accord check`: checks an agent or a client against the rules of the protocol.

What always holds: no text of the checked program reaches the terminal unescaped, and the exit code
is 0 only if the program is conformant: every applicable rule was checked.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio

from accord.cli.agent_setup.remote_agent_command import (
    add_remote_arguments,
    given_words,
    remote_agent,
)
from accord.cli.check_progress import CheckProgress
from accord.cli.console import complain, say, show
from accord.cli.server_setup.server_options import listen_address
from accord.cli.usage_error import UsageError
from accord.conformance import rules
from accord.conformance.agent.check_environment import agent_stages, speaks
from accord.conformance.agent.scenario import DEFAULT, BadScenario, Scenario, load_scenario
from accord.conformance.check_definition import Role
from accord.conformance.network.address import Address, RemoteServer, read_address
from accord.conformance.reports.terminal_table import summary, table
from accord.conformance.rule_definition import DEFAULT_VERSION, Version
from accord.conformance.run.check_runner import AT_ONCE, OpenStage
from accord.conformance.run.kit_run import NoSuchRule, RunOptions, judge, select
from accord.conformance.run.program import NotStarted
from accord.conformance.run.verdicts import Conclusion, Report
from accord.conformance.time_limits import ANSWER_SECONDS, RUN_SECONDS_MAX, check_seconds_max
from accord.machine import optional_packages

if TYPE_CHECKING:
    from accord.conformance.client.launch import Way

DESCRIPTION = """\
Starts an agent many times, or connects to a remote one, acts as its client, and reports for each
rule of the protocol whether the agent follows it.  With --client it acts as an agent and checks a
client.

Most rules can be checked only while the agent works.  A scenario contains prompts that make it
work: `generic` (the default) has prompts that any coding agent understands, `builtin` has those for
`accord agent`, `none` has none, and a FILE has your own.  The agent works in a temporary folder;
its permission requests there are allowed, rejected and cancelled in turn.

exit codes: 0 conformant, 1 not conformant, 2 wrong usage, 3 the program does not start,
4 incomplete: no rule failed, but not every applicable rule could be checked
"""
EPILOG = """\
examples:
  accord check -- my-agent --stdio
  accord check --protocol all --scenario builtin -- accord agent
  accord check --only V1-INIT-11 -- my-agent
  accord check --client -- my-client
  accord check --client --listen http://127.0.0.1:0/acp -- my-client --agent {url}
  accord check https://agents.example.com/acp --token-env AGENT_TOKEN
"""
USAGE, NOT_STARTED = 2, 3
# Of several runs, the first conclusion in this table counts.
EXIT_CODES: dict[Conclusion, int] = {"not conformant": 1, "incomplete": 4, "conformant": 0}
PROTOCOLS: dict[str, tuple[Version, ...]] = {
    "1": ("1",),
    "2": ("2",),
    "draft": ("draft",),
    "all": ("1", "2", "draft"),
}


class Usage(Exception):
    """The command line is wrong."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord check`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord check [options] [URL | -- COMMAND]"
    add = parser.add_argument
    add("--client", action="store_true", help="check a client instead of an agent")
    add("--client-stdio", action="store_true", help="the client talks on its own stdin and stdout")
    add(
        "--listen",
        metavar="URL",
        help="the client connects over a network: http://127.0.0.1:0/acp or ws://127.0.0.1:0/acp;"
        " port 0 picks a free port, and {url} in the client's command becomes the URL",
    )
    add(
        "--protocol",
        choices=sorted(PROTOCOLS),
        default=DEFAULT_VERSION,
        help=f"the protocol version (default: {DEFAULT_VERSION})",
    )
    add("--scenario", metavar="FILE", help="generic, builtin, none, or a file")
    add(
        "--only",
        metavar="RULE",
        action="append",
        default=[],
        help="only this rule, or rules like V1-INIT-*",
    )
    add(
        "--faults", action="store_true", help="also test noise, wrong types, huge lines and crashes"
    )
    add("--report-json", metavar="FILE", help="write the results as JSON")
    add("--report-junit", metavar="FILE", help="write the results as JUnit XML")
    add("--report-html", metavar="FILE", help="write a page with every transcript")
    add("--baseline", metavar="FILE", help="known failures: a report, or one rule per line")
    add("--require-all", action="store_true", help="count unchecked rules as failures")
    add("--verbose", action="store_true", help="list every rule, unchecked ones too")
    add("--quiet", action="store_true", help="print only the verdict")
    add(
        "--jobs",
        metavar="N",
        type=int,
        help=f"programs to run in parallel (default: {AT_ONCE});"
        " the checks of a server run one at a time",
    )
    add(
        "--timeout",
        metavar="SECONDS",
        type=float,
        default=ANSWER_SECONDS,
        help=f"how long an answer may take (default: {ANSWER_SECONDS:g})",
    )
    add_remote_arguments(parser, positional=True)
    add(
        "--other-token-env",
        metavar="NAME",
        help="the variable that has another user's token, to check that users are kept apart",
    )
    limit = f"start no check after this time (default: {RUN_SECONDS_MAX:g})"
    add("--time-limit", metavar="SECONDS", type=float, default=RUN_SECONDS_MAX, help=limit)


def run(parsed: Namespace) -> int:
    """Check the command after `--`."""
    try:
        reports = _judge(parsed)
    except (Usage, UsageError, BadScenario) as error:
        complain(f"accord check: {error}")
        return USAGE
    except NotStarted as error:
        complain(f"accord check: {error}")
        return NOT_STARTED
    _write(parsed, reports)
    found = {report.conclusion for report in reports}
    return next(code for conclusion, code in EXIT_CODES.items() if conclusion in found)


def _judge(parsed: Namespace) -> list[Report]:
    command = given_words(parsed, parsed.url) or []
    if not command:
        raise Usage("no program given: accord check [options] -- COMMAND")
    remote = parsed.remote = _remote(parsed, command)
    parsed.listening = None if parsed.listen is None else _listening(parsed)
    parsed.client = parsed.client or parsed.client_stdio
    if remote is not None and parsed.client:
        raise Usage("--client checks a program; but the URL is that of an agent")
    if parsed.jobs is None:
        parsed.jobs = AT_ONCE if remote is None else 1
    if remote is not None and parsed.jobs > 1:
        raise Usage("checks of a server run one at a time, because they share its sessions")
    if parsed.jobs < 1 or min(parsed.timeout, parsed.time_limit) <= 0:
        raise Usage("--jobs, --timeout and --time-limit must be greater than zero")
    address = parsed.listening if remote is None else remote.address
    parsed.scenario = parsed.scenario or ("none" if parsed.client else DEFAULT)
    scenario = load_scenario(parsed.scenario)
    wishes = RunOptions(
        only=tuple(parsed.only),
        transport=address.transport if address is not None else "stdio",
        faults=parsed.faults,
        baseline=_baseline(parsed.baseline),
        require_all=parsed.require_all,
        at_once=parsed.jobs,
        seconds_max=check_seconds_max(scenario.seconds),
        run_seconds_max=parsed.time_limit,
        options=_options(parsed),
    )
    _require_admission(parsed)
    role: Role = "client" if parsed.client else "agent"
    reports: list[Report] = []
    missing: list[str] = []
    spoken = _spoken(parsed, command, scenario)
    for protocol in PROTOCOLS[parsed.protocol]:
        if protocol not in spoken:
            say(f"{role}, version {protocol}: not supported by the program.")
            continue
        try:
            reports.append(_one(parsed, command, role, protocol, scenario, wishes))
        except NoSuchRule as error:
            missing.append(
                f"no check of version {protocol} covers {error}{_why(wishes.only, role)}"
            )
            continue
        _show(parsed, reports[-1])
    if not reports:
        raise Usage("; ".join(missing))
    return reports


def _listening(parsed: Namespace) -> Address:
    """Return the address at which a client is to find the kit."""
    if not parsed.client or parsed.client_stdio:
        raise Usage("--listen is for --client: the client is given the URL to connect to")
    address = listen_address(parsed.listen)
    if address.transport == "websocket":
        _install_websockets()
    return address


def _install_websockets() -> None:
    if optional_packages.is_missing("remote"):
        complain("accord check: installing the packages for HTTP and WebSocket (only once)")
        anyio.run(optional_packages.install, "remote")


def _remote(parsed: Namespace, words: Sequence[str]) -> RemoteServer | None:
    """Return the server that is to be checked; None if a program is."""
    agent = remote_agent(words)
    if agent is None:
        if parsed.other_token_env is not None:
            raise Usage("--other-token-env is for agents with a URL")
        return None
    from accord.cli.agent_setup.remote_agent_options import read_variable
    from accord.transport.request_headers import request_headers

    other = None
    if parsed.other_token_env is not None:
        token = read_variable(parsed.other_token_env, "--other-token-env")
        other = dict(request_headers(token, {}))
    address = read_address(agent.url)
    if address.transport == "websocket":
        _install_websockets()
    return RemoteServer(address, dict(request_headers(agent.token, agent.headers)), other)


def _require_admission(parsed: Namespace) -> None:
    """Look whether a server can be judged.

    Raises:
        NotStarted: it cannot be reached, or refuses this user; says what to do.
    """
    remote: RemoteServer | None = parsed.remote
    if remote is None:
        return
    from accord.conformance.network.http_caller import NotReached
    from accord.conformance.run.program import NotAdmitted, require_admission
    from accord.transport.connect_errors import closed_early, connect_reason, status_reason
    from accord.transport.remote_address import parse_address
    from accord.transport.request_headers import HiddenValues

    address = parse_address(remote.address.url)
    try:
        anyio.run(require_admission, remote, parsed.timeout)
    except NotReached as error:
        reason = connect_reason(address, _first_cause(error))
        raise NotStarted(f"cannot reach {address}: {reason}") from None
    except NotAdmitted as error:
        if error.status is None:
            raise NotStarted(f"cannot check {address}: {closed_early(address)}") from None
        body = error.body.decode("utf-8", "replace")
        hidden = HiddenValues(tuple(remote.headers.items()))
        reason = status_reason(error.status, hidden, location=error.location, body=body)
        raise NotStarted(f"cannot check {address}: {reason}") from None


def _first_cause(error: BaseException) -> BaseException:
    """Return the error of the network or of TLS that all others come from."""
    while error.__cause__ is not None or isinstance(error, BaseExceptionGroup):
        cause = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error.__cause__
        assert cause is not None
        error = cause
    if isinstance(error, anyio.EndOfStream | anyio.BrokenResourceError):
        return ConnectionResetError()
    return error


def _why(only: Sequence[str], role: Role) -> str:
    """Return where the first known rule is checked instead."""
    for rule in filter(None, map(rules.load().get, only)):
        if not rule.binds(role):
            return f": it is a rule for the other side ({rule.side})"
        protocol = rules.part(rule.id)
        if protocol in PROTOCOLS:
            return f": see --protocol {protocol}"
    return ""


def _spoken(parsed: Namespace, command: Sequence[str], scenario: Scenario) -> tuple[Version, ...]:
    """Return the versions that the program speaks, or the first one if it speaks none."""
    wanted = PROTOCOLS[parsed.protocol]
    if parsed.protocol != "all":
        return wanted
    asks = speaks
    if parsed.client:
        from accord.conformance.client.check_environment import client_speaks as asks
    if not parsed.quiet:
        complain("accord check: detecting the versions that the program speaks")
    stages = _stages(parsed, command, scenario)
    return tuple(one for one in wanted if anyio.run(asks, stages, one)) or wanted[:1]


def _one(
    parsed: Namespace,
    command: Sequence[str],
    role: Role,
    version: Version,
    scenario: Scenario,
    wishes: RunOptions,
) -> Report:
    checks, _ = select(role, version, wishes)
    able = sum(1 for one in checks if one.needs is None or scenario.prompt(one.needs))
    progress = CheckProgress(role, version, able, shown=not parsed.quiet)

    async def judged() -> Report:
        stages = _stages(parsed, command, scenario)
        async with progress:
            return await judge(
                command,
                role,
                version,
                stages,
                scenario,
                wishes,
                began=progress.began,
                done=progress.done,
            )

    return anyio.run(judged)


def _stages(parsed: Namespace, command: Sequence[str], scenario: Scenario) -> OpenStage:
    if not parsed.client:
        return agent_stages(command, scenario, patience=parsed.timeout, remote=parsed.remote)
    from accord.conformance.client import scenario as of_clients
    from accord.conformance.client.check_environment import client_stages

    path = None if parsed.scenario == "none" else parsed.scenario
    try:
        read = of_clients.read_scenario(path, command)
    except of_clients.BadScenario as error:
        raise Usage(str(error)) from None
    way: Way = "stdio" if parsed.client_stdio else "spawn"
    listen = parsed.listening
    if listen is not None:
        from accord.conformance.client.launch import Listen

        way = cast("Way", listen.transport)
        where = Listen(listen.host, listen.port, listen.target)
        stages = client_stages(read, way=way, patience=parsed.timeout, listen=where)
        return cast("OpenStage", stages)
    return cast("OpenStage", client_stages(read, way=way, patience=parsed.timeout))


def _options(parsed: Namespace) -> tuple[str, ...]:
    """Return the options that reproduce a failure."""
    usual = "none" if parsed.client else DEFAULT
    values = {
        "--scenario": None if parsed.scenario == usual else parsed.scenario,
        "--listen": parsed.listen,
        "--other-token-env": parsed.other_token_env,
        "--timeout": None if parsed.timeout == ANSWER_SECONDS else f"{parsed.timeout:g}",
    }
    said = [word for name, value in values.items() if value is not None for word in (name, value)]
    flags = {"--faults": parsed.faults, "--client-stdio": parsed.client_stdio}
    return (*said, *(name for name, given in flags.items() if given))


def _baseline(name: str | None) -> frozenset[str]:
    """Return the rules that may fail, from an earlier report or a list."""
    if name is None:
        return frozenset()
    try:
        text = Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"{name}: {error}") from None
    if text.lstrip().startswith("{"):
        try:
            results = json.loads(text)["results"]
            return frozenset(str(one["id"]) for one in results if one["verdict"] == "fail")
        except (ValueError, KeyError, TypeError):
            raise Usage(f"{name} is not a report from accord check") from None
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    return frozenset(line for line in lines if line)


def _show(parsed: Namespace, report: Report) -> None:
    colour = sys.stdout.isatty()
    lines = list(summary(report, colour=colour))
    if parsed.verbose:
        lines += ["", *table(report, colour=colour)]
    for line in lines[:1] if parsed.quiet else lines:
        show(line)


def _write(parsed: Namespace, reports: Sequence[Report]) -> None:
    from accord.conformance.reports.html_page import as_html
    from accord.conformance.reports.json_and_junit import as_json, as_junit

    made = (
        (parsed.report_json, as_json),
        (parsed.report_junit, as_junit),
        (parsed.report_html, as_html),
    )
    for name, render in made:
        if name is not None:
            Path(name).write_text(render(reports), "utf-8")
