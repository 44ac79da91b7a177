"""The options of a new session, for every command that opens one."""

from argparse import ArgumentParser


def add_session_arguments(parser: ArgumentParser) -> None:
    """Add the folders, the MCP servers, the mode and the model of a session."""
    add = parser.add_argument
    add(
        "--cwd", metavar="DIR", default=".", help="the folder to work in (default: the current one)"
    )
    add(
        "--add-dir",
        metavar="DIR",
        action="append",
        default=[],
        help="an additional folder; may be repeated",
    )
    add("--mcp", metavar="FILE|NAME", action="append", default=[], help="MCP servers for the agent")
    add("--mode", metavar="MODE", help="the mode to start in")
    add("--model", metavar="MODEL", help="the model to use")
