"""`accord`: finds the command and runs it.

Each command is a module in `commands/` with `add_arguments` and `run`; only the one that was
asked for is imported, so that starting is quick.

What always holds: whatever ends a command, the user sees a sentence and no traceback, except for
a mistake of ours.  Almost nothing is imported before that holds: Ctrl-C may come at any time.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser

# name -> one line of help; the module has the same name.
COMMANDS = {
    "chat": "talk to any agent, on the full screen or line by line; `accord` alone is this",
    "agent": "the built-in agent on standard input and output, for editors",
    "run": "one prompt to an agent, for scripts, CI and pipes",
    "login": "logs in to an agent, by one of the ways that it offers",
    "sessions": "what was said before: list, show, export, resume, delete, prune, rescue",
    "permissions": "what agents were allowed for good, and how to take it back",
    "record": "stands in an agent's place, passes everything on and writes it down",
    "trace": "shows a recording: as a page, in the terminal, as figures, or judged",
    "replay": "plays one side of a recording to the other",
    "translate": "makes an agent of one version of the protocol speak another",
    "proxy": "a chain of proxies before an agent; ready-made ones: context, guard, budget",
    "check": "judges an agent or a client, rule by rule",
    "demo": "a talk with the built-in agent about a small project that is thrown away",
}

# Commands whose start somebody waits for: said alone they need no parser, which takes as long to
# load as a tenth of an agent.
QUICK = frozenset({"agent"})

# Commands that stand before an agent that somebody waits for, and log nothing.
LIGHT = frozenset({"record"})

# What is asked of the program itself; every other option without a command is for `chat`.
OWN_OPTIONS = frozenset({"-h", "--help", "--version"})

# Commands that start another program, which is given after `--`.
STARTERS = frozenset({"chat", "run", "login", "record", "replay", "check", "translate", "proxy"})

# What a shell says of a program that a signal ended: 128 and its number.
INTERRUPTED = 130
PIPE_CLOSED = 141


def _parser(wanted: str | None) -> "ArgumentParser":
    from argparse import ArgumentParser, RawDescriptionHelpFormatter
    from importlib import import_module

    from accord.version import __version__

    parser = ArgumentParser(
        prog="accord",
        description="Everything between a coding agent and the program a person sits in front of.",
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
    """Run one command; the result is the exit code of the process.

    Without arguments it is those of the process, which then is ours: it ends within a bound when
    a signal asks it to, and no process that it started outlives it.
    """
    if arguments is not None:
        return _main(arguments)
    _mend_clock()
    from accord.machine.processes import shutdown

    # The recorder copies itself, which it can do while it has one thread.
    shutdown.own_process(in_thread="record" not in sys.argv[1:2])
    try:
        return _main(None)
    finally:
        shutdown.finish()
        # Where SIGTERM or SIGHUP did what Ctrl-C does: it ends us as it ends other programs.
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
    """Go on where the clock is set to a time that Python cannot express."""
    import time

    try:
        time.time()
    except OverflowError:
        from accord.machine.clock import mend

        mend()


def _fill_closed_streams() -> None:
    """Who closed our output before the start (`>&-`) wants to see nothing."""
    import os

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - open as long as we are


def _split(given: list[str]) -> tuple[list[str], list[str] | None]:
    """What is for us, and the command after `--` that is another program's; None without one."""
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
    # Without a command it is `chat`, with whatever options: `accord --continue`.
    unsaid = bool(given) and given[0].startswith("-") and given[0] not in OWN_OPTIONS
    if unsaid or (not given and after is not None) or (alone and _at_terminal()):
        given = ["chat", *given]
    wanted = next((word for word in given if word in COMMANDS), None)
    parser = _parser(wanted)
    parsed = parser.parse_args(given)
    # Not by argparse, which takes what stands there for arguments of ours.
    parsed.after = after
    # Said alone it is the built-in agent, whichever others there are.
    parsed.built_in = alone or unsaid
    if after is not None and parsed.command not in STARTERS:
        parser.error("there is no program to be started by a command after --")
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
    """Tasks that fail together come in a group; one of them is what the user is told."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _explain(error: BaseException) -> int:
    """Say what ended the command, if that is news, and with what exit code."""
    if isinstance(error, KeyboardInterrupt):
        import signal

        # Who presses it twice wants to leave, not to read where Python was at that moment.
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

    # As Python would, but without secrets.
    traceback.print_exception(error)
    return 1


def _abandon_output() -> None:
    """What could not be written is not tried again when Python ends."""
    import os

    try:
        output = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, output)
        os.close(nowhere)
    except (OSError, ValueError):
        # No descriptor: then nothing is written to one either.
        pass


if __name__ == "__main__":
    sys.exit(main())
