"""The folders of the user's configuration and state, and files in them that other rooms read.

Must not know what is in any of them.  Files that this room reads name their own path.

What always holds
    * `ACCORD_CONFIG_DIR` and `ACCORD_STATE_DIR` override the system's folders.
    * No path is relative: a project must not be able to configure us.
    * Asking for a path creates nothing; `make_private` creates a folder for the user alone.
    * Files are replaced atomically, and are private (0600).
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
    """Return the folder of `config.toml`, `permissions.toml` and the credentials."""
    return _chosen("ACCORD_CONFIG_DIR") or _of_system("config")


def state_folder() -> Path:
    """Return the folder of sessions, remembered answers and the audit log."""
    return _chosen("ACCORD_STATE_DIR") or _of_system("state")


def credentials_file() -> Path:
    """Return the file of the API keys that were entered in logins."""
    return config_folder() / "credentials.json"


def store_file() -> Path:
    """Return the file of the built-in agent's sessions."""
    return state_folder() / "sessions.sqlite3"


def audit_file() -> Path:
    """Return the log of decisions and of agents' actions."""
    return state_folder() / "audit.jsonl"


def consents_file() -> Path:
    """Return the file of the user's consents to MCP servers of projects."""
    return state_folder() / "mcp_consents.json"


def make_private(folder: Path) -> Path:
    """Create the folder for the user alone, if it does not exist, and return it."""
    if not folder.is_dir():
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        # The umask may have removed more, or another process created the folder.
        folder.chmod(FOLDER_MODE)
    return folder


def replace_file(path: Path, text: str) -> None:
    """Write a private file atomically: readers see either the old or the new content."""
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
    """Lock a file against other processes; its folder must exist."""
    import fcntl

    lock = path.with_name(f".{path.name}.lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _chosen(variable: str) -> Path | None:
    """Return the path in a variable; a relative one would differ in every directory."""
    said = os.environ.get(variable)
    if not said:
        return None
    path = Path(said).expanduser()
    if not path.is_absolute():
        raise ConfigError(f"{variable} must be an absolute path, not {said!r}")
    return path


def _of_system(what: str) -> Path:
    try:
        import platformdirs
    except ImportError:
        raise ConfigError(
            "platformdirs, which finds the user's folders, is not installed:"
            " install accord[agent], or set ACCORD_CONFIG_DIR and ACCORD_STATE_DIR"
        ) from None
    if what == "config":
        place = platformdirs.user_config_path(APP, appauthor=False)
    else:
        place = platformdirs.user_state_path(APP, appauthor=False)
    if not place.is_absolute():
        # It would be a folder of the open project.
        variable = f"XDG_{what.upper()}_HOME"
        raise ConfigError(f"{variable} and HOME must be absolute paths; one leads to {place}")
    return place
