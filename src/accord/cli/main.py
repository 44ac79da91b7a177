"""`accord`: finds the command and runs it.

Each command is a module in `commands/` with `add_arguments` and `run`; only the requested one is
imported, so that the program starts quickly.

What always holds: whatever ends a command, the user sees a sentence and no traceback, except for
a bug of ours.  Almost nothing is imported before that holds: Ctrl-C may come at any time.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser

# Name -> one line of help; the module has the same name.
COMMANDS = {
    "chat": "chat with any agent, full screen or line by line (the default command)",
    "web": "chat with an agent on a page in your browser",
    "agent": "run the built-in agent on stdin and stdout, for editors",
    "run": "send one prompt to an agent, for scripts, CI and pipes",
    "login": "log in to an agent with one of its login methods",
    "sessions": "manage stored sessions: list, show, export, resume, delete, prune, rescue",
    "permissions": "list, revoke and explain what agents are allowed to do",
    "record": "run an agent and record every message in a file",
    "trace": "show a recording as a page, as text or as statistics, or validate it",
    "replay": "play one side of a recording to a client or an agent",
    "translate": "serve an agent in another version of the protocol",
    "connect": "use a remote agent, by its URL, as a program on stdin and stdout",
    "serve": "serve an agent over HTTP and WebSocket",
    "proxy": "run an agent behind proxies; built in: context, guard, budget",
    "check": "check an agent or a client against every rule of the protocol",
    "demo": "try the built-in agent on a small temporary project",
}

# Commands that must start quickly: without arguments they need no parser, whose import takes a
# tenth of the agent's start.
QUICK = frozenset({"agent"})

# Commands that must start quickly and log nothing.
LIGHT = frozenset({"record"})

# Options of `accord` itself; any other option without a command belongs to `chat`.
OWN_OPTIONS = frozenset({"-h", "--help", "--version"})

# Commands that start another program, given after `--`.
STARTERS = frozenset(
    {"chat", "run", "login", "record", "replay", "check", "translate", "proxy", "serve", "web"}
)

# The exit codes of shells for a program that a signal ended: 128 plus its number.
INTERRUPTED = 130
PIPE_CLOSED = 141


def _parser(wanted: str | None) -> "ArgumentParser":
    from argparse import ArgumentParser, RawDescriptionHelpFormatter
    from importlib import import_module

    from accord.version import __version__

    parser = ArgumentParser(
        prog="accord",
        description="Chat with, run, record, translate, guard and test coding agents (ACP).",
        epilog="example: accord demo",
    )
    parser.add_argument("--version", action="version", version=f"accord {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, help_text in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=help_text,
            description=help_text,
            epilog=f"example: accord {name}",
            formatter_class=RawDescriptionHelpFormatter,
        )
        if name == wanted:
            import_module(f"accord.cli.commands.{name}").add_arguments(command)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Without arguments, the process's own are used, and the process belongs to Accord: it exits in
    bounded time after a signal, and no process that it started outlives it.
    """
    if arguments is not None:
        return _main(arguments)
    _mend_clock()
    from accord.machine.processes import exit_on_signal as shutdown

    # The recorder forks, which is safe only while it has one thread.
    shutdown.own_process(in_thread="record" not in sys.argv[1:2])
    try:
        return _main(None)
    finally:
        shutdown.finish()
        # After SIGTERM or SIGHUP, exit by that signal, as other programs do.
        shutdown.end_by_signal()


def _main(arguments: Sequence[str] | None) -> int:
    try:
        if arguments is None:
            from accord.machine.own_command_line import ignore_working_directory

            ignore_working_directory()
        _fill_closed_streams()
        from accord.cli.redacted_stderr import redacted_stderr

        with redacted_stderr():
            try:
                code = _run(list(sys.argv[1:] if arguments is None else arguments))
                sys.stdout.flush()
            except (Exception, KeyboardInterrupt, BaseExceptionGroup) as error:  # noqa: BLE001
                return _explain(_first(error))
    except KeyboardInterrupt as error:
        return _explain(error)
    return code


def _mend_clock() -> None:
    """Keep working if the clock is set to a time that Python cannot represent."""
    import time

    try:
        time.time()
    except OverflowError:
        from accord.machine.clock import mend

        mend()


def _fill_closed_streams() -> None:
    """Replace streams that were closed before the start (`>&-`) by /dev/null."""
    import os

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - open until the process exits


def _split(given: list[str]) -> tuple[list[str], list[str] | None]:
    """Split our arguments from the command after `--`, which is None without `--`."""
    if "--" not in given:
        return given, None
    at = given.index("--")
    return given[:at], given[at + 1 :]


def _run(given: list[str]) -> int:
    from importlib import import_module

    if len(given) == 1 and given[0] in QUICK:
        quick: int = import_module(f"accord.cli.commands.{given[0]}").run_without_arguments()
        return quick
    given, after = _split(given)
    alone = not given and after is None
    # The default command is `chat`, also with options: `accord --continue`.
    has_only_options = bool(given) and given[0].startswith("-") and given[0] not in OWN_OPTIONS
    if has_only_options or (not given and after is not None) or (alone and _at_terminal()):
        given = ["chat", *given]
    wanted = next((word for word in given if word in COMMANDS), None)
    parser = _parser(wanted)
    parsed = parser.parse_args(given)
    # Not through argparse, which would parse it as our own arguments.
    parsed.after = after
    # Without a command, use the built-in agent even if others are configured.
    parsed.built_in = alone or has_only_options
    if after is not None and parsed.command not in STARTERS:
        parser.error(f"{parsed.command or 'accord'} takes no command after --")
    if parsed.command is None:
        parser.print_help()
        return 2
    if parsed.command not in LIGHT:
        from accord.cli.console import clean_traces

        clean_traces()
    code: int = import_module(f"accord.cli.commands.{parsed.command}").run(parsed)
    return code


def _at_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _first(error: BaseException) -> BaseException:
    """Return the first error of a group, for a message to the user."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _explain(error: BaseException) -> int:
    """Print what ended the command, if necessary, and return the exit code."""
    if isinstance(error, KeyboardInterrupt):
        import signal

        # A second Ctrl-C must not print a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if sys.stderr.isatty():
            sys.stderr.write("\n")
        return INTERRUPTED
    from accord.errors import AccordError

    if isinstance(error, OSError):
        _abandon_output()
        if isinstance(error, BrokenPipeError):
            return PIPE_CLOSED
        from accord.cli.console import complain

        where = "" if error.filename is None else f"{error.filename}: "
        complain(f"accord: {where}{error.strerror or error}")
        return 1
    if isinstance(error, AccordError):
        from accord.cli.console import complain

        complain(f"accord: {error}")
        return 1
    import traceback

    # As Python would, but through the redacted stderr.
    traceback.print_exception(error)
    return 1


def _abandon_output() -> None:
    """Make sure that Python does not try to write the rest of stdout at exit."""
    import os

    try:
        output = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, output)
        os.close(nowhere)
    except (OSError, ValueError):
        # Without a descriptor nothing is written at exit either.
        pass


if __name__ == "__main__":
    sys.exit(main())
