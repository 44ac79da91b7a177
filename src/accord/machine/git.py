"""Git commands that read a repository without running anything that the repository names.

A repository's own configuration names programs: monitors, hooks, filters, the other end of a fetch.
Nobody is asked before Accord lists files or shows what changed, so none of them may run.

Invariants
    * No monitor, hook, filter, pager or external diff runs.
    * Nothing is fetched, also not the missing objects of a partial clone.
    * A bare repository among the files of a project is not taken for the repository of the project.
    * `GIT_*` variables of the caller have no effect.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from accord.machine.processes.program_lookup import absolute_folders, find_program

_SETTINGS = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "safe.bareRepository=explicit")


def git_command(*words: str, without_filters: Iterable[str] = ()) -> list[str] | None:
    """The command line of `git WORDS`; None where git is not installed.

    `git status` compares contents and runs filters for that, so it needs the names of those to
    switch off; `git config` says which there are.
    """
    program = find_program("git")
    if program is None:
        return None
    settings = [*_SETTINGS]
    for name in without_filters:
        settings += (f"filter.{name}.{part}=" for part in ("clean", "smudge", "process"))
        settings.append(f"filter.{name}.required=false")
    options = [word for one in settings for word in ("-c", one)]
    return [program, "--no-optional-locks", "--no-pager", *options, *words]


def git_environment() -> dict[str, str]:
    """The variables for such a command."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "PATH": absolute_folders(kept.get("PATH", os.defpath)),
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        # Missing objects are not fetched.  Older versions of git know only the second variable.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
    }


def filters_named(told: bytes) -> list[str] | None:
    """The filters in the output of `git config -z --name-only --get-regexp ^filter`.

    None where one has a name that no option of git can say, so that it cannot be switched off.
    """
    names = {
        os.fsdecode(key).partition(".")[2].rpartition(".")[0] for key in told.split(b"\0") if key
    }
    if any("=" in name for name in names):
        return None
    return sorted(names)
