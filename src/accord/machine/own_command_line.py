"""Command lines that start a process of Accord itself.

Such a process mostly works in a project's folder, and with `-m` or `-c` Python searches that folder
before its own library: a file `anyio.py` there would run as soon as the project is opened.

Invariants
    * Every command line starts an isolated interpreter (`-I`).  It ignores the working directory,
      all `PYTHON*` variables and `usercustomize`.
    * `own_command` runs the package that this process runs, and finds its dependencies where this
      process finds them.
    * The import path that is passed on has no entry that is relative or lies in the working
      directory, apart from the installation itself.  It has one that a variable named only where
      Accord itself is found by such a variable.
"""

from __future__ import annotations

import os
import site
import sys

from accord.errors import SpawnFailed
from accord.machine.processes.program_lookup import absolute_folders

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(PACKAGE)
_HOME = os.path.dirname(os.__file__)
_SANDBOX_LAUNCHER = os.path.join(PACKAGE, "machine", "sandbox", "launcher.py")
_LIBRARY = (
    os.path.join(os.path.dirname(_HOME), f"python{sys.version_info[0]}{sys.version_info[1]}.zip"),
    _HOME,
    os.path.join(_HOME, "lib-dynload"),
)


def own_command(*words: str) -> tuple[str, ...]:
    """The command line of `accord WORDS`, safe to start in any folder.

    Raises:
        SpawnFailed: the interpreter is not known, or Accord is imported from a zip archive.
    """
    if not os.path.isdir(PACKAGE):
        raise SpawnFailed(
            f"cannot start another process of Accord: {PACKAGE} is in a zip archive;"
            " install Accord, or pack it with a tool that unpacks it before it runs"
        )
    path = import_path()
    # An isolated interpreter has its own entries already.
    more = not all(entry == ROOT or _is_of_python(entry) for entry in path)
    told = ("--import-path", os.pathsep.join(path)) if more else ()
    return (*_interpreter(), os.path.join(PACKAGE, "__main__.py"), *told, *words)


def readable_command(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a command for people: `accord …` for a process of ours.

    A command in a sandbox is shown without what puts it there.
    """
    if not sys.executable:
        return words
    launcher = own_file(_SANDBOX_LAUNCHER)
    if words[: len(launcher)] == launcher:
        return readable_command(words[len(launcher) + 1 :])
    own = (*_interpreter(), os.path.join(PACKAGE, "__main__.py"))
    if words[: len(own)] != own:
        return words
    rest = words[len(own) :]
    return ("accord", *(rest[2:] if rest[:1] == ("--import-path",) else rest))


def own_file(file: str, *words: str) -> tuple[str, ...]:
    """The command line that runs a file of ours which needs the standard library only."""
    return (*_interpreter(), "-S", os.path.abspath(file), *words)


def own_code(text: str) -> tuple[str, ...]:
    """The command line that runs a few lines of ours.

    They have the standard library and no more, unless they set `sys.path` to an `import_path()`
    that they are given.
    """
    return (*_interpreter(), "-S", "-c", text)


def interpreter() -> str:
    """The Python that runs this process.

    Raises:
        SpawnFailed: it is embedded in another program, and its path is unknown.
    """
    if not sys.executable:
        raise SpawnFailed(
            "cannot start another process of Accord: Python does not know its own path"
            " (sys.executable is empty)"
        )
    return sys.executable


def import_path() -> list[str]:
    """The import path of this process without the folders that a project controls."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:
        # The working directory was deleted, so nothing can be imported from it.
        here = ""
    dropped = {_script_folder(), *_from_variables()}
    trusted = (ROOT, _user_packages())
    return [
        entry
        for entry in map(str, sys.path)
        if os.path.isabs(entry)
        and os.pathsep not in entry
        and (
            entry in trusted
            or _is_of_python(entry)
            or not (entry in dropped or _is_within(os.path.realpath(entry), here))
        )
    ]


def use_import_path(path: str) -> None:
    """Import from the path that `own_command` passed on, less the project's folders."""
    sys.path[:] = path.split(os.pathsep)
    sys.path[:] = import_path()


def ignore_working_directory() -> None:
    """Search it neither for modules nor for programs, in this process and those that it starts.

    PATH is changed for good: libraries look up programs too, and a command that a person allows by
    its name must not turn out to be a file of the project.
    """
    sys.path[:] = import_path()
    path = os.environ.get("PATH")
    # An empty one means the working directory to a shell, and without one a shell may search it.
    absolute = absolute_folders(path or "") or os.defpath
    if path != absolute:
        os.environ["PATH"] = absolute


def _interpreter() -> tuple[str, ...]:
    # Isolation hides the variables that choose these two, so they are handed on as options.
    bytecode = ("-B",) if sys.dont_write_bytecode else ()
    encoding = ("-X", "utf8") if sys.flags.utf8_mode else ()
    return (interpreter(), "-I", *bytecode, *encoding)


def _is_of_python(entry: str) -> bool:
    """Whether an isolated interpreter has this entry too: its library, or what is installed."""
    return entry in _LIBRARY or entry in site.getsitepackages()


def _user_packages() -> str | None:
    """Where `pip install --user` puts packages, unless a variable moved that elsewhere."""
    return None if os.environ.get("PYTHONUSERBASE") else site.getusersitepackages()


def _from_variables() -> set[str]:
    """Entries that only a variable put on the import path, and that Accord does not need.

    A project sets such variables (`.envrc`), also to folders beside the working directory.  An
    Accord that is found by one of them, as with `pip install --target`, finds its packages there.
    """
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    entries = {os.path.abspath(entry) for entry in named if entry}
    if os.environ.get("PYTHONUSERBASE"):
        entries.add(site.getusersitepackages())
    return set() if ROOT in entries else entries


def _script_folder() -> str | None:
    """The folder of the script that runs, which Python puts first on the import path."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.dirname(os.path.realpath(file)) if isinstance(file, str) else None


def _is_within(entry: str, folder: str) -> bool:
    # Everything lies in the root folder, where services are started; that makes nothing a project.
    if entry == folder:
        return True
    return folder not in ("", os.sep) and entry.startswith(folder.rstrip(os.sep) + os.sep)
