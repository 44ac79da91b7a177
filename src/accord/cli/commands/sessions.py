"""`accord sessions`: lists, shows, exports, resumes and deletes stored sessions.

What always holds
    * Reading does not disturb a session that is open in an editor.
    * A session that is open elsewhere is not deleted.
    * No command creates a store.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import anyio

from accord.cli.console import complain, say, say_json, show
from accord.cli.session_export import as_json, as_markdown, described
from accord.configuration.user_paths import store_file
from accord.errors import AccordError, StoreError
from accord.machine import clock
from accord.machine.console.control_characters import visible, visible_line
from accord.machine.own_command_line import own_command
from accord.machine.redaction.redactor import Redactor
from accord.store.session_store import SessionRecord
from accord.store.sqlite import SqliteStore
from accord.store.wal_check import has_content

DESCRIPTION = """\
Lists, shows, exports, resumes and deletes the sessions of the built-in agent.  ID is the id of a
session, or a unique beginning of it.

rescue reads a damaged store page by page and writes what it finds to a new one.  It does not change
the damaged file and never overwrites an existing file.

exit codes: 0 done, 1 no such session, or it is open elsewhere or damaged, 2 wrong usage
"""
EPILOG = """\
examples:
  accord sessions list --here
  accord sessions show 3f2a
  accord sessions export 3f2a --format json > session.json
  accord sessions prune --older-than 90
  accord sessions rescue --to saved.sqlite3
"""
# A hundred years; dates much further away cannot be represented.
DAYS_MAX = 36_500
TITLE_CHARACTERS_MAX = 60
# The suffixes of the files that SQLite keeps beside a store.
LOG_SUFFIXES = ("-wal", "-shm")

Command: TypeAlias = Callable[[SqliteStore, Namespace], Coroutine[Any, Any, int]]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord sessions`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    what = parser.add_subparsers(
        dest="what", required=True, metavar="list|show|export|resume|delete|prune|rescue"
    )
    listed = what.add_parser("list", help="list the sessions, newest first")
    listed.add_argument("--here", action="store_true", help="only sessions in this folder")
    listed.add_argument("--cwd", metavar="FOLDER", help="only sessions in that folder")
    listed.add_argument("--json", action="store_true", help="print one JSON object per line")
    shown = what.add_parser("show", help="show the messages and actions of a session")
    shown.add_argument("id", metavar="ID")
    shown.add_argument("--json", action="store_true", help="the same as export --format json")
    shown.add_argument(
        "--keep-secrets", action="store_true", help="with --json: do not remove secrets"
    )
    export = what.add_parser("export", help="export a session as Markdown or JSON")
    export.add_argument("id", metavar="ID")
    export.add_argument("--format", choices=("markdown", "json"), default="markdown")
    export.add_argument(
        "--output", metavar="FILE", help="the file to write (default: standard output)"
    )
    export.add_argument("--keep-secrets", action="store_true", help="do not remove secrets")
    resume = what.add_parser("resume", help="resume a session in its folder")
    resume.add_argument("id", metavar="ID")
    resume.add_argument("prompt", nargs="*", metavar="PROMPT", help="send this prompt and exit")
    delete = what.add_parser("delete", help="delete sessions permanently")
    delete.add_argument("ids", nargs="+", metavar="ID")
    prune = what.add_parser("prune", help="delete sessions that have not been used for some time")
    prune.add_argument("--older-than", metavar="DAYS", type=_days, required=True)
    prune.add_argument(
        "--keep", metavar="N", type=_count, default=0, help="keep the N newest sessions"
    )
    prune.add_argument("--json", action="store_true", help="print the ids as one JSON object")
    rescue = what.add_parser("rescue", help="recover sessions from a damaged store")
    rescue.add_argument(
        "--from", dest="source", metavar="FILE", type=Path, help="the damaged store"
    )
    rescue.add_argument("--to", dest="target", metavar="FILE", type=Path, help="the new store")


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = -1.0
    if not 0 <= days <= DAYS_MAX:
        raise ArgumentTypeError(f"{text!r} is not a number of days")
    return days


def _count(text: str) -> int:
    if not text.isdigit():
        raise ArgumentTypeError(f"{text!r} is not a number")
    return int(text)


def run(arguments: Namespace) -> int:
    commands: dict[str, Command] = {
        "list": _list,
        "show": _show,
        "export": _export,
        "resume": _find_resumed,
        "delete": _delete,
        "prune": _prune,
    }
    try:
        if arguments.what == "rescue":
            return _rescue(arguments)
        code = anyio.run(_with_store, commands[arguments.what], arguments)
    except StoreError as error:
        complain(f"accord sessions: {error}")
        return 1
    if arguments.what == "resume" and code == 0:
        # The store is closed, so the agent can open the session.
        return _resume(arguments.record, " ".join(arguments.prompt))
    return code


def _rescue(arguments: Namespace) -> int:
    from accord.store.rescue import rescue

    source = arguments.source or store_file()
    rescued = rescue(source, arguments.target)
    say(
        f"Recovered {_counted(rescued.sessions, 'session')} with"
        f" {_counted(rescued.updates, 'update')} to {rescued.target}"
    )
    if rescued.unnamed:
        what = "is" if rescued.unnamed == 1 else "are"
        say(
            f"{_counted(rescued.unnamed, 'session')} lost title and folder and {what} listed as"
            " rescued-NUMBER."
        )
    lost = rescued.unreadable + rescued.missing
    if lost:
        say(f"At least {_counted(lost, 'row')} could not be read.")
    else:
        say("No data is missing.")
    say(f"{source} was not changed.")
    say(f"To use the recovered sessions, {_replacing(source)}.")
    return 0


def _replacing(source: Path) -> str:
    """Return how to replace the damaged file by the new one."""
    logs = [f"{source}{suffix}" for suffix in LOG_SUFFIXES if os.path.lexists(f"{source}{suffix}")]
    if not logs:
        return "replace the damaged file by the new one"
    # SQLite would replay the old log into the new file.
    return f"move it away together with {' and '.join(logs)}, then put the new file in its place"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


async def _with_store(command: Command, arguments: Namespace) -> int:
    path = store_file()
    if not _is_there(path) and not has_content(f"{path}-wal"):
        return _without_store(arguments)
    store = SqliteStore(path)
    try:
        return await command(store, arguments)
    finally:
        await store.aclose()


def _is_there(path: Path) -> bool:
    """Whether the file exists; if that is unknown, opening it reports why."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except OSError:
        pass
    return True


