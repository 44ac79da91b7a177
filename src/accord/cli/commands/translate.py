"""`accord translate`: serves an agent in another version of the protocol."""

from __future__ import annotations

import contextlib
import json
from argparse import ArgumentParser, Namespace
from functools import partial
from pathlib import Path

from accord.cli.agent_setup.remote_agent_command import (
    add_remote_arguments,
    agent_command,
    given_words,
)
from accord.cli.console import complain
from accord.cli.usage_error import UsageError

DESCRIPTION = """\
Starts an agent, or connects to a remote one, and serves it in another version of the protocol.

Put this before the agent's command in the settings of an editor.  Accord detects the agent's
version: 1, 2, or the 2026-02 draft.  Data without a counterpart is kept in `_meta` and restored on
the way back; messages that cannot be translated are counted and reported on stderr at the end.

exit codes: 0 the client disconnected, 1 the agent exited first, 2 wrong usage, 127 the agent cannot
be started
"""
EPILOG = """\
examples:
  accord translate --to 2 -- my-v1-agent --stdio
  accord translate --to draft -- accord agent
  accord translate --to 1 wss://agents.example.com/acp --token-env AGENT_TOKEN
"""
CANNOT_START = 127
TARGETS = {"1": "v1", "2": "v2", "draft": "draft", "2-early": "v2-early"}
SOURCES = {"1": "v1", "2": "v2", "draft": "draft"}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord translate`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord translate [--to VERSION] [--from VERSION] [options] [URL | -- COMMAND]"
    add = parser.add_argument
    add(
        "--to",
        choices=TARGETS,
        help="the version to serve (default: the client's version); 2-early is the form of the"
        " early v2 drafts",
    )
    add("--from", dest="source", choices=SOURCES, help="the agent's version (default: detected)")
    add("--strict", action="store_true", help="fail if something cannot be translated")
    add("--unstable", action="store_true", help="also offer the unstable parts of the protocol")
    add(
        "--no-host",
        action="store_true",
        help="if the client offers no files and terminals, do not offer those of this machine",
    )
    add("--quiet", action="store_true", help="print no messages of our own on stderr")
    add_remote_arguments(parser, positional=True)


def run(arguments: Namespace) -> int:
    """Translate until the client disconnects or the agent exits."""
    import anyio

    try:
        arguments.after = agent_command(given_words(arguments, arguments.url) or [])
        if not arguments.after:
            raise UsageError("the agent's command is missing after --")
    except UsageError as error:
        complain(f"accord translate: {error}")
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
        _say(f"not translated: {told}")
    if translated.unstarted is not None:
        return CANNOT_START
    if ended is None:
        return 0
    if not arguments.quiet:
        _say(ended.reason)
    return 1


def _say(sentence: str) -> None:
    # A closed stderr must not end the session.
    with contextlib.suppress(OSError):
        complain(f"accord translate: {sentence}")


def _keep_secret(agent: str, method: str, credentials: dict[str, object]) -> None:
    """Store the credentials of a draft client's login in the key file, and nowhere else."""
    from accord.builtin.models.api_keys import Credentials
    from accord.errors import ConfigError

    kept = Credentials()
    for name, value in credentials.items():
        secret = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        try:
            kept.keep(f"translate/{agent}/{method}/{name}", secret)
        except ConfigError as error:
            _say(str(error))
