"""A project whose files are traps: each leaves a mark outside when something imports or runs it."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import shlex
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import accord

# What an interpreter or a tool runs by itself where it finds it.
STARTED_BY_NAME = ("sitecustomize", "usercustomize", "conftest", "setup", "noxfile", "tasks")
# Programs that Accord or a library of its looks up by name.
PROGRAMS = (
    *("git", "bash", "sh", "python", "python3", "node", "npm", "npx", "rg", "env", "uname"),
    *("lsb_release", "gcc", "ldconfig", "ps", "stty", "vi", "vim", "nano", "sensible-editor"),
    *("xdg-open", "www-browser", "x-www-browser", "lynx", "wl-paste", "xclip", "less", "which"),
)


def module_names() -> list[str]:
    """Every top-level name that we, our dependencies or the standard library import."""
    for module in pkgutil.walk_packages(accord.__path__, "accord."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    loaded = {name.partition(".")[0] for name in sys.modules}
    names = {*loaded, *sys.stdlib_module_names, *packages_distributions(), *STARTED_BY_NAME}
    return sorted(name for name in names if name.isidentifier() and name != "__main__")


class HostileProject:
    """The folder, and the marks that its traps have left."""

    def __init__(self, folder: Path, marks: Path) -> None:
        self.folder, self._marks = folder, marks
        folder.mkdir(exist_ok=True)
        marks.mkdir()

    @property
    def marks(self) -> dict[str, str]:
        """What ran, with the command line of the process that ran it."""
        return {one.name: one.read_text(errors="replace") for one in self._marks.iterdir()}

    def write_modules(self, names: list[str], *, packages: bool = False) -> None:
        """Shadow these modules, by files or by folders."""
        for name in names:
            # Nothing is imported here: what would be is shadowed too.
            text = (
                f"with open({str(self._marks / f'import-{name}')!r}, 'ab') as mark,"
                " open('/proc/self/cmdline', 'rb') as said: mark.write(said.read())\n"
            )
            if packages:
                (self.folder / name).mkdir()
                (self.folder / name / "__init__.py").write_text(text)
            else:
                (self.folder / f"{name}.py").write_text(text)

    def write_programs(self) -> None:
        """Programs with the names of others, for a PATH that leads here."""
        for name in PROGRAMS:
            self.program(self.folder / name)

    def program(self, path: Path) -> str:
        """Write a program that leaves a mark; its path."""
        mark = shlex.quote(str(self._marks / f"program-{path.name}"))
        path.write_text(f'#!/bin/sh\nread -r line < /proc/$PPID/cmdline; echo "$line" >> {mark}\n')
        path.chmod(0o755)
        return str(path)

    def write_settings(self) -> None:
        """What tools, editors and Accord itself might read here and act upon."""
        run = self.program(self.folder / "from-settings")
        config = f'agent = "x"\n[agents.x]\ncommand = ["{run}"]\n[chat]\neditor = ["{run}"]\n'
        (self.folder / ".accord").mkdir()
        for name in ("config.toml", "accord.toml", ".accord/config.toml"):
            (self.folder / name).write_text(config)
        (self.folder / ".env").write_text(
            f"ACCORD_CONFIG_DIR={self.folder}\nPYTHONPATH={self.folder}\nBROWSER={run}\n"
        )
        (self.folder / ".envrc").write_text(f"{run}\n")
        servers = {"trap": {"command": run, "args": []}}
        (self.folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
        scripts = dict.fromkeys(("test", "prepare", "install", "start", "lint"), run)
        (self.folder / "package.json").write_text(json.dumps({"name": "p", "scripts": scripts}))
        (self.folder / ".npmrc").write_text(f"script-shell={run}\n")
        (self.folder / ".ripgreprc").write_text(f"--pre={run}\n")
        (self.folder / "Makefile").write_text(f"X := $(shell {run})\ntest:\n\t{run}\n")
        pytest_options = '[tool.pytest.ini_options]\naddopts = "-p trap"\n'
        (self.folder / "pyproject.toml").write_text(pytest_options)
        self.write_modules(["trap"])

    def write_repository(self) -> None:
        """A git repository that names programs wherever git has a place for one."""
        (self.folder / ".gitattributes").write_text("*.txt filter=trap diff=trap\n")
        (self.folder / "notes.txt").write_text("one\n")
        self._git("init", "-q", "-b", "main")
        self._git("add", ".gitattributes", "notes.txt")
        self._git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
        # As large as before: only its content tells that it has changed, after its filter.
        (self.folder / "notes.txt").write_text("two\n")
        os.utime(self.folder / "notes.txt", (1, 1))
        hooks = self.folder / ".git" / "hooks"
        for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout"):
            self.program(hooks / hook)
        inside = self.folder / ".git"
        for key in (
            *("core.fsmonitor", "filter.trap.clean", "filter.trap.process", "filter.trap.smudge"),
            *("diff.external", "diff.trap.textconv", "core.pager", "core.editor"),
            *("core.sshCommand", "remote.origin.uploadpack", "alias.ls-files", "pager.status"),
        ):
            self._git("config", key, self.program(inside / f"git-{key}"))
        self._git("config", "filter.trap.required", "true")

    def lose_a_tree(self) -> None:
        """Make git fetch: the repository is a partial clone, and a part of it is not there."""
        tree = self._git("rev-parse", "HEAD^{tree}").strip()
        (self.folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
        self._git("config", "extensions.partialClone", "origin")
        self._git("config", "remote.origin.promisor", "true")
        self._git("config", "remote.origin.url", str(self.folder))

    def _git(self, *words: str) -> str:
        quiet = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
        command = ["git", *quiet, *words]
        done = subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout
