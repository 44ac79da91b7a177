"""Makes the environments in which Accord and its checks run: run, mcp, models, dev and others.

It is for a bare Python 3.11 with nothing installed and must not import anything but the standard
library.  What always holds:
    * An environment whose stamp equals its lock file is complete; the stamp is written last.
    * A package of which only a part was written is installed again.
    * Two set-ups at once wait for each other (a lock that the kernel drops with its process).
    * An installer ends with the set-up that started it.
    * What an installer prints goes into a log, never to the screen: it is long and may name
      hosts.  People read the names of the packages as they come, and a failure in one sentence
      that says what to do.
"""

from __future__ import annotations

import csv
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / ".setup.log"
INTERRUPTED = 128 + signal.SIGINT
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

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
# What pip prints where it fetches a package or has its file, uv where it has installed one, and pip
# where it must ask again.
PACKAGE = re.compile(
    r"(?:Collecting| \+) (?P<name>[\w.-]+)==(?P<version>[^\s;]+)"
    r"|Processing (?:\S*/)?(?P<file>[\w.]+)-(?P<of>[\w.]+)-\S+\.whl"
)
NO_ANSWER = re.compile(r"WARNING: Retrying ")
# Where the packages of this process come from is no matter of those that it installs.
NOT_INHERITED = (
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "__PYVENV_LAUNCHER__",
)

# Whether pip is there and has `--python`, which came with 22.3.
KNOWS_OTHER_PYTHONS = """\
from importlib.metadata import version
raise SystemExit(tuple(int(part) for part in version("pip").split(".")[:2]) < (22, 3))
"""

LAUNCHER = """\
import sys

from accord.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
"""


NO_VENV = (
    "python3 cannot make virtual environments here; "
    "install its venv module (on Debian: apt install python3-venv)."
)


class SetupFailed(Exception):
    """One sentence that says what is missing."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment, the lock file that fills it, and whether Accord itself is in it.

    Sets of packages that share a folder hold each other: everything that a lock of `holds` names
    is in `lock` too, at the same version.
    """

    folder: Path
    lock: Path
    with_accord: bool
    holds: tuple[Path, ...] = ()
    # What a package is warned for while it is compiled is an error where a test takes warnings for
    # errors.  Elsewhere a module is compiled when it is first imported, and most never are.
    compiled: bool = True

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def stamp_of(self, lock: Path) -> Path:
        """A copy of the lock file as it was installed.  `./accord` compares the two."""
        return self.folder / f"installed-{lock.name}"

    def is_complete(self) -> bool:
        return os.access(self.python, os.X_OK) and self._is_stamped(self.lock)

    def _is_stamped(self, lock: Path) -> bool:
        stamp = self.stamp_of(lock)
        return stamp.is_file() and stamp.read_bytes() == lock.read_bytes()

    def forget_old(self) -> None:
        """Remove the stamps of other lock files: what they name is about to be replaced."""
        locks = {self.stamp_of(lock): lock for lock in LOCKS}
        for stamp in self.folder.glob("installed-*"):
            if stamp not in locks or not self._is_stamped(locks[stamp]):
                stamp.unlink()

    def stamp(self) -> None:
        for lock in (self.lock, *self.holds):
            unfinished = self.stamp_of(lock).with_suffix(".new")
            shutil.copyfile(lock, unfinished)
            unfinished.replace(self.stamp_of(lock))


REQUIREMENTS = ROOT / "requirements"
RUN, MCP, REMOTE = (REQUIREMENTS / f"{name}.lock" for name in ("run", "mcp", "remote"))
ALL, DEV = ROOT / "requirements.lock", REQUIREMENTS / "dev.lock"
LOCKS = (RUN, MCP, REMOTE, ALL, DEV)
VENV, PEERS = ROOT / ".venv", ROOT / ".venvs"

