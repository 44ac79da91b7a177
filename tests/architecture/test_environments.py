"""`scripts/environment.py`: what it installs, what it tells of it, and what it leaves half-made."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import anyio
import pytest

from scripts import environment as environments
from scripts.environment import ENVIRONMENTS, Environment, forget_parts
from tests.machine.lifeline import Lifeline

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = ("scripts/setup.sh", "scripts/environment.py")
WHEEL = "tiny-1.0-py3-none-any.whl"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose lock file names one package, and nothing is installed."""
    folder = tmp_path / "checkout"
    for name in ("scripts", "src", "requirements", "bin"):
        (folder / name).mkdir(parents=True)
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    (folder / "bin" / "python3").symlink_to(os.path.realpath(sys.executable))
    (folder / "requirements" / "run.lock").write_text("tiny==1.0\n")
    return folder


def set_up(checkout: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", checkout / "scripts" / "setup.sh", "run"],
        env={"PATH": f"{checkout / 'bin'}:/usr/bin:/bin", "HOME": str(checkout), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def uv(checkout: Path, install: str) -> None:
    """A `uv` that makes folders and does as told where it should install."""
    python = checkout / "bin" / "python3"
    lines = (
        "#!/bin/sh",
        f'[ "$1" = venv ] && exec {python} -I -m venv --without-pip "$4"',
        install,
    )
    program = checkout / "bin" / "uv"
    program.write_text("\n".join(lines))
    program.chmod(0o755)


def wheel(folder: Path) -> str:
    """A package of one module; the result is the hash of its file."""
    files = {
        "tiny.py": b"ANSWER = 42\n",
        "tiny-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        "tiny-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"
        b"Generator: a test\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')}"
        f",{len(data)}\n"
        for name, data in files.items()
    )
    files["tiny-1.0.dist-info/RECORD"] = f"{record}tiny-1.0.dist-info/RECORD,,\n".encode()
    with zipfile.ZipFile(folder / WHEEL, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return hashlib.sha256((folder / WHEEL).read_bytes()).hexdigest()


def packages(checkout: Path) -> Path:
    (folder,) = (checkout / ".venv" / "lib").glob("python*/site-packages")
    return folder


@pytest.mark.slow
def test_pip_installs_what_the_lock_names_tells_it_and_compiles_nothing(checkout: Path) -> None:
    """Issue 14: packages are shown as they come; nothing is compiled that is not imported."""
    digest = wheel(checkout)
    lock = checkout / "requirements" / "run.lock"
    lock.write_text(f"tiny==1.0 --hash=sha256:{digest}\n")
    index = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(checkout)}
    finished = set_up(checkout, **index)
    assert finished.returncode == 0, finished.stderr + (checkout / ".setup.log").read_text()
    assert finished.stderr == ("accord: setting up .venv from run.lock, once\naccord:   tiny 1.0\n")
    assert (packages(checkout) / "tiny.py").is_file()
    assert not list(packages(checkout).glob("__pycache__/tiny*"))
    assert (checkout / ".venv" / "installed-run.lock").read_bytes() == lock.read_bytes()
    assert set_up(checkout).stderr == ""


def test_what_an_installer_says_else_is_in_the_log_alone(checkout: Path) -> None:
    """Decision 0001: it is long, and hosts are among it."""
    uv(checkout, 'echo "Downloading from https://index.example"; echo " + tiny==1.0"')
    finished = set_up(checkout)
    assert finished.returncode == 0
    assert finished.stderr.splitlines()[1:] == ["accord:   tiny 1.0"]
    assert "index.example" in (checkout / ".setup.log").read_text()


async def test_an_interruption_ends_the_installer_and_leaves_no_stamp(
    checkout: Path, lifeline: Lifeline
) -> None:
    """Issue 14: a half-made environment is never taken for whole, and the next start goes on."""
    uv(checkout, f'exec 9>"{lifeline.path}"; kill -INT $PPID; sleep 1000')
    finished = await anyio.to_thread.run_sync(set_up, checkout)
    await lifeline.all_dead()
    assert finished.returncode == 130
    assert finished.stderr.splitlines()[1:] == [
        "accord: the set-up was interrupted; the next start goes on with it."
    ]
    assert not list((checkout / ".venv").glob("installed-*"))
    uv(checkout, 'echo " + tiny==1.0"')
    assert set_up(checkout).returncode == 0
    assert (checkout / ".venv" / "installed-run.lock").exists()


def test_a_checkout_that_cannot_be_written_to_says_what_to_do(checkout: Path) -> None:
    """Issue 14: errors say what to do.  Whoever runs tests as root may write everywhere."""
    (checkout / ".setup.lock").mkdir()
    finished = set_up(checkout)
    assert finished.returncode == 1
    assert f"cannot write to {checkout}" in finished.stderr
    assert "make it writable, or use a copy of it" in finished.stderr


def test_packages_in_parts_are_installed_again(tmp_path: Path) -> None:
    """Issue 14: who was interrupted goes on; an installer trusts the description of a package."""

    def package(name: str, *, installer: bool = True, size: int = 2) -> Path:
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Version: 1.0")
        (about / "RECORD").write_text(f"{name}.py,sha256=x,{size}\n{name}-1.0.dist-info/RECORD,,\n")
        if installer:
            (about / "INSTALLER").write_text("pip")
        (tmp_path / f"{name}.py").write_text("1\n")
        return about

    whole, early, short = package("whole"), package("early", installer=False), package("s", size=9)
    gone = package("gone")
    (tmp_path / "gone.py").unlink()
    forget_parts(tmp_path)
    assert [about.exists() for about in (whole, early, short, gone)] == [True, False, False, False]


def test_stamps_of_other_lock_files_are_removed_before_anything_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decision 0001: a stamp says exactly what is installed, also where sets share a folder."""
    small, large = tmp_path / "small.lock", tmp_path / "large.lock"
    small.write_text("tiny==1.0\n")
    large.write_text("tiny==1.0\nmore==1.0\n")
    monkeypatch.setattr(environments, "LOCKS", (small, large))
    Environment(tmp_path, large, with_accord=False, holds=(small,)).stamp()
    small.write_text("tiny==2.0\n")
    large.write_text("tiny==2.0\nmore==1.0\n")
    made = Environment(tmp_path, small, with_accord=False)
    made.forget_old()
    assert not list(tmp_path.glob("installed-*"))
    made.stamp()
    Environment(tmp_path, large, with_accord=False, holds=(small,)).forget_old()
    assert [stamp.name for stamp in tmp_path.glob("installed-*")] == ["installed-small.lock"]


def test_a_set_of_packages_has_all_of_the_sets_that_it_holds() -> None:
    """Issue 14: what comes later must not replace what a running program has imported."""

    def pins(lock: Path) -> set[str]:
        return set(re.findall(r"^[\w.-]+==[^ ]+", lock.read_text(), re.MULTILINE))

    for one in ENVIRONMENTS.values():
        for held in one.holds:
            assert pins(held) <= pins(one.lock), f"{held.name} in {one.lock.name}"


def test_the_first_start_installs_no_model_and_no_web_server() -> None:
    """Issue 14: only what the demo needs; the rest comes when it is asked for."""
    run = ENVIRONMENTS["run"]
    names = set(re.findall(r"^([\w.-]+)==", run.lock.read_text(), re.MULTILINE))
    assert {"anyio", "msgspec", "textual", "platformdirs"} <= names
    assert not names & {"pydantic-ai-slim", "openai", "mcp", "pydantic", "uvicorn"}
    assert not run.compiled
    assert ENVIRONMENTS["dev"].compiled
