"""`accord translate`: makes an agent of one version speak another."""

from __future__ import annotations

import contextlib
import json
from argparse import ArgumentParser, Namespace
from functools import partial
from pathlib import Path

from accord.cli.console import complain

DESCRIPTION = """\
Starts an agent and serves it in another version of the protocol.

Put it before the agent's command in the settings of an editor.  The agent's own version is found
out by itself: 1, 2, or the 2026-02 draft.  What has no counterpart is kept in `_meta` and comes
back on the way back; what could not be said at all is counted and told on stderr at the end.

exit codes: 0 the client went, 1 the agent ended first, 2 wrong usage, 127 it cannot be started
"""
EPILOG = """\
examples:
  accord translate --to 2 -- my-v1-agent --stdio
  accord translate --to draft -- accord agent
"""
CANNOT_START = 127
TARGETS = {"1": "v1", "2": "v2", "draft": "draft", "2-early": "v2-early"}
SOURCES = {"1": "v1", "2": "v2", "draft": "draft"}


def add_arguments(parser: ArgumentParser) -> None:
    """What `accord translate` takes."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord translate [--to VERSION] [--from VERSION] [options] -- COMMAND"
    add = parser.add_argument
    add(
        "--to",
        choices=TARGETS,
        help="the version to serve (default: whichever the client speaks); 2-early is what the"
        " first pages about version 2 said",
    )
    add("--from", dest="source", choices=SOURCES, help="the agent's version, not to be found out")
    add("--strict", action="store_true", help="what cannot be said is an error, not a note")
    add("--unstable", action="store_true", help="offer the unstable parts of the protocol too")
    add(
        "--no-host",
        action="store_true",
        help="serve no files and terminals of this machine to an agent whose client has none",
    )
    add("--quiet", action="store_true", help="say nothing on stderr of our own")


def run(arguments: Namespace) -> int:
    """Do it; the exit code says who ended it."""
    import anyio

    if not arguments.after:
        complain("accord translate: the agent's command is missing after --")
        return 2
    return anyio.run(_translate, arguments)


async def _translate(arguments: Namespace) -> int:
    from accord.machine.console.stderr_passthrough import PassedOutput
    from accord.proxy.relay.translated_transport import Translated, carry
    from accord.proxy.relay.translators import Settings
    from accord.transport.stdio import StdioTransport
    from accord.transport.subprocess import SubprocessTransport

    def connect() -> SubprocessTransport:
        return SubprocessTransport(arguments.after, stderr=PassedOutput())

    translated = Translated(
        connect,
        to=TARGETS.get(arguments.to),  # type: ignore[arg-type]
        speaks=SOURCES.get(arguments.source),  # type: ignore[arg-type]
        settings=Settings(
            strict=arguments.strict,
            unstable=arguments.unstable,
            host=frozenset() if arguments.no_host else frozenset(("fs", "terminal")),
        ),
        keep_secret=partial(_keep_secret, Path(arguments.after[0]).name),
    )
    ended = await carry(StdioTransport(), translated)
    if translated.losses and not arguments.quiet:
        told = ", ".join(f"{kind} ({count})" for kind, count in sorted(translated.losses.items()))
        _say(f"not said in the other version: {told}")
    if translated.unstarted is not None:
        return CANNOT_START
    if ended is None:
        return 0
    if not arguments.quiet:
        _say(ended.reason)
    return 1


def _say(sentence: str) -> None:
    # Nobody may listen; that is no reason to end.
    with contextlib.suppress(OSError):
        complain(f"accord translate: {sentence}")


def _keep_secret(agent: str, method: str, credentials: dict[str, object]) -> None:
    """What a client of the draft logs in with goes into the file of keys, and nowhere else."""
    from accord.builtin.models.credentials import Credentials
    from accord.errors import ConfigError

    kept = Credentials()
    for name, value in credentials.items():
        secret = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        try:
            kept.keep(f"translate/{agent}/{method}/{name}", secret)
        except ConfigError as error:
            _say(str(error))