ENVIRONMENTS = {
    # What `./accord demo` needs; the next three come when they are asked for.
    "run": Environment(VENV, RUN, with_accord=True, compiled=False),
    "mcp": Environment(VENV, MCP, with_accord=True, holds=(RUN,), compiled=False),
    "remote": Environment(VENV, REMOTE, with_accord=True, holds=(RUN, MCP), compiled=False),
    "models": Environment(VENV, ALL, with_accord=True, holds=(RUN, MCP, REMOTE), compiled=False),
    "dev": Environment(VENV, DEV, with_accord=True, holds=(RUN, MCP, REMOTE, ALL)),
    # The official SDKs as peers, each in a folder of its own: they share a package name.
    "acp-0.12": Environment(PEERS / "acp-0.12", REQUIREMENTS / "acp-0.12.lock", with_accord=False),
    "acp-1.0rc": Environment(
        PEERS / "acp-1.0rc", REQUIREMENTS / "acp-1.0rc.lock", with_accord=False
    ),
    # A fuzzer that follows branches is not part of the tests: it needs a compiler's libraries.
    "fuzz": Environment(PEERS / "fuzz", REQUIREMENTS / "fuzz.lock", with_accord=True),
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


def tell_packages() -> Callable[[str], None]:
    """Says the name of each package that a line of an installer tells of, once."""
    told: set[str] = set()

    def tell(line: str) -> None:
        if found := PACKAGE.match(line):
            news = f"  {found['name'] or found['file']} {found['version'] or found['of']}"
        elif NO_ANSWER.match(line):
            news = "the package index does not answer; trying again"
        else:
            return
        if news not in told:
            told.add(news)
            say(news)

    return tell


def run(command: list[str], tell: Callable[[str], None] | None = None) -> bool:
    """Run a command; its output is added to the log, and each line is told."""
    kept = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    with LOG.open("a") as log:
        log.write(f"$ {' '.join(command)}\n")
        log.flush()
        process: subprocess.Popen[str] | None = None
        try:
            with interrupts_deferred():
                process = subprocess.Popen(
                    command,
                    cwd=ROOT,
                    env=kept,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    # pip starts another pip for the other Python, and both must end with us.
                    process_group=0,
                )
            assert process.stdout is not None
            with process.stdout:
                for line in process.stdout:
                    log.write(line)
                    if tell is not None:
                        tell(line)
            return process.wait() == 0
        except KeyboardInterrupt:
            if process is not None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()
            raise


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end: Popen would leave a process that nobody ends."""
    came: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    before = {one: signal.getsignal(one) for one in ENDING_SIGNALS}
    for one, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(one, note)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    if came:
        raise KeyboardInterrupt


def make_folder(environment: Environment, uv: str | None) -> None:
    """Make the virtual environment unless there is one whose Python runs."""
    new_enough = "import sys; sys.exit(sys.version_info < (3, 11))"
    if environment.python.exists() and run([str(environment.python), "-I", "-c", new_enough]):
        return
    shutil.rmtree(environment.folder, ignore_errors=True)
    # By its full name: when the system's python3 moves on, the link dangles and we start afresh
    # instead of running an interpreter that finds none of its packages.
    interpreter, folder = base_interpreter(), str(environment.folder)
    if uv and run([uv, "venv", "--python", interpreter, folder]):
        return
    # A pip of its own would take longer to install than everything else.
    if not run([interpreter, "-I", "-m", "venv", "--without-pip", "--clear", folder]):
        shutil.rmtree(environment.folder, ignore_errors=True)
        raise SetupFailed(NO_VENV)


def base_interpreter() -> str:
    return os.path.realpath(sys.executable)


def install(environment: Environment, uv: str | None) -> None:
    """Install exactly what the lock file names, each file checked against its hash."""
    what = ["--no-deps", "--require-hashes", "-r", str(environment.lock)]
    python = str(environment.python)
    forget_parts(packages_of(environment))
    if uv:
        compiled = ["--compile-bytecode"] if environment.compiled else []
        if run([uv, "pip", "install", "--python", python, *compiled, *what], tell_packages()):
            return
    compiled = [] if environment.compiled else ["--no-compile"]
    pip = [*pip_for(environment), "install", "--disable-pip-version-check", "--no-user", *compiled]
    if not run([*pip, *what], tell_packages()):
        raise SetupFailed(why_install_failed(environment.lock))


def pip_for(environment: Environment) -> list[str]:
    """A pip that installs into the environment: the system's, else one that is put there."""
    base, python = base_interpreter(), str(environment.python)
    if run([base, "-I", "-c", KNOWS_OTHER_PYTHONS]):
        return [base, "-I", "-m", "pip", "--python", python]
    own = [python, "-I", "-m", "pip"]
    if not run([*own, "--version"]) and not run([python, "-I", "-m", "ensurepip"]):
        raise SetupFailed(NO_VENV)
    return own


def packages_of(environment: Environment) -> Path:
    """The folder of the environment that packages are imported from."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    # Isolated: the first run may be in anybody's folder.
    asked = subprocess.run(
        [str(environment.python), "-I", "-c", code], capture_output=True, text=True, check=True
    )
    return Path(asked.stdout.strip())


def forget_parts(packages: Path) -> None:
    """Have an installer take every package for missing that an interruption left in parts.

    It writes who installed a package behind its files, and the list of them last.
    """
    for about in packages.glob("*.dist-info"):
        if not is_whole(about):
            shutil.rmtree(about)


def is_whole(about: Path) -> bool:
    if not (about / "INSTALLER").is_file() or not (about / "RECORD").is_file():
        return False
    with (about / "RECORD").open(newline="") as lines:
        for name, _, size in csv.reader(lines):
            # What was compiled may be compiled again.
            if size and not name.endswith(".pyc"):
                file = about.parent / name
                if not file.is_file() or file.stat().st_size != int(size):
                    return False
    return True


def why_install_failed(lock: Path) -> str:
    text = LOG.read_text(errors="replace")
    if "DO NOT MATCH THE HASHES" in text:
        return f"a downloaded package does not match its hash in {lock.name}; see {LOG.name}."
    if "No space left" in text:
        return "there is no space left on the disk; free some, and start again."
    if any(sign in text for sign in NO_INDEX):
        return (
            f"no package index can be reached to install {lock.name} from;"
            f" check the network, and start again (details are in {LOG.name})."
        )
    return f"the packages of {lock.name} could not be installed; see {LOG.name}."


def add_accord(environment: Environment) -> None:
    """Let the environment import the checkout's source, and give it the `accord` command.

    A path file does what an editable install does, but needs no build backend.  The path is
    relative, so that a moved checkout still works.
    """
    packages = packages_of(environment)
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
        say(f"setting up {environment.folder.relative_to(ROOT)} from {environment.lock.name}, once")
        uv = shutil.which("uv")
        make_folder(environment, uv)
        environment.forget_old()
        install(environment, uv)
        if environment.with_accord:
            add_accord(environment)
        environment.stamp()


# Folders with Node packages, and what is skipped without node.
NODE_FOLDERS = {
    "node": (ROOT, "pyright and the tests against the TypeScript SDK are"),
    "page": (ROOT / "web/frontend", "the build and the tests of the web client are"),
}


def set_up_node(name: str) -> None:
    """Install the Node packages of a package-lock.json; without node, say so and go on."""
    folder, skipped = NODE_FOLDERS[name]
    lock, stamp = folder / "package-lock.json", folder / "node_modules/installed-package-lock.json"
    if not lock.is_file():
        say(f"{lock.relative_to(ROOT)} is not there: {skipped} skipped")
        return

    def is_complete() -> bool:
        return stamp.is_file() and stamp.read_bytes() == lock.read_bytes()

    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        say(f"node and npm are missing: {skipped} skipped")
        return
    if is_complete():
        return
    with only_one_setup():
        if is_complete():
            return
        say(f"setting up {stamp.parent.relative_to(ROOT)} from package-lock.json")
        # Not `npm ci`: it wants an entry for every platform, and the lock has this one's.
        words = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]
        if not run([npm, "--prefix", str(folder), *words]):
            raise SetupFailed(why_install_failed(lock))
        shutil.copyfile(lock, stamp)


def main(names: list[str]) -> int:
    unknown = set(names) - {*ENVIRONMENTS, *NODE_FOLDERS}
    if unknown or not names:
        say(f"name the environments to set up: {', '.join([*ENVIRONMENTS, *NODE_FOLDERS])}")
        return 2
    try:
        for name in names:
            if name in NODE_FOLDERS:
                set_up_node(name)
            else:
                set_up(ENVIRONMENTS[name])
    except SetupFailed as failure:
        say(str(failure))
        return 1
    except OSError as failure:
        why = failure.strerror or str(failure)
        say(f"the set-up cannot write to {ROOT} ({why}); make it writable, or use a copy of it.")
        return 1
    except KeyboardInterrupt:
        say("the set-up was interrupted; the next start goes on with it.")
        return INTERRUPTED
    return 0


def interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    for ending in ENDING_SIGNALS[1:]:
        signal.signal(ending, interrupt)
    sys.exit(main(sys.argv[1:]))
