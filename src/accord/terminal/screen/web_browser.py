"""Open a page in the user's browser, outside this terminal.

Neither we nor the agent can see what happens there.

Invariants
    * We fetch nothing: the address is only handed to the system.
    * A text browser cannot draw into this terminal.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping

from accord.machine.processes.descendants import kept
from accord.machine.processes.program_lookup import find_program

START_SECONDS = 4.0
"""How long to wait for an opener to fail; one that is still running has succeeded."""

OpenPage = Callable[[str], bool]

_IN_TERMINALS = frozenset({"lynx", "w3m", "links", "links2", "elinks", "browsh", "www-browser"})


def opener(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> str | None:
    """The program that opens pages here; None if there is no screen to open them on.

    `$BROWSER` comes first: on a remote machine it is often the only one.
    """
    path = environ.get("PATH")
    wanted = environ.get("BROWSER", "")
    named = find_program(wanted, path) if wanted else None
    if named is not None and os.path.basename(named) not in _IN_TERMINALS:
        return named
    if platform == "darwin":
        return find_program("open")
    has_screen = bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
    names: tuple[str, ...] = ("wslview",) if environ.get("WSL_DISTRO_NAME") else ()
    names += ("xdg-open",) if has_screen else ()
    return next(filter(None, (find_program(name, path) for name in names)), None)


def open_page(url: str) -> bool:
    """Hand a page to the system; return whether that worked.  Blocks: call it in a thread."""
    program = opener()
    if program is None or not url.startswith(("http://", "https://")):
        return False
    try:
        started = subprocess.Popen(
            [program, url],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Without a controlling terminal, a text browser cannot draw over us.
            start_new_session=True,
            # It belongs to the user and stays open when we quit.
            env=kept(),
        )
    except OSError:
        return False
    try:
        return started.wait(START_SECONDS) == 0
    except subprocess.TimeoutExpired:
        # We do not end it; reap it when it ends.
        threading.Thread(target=started.wait, name="browser", daemon=True).start()
        return True
