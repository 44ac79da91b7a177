"""Checks that a session can work in its folders, with advice if it cannot.

It must not know sessions.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from anyio import to_thread

from accord.errors import RequestError


class Fault(NamedTuple):
    """Why a folder cannot be worked in, and what the user can do, both as parts of a sentence."""

    what: str
    remedy: str


async def check_folder(path: str) -> None:
    """Refuse a folder in which nothing could be read.

    Raises:
        RequestError: -32602, with what is wrong and what can be done about it.
    """
    fault = await to_thread.run_sync(_fault, path)
    if fault is not None:
        raise RequestError.invalid_params(f"{fault.what}; {fault.remedy}")


async def faults_of(paths: Sequence[str]) -> list[str]:
    """The faults of these folders, for those that have one."""
    found = await to_thread.run_sync(lambda: [_fault(path) for path in paths]) if paths else []
    return [fault.what for fault in found if fault is not None]


def _fault(path: str) -> Fault | None:
    elsewhere = "open the session in another folder"
    try:
        with os.scandir(path):
            may_enter = os.access(path, os.X_OK)
    except (FileNotFoundError, ValueError):
        # No file name has a zero byte.
        return Fault(f"the folder {path} does not exist", f"create it, or {elsewhere}")
    except NotADirectoryError:
        return _not_a_folder(path)
    except PermissionError:
        may_enter = False
    except OSError as error:
        return Fault(f"the folder {path} cannot be opened: {error.strerror}", elsewhere)
    if may_enter:
        return None
    what = f"the folder {path} cannot be read by the user that the agent runs as"
    return Fault(what, f"change its permissions, or {elsewhere}")


def _not_a_folder(path: str) -> Fault:
    """The path, or a part of it, is a file."""
    file = path.rstrip("/")
    while not os.path.lexists(file):
        file = os.path.dirname(file)
    what = f"{file} is a file, not a folder"
    return Fault(what, f"open the session in a folder, such as {os.path.dirname(file)}")
