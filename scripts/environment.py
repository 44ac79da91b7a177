"""Makes the environments in which Accord and its checks run: run, dev, acp-0.12, acp-1.0rc, node.

It is for a bare Python 3.11 with nothing installed and must not import anything but the standard
library.  What always holds:
    * An environment whose stamp equals its lock file is complete; the stamp is written last.
    * Two set-ups at once wait for each other (a lock that the kernel drops with its process).
    * What an installer prints goes into a log, never to the screen: it is long and may name
      hosts.  A failure is told in one sentence.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / ".setup.log"

# What installers print when they reach no package index.
NO_INDEX = (
    "from versions: none",
    "NewConnectionError",
    "Max retries",
    "timed out",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
)

LAUNCHER = """\
import sys

from accord.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
"""


class SetupFailed(Exception):
    """One sentence that says what is missing."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment, the lock file that fills it, and whether Accord itself is in it."""

    folder: Path
    lock: Path
    with_accord: bool

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def stamp(self) -> Path:
        """A copy of the lock file as it was installed.  `./accord` compares the two."""
        return self.folder / f"installed-{self.lock.name}"

    def is_complete(self) -> bool:
        return (
            os.access(self.python, os.X_OK)
            and self.stamp.is_file()
            and self.stamp.read_bytes() == self.lock.read_bytes()
        )


ENVIRONMENTS = {
    "run": Environment(ROOT / ".venv", ROOT / "requirements.lock", with_accord=True),
    # The same folder: dev.lock holds everything that requirements.lock does, at the same versions.
    "dev": Environment(ROOT / ".venv", ROOT / "requirements" / "dev.lock", with_accord=True),
    # The official SDKs as peers, each in a folder of its own: they share a package name.
    "acp-0.12": Environment(
        ROOT / ".venvs" / "acp-0.12", ROOT / "requirements" / "acp-0.12.lock", with_accord=False
    ),
    "acp-1.0rc": Environment(
        ROOT / ".venvs" / "acp-1.0rc", ROOT / "requirements" / "acp-1.0rc.lock", with_accord=False
    ),
    # A fuzzer that follows branches is no part of the tests: it needs a compiler's libraries.
    "fuzz": Environment(
        ROOT / ".venvs" / "fuzz", ROOT / "requirements" / "fuzz.lock", with_accord=True
    ),
}


