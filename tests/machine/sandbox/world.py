"""A home with secrets, a project, and what must not change while something runs in a sandbox."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from accord.machine.sandbox.availability import Sandbox, _tried
from accord.machine.sandbox.options import SandboxKind
from tests.hang_limit import HANG_SECONDS

ROOT = Path(__file__).resolve().parents[3]
START = Path(__file__).parent / "start.py"
SECRET = "canary-4711"
NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"

SECRETS = (".ssh/id", ".aws/credentials", ".config/gh/hosts.yml", ".netrc", ".mozilla/cookies")
EXECUTED = (".git/hooks/pre-commit", ".git/config", ".envrc", ".vscode/tasks.json")


def sandbox_of(kind: SandboxKind) -> Sandbox:
    """The sandbox of this kind; the test is skipped where it does not work."""
    found, why = _tried(kind)
    if found is None:
        pytest.skip(f"no {kind} here: {why}")
    return found


def users() -> list[str]:
    """The users that a test can be: this one, and as root also nobody."""
    others = os.getuid() == 0 and shutil.which("setpriv") and os.path.exists(SYSTEM_PYTHON)
    return ["self", "nobody"] if others else ["self"]


@dataclass(frozen=True)
class Done:
    """How a sandboxed command ended."""

    code: int
    out: str


class World:
    """The folders of a user, with a victim process and servers outside of the sandbox.

    `shared` is readable in the sandbox, `private` is nothing that it should know.
    """

    def __init__(self, folder: Path, *, user: str = "self") -> None:
        self.folder, self.user = folder, user
        self.home = folder / "home"
        self.project = self.home / "project"
        self.shared, self.private = folder / "shared", folder / "private"
        for path in (self.project, self.shared / "sub", self.private):
            path.mkdir(parents=True)
        for name in (*SECRETS, ".profile"):
            self._write(self.home / name, f"{SECRET}\n")
        for name in EXECUTED:
            self._write(self.project / name, f"# {name}\n")
        self._write(self.project / ".git/HEAD", "ref: refs/heads/main\n")
        self._write(self.project / "notes.txt", "notes\n")
        self._write(self.shared / "data.txt", "data\n")
        self._write(self.private / "secret.txt", f"{SECRET}\n")
        (self.project / "out").symlink_to(self.private)
        (self.project / "out.txt").symlink_to(self.shared / "data.txt")
        self._terminal = os.openpty()
        self.connections: list[str] = []
        self._servers = [*map(self._serve, self._addresses())]
        if user == "nobody":
            for path in [folder, *folder.rglob("*")]:
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        self.victim = subprocess.Popen(
            [*self._prefix, "/bin/sleep", "1000"], env={"TOKEN": SECRET, "PATH": os.defpath}
        )
        self._before = self._snapshot()

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    @property
    def abstract(self) -> str:
        """The name of an abstract socket."""
        return f"accord-test-{self.folder.name}"

    @property
    def port(self) -> int:
        """The port of a server on this machine."""
        return int(self._servers[-1].getsockname()[1])

    @property
    def _prefix(self) -> list[str]:
        ids = ("--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups")
        return ["setpriv", *ids] if self.user == "nobody" else []

    def _addresses(self) -> list[Any]:
        paths = (self.shared / "service.sock", self.private / "service.sock")
        return [*map(str, paths), f"\0{self.abstract}", ("127.0.0.1", 0)]

    def _serve(self, address: Any) -> socket.socket:
        family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
        server = socket.socket(family)
        server.bind(address)
        server.listen()

        def accept() -> None:
            # Ends when the socket is shut down.
            with contextlib.suppress(OSError):
                while True:
                    accepted, _ = server.accept()
                    # Noted first: whoever has seen the end of a connection finds it in the list.
                    self.connections.append(str(address))
                    accepted.close()

        threading.Thread(target=accept, daemon=True).start()
        return server

    def command(
        self, kind: SandboxKind, words: Sequence[str], options: dict[str, Any] | None = None
    ) -> list[str]:
        """The command line that starts these words in a sandbox of the project."""
        order = {
            "command": list(words),
            "folders": [str(self.project)],
            "options": {"readable": [str(self.shared)], **(options or {})},
        }
        python = SYSTEM_PYTHON if self.user == "nobody" else sys.executable
        start = [python, "-I", "-S", str(START), str(ROOT / "src"), kind, json.dumps(order)]
        return [*self._prefix, *start]

    @property
    def env(self) -> dict[str, str]:
        """The variables of the user."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**kept, "HOME": str(self.home)}

    def run(
        self,
        kind: SandboxKind,
        *words: str,
        options: dict[str, Any] | None = None,
        cwd: Path | None = None,
    ) -> Done:
        """Run words in a sandbox to their end."""
        sandbox_of(kind)
        done = subprocess.run(
            self.command(kind, words, options),
            cwd=cwd or self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=HANG_SECONDS,
            check=False,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        return Done(done.returncode, done.stdout)

    def python(self, kind: SandboxKind, code: str, **options: Any) -> Done:
        """Run Python code in a sandbox."""
        facts = {
            "home": str(self.home),
            "project": str(self.project),
            "shared": str(self.shared),
            "private": str(self.private),
            "abstract": self.abstract,
            "port": self.port,
            "victim": self.victim.pid,
            "tests": os.getpid(),
            "terminal": os.ttyname(self._terminal[1]),
        }
        program = f"import os, sys, socket, subprocess, ctypes\nglobals().update({facts!r})\n{code}"
        return self.run(kind, SYSTEM_PYTHON, "-c", program, options=options)

    def damage(self, done: Done) -> list[str]:
        """What was changed or read outside of the project, and executed files in it."""
        found = [f"{name} changed" for name in self._changes()]
        if SECRET in done.out:
            found.append("a secret was read")
        if self.victim.poll() is not None or self._is_stopped():
            found.append("another process was signalled")
        if "ESCAPED" in done.out:
            found.append("it says so itself")
        return [*found, *(f"{address} was connected to" for address in self.connections)]

    def _is_stopped(self) -> bool:
        state = Path(f"/proc/{self.victim.pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state in "Tt"

    def _changes(self) -> list[str]:
        after = self._snapshot()
        return [
            name for name in {*after, *self._before} if after.get(name) != self._before.get(name)
        ]

    def _snapshot(self) -> dict[str, object]:
        outside = [path for path in self.folder.rglob("*") if self.project not in path.parents]
        executed = [self.project / name for name in EXECUTED]
        markers = [
            Path(one) / f"accord-{self.folder.name}" for one in ("/tmp", "/var/tmp", "/dev/shm")
        ]
        return {str(path): _facts(path) for path in (*outside, *executed, *markers)}

    def close(self) -> None:
        """End the victim and the servers, and delete the folders."""
        self.victim.kill()
        self.victim.wait()
        for handle in self._terminal:
            os.close(handle)
        for server in self._servers:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
        for path in self.folder.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(self.folder)


def _facts(path: Path) -> object:
    try:
        status = path.lstat()
    except OSError:
        return None
    if path.name == "project":
        # Its own files are its own business.
        return status.st_mode
    content = ""
    if stat.S_ISREG(status.st_mode):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    return status.st_mode, status.st_uid, status.st_mtime_ns, status.st_nlink, content


def new_world(user: str) -> Iterator[World]:
    """A world in the system's temporary folder, which every user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="world-")).resolve()
    folder.chmod(0o755)
    world = World(folder, user=user)
    try:
        yield world
    finally:
        world.close()
