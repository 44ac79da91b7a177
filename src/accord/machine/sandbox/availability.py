"""Which kind of sandbox works on this machine, found by trying it.

A program called bwrap may be there and not work: in a container, or where the system keeps users
from making namespaces.  So a small command is run in a sandbox, and has to fail at what the
sandbox forbids.

What always holds: a kind that is found refused to read and write outside of its folder, a moment
ago and with the same launcher.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from functools import lru_cache
from typing import NamedTuple

from accord.machine.own_command_line import own_file
from accord.machine.processes.program_lookup import find_program
from accord.machine.sandbox import landlock, launcher, seccomp
from accord.machine.sandbox.options import KINDS, SandboxKind, SandboxUnavailable
from accord.machine.sandbox.plan import Plan, to_text

PROBE_SECONDS = 20.0
"""How long the small command may take; it takes a twentieth of a second."""

_PROBE = """
cat "$1/outside/secret" && exit 3
echo x > "$1/outside/written" && exit 4
kill -0 "$2" && exit 5
echo x > "$1/inside/written"
"""

_INSTALL = (
    "install bubblewrap (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap),"
    " or run the agent in a container or a virtual machine"
)


class Sandbox(NamedTuple):
    """A kind of sandbox that works here; `bwrap` is the path of bubblewrap."""

    kind: SandboxKind
    bwrap: str | None = None


def find_sandbox() -> Sandbox:
    """The best kind that works.  It blocks for a moment when it is first called.

    Raises:
        SandboxUnavailable: none works; the message says why, and what to do.
    """
    reasons: list[str] = []
    for kind in KINDS:
        found, why = _tried(kind)
        if found is not None:
            return found
        reasons.append(why)
    raise SandboxUnavailable(
        f"this machine has no sandbox that works: {'; '.join(reasons)}."
        f" To run an agent in a sandbox, {_INSTALL}. Nothing was started"
    )


@lru_cache
def _tried(kind: SandboxKind) -> tuple[Sandbox | None, str]:
    """The sandbox, or None and why there is none."""
    if not sys.platform.startswith("linux"):
        return None, f"{_NAMES[kind]} needs Linux"
    if kind == "bubblewrap":
        bwrap = find_program("bwrap")
        if bwrap is None:
            return None, "bubblewrap (bwrap) is not installed"
        wrong = _probe(bwrap)
        if wrong:
            return None, f"{bwrap} does not work here ({wrong})"
        return Sandbox("bubblewrap", bwrap), ""
    wrong = _why_no_landlock() or _probe(None)
    return (None, f"Landlock cannot be used ({wrong})") if wrong else (Sandbox("landlock"), "")


_NAMES = {"bubblewrap": "bubblewrap", "landlock": "Landlock"}


def _why_no_landlock() -> str:
    found = landlock.abi()
    if not found:
        return "this kernel does not have it, or it is switched off"
    if found < landlock.ABI_NEEDED:
        return (
            f"this kernel has version {found}; signals are kept inside from version"
            f" {landlock.ABI_NEEDED} on, which Linux 6.12 has"
        )
    if not seccomp.is_known():
        return f"there is no filter of system calls for {os.uname().machine}"
    return ""


def _probe(bwrap: str | None) -> str:
    """Why a small command does not run as it has to; empty if it does."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="accord-probe-"))
    try:
        return _why_not(bwrap, folder)
    except OSError as error:
        return error.strerror or str(error)
    except subprocess.TimeoutExpired:
        return "a small command did not end"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _why_not(bwrap: str | None, folder: str) -> str:
    inside, outside = os.path.join(folder, "inside"), os.path.join(folder, "outside")
    os.mkdir(inside)
    os.mkdir(outside)
    with open(os.path.join(outside, "secret"), "w", encoding="utf-8") as file:
        file.write("secret\n")
    plan = Plan(bwrap, inside, ((os.path.dirname(folder), "private"), (inside, "write")))
    probe = ("/bin/sh", "-c", _PROBE, "sh", folder, str(os.getpid()))
    done = subprocess.run(
        [*own_file(launcher.__file__, to_text(plan)), *probe],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PROBE_SECONDS,
        check=False,
        cwd=inside,
        start_new_session=True,
    )
    if done.returncode in (3, 4, 5):
        return "it did not keep a command from what is outside"
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return said[-1] if said else f"it ended with code {done.returncode}"
    if os.path.exists(os.path.join(outside, "written")):
        return "it did not keep a command from what is outside"
    return "" if os.path.exists(os.path.join(inside, "written")) else "nothing could be written"
