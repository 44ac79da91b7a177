"""Where the user's files lie: configuration, state, and the names of the files in both.

Must not know what is in any of them.

What always holds
    * `ACCORD_CONFIG_DIR` and `ACCORD_STATE_DIR` win over the system's places.
    * No place is relative: a project must not be able to configure us.
    * Asking for a place makes nothing; `make_private` makes a folder that only the user can enter.
    * A file that is replaced is the old one or the new one at every moment, and private (0600).
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from accord.errors import ConfigError

APP = "accord"
FOLDER_MODE = 0o700
FILE_MODE = 0o600


def config_folder() -> Path:
    """Where the user writes what they want: `config.toml`, `permissions.toml`, credentials."""
    return _chosen("ACCORD_CONFIG_DIR") or _of_system("config")


def state_folder() -> Path:
    """Where we write what must survive: sessions, remembered answers, the audit log."""
    return _chosen("ACCORD_STATE_DIR") or _of_system("state")


def config_file() -> Path:
    return config_folder() / "config.toml"


def credentials_file() -> Path:
    """Keys that were pasted in a login."""
    return config_folder() / "credentials.json"


def policy_file() -> Path:
    """The user's own permission rules."""
    return config_folder() / "permissions.toml"


def store_file() -> Path:
    """The sessions of the built-in agent."""
    return state_folder() / "sessions.sqlite3"


def grants_file() -> Path:
    """Remembered answers to permission requests, of all workspaces.

    Not in the workspace: what comes with a project must not be able to give itself rights.
    """
    return state_folder() / "grants.toml"


def audit_file() -> Path:
    """What agents were allowed and what they did."""
    return state_folder() / "audit.jsonl"


def dialects_file() -> Path:
    """Which dialect of the protocol each agent spoke."""
    return state_folder() / "dialects.json"


def consents_file() -> Path:
    """What the user said about MCP servers that projects bring along."""
    return state_folder() / "mcp_consents.json"


def make_private(folder: Path) -> Path:
    """The folder, made if it is not there, for the user alone."""
    if not folder.is_dir():
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        # The mask of the process may have taken more away, or the folder was made by another.
        folder.chmod(FOLDER_MODE)
    return folder


def replace_file(path: Path, text: str) -> None:
    """Write a private file as a whole: whoever reads it sees all of the old or all of the new."""
    make_private(path.parent)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), FILE_MODE)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Be the only process that reads and writes a file in the folder, which is there."""
    import fcntl

    lock = path.with_name(f".{path.name}.lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _chosen(variable: str) -> Path | None:
    """What the variable says; a relative path would mean another folder in every directory."""
    said = os.environ.get(variable)
    if not said:
        return None
    path = Path(said).expanduser()
    if not path.is_absolute():
        raise ConfigError(f"{variable} is an absolute path, not {said!r}")
    return path


def _of_system(what: str) -> Path:
    try:
        import platformdirs
    except ImportError:
        raise ConfigError(
            "where files lie is found by platformdirs, which is not installed:"
            " install accord[agent], or set ACCORD_CONFIG_DIR and ACCORD_STATE_DIR"
        ) from None
    if what == "config":
        place = platformdirs.user_config_path(APP, appauthor=False)
    else:
        place = platformdirs.user_state_path(APP, appauthor=False)
    if not place.is_absolute():
        # It would be a folder of whatever project is open.
        variable = f"XDG_{what.upper()}_HOME"
        raise ConfigError(f"{variable} and HOME are absolute paths; one of them leads to {place}")
    return place


__all__ = [
    "audit_file",
    "config_file",
    "config_folder",
    "consents_file",
    "credentials_file",
    "dialects_file",
    "grants_file",
    "locked",
    "make_private",
    "policy_file",
    "replace_file",
    "state_folder",
    "store_file",
]
