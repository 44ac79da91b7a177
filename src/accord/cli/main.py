"""`accord`: finds the command and runs it.

Each command is a module beside this one with `add_arguments` and `run`; only the one that was
asked for is imported, so that starting is quick.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from accord.errors import AccordError
from accord.version import __version__

# name -> one line of help; the module has the same name.
COMMANDS = {
    "demo": "an agent at work on a small project, in a folder that is thrown away",
}


def _parser(wanted: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="accord",
        description="Everything between a coding agent and the program a person sits in front of.",
        epilog="example: accord demo",
    )
    parser.add_argument("--version", action="version", version=f"accord {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, help_text in COMMANDS.items():
        command = commands.add_parser(
            name, help=help_text, description=help_text, epilog=f"example: accord {name}"
        )
        if name == wanted:
            import_module(f"accord.cli.{name}").add_arguments(command)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code of the process."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    wanted = next((word for word in given if word in COMMANDS), None)
    parser = _parser(wanted)
    parsed = parser.parse_args(given)
    if parsed.command is None:
        parser.print_help()
        return 2
    try:
        code: int = import_module(f"accord.cli.{parsed.command}").run(parsed)
    except AccordError as error:
        print(f"accord: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())
