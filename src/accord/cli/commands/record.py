"""`accord record`: runs an agent and records every message."""

from __future__ import annotations

import os
import stat
from argparse import ArgumentParser, Namespace
from pathlib import Path

from accord.cli.agent_setup.remote_agent_command import (
    add_remote_arguments,
    agent_command,
    given_words,
)
from accord.cli.usage_error import UsageError

DESCRIPTION = """\
Starts an agent, or connects to a remote one, forwards everything in both directions, and writes
each message to a file.

Put this before the agent's command in the settings of an editor.  Messages are forwarded unchanged,
and a problem with the file does not affect the session.  Keys, tokens, authorization headers and
values of environment variables are removed from the file, not from the messages.

With --listen, clients connect to it over HTTP and WebSocket instead.  An agent is started for each
connection, and each connection is recorded to a file of its own, until a signal ends the command.

Without -o, or if -o is a folder, a file name is chosen.  An existing file is never overwritten: the
name gets a number.

exit codes: those of the agent; 2 wrong usage, 127 the agent cannot be started; with --listen 0 when
a signal ended it, 1 if the address cannot be used
"""
EPILOG = """\
examples:
  accord record -o session.jsonl -- accord agent
  accord record -o session.jsonl wss://agents.example.com/acp --token-env AGENT_TOKEN
  accord record -o folder --listen http://127.0.0.1:8000/acp -- my-agent
  accord trace session.jsonl
"""
NUMBERS_MAX = 10_000
CANNOT_START = 127


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord record`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord record [-o FILE] [--listen URL] [options] [URL | -- COMMAND]"
    add = parser.add_argument
    add("-o", "--output", metavar="FILE", type=Path, help="the file or folder to write to")
    add("--keep-secrets", action="store_true", help="do not remove secrets from the file")
    add("--quiet", action="store_true", help="do not print the file name on stderr")
    add(
        "--listen",
        metavar="URL",
        help="serve the agent to clients of HTTP and WebSocket at this address of this machine,"
        " such as http://127.0.0.1:8000/acp; port 0 picks a free port",
    )
    add_remote_arguments(parser, positional=True)


def run(arguments: Namespace) -> int:
    """Record until the agent exits; return its exit code."""
    from accord.errors import SpawnFailed
    from accord.machine.console.unfinished_lines import LINE_ENDS
    from accord.machine.processes import exit_on_signal as shutdown
    from accord.tracing.recorder.recorder import Recorder, Settings, leave
    from accord.version import __version__

    try:
        command = agent_command(given_words(arguments, arguments.url) or [])
        if not command:
            raise UsageError("the agent's command is missing after --")
        if arguments.listen is not None:
            return _serve(arguments, command)
    except UsageError as error:
        _say(str(error))
        return 2
    settings = Settings(
        command=command,
        file=_open(arguments),
        redact=not arguments.keep_secrets,
        program=f"accord {__version__}",
    )
    try:
        code = Recorder(settings, _say).run()
        if not os.isatty(2):
            # An unfinished line of the agent is forwarded unfinished.
            LINE_ENDS.ended(2)
        # Before exiting as the agent did, which may be by a signal.
        shutdown.finish()
        return leave(code)
    except SpawnFailed as error:
        _say(str(error))
        return CANNOT_START


def _serve(arguments: Namespace, command: tuple[str, ...]) -> int:
    """Record connections until a signal comes."""
    import anyio

    from accord.cli.server_setup.listen_address import listen_address
    from accord.cli.server_setup.recording_server import RecordingServer
    from accord.errors import AccordError
    from accord.machine import optional_packages

    address = listen_address(arguments.listen)
    if optional_packages.is_missing("remote"):
        _say("installing the packages for HTTP and WebSocket (only once)")
        anyio.run(optional_packages.install, "remote")
    server = RecordingServer(
        address.host,
        address.port,
        address.target,
        command,
        open_file=lambda: _open(arguments),
        redact=not arguments.keep_secrets,
        say=_say,
    )
    try:
        return anyio.run(server.run)
    except AccordError as error:
        _say(str(error))
    except OSError as error:
        _say(f"cannot listen at {arguments.listen}: {error.strerror or error}")
    return 1


def _say(sentence: str) -> None:
    from accord.machine.console.control_characters import visible
    from accord.machine.console.unfinished_lines import LINE_ENDS

    line = f"accord record: {visible(sentence)}\n"
    try:
        os.write(2, (LINE_ENDS.before(2, _say, line) + line).encode("utf-8", "replace"))
        LINE_ENDS.ended(2)
    except OSError:
        # Stderr is closed, which must not end the recording.
        pass


def _open(arguments: Namespace) -> int | None:
    """Open the file; return None if that fails, since an unrecorded session is better than none."""
    try:
        wanted = arguments.output or _recordings()
        if wanted.is_dir() or arguments.output is None:
            wanted = wanted / _name()
        path, descriptor = open_new(wanted)
    except OSError as error:
        _say(f"cannot write: {error.strerror} ({error.filename}); the session is not recorded")
        return None
    if not arguments.quiet:
        _say(f"recording to {path}")
    return descriptor


def _recordings() -> Path:
    from accord.configuration.user_paths import make_private, state_folder

    return make_private(state_folder() / "recordings")


def _name() -> str:
    from accord.machine.clock import file_stamp

    return f"{file_stamp()}-{os.getpid()}.jsonl"


def open_new(path: Path) -> tuple[Path, int]:
    """Create a private file with this name, or with this name and a number.

    A device or a named pipe is opened as it is.

    Raises:
        OSError: the folder does not exist or is not writable.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            # A named pipe without a reader would keep the agent from starting.
            descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            os.set_blocking(descriptor, True)
            return path, descriptor
    except FileNotFoundError:
        pass
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    name = path
    for number in range(2, NUMBERS_MAX):
        try:
            return name, os.open(name, flags, 0o600)
        except FileExistsError:
            name = path.with_name(f"{path.stem}-{number}{path.suffix}")
    raise FileExistsError(17, "too many files with this name", str(path))