def _without_store(arguments: Namespace) -> int:
    if arguments.what == "list":
        if not arguments.json:
            say("No sessions.")
        return 0
    if arguments.what == "prune":
        say('{"pruned": []}' if arguments.json else "Nothing to delete.")
        return 0
    raise AccordError(f"there are no sessions in {store_file()}")


async def _all(store: SqliteStore) -> AsyncIterator[SessionRecord]:
    cursor = None
    while True:
        page = await store.list(None, cursor)
        for record in page.sessions:
            yield record
        cursor = page.next_cursor
        if cursor is None:
            return


async def _list(store: SqliteStore, arguments: Namespace) -> int:
    count = 0
    folder = _folder(arguments)
    place = functools.cache(os.path.realpath)
    redactor = Redactor.of_environment()
    async for record in _all(store):
        # An editor may name a folder by a symbolic link.
        if folder is not None and place(record.cwd) != folder:
            continue
        count += 1
        # A title is the first prompt, and a list may be shown to others.
        title = None if record.title is None else redactor.text(record.title)
        holder = await store.holder(record.session_id)
        if arguments.json:
            pid = None if holder is None else holder.pid
            say_json(json.dumps({**described(record), "title": title, "openIn": pid}))
            continue
        title = " ".join(visible(title or "(no title)").split())
        marks = [
            "" if holder is None else f"open in process {holder.pid}",
            "archived" if record.archived else "",
            "interrupted" if record.turn_open and holder is None else "",
        ]
        notes = ", ".join(filter(None, marks))
        say(
            f"{record.session_id[:12]}  {(record.updated_at or '')[:16].replace('T', ' ')}"
            f"  {title[:TITLE_CHARACTERS_MAX]}  {visible_line(record.cwd)}"
            f"{f'  ({notes})' if notes else ''}"
        )
    if not count and not arguments.json:
        say("No sessions.")
    return 0


def _folder(arguments: Namespace) -> str | None:
    folder = "." if arguments.here else arguments.cwd
    return None if folder is None else os.path.realpath(os.path.expanduser(folder))


async def _find(store: SqliteStore, wanted: str) -> SessionRecord:
    """Find the session with this id, or with a unique id that starts with it."""
    exact = await store.get(wanted) if wanted else None
    if exact is not None:
        return exact
    found = [one async for one in _all(store) if wanted and one.session_id.startswith(wanted)]
    if len(found) == 1:
        record = await store.get(found[0].session_id)
        assert record is not None
        return record
    if found:
        raise StoreError("session_missing", f"{len(found)} sessions start with {wanted!r}")
    raise StoreError("session_missing", f"there is no session {wanted!r}")


