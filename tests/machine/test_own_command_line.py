"""Processes of our own: isolated, and running the package that this process runs."""

import json
import os
import site
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

import accord
from accord.client.services.forms import found_in
from accord.errors import SpawnFailed
from accord.machine import own_command_line
from accord.machine.own_command_line import (
    ROOT,
    ignore_working_directory,
    import_path,
    own_code,
    own_command,
    own_file,
    readable_command,
)
from accord.mcp.schema_validation import problem
from accord.version import __version__
from tests.hang_limit import HANG_SECONDS

SHADOWED = ("accord", "anyio", "argparse", "encodings", "json", "msgspec", "sitecustomize", "site")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with modules that end whatever imports them."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    for place in (folder, folder / "src"):
        for name in SHADOWED:
            (place / f"{name}.py").write_text("raise SystemExit('a file of the project ran')\n")
    monkeypatch.chdir(folder)
    return folder


def _output(command: tuple[str, ...], **env: str) -> str:
    done = subprocess.run(
        command,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done
    return done.stdout.strip()


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"PYTHONPATH": "."},
        {"PYTHONPATH": ":"},
        {"PYTHONPATH": "src"},
        {"PYTHONPATH": "{project}"},
        {"PYTHONPATH": "{project}/src:.:"},
        {"PYTHONHOME": "."},
        {"PYTHONHOME": "{project}"},
        {"PYTHONUSERBASE": "."},
        {"PYTHONSTARTUP": "accord.py", "PYTHONINSPECT": "1"},
        {"PYTHONPLATLIBDIR": "src"},
        {"PYTHONSAFEPATH": ""},
    ],
)
def test_no_variable_brings_the_project_into_a_process_of_ours(
    project: Path, env: dict[str, str]
) -> None:
    """Issue 12: no process of ours imports from a variable of the project's."""
    given = {name: value.replace("{project}", str(project)) for name, value in env.items()}
    assert _output(own_command("--version"), **given) == f"accord {__version__}"


