"""What a plan opens and hides, for homes that are laid out in many ways."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accord.machine.sandbox.options import SandboxOptions, SandboxRefused
from accord.machine.sandbox.plan import Plan, from_text, to_text
from accord.machine.sandbox.plan_builder import build_plan


class Home:
    """A home with a project, and plans for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.project = self.file("project/notes.txt").parent

    def file(self, name: str, text: str = "", *, mode: int = 0o644) -> Path:
        """Make a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def plan(
        self,
        *command: str,
        options: SandboxOptions | None = None,
        path: str = os.defpath,
        landlock: bool = False,
    ) -> Plan:
        """The plan for a command."""
        return build_plan(
            command or ("/bin/sh",),
            kind="landlock" if landlock else "bubblewrap",
            bwrap=None if landlock else "/usr/bin/bwrap",
            folders=[str(self.project)],
            options=options or SandboxOptions(),
            env={"HOME": str(self.folder), "PATH": path},
            cwd=str(self.project),
        )

    def access(self, plan: Plan, name: str) -> str:
        """What a plan gives to a path of the home."""
        return plan.access_to(str(self.folder / name))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A fresh home."""
    return Home(tmp_path)


def test_the_home_is_private_and_the_project_writable(home: Home) -> None:
    """Issue 17: the session's folder is writable, the rest is read-only or hidden."""
    home.file(".ssh/id")
    plan = home.plan()
    assert home.access(plan, "other/file") == "private"
    assert home.access(plan, ".ssh/id") == "private"
    assert home.access(plan, "project/src/x.py") == "write"
    assert plan.access_to("/usr/bin/env") == "read"
    assert plan.access_to("/run/user/0/bus") == "hidden"


def test_a_plan_survives_its_way_through_a_command_line(home: Home) -> None:
    """Ours: the launcher does what was planned."""
    home.file("linked/x")
    (home.folder / "link").symlink_to("linked")
    plan = home.plan(options=SandboxOptions(network=False, variables={"A": "b c"}))
    assert from_text(to_text(plan)) == plan


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        (".local/bin/agent", ".local/bin"),
        ("venvs/one/bin/agent", "venvs/one/lib/python/x.py"),
        ("tools/agent/dist/agent", "tools/agent/node_modules/x.js"),
        (".nvm/versions/node/v22/bin/agent", ".nvm/versions/node/v22/lib/x.js"),
        ("agent", "agent"),
    ],
)
def test_what_a_program_needs_is_readable(home: Home, name: str, seen: str) -> None:
    """Ours: agents are installed below the home in many ways."""
    home.file("tools/agent/package.json")
    program = home.file(name, "#!/bin/sh\n", mode=0o755)
    plan = home.plan(str(program))
    assert home.access(plan, name) == "read"
    assert home.access(plan, seen) == "read"
    assert home.access(plan, "tools/other") == "private"
    assert home.access(plan, ".local/share/keyrings") == "private"


def test_links_to_a_program_and_its_interpreter_are_followed(home: Home) -> None:
    """Ours: installers put links into ~/.local/bin."""
    home.file("pythons/3/bin/python", mode=0o755)
    home.file("pythons/3/lib/os.py")
    real = home.file("made/by/hand/run", f"#!{home.folder}/pythons/3/bin/python\n", mode=0o755)
    (home.folder / ".local/bin").mkdir(parents=True)
    (home.folder / ".local/bin/agent").symlink_to(real)
    plan = home.plan(str(home.folder / ".local/bin/agent"))
    for name in ("made/by/hand/run", "pythons/3/lib/os.py"):
        assert home.access(plan, name) == "read"


def test_a_script_on_the_command_line_is_readable_with_its_project(home: Home) -> None:
    """Ours: `python ~/tools/agent/main.py`."""
    home.file("tools/agent/pyproject.toml")
    script = home.file("tools/agent/src/main.py")
    plan = home.plan("/usr/bin/python3", str(script))
    assert home.access(plan, "tools/agent/lib.py") == "read"
    lonely = home.plan("/usr/bin/python3", str(home.file("main.py")))
    assert home.access(lonely, "main.py") == "read"
    assert home.access(lonely, "other.py") == "private"


def test_folders_of_path_are_readable(home: Home) -> None:
    """Ours: what an agent runs is found where the user finds it."""
    home.file("sdk/bin/tool")
    plan = home.plan(path=f"{home.folder}/sdk/bin:relative:/usr/bin")
    assert home.access(plan, "sdk/lib/x") == "read"