@contextmanager
def only_one_setup() -> Iterator[None]:
    """Hold the checkout's set-up lock; it is released when this process ends, however it ends."""
    with (ROOT / ".setup.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up is running; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        LOG.unlink(missing_ok=True)
        yield


def say(text: str) -> None:
    print(f"accord: {text}", file=sys.stderr, flush=True)


def run(command: list[str]) -> bool:
    """Run a command silently; its output is added to the log."""
    with LOG.open("ab") as output:
        output.write(f"$ {' '.join(command)}\n".encode())
        output.flush()
        finished = subprocess.run(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
        )
    return finished.returncode == 0


def make_folder(environment: Environment, uv: str | None) -> None:
    """Make the virtual environment unless there is one whose Python runs."""
    new_enough = "import sys; sys.exit(sys.version_info < (3, 11))"
    if environment.python.exists() and run([str(environment.python), "-c", new_enough]):
        return
    shutil.rmtree(environment.folder, ignore_errors=True)
    # By its full name: when the system's python3 moves on, the link dangles and we start afresh
    # instead of running an interpreter that finds none of its packages.
    interpreter = os.path.realpath(sys.executable)
    folder = str(environment.folder)
    if uv and run([uv, "venv", "--python", interpreter, folder]):
        return
    if not run([interpreter, "-m", "venv", "--clear", folder]):
        shutil.rmtree(environment.folder, ignore_errors=True)
        raise SetupFailed(
            "python3 cannot make virtual environments here; "
            "install its venv module (on Debian: apt install python3-venv)."
        )


def install(environment: Environment, uv: str | None) -> None:
    """Install exactly what the lock file names, each file checked against its hash."""
    lock, python = str(environment.lock), str(environment.python)
    if uv and run([uv, "pip", "install", "--python", python, "--require-hashes", "-r", lock]):
        return
    if not run([python, "-m", "pip", "--version"]):
        run([python, "-m", "ensurepip"])
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps"]
    # Compiled here, though most is never imported: what a package is warned for while it is
    # compiled would be an error where a program, or a test, takes warnings for errors.
    if not run([*pip, "--require-hashes", "-r", lock]):
        raise SetupFailed(why_install_failed(environment.lock))


def why_install_failed(lock: Path) -> str:
    text = LOG.read_text(errors="replace")
    if "DO NOT MATCH THE HASHES" in text:
        return f"a downloaded package does not match its hash in {lock.name}; see {LOG.name}."
    if "No space left" in text:
        return "there is no space left on the disk."
    if any(sign in text for sign in NO_INDEX):
        return f"no package index can be reached to install {lock.name} from; see {LOG.name}."
    return f"the packages of {lock.name} could not be installed; see {LOG.name}."


def add_accord(environment: Environment) -> None:
    """Let the environment import the checkout's source, and give it the `accord` command.

    A path file does what an editable install does, but needs no build backend.  The path is
    relative, so that a moved checkout still works.
    """
    probe = [
        str(environment.python),
        # The first run may be in anybody's folder.
        "-I",
        "-c",
        "import sysconfig; print(sysconfig.get_path('purelib'))",
    ]
    packages = Path(
        subprocess.run(probe, capture_output=True, text=True, check=True).stdout.strip()
    )
    source = os.path.relpath(ROOT / "src", packages)
    (packages / "accord-checkout.pth").write_text(f"{source}\n")
    launcher = environment.folder / "bin" / "accord"
    launcher.write_text(f"#!{environment.python}\n{LAUNCHER}")
    launcher.chmod(0o755)


def set_up(environment: Environment) -> None:
    """Make the environment complete; nothing happens where it is."""
    if environment.is_complete():
        return
    with only_one_setup():
        if environment.is_complete():
            return
        say(f"setting up {environment.folder.relative_to(ROOT)} from {environment.lock.name}")
        uv = shutil.which("uv")
        make_folder(environment, uv)
        install(environment, uv)
        if environment.with_accord:
            add_accord(environment)
        unfinished = environment.stamp.with_suffix(".new")
        shutil.copyfile(environment.lock, unfinished)
        unfinished.replace(environment.stamp)


def set_up_node() -> None:
    """Install the Node packages of package-lock.json; without node, say so and go on."""
    lock, stamp = ROOT / "package-lock.json", ROOT / "node_modules" / "installed-package-lock.json"

    def is_complete() -> bool:
        return stamp.is_file() and stamp.read_bytes() == lock.read_bytes()

    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        say(
            "node and npm are missing: pyright and the tests against the TypeScript SDK are skipped"
        )
        return
    if is_complete():
        return
    with only_one_setup():
        if is_complete():
            return
        say("setting up node_modules from package-lock.json")
        # Not `npm ci`: it wants an entry for every platform, and the lock has this one's.
        if not run([npm, "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]):
            raise SetupFailed(why_install_failed(lock))
        shutil.copyfile(lock, stamp)


def main(names: list[str]) -> int:
    unknown = set(names) - {*ENVIRONMENTS, "node"}
    if unknown or not names:
        say(f"name the environments to set up: {', '.join(ENVIRONMENTS)}, node")
        return 2
    try:
        for name in names:
            if name == "node":
                set_up_node()
            else:
                set_up(ENVIRONMENTS[name])
    except SetupFailed as failure:
        say(str(failure))
        return 1
    except OSError as failure:
        say(f"the set-up could not write its files: {failure.strerror}.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
