"""From a checkout to running: `./accord` on machines that have what it needs and that do not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = ("sh", "readlink", "dirname", "cmp")
LOCK = "requirements/run.lock"
STAMP = ".venv/installed-run.lock"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The parts of a checkout that take part in its set-up, with nothing installed."""
    folder = tmp_path / "a checkout"
    (folder / "scripts").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "requirements").mkdir()
    for name in ("accord", LOCK, "scripts/setup.sh", "scripts/environment.py"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A PATH with the tools of every system and no Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found, f"{tool} is missing here"
        (folder / tool).symlink_to(found)
    return folder


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def accord(checkout: Path, path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "accord", "say", "two words"],
        env={"PATH": str(path), "HOME": str(path), **environment},
        cwd=path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_machine_without_python_is_told_so_in_one_sentence(checkout: Path, path: Path) -> None:
    """Decision 0001: it says in one sentence what is missing."""
    finished = accord(checkout, path)
    assert finished.returncode == 1
    assert finished.stderr == "accord: python3 is missing; install Python 3.11 or newer.\n"


def test_a_python_that_is_too_old_is_told_apart_from_none(checkout: Path, path: Path) -> None:
    """Decision 0001: it says in one sentence what is missing."""
    program(path / "python3", "exit 1")
    finished = accord(checkout, path)
    assert finished.returncode == 1
    assert finished.stderr.count("\n") == 1
    assert "Python 3.11 or newer is needed" in finished.stderr


def test_a_python_without_venv_names_the_package_to_install(checkout: Path, path: Path) -> None:
    """Decision 0001: Debian ships python3 without venv."""
    program(path / "python3", "exit 1")
    code = (
        "import sys; sys.path.append(sys.argv[1]); import environment;"
        " environment.base_interpreter = lambda: sys.argv[2];"
        " sys.exit(environment.main(['run']))"
    )
    command = [sys.executable, "-I", "-c", code, str(checkout / "scripts"), str(path / "python3")]
    finished = subprocess.run(
        command, env={"PATH": str(path)}, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 1
    assert "python3-venv" in finished.stderr
    assert not (checkout / ".venv").exists()


@pytest.mark.slow
def test_without_a_package_index_it_fails_and_is_not_taken_for_done(
    checkout: Path, path: Path
) -> None:
    """Decision 0001: an interrupted set-up must not count as one; hosts stay off the screen."""
    (path / "python3").symlink_to(os.path.realpath(sys.executable))
    finished = accord(checkout, path, PIP_CONFIG_FILE=os.devnull, PIP_NO_INDEX="1")
    assert finished.returncode == 1
    assert "no package index can be reached" in finished.stderr
    assert not (checkout / STAMP).exists()


def test_a_finished_set_up_goes_straight_to_the_command(checkout: Path, path: Path) -> None:
    """Decision 0001: then it is as fast as the command itself; there is no python3 to be called."""
    program(checkout / ".venv" / "bin" / "python", 'printf "%s\\n" "$@"')
    shutil.copy(checkout / LOCK, checkout / STAMP)
    finished = accord(checkout, path)
    launcher = str(checkout / ".venv" / "bin" / "accord")
    assert finished.stdout.splitlines() == ["-I", launcher, "say", "two words"]


def test_the_first_run_in_a_project_imports_nothing_of_it(tmp_path: Path) -> None:
    """Issue 12: people call the checkout's `accord` from their project, and it sets itself up."""
    (tmp_path / "sysconfig.py").write_text("raise SystemExit('a file of the project ran')\n")
    venv = tmp_path / "venv"
    subprocess.run(
        [sys.executable, "-I", "-m", "venv", "--without-pip", venv], check=True, cwd=tmp_path
    )
    code = (
        "import sys; from pathlib import Path; sys.path.append(sys.argv[1]); import environment;"
        " made = environment.Environment(Path(sys.argv[2]), Path('x'), True);"
        " environment.add_accord(made)"
    )
    command = [sys.executable, "-I", "-c", code, str(ROOT / "scripts"), str(venv)]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert (venv / "bin" / "accord").exists()


def test_no_tool_of_the_launcher_comes_from_the_callers_folder(checkout: Path, path: Path) -> None:
    """Issue 12: PATH may begin with a dot, and the folder is anybody's."""
    program(checkout / ".venv" / "bin" / "python", 'printf "%s\\n" "$PATH"')
    shutil.copy(checkout / LOCK, checkout / STAMP)
    work = path / "work"
    for name in ("readlink", "cmp", "sh", "dirname", "python3"):
        program(work / name, "echo a file of the project ran")
    finished = subprocess.run(
        [checkout / "accord"],
        env={"PATH": f".::bin:{os.environ['PATH']}:*", "HOME": str(path)},
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
    )
    kept = [entry for entry in os.environ["PATH"].split(":") if entry.startswith("/")]
    assert finished.stdout == ":".join(kept) + "\n"


def test_a_lock_file_that_changed_is_installed_before_anything_runs(
    checkout: Path, path: Path
) -> None:
    """Decision 0001: the environment is always the one that the lock file names."""
    program(checkout / ".venv" / "bin" / "python", "echo ran")
    (checkout / STAMP).write_text("anyio==1.0\n")
    finished = accord(checkout, path)
    assert (finished.returncode, finished.stdout) == (1, "")


def test_it_runs_through_a_link_from_elsewhere(checkout: Path, path: Path) -> None:
    """Ours: people link it into a folder on their PATH."""
    program(checkout / ".venv" / "bin" / "python", "echo ran")
    shutil.copy(checkout / LOCK, checkout / STAMP)
    (path / "accord").symlink_to(checkout / "accord")
    finished = subprocess.run(
        [path / "accord"], env={"PATH": str(path)}, capture_output=True, text=True, check=False
    )
    assert finished.stdout == "ran\n"


def test_continuous_integration_insists_on_node(path: Path) -> None:
    """Issue 2: where node is missing, `.ci/run` fails."""
    finished = subprocess.run(
        [ROOT / ".ci" / "run"], env={"PATH": str(path)}, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 1
    assert finished.stderr.count("\n") == 1
    assert "node" in finished.stderr
