"""Decides what a sandboxed process may do: a plan from a command, folders and options.

The home is hidden whole, and opened again for programs, for the state of a known agent, and for
what the user configured.

What always holds
    * Folders of the session are writable, and nothing else of the user's is but what the options
      name and what a known agent keeps.
    * What was found by a guess never opens a secret or a whole home; what the user named does.
    * A plan has only paths that exist and that this process may read, without links.
"""

from __future__ import annotations

import os
import pwd
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence

from accord.machine.sandbox.agent_state import state_of
from accord.machine.sandbox.executed_files import executed_files
from accord.machine.sandbox.home_folders import (
    HIDDEN_FOLDERS,
    OUTER_VARIABLES,
    PROGRAMS,
    SECRETS,
    SYSTEM_PROGRAMS,
    SYSTEM_SECRETS,
    SYSTEM_SETTINGS,
    TEMPORARY_FOLDERS,
)
from accord.machine.sandbox.installations import (
    installation,
    own_folders,
    path_folders,
    program_files,
    project_of,
)
from accord.machine.sandbox.options import SandboxKind, SandboxOptions, SandboxRefused
from accord.machine.sandbox.plan import Access, Plan, in_order, is_within, parents_within


def build_plan(
    command: Sequence[str],
    *,
    kind: SandboxKind,
    bwrap: str | None,
    folders: Sequence[str],
    options: SandboxOptions,
    env: Mapping[str, str],
    cwd: str,
) -> Plan:
    """The plan for a command, whose first word is an absolute path.

    Raises:
        SandboxRefused: a folder cannot be made writable without giving up what the sandbox is for.
    """
    home = _home(env)
    places = _Places(home)
    roots = [_session_folder(folder, places.roots) for folder in folders]
    named = _Named(options, home, roots)
    state = state_of(command)
    places.open_roots(named.readable)
    writable = [*_below(home, state.writable), *named.writable, *roots]
    places.add_guesses(_guesses(command, places.broad, env, cwd, home), writable)
    hidden = [*_below(home, SECRETS), *_real(options.hidden, home)]
    places.add("hidden", (path for path in hidden if path not in (*named.readable, *writable)))
    places.add("read", named.readable)
    places.add("write", writable)
    places.prune()
    places.add(
        "executed", (one for one in _below(home, state.settings) if one not in named.writable)
    )
    for root in roots:
        places.add_executed(root, named.writable)
    _check_landlock(kind, places.found, roots)
    return Plan(
        bwrap=bwrap,
        folder=roots[0],
        places=in_order(places.found),
        links=tuple(_links(command, [*path_folders(env), *folders], places.found)),
        network=options.network,
        set_variables=tuple(options.variables.items()),
        unset_variables=tuple(sorted(_outer_variables(env))),
    )


class _Named:
    """What the options name, as real paths."""

    def __init__(self, options: SandboxOptions, home: str | None, roots: Sequence[str]) -> None:
        self.readable = _real(options.readable, home, roots)
        self.writable = _real(options.writable, home, roots)


class _Places:
    """The places of a plan.  Guards: a later addition overrides an earlier one of the same path."""

    def __init__(self, home: str | None) -> None:
        self.found: dict[str, Access] = {}
        known = {os.path.realpath(one) for one in HIDDEN_FOLDERS if os.path.isdir(one)}
        known.update(one for one in (home, _password_home()) if one is not None)
        temporary = {os.path.realpath(one) for one in TEMPORARY_FOLDERS if os.path.isdir(one)}
        # Private files of other sandboxes are in it.
        self.add("private", [os.path.realpath(tempfile.gettempdir())])
        self.roots = sorted(known | temporary)
        self.broad = [*self.roots, *_below(home, (".local",))]
        self.add("hidden", known)
        self.add("private", [*temporary, *((home,) if home is not None else ())])
        self.add("hidden", (path for path in _real(SYSTEM_SECRETS) if os.access(path, os.R_OK)))

    def add(self, access: Access, paths: Iterable[str]) -> None:
        """Add places, unless they are below a place that gives the same already."""
        self.found.update(dict.fromkeys(paths, access))

    def open_roots(self, readable: Sequence[str]) -> None:
        """Let the user open a home: what contains it decides again."""
        for path in readable:
            for root in [one for one in self.found if is_within(one, path)]:
                if root not in map(os.path.realpath, TEMPORARY_FOLDERS):
                    del self.found[root]

    def add_guesses(self, paths: Iterable[str], writable: Sequence[str]) -> None:
        """Open what would be hidden, but nothing that is writable or contains a root."""
        for path in dict.fromkeys(map(os.path.realpath, paths)):
            if any(is_within(path, one) for one in writable):
                continue
            if any(is_within(root, path) for root in self.broad) or not os.access(path, os.R_OK):
                continue
            if self._access_to(path) in ("hidden", "private"):
                self.found[path] = "read"

    def prune(self) -> None:
        """Drop what is hidden already by the folder around it."""
        for path in [path for path, access in self.found.items() if access == "hidden"]:
            del self.found[path]
            if self._access_to(path) not in ("hidden", "private"):
                self.found[path] = "hidden"

    def add_executed(self, root: str, named: Sequence[str]) -> None:
        """Add what other programs execute in a folder of the session.

        The folders above such a file become places too, so that none of them can be renamed.
        """
        for path in executed_files(root):
            if not any(is_within(path, one) and one != root for one in named):
                self.found[path] = "executed"
                for parent in parents_within(path, root):
                    self.found.setdefault(parent, "write")

    def _access_to(self, path: str) -> Access:
        holding = [place for place in self.found if is_within(path, place)]
        return self.found[max(holding, key=len)] if holding else "read"


