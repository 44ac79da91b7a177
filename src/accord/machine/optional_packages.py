"""Sets of packages that a checkout installs when they are first asked for: MCP, remote agents
and models.

`./accord` begins with what the demo needs.  The rest is installed by the checkout's own set-up,
`scripts/environment.py`, exactly as its lock files say.  An Accord that was installed in any other
way is left alone: the person who installed it chose its extras.

Invariants
    * A set whose stamp differs from its lock file is missing, whatever can be imported of it.
    * A cancelled or failed installation leaves the set missing, and what runs as it was.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Final

from anyio.streams.text import TextReceiveStream

from accord.errors import ConfigError, SpawnFailed
from accord.machine.own_command_line import ROOT, own_file
from accord.machine.processes.child_process import spawn

CHECKOUT: Final = os.path.dirname(ROOT)
LABELS: Final = {"mcp": "MCP servers", "remote": "HTTP and WebSocket", "models": "models"}
# Each lock file holds what the ones before it hold.
LOCKS: Final = (
    "requirements/run.lock",
    "requirements/mcp.lock",
    "requirements/remote.lock",
    "requirements.lock",
)
_DEV: Final = "requirements/dev.lock"
_HOLDERS: Final = {
    name: (*LOCKS[place:], _DEV) for place, name in enumerate(("mcp", "remote", "models"), start=1)
}
# How the set-up begins its lines, and the name of a package.
_SAID: Final = "accord: "
_PACKAGE: Final = "accord:   "


def is_missing(name: str, checkout: str = CHECKOUT) -> bool:
    """Whether this process runs from a checkout's own environment, and that lacks the set."""
    folder = os.path.join(checkout, ".venv")
    if os.path.realpath(sys.prefix) != os.path.realpath(folder):
        return False
    # A folder that was filled in another way is not ours to change.
    if not os.path.exists(_stamp(checkout, LOCKS[0])):
        return False
    return not any(_is_installed(checkout, lock) for lock in _HOLDERS[name])


async def install(
    name: str,
    tell: Callable[[str], Awaitable[None]] | None = None,
    checkout: str = CHECKOUT,
) -> None:
    """Install a set; `tell` gets the name of each package as it comes.

    Raises:
        ConfigError: it could not be installed; the message says why and what to do.
    """
    last = "it ended without a message"
    try:
        command = own_file(os.path.join(checkout, "scripts", "environment.py"), name)
        process = await spawn(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    except SpawnFailed as error:
        raise _failed(name, str(error)) from None
    async with process:
        assert process.stderr is not None
        held = ""
        async for text in TextReceiveStream(process.stderr, errors="replace"):
            *lines, held = (held + text).split("\n")
            for line in lines:
                last = line.removeprefix(_SAID).strip()
                if tell is not None and line.startswith(_PACKAGE):
                    await tell(last)
        exit_ = await process.wait()
    if exit_.code != 0:
        raise _failed(name, last)
    importlib.invalidate_caches()


def _failed(name: str, why: str) -> ConfigError:
    return ConfigError(
        f"the packages for {LABELS[name]} could not be installed: {why.removesuffix('.')}"
    )


def _stamp(checkout: str, lock: str) -> str:
    return os.path.join(checkout, ".venv", f"installed-{os.path.basename(lock)}")


def _is_installed(checkout: str, lock: str) -> bool:
    try:
        with (
            open(os.path.join(checkout, lock), "rb") as wanted,
            open(_stamp(checkout, lock), "rb") as installed,
        ):
            return wanted.read() == installed.read()
    except OSError:
        return False
