"""Agents behind a URL, wherever a command takes an agent.

A command starts such an agent as `accord connect URL`, a process of ours that looks like any other
agent; so there is one place that connects.  Credentials are named by environment variables, since
other users of the machine can read command lines.

What always holds: a command that gets no URL imports nothing for it; `accord record` must start
quickly.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from accord.cli.usage_error import UsageError

if TYPE_CHECKING:
    from accord.cli.agent_setup.remote_agent_options import RemoteAgent


def add_remote_arguments(parser: ArgumentParser, *, positional: bool = False) -> None:
    """Add the options for agents behind a URL, and perhaps the URL itself."""
    if positional:
        parser.add_argument("url", nargs="?", metavar="URL", help="the URL of a remote agent")
    group = parser.add_argument_group("remote agents")
    group.add_argument(
        "--token-env", metavar="NAME", help="the environment variable that has the bearer token"
    )
    group.add_argument(
        "--header-env",
        metavar="HEADER=NAME",
        action="append",
        default=[],
        help="a header to send, and the environment variable that has its value; may be repeated",
    )
    group.add_argument(
        "--insecure",
        action="store_true",
        help="allow http:// and ws:// beyond this machine, unencrypted",
    )


def given_words(arguments: Namespace, url: str | None) -> list[str] | None:
    """Return the words of the agent: those after `--`, or the URL with its options.

    Raises:
        UsageError: both are given, or options for a URL without one.
    """
    words: list[str] = []
    if arguments.token_env is not None:
        words += ["--token-env", arguments.token_env]
    for header in arguments.header_env:
        words += ["--header-env", header]
    if arguments.insecure:
        words.append("--insecure")
    after: list[str] | None = arguments.after
    if url is None:
        if words and not (after and _is_url(after[0])):
            raise UsageError(f"{words[0]} is for agents with a URL")
        return after if after is None else [*after, *words]
    if after is not None:
        raise UsageError("give either a URL or a command after --, not both")
    if not _is_url(url):
        from accord.transport.remote_address import shown_url, url_advice

        raise UsageError(
            f"{shown_url(url)!r} is not a URL{url_advice(url)}; a command comes after --"
        )
    return [url, *words]


def agent_command(words: Sequence[str]) -> tuple[str, ...]:
    """Return the command of an agent; a URL with its options becomes that of `accord connect`.

    Raises:
        UsageError: the URL or its options cannot be used.
    """
    if remote_agent(words) is None:
        if words and "://" in words[0]:
            from accord.transport.remote_address import shown_url, url_advice

            advice = url_advice(words[0])
            raise UsageError(f"{shown_url(words[0])!r} is not a command{advice}")
        return tuple(words)
    from accord.machine.own_command_line import own_command

    return own_command("connect", *words)


def remote_agent(words: Sequence[str]) -> RemoteAgent | None:
    """Return the remote agent that these words name; None if they are a command.

    Raises:
        UsageError: the URL or its options cannot be used.
    """
    if not words or not _is_url(words[0]):
        return None
    from accord.cli.agent_setup.remote_agent_options import read_remote_agent

    parser = _Options("URL", add_help=False)
    add_remote_arguments(parser, positional=True)
    return read_remote_agent(parser.parse_args(list(words)))


def _is_url(word: str) -> bool:
    if "://" not in word:
        return False
    from accord.transport.remote_address import is_url

    return is_url(word)


class _Options(ArgumentParser):
    """The options behind a URL; a mistake raises UsageError instead of exiting."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"the options after the URL: {message}")