def _home(env: Mapping[str, str]) -> str | None:
    home = env.get("HOME") or _password_home()
    real = os.path.realpath(home) if home and os.path.isabs(home) else None
    return real if real is not None and real != os.sep and os.path.isdir(real) else None


def _password_home() -> str | None:
    """The home that the system knows, which `HOME` may differ from."""
    try:
        home = os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return None
    return home if home != os.sep and os.path.isdir(home) else None


def _session_folder(folder: str, hidden: Sequence[str]) -> str:
    real = os.path.realpath(folder)
    if not os.path.isdir(real):
        raise SandboxRefused(f"{folder} is not a folder")
    if any(is_within(root, real) for root in hidden):
        raise SandboxRefused(
            f"{folder} is or contains a home or a folder of the system, and the sandbox would make"
            " it writable; choose the folder of a project"
        )
    status = os.stat(real)
    if os.getuid() == 0 and status.st_uid != 0 and not status.st_mode & stat.S_IWOTH:
        raise SandboxRefused(
            f"{folder} belongs to another user, and root has no special rights in the sandbox;"
            " start Accord as the owner of the folder"
        )
    return real


def _check_landlock(kind: SandboxKind, places: Mapping[str, Access], roots: Sequence[str]) -> None:
    if kind != "landlock":
        return
    for path, access in places.items():
        within = next((one for one in roots if is_within(path, one)), None)
        if access == "hidden" and within is not None:
            raise SandboxRefused(
                f"{within} contains {path}, which the sandbox hides, and Landlock cannot hide a"
                " part of a writable folder; install bubblewrap, or choose another folder"
            )


def _real(paths: Iterable[str], home: str | None = None, roots: Sequence[str] = ()) -> list[str]:
    """Existing paths: absolute ones, those that begin with `~`, and those in each of the roots."""
    found: list[str] = []
    for path in paths:
        if path == "~" or path.startswith("~/"):
            candidates = [] if home is None else [os.path.join(home, path[2:])]
        elif os.path.isabs(path):
            candidates = [path]
        else:
            candidates = [os.path.join(root, path) for root in roots]
        found += [os.path.realpath(one) for one in candidates if os.path.exists(one)]
    return found


def _below(home: str | None, names: Iterable[str]) -> list[str]:
    """Existing paths of the home."""
    return [] if home is None else _real(os.path.join(home, name) for name in names)


def _guesses(
    command: Sequence[str],
    broad: Sequence[str],
    env: Mapping[str, str],
    cwd: str,
    home: str | None,
) -> Iterator[str]:
    """What the program probably needs."""
    yield from _below(home, PROGRAMS)
    yield from SYSTEM_PROGRAMS
    yield from SYSTEM_SETTINGS
    yield from own_folders()
    for folder in path_folders(env):
        found = installation(folder, broad)
        if found is not None:
            yield found
    for file in program_files(command, env, cwd):
        folder = os.path.dirname(file)
        is_in_bin = installation(folder, broad) not in (folder, None)
        found = installation(folder, broad) if is_in_bin else project_of(file, broad)
        yield file if found is None else found


def _links(
    command: Sequence[str], paths: Iterable[str], places: Mapping[str, Access]
) -> Iterator[tuple[str, str]]:
    """The links in hidden folders on the way to these paths."""
    known: set[str] = set()
    for path in (command[0], *paths):
        way = os.sep
        for part in os.path.abspath(path).split(os.sep)[1:]:
            way = os.path.join(way, part)
            if not os.path.islink(way):
                continue
            holding = [place for place in places if is_within(way, place)]
            access = places[max(holding, key=len)] if holding else "read"
            if access in ("hidden", "private") and way not in known:
                known.add(way)
                yield way, os.readlink(way)
            way = os.path.realpath(way)


def _outer_variables(env: Mapping[str, str]) -> Iterator[str]:
    """The variables that name something that is not reached from inside."""
    for name, value in env.items():
        path = value.removeprefix("unix://").removeprefix("unix:path=")
        if name in OUTER_VARIABLES or (os.path.isabs(path) and _is_socket(path)):
            yield name


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False