async def _read(store: SqliteStore, wanted: str) -> tuple[SessionRecord, list[Any]]:
    record = await _find(store, wanted)
    log = await store.read(record.session_id)
    assert log is not None
    return record, [update async for update in log.replay()]


async def _show(store: SqliteStore, arguments: Namespace) -> int:
    record, updates = await _read(store, arguments.id)
    if arguments.json:
        say_json(json.dumps(as_json(record, updates, _redactor(arguments))))
    else:
        say("\n".join(as_markdown(record, updates)))
    return 0


async def _export(store: SqliteStore, arguments: Namespace) -> int:
    record, updates = await _read(store, arguments.id)
    if arguments.format == "json":
        made = as_json(record, updates, _redactor(arguments))
        text = json.dumps(made, indent=2, ensure_ascii=False)
    else:
        text = "\n".join(as_markdown(record, updates))
        redactor = _redactor(arguments)
        text = text if redactor is None else redactor.text(text)
    if arguments.output is None:
        if not sys.stdout.isatty():
            # A file or a program gets the text unescaped.
            show(text)
        elif arguments.format == "json":
            say_json(text)
        else:
            say(text)
        return 0
    _write(Path(arguments.output), f"{text}\n")
    return 0


def _redactor(arguments: Namespace) -> Redactor | None:
    """Return the redactor for exports, which may be shown to others."""
    return None if arguments.keep_secrets else Redactor.of_environment()


def _write(target: Path, text: str) -> None:
    """Write a new file readable only by the user, as the store is."""
    try:
        target.touch(mode=0o600)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AccordError(f"cannot write {target}: {error.strerror}") from None


async def _find_resumed(store: SqliteStore, arguments: Namespace) -> int:
    record = await _find(store, arguments.id)
    holder = await store.holder(record.session_id)
    if holder is not None:
        text = f"session {record.session_id} is open in another process (pid {holder.pid})"
        raise StoreError("session_in_use", text)
    arguments.record = record
    return 0


async def _delete(store: SqliteStore, arguments: Namespace) -> int:
    failed = 0
    for wanted in arguments.ids:
        try:
            session_id = await _id_of(store, wanted)
            await store.delete(session_id)
        except StoreError as error:
            complain(f"accord sessions: {error}")
            failed = 1
        else:
            say(f"deleted: {session_id}")
    return failed


async def _id_of(store: SqliteStore, wanted: str) -> str:
    """Find the id of a session that may be damaged or pruned."""
    try:
        return (await _find(store, wanted)).session_id
    except StoreError as error:
        named = error.details.get("sessionId")
        if error.reason in ("session_damaged", "session_pruned") and isinstance(named, str):
            return named
        raise


async def _prune(store: SqliteStore, arguments: Namespace) -> int:
    before = clock.now() - timedelta(days=arguments.older_than)
    gone = await store.prune(before, keep=arguments.keep)
    if arguments.json:
        say_json(json.dumps({"pruned": list(gone)}))
        return 0
    for session_id in gone:
        say(f"deleted: {session_id}")
    if not gone:
        say("Nothing to delete.")
    return 0


def _resume(record: SessionRecord, prompt: str) -> int:
    if prompt:
        from accord.cli.main import main

        # With a leading space, argparse does not take the prompt for an option.
        text = f" {prompt}" if prompt.startswith("-") else prompt
        given = ("run", "--session", record.session_id, "--cwd", record.cwd, text)
        return main([*given, "--", *own_command("agent")])
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AccordError("not a terminal: give a PROMPT, or use `accord run --session`")
    return _chat(record)


def _chat(record: SessionRecord) -> int:
    from accord.cli.agent_setup.agent_argument import BUILT_IN
    from accord.cli.commands.chat import INTERRUPTED, make_controller
    from accord.configuration.config_file import load_config
    from accord.terminal.engine.launch_options import LaunchOptions
    from accord.terminal.model.settings import Settings
    from accord.terminal.plain.line_mode import run_plain
    from accord.terminal.plain.line_terminal import line_terminal

    controller = make_controller(load_config(), Settings(), (record.cwd,))
    order = LaunchOptions(
        command=own_command("agent"), name=BUILT_IN, folder=record.cwd, session=record.session_id
    )
    with line_terminal(record.cwd) as terminal:
        terminal.printer.note(f"{record.title or record.session_id}, in {record.cwd}")
        code = anyio.run(run_plain, controller, order, terminal)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code