def test_guesses_do_not_open_secrets(home: Home) -> None:
    """Ours: a program beside a secret does not show it."""
    home.file(".docker/config.json")
    home.file(".docker/bin/docker")
    home.file(".cargo/credentials.toml")
    home.file(".cargo/bin/cargo")
    plan = home.plan(path=f"{home.folder}/.docker/bin:{home.folder}/.cargo/bin")
    assert home.access(plan, ".cargo/bin/cargo") == "read"
    for name in (".docker/config.json", ".cargo/credentials.toml"):
        assert home.access(plan, name) in ("hidden", "private")


def test_a_known_agent_keeps_its_state_and_not_its_settings(home: Home) -> None:
    """Ours: a login works in a sandbox; what runs programs later stays as it is."""
    home.file(".codex/auth.json")
    home.file(".codex/config.toml")
    home.file(".claude.json")
    plan = home.plan("/usr/bin/npx", "@zed-industries/codex-acp")
    assert home.access(plan, ".codex/auth.json") == "write"
    assert home.access(plan, ".codex/config.toml") == "executed"
    assert home.access(plan, ".claude.json") == "private"


def test_executed_files_of_the_project_and_what_is_above_them_are_places(home: Home) -> None:
    """Ours: a folder on the way could be renamed otherwise."""
    for name in (".git/config", ".git/hooks/x", ".git/modules/a/b/HEAD", ".git/modules/a/b/config"):
        home.file(f"project/{name}")
    home.file("project/.git/HEAD")
    home.file("project/.github/workflows/ci.yml")
    plan = home.plan()
    places = dict(plan.places)
    expected = {
        ".git": "write",
        ".git/config": "executed",
        ".git/hooks": "executed",
        ".git/modules": "write",
        ".git/modules/a": "write",
        ".git/modules/a/b": "write",
        ".git/modules/a/b/config": "executed",
        ".github": "write",
        ".github/workflows": "executed",
    }
    found = {name: places.get(str(home.project / name)) for name in expected}
    assert found == expected


def test_the_user_exempts_executed_files(home: Home) -> None:
    """Ours: an agent that installs packages writes to the virtual environment."""
    home.file("project/.venv/bin/python")
    home.file("project/.envrc")
    plan = home.plan(options=SandboxOptions(writable=(".venv",)))
    assert home.access(plan, "project/.venv/lib/x.py") == "write"
    assert home.access(plan, "project/.envrc") == "executed"


def test_what_the_user_names_is_opened_even_if_it_is_a_secret(home: Home) -> None:
    """Ours: the user decides; what is in a named folder stays hidden."""
    home.file(".ssh/known_hosts")
    home.file(".config/gh/hosts.yml")
    options = SandboxOptions(readable=("~/.ssh/known_hosts", "~/.config"))
    plan = home.plan(options=options)
    assert home.access(plan, ".ssh/known_hosts") == "read"
    assert home.access(plan, ".ssh/id") == "private"
    assert home.access(plan, ".config/x") == "read"
    assert home.access(plan, ".config/gh/hosts.yml") == "hidden"


def test_hidden_files_of_the_caller_are_hidden_below_a_writable_folder(home: Home) -> None:
    """Ours: Accord's own answers may lie in the folder of a session."""
    home.file("project/state/grants.toml")
    options = SandboxOptions(hidden=(str(home.project / "state"),))
    assert home.access(home.plan(options=options), "project/state/grants.toml") == "hidden"
    with pytest.raises(SandboxRefused, match="Landlock cannot hide a part"):
        home.plan(options=options, landlock=True)


def test_links_to_visible_folders_are_kept(home: Home) -> None:
    """Ours: PATH may lead through a link in the home."""
    home.file("dotfiles/bin/tool")
    (home.folder / "bin").symlink_to("dotfiles/bin")
    plan = home.plan(path=f"{home.folder}/bin")
    assert (str(home.folder / "bin"), "dotfiles/bin") in plan.links


def test_a_folder_that_is_no_folder_is_refused(home: Home) -> None:
    """Ours: nothing else would be writable, and nobody would know why."""
    home.project = home.folder / "missing"
    with pytest.raises(SandboxRefused, match="missing is not a folder"):
        home.plan()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to somebody else")
def test_root_is_told_that_it_has_no_special_rights(home: Home) -> None:
    """Ours: in a container a project often belongs to another user."""
    os.chown(home.project, 12345, 12345)
    with pytest.raises(SandboxRefused, match="belongs to another user"):
        home.plan()