@pytest.mark.parametrize("entry", ["", ".", "src", "{project}", "{project}/src", "{link}"])
def test_what_lies_in_the_project_is_not_passed_on(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    """Issue 12: the import path of a parent may have the working directory in it, as with -m."""
    link = tmp_path / "link"
    link.symlink_to(project)
    entry = entry.replace("{project}", str(project)).replace("{link}", str(link))
    monkeypatch.setattr(sys, "path", [entry, *sys.path])
    assert entry not in import_path()
    assert _output(own_command("--version")) == f"accord {__version__}"


def test_dependencies_are_found_where_this_process_finds_them(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: packages may be in places that only PYTHONPATH or a user's own site names."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "anyio.py").write_text("print('the other anyio')\nraise SystemExit\n")
    monkeypatch.setattr(sys, "path", [str(elsewhere), *sys.path])
    assert _output(own_command("permissions", "list")) == "the other anyio"


@pytest.mark.parametrize("variable", ["PYTHONPATH", "PYTHONUSERBASE"])
def test_a_variable_names_no_folder_of_a_project_around_the_working_directory(
    project: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """Issue 12: `.envrc` of a project names its folders, and people work in others of it."""
    work = project / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    if variable == "PYTHONUSERBASE":
        monkeypatch.setattr(site, "getusersitepackages", lambda: str(project))
    monkeypatch.setattr(sys, "path", [str(project), *sys.path])
    monkeypatch.setenv(variable, str(project))
    assert str(project) not in import_path()
    assert _output(own_command("permissions", "list"))


def test_a_variable_counts_where_accord_itself_is_found_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: `pip install --target` puts all packages where only PYTHONPATH leads."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), ROOT)))
    assert str(tmp_path) in import_path()


def test_the_package_that_runs_is_the_one_that_starts(project: Path, tmp_path: Path) -> None:
    """Ours: another version may be installed beside the one that runs."""
    copy = tmp_path / "copy" / "accord"
    copy.parent.mkdir()
    copy.symlink_to(Path(accord.__file__).parent)
    show = "from accord.machine.own_command_line import own_command; print(own_command('x'))"
    said = _output((sys.executable, "-P", "-c", show), PYTHONPATH=str(copy.parent))
    assert str(copy / "__main__.py") in said
    assert str(Path(ROOT, "accord", "__main__.py")) not in said


def test_the_import_path_of_a_parent_elsewhere_is_judged_again(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 12: `--cwd` may lead into a project that the parent's import path names."""
    monkeypatch.chdir("/")
    monkeypatch.setattr(sys, "path", [str(project), *sys.path])
    command = own_command("--version")
    assert str(project) in command[-2].split(os.pathsep)
    monkeypatch.chdir(project)
    assert _output(command) == f"accord {__version__}"


def test_what_lies_beside_the_package_does_not_shadow_the_library(
    project: Path, tmp_path: Path
) -> None:
    """Ours: packages of the user's own may have the name of a module that Python has by now."""
    root = tmp_path / "packages"
    root.mkdir()
    (root / "accord").symlink_to(Path(accord.__file__).parent)
    for name in ("argparse", "math", "typing"):
        (root / f"{name}.py").write_text("raise SystemExit('it shadows the library')\n")
    main = root / "accord" / "__main__.py"
    assert _output((sys.executable, "-I", str(main), "--version")) == f"accord {__version__}"


def test_an_ordinary_installation_needs_no_import_path() -> None:
    """Ours: a command line that people see in messages is a short one."""
    show = "from accord.machine.own_command_line import own_command; print(*own_command('agent'))"
    said = _output((sys.executable, "-I", "-c", show))
    assert said == f"{sys.executable} -I {ROOT}/accord/__main__.py agent"


def test_packages_of_the_user_are_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: `pip install --user` puts them beneath the home folder, where people work too."""
    packages = tmp_path / ".local" / "site-packages"
    packages.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONUSERBASE", raising=False)
    monkeypatch.setattr(site, "getusersitepackages", lambda: str(packages))
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    assert str(packages) in import_path()
    assert str(packages) in own_command("agent")[-2].split(os.pathsep)
    # A variable may have put them into the project.
    monkeypatch.setenv("PYTHONUSERBASE", str(tmp_path))
    assert str(packages) not in import_path()


def test_a_service_in_the_root_folder_finds_its_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: everything lies in the root folder, where editors on a desktop are started."""
    monkeypatch.chdir("/")
    monkeypatch.setattr(sys, "path", ["/", str(tmp_path), *sys.path])
    assert str(tmp_path) in import_path()
    assert "/" not in import_path()


def test_a_deleted_working_directory_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: there is nothing to import from it."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert ROOT in import_path()


def test_settings_that_isolation_hides_are_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: who wants no bytecode, or UTF-8, wants it of the whole program."""
    show = "from accord.machine.own_command_line import own_command; print(own_command()[1:-1])"
    options = ("-B", "-X", "utf8")
    said = _output((sys.executable, *options, "-P", "-c", show))
    assert said.startswith("('-I', '-B', '-X', 'utf8'")


def test_a_process_of_ours_is_shown_as_a_person_would_type_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: errors name the command of an agent."""
    assert readable_command(own_command("connect", "ws://a")) == ("accord", "connect", "ws://a")
    monkeypatch.setattr(own_command_line, "import_path", lambda: ["/elsewhere"])
    assert "--import-path" in own_command("agent")
    assert readable_command(own_command("agent")) == ("accord", "agent")
    assert readable_command(("python", "agent.py")) == ("python", "agent.py")
    monkeypatch.setattr(sys, "executable", "")
    assert readable_command(("python", "agent.py")) == ("python", "agent.py")


def test_an_interpreter_that_does_not_know_itself_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a program that embeds Python may not have told it where it is."""
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(SpawnFailed, match="does not know its own path"):
        own_command("agent")
    assert anyio.run(found_in, "b+", "abbc") is None
    assert anyio.run(problem, {"pattern": "b+"}, "abc") is not None


def test_a_zip_archive_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: Python's own words for it were "can't find '__main__' module"."""
    monkeypatch.setattr(own_command_line, "PACKAGE", "/somewhere/accord.pyz/accord")
    with pytest.raises(SpawnFailed, match=r"accord\.pyz/accord is in a zip archive"):
        own_command("agent")


def test_files_and_lines_of_ours_have_the_standard_library_only(project: Path) -> None:
    """Issue 12: safe path, isolated where possible."""
    file = project.parent / "shown.py"
    file.write_text("import sys, json; print(json.dumps([sys.flags.isolated, sys.path]))")
    for command in (own_file(str(file)), own_code(file.read_text())):
        isolated, path = json.loads(_output(command))
        assert isolated == 1
        assert not any("site-packages" in entry or str(project) in entry for entry in path)


def test_schemas_and_patterns_are_applied_without_the_project(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 12: the small processes of ours as well."""
    (project / "jsonschema.py").write_text("raise SystemExit('a file of the project ran')\n")
    monkeypatch.setattr(sys, "path", [str(project), *sys.path])
    assert anyio.run(found_in, "b+", "abbc") is True
    assert anyio.run(problem, {"pattern": "b+"}, "abc") is None
    said = anyio.run(problem, {"pattern": "b+"}, "xyz")
    assert said is not None
    assert "does not match" in said


def test_a_command_searches_no_relative_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 12: neither for modules nor for programs, whatever the user's shell says."""
    monkeypatch.setattr(sys, "path", ["", str(project), *sys.path])
    monkeypatch.setenv("PATH", ".::bin:/usr/bin")
    ignore_working_directory()
    assert not {"", str(project)} & set(sys.path)
    assert os.environ["PATH"] == "/usr/bin"
    for nothing in (".", ":", ""):
        monkeypatch.setenv("PATH", nothing)
        ignore_working_directory()
        assert os.environ["PATH"] == os.defpath


def test_without_a_path_a_shell_does_not_search_the_project(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 12: an empty PATH means the working directory; so does none to some shells."""
    monkeypatch.delenv("PATH")
    ignore_working_directory()
    assert os.environ["PATH"] == os.defpath


def test_the_installed_command_imports_nothing_more_from_a_relative_path(
    project: Path,
) -> None:
    """Issue 12: only what the interpreter loads before our first line is out of our hands."""
    for name in SHADOWED:
        (project / f"{name}.py").unlink()
    ran = project.parent / "ran"
    for name in ("platformdirs", "textual", "mcp", "sqlite3"):
        (project / f"{name}.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    script = Path(sys.executable).with_name("accord")
    home = {"HOME": str(project.parent), "ACCORD_STATE_DIR": str(project.parent / "state")}
    _output((str(script), "sessions", "list"), PYTHONPATH=".", **home)
    assert not ran.exists()
