"""Every program in README.md and docs/ runs, and prints what the page says that it prints."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import PAGES, ROOT, Block, Command, blocks_of, commands_of, fits
from tests.hang_limit import HANG_SECONDS

KNOWN = {"python", "python fragment", "console", "sh", "json", "text", ""}
KNOWN |= {"elisp", "lua", "toml"}


def ids(page: Path) -> str:
    return str(page.relative_to(ROOT))


def sh(typed: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line as a person would, with our Python first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # Width and strictness are the reader's own; ours must not show.
    env = {key: value for key, value in os.environ.items() if not key.startswith("ACCORD_")}
    env |= {"XDG_CONFIG_HOME": str(folder / ".config"), "XDG_STATE_HOME": str(folder / ".state")}
    return subprocess.run(
        ["/bin/sh", "-c", typed],
        cwd=folder,
        env={**env, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )


def check(command: Command, folder: Path, place: str) -> None:
    finished = sh(command.typed, folder)
    assert fits(command.seen, finished.stdout), (
        f"{place}: $ {command.typed}\n--- the page says\n{command.seen}"
        f"--- it printed (exit code {finished.returncode})\n{finished.stdout}"
    )


def run(block: Block, folder: Path, place: str) -> None:
    """Do what a reader does with one block."""
    if block.info == "python fragment":
        compile(block.text, place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    elif block.file_name is not None:
        (folder / block.file_name).write_text(block.text)
    elif block.info == "python":
        (folder / "program.py").write_text(block.text)
        finished = sh("python program.py", folder)
        assert finished.returncode == 0, f"{place}:\n{finished.stdout}"
    elif block.info == "console":
        for command in commands_of(block):
            check(command, folder, place)


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_block_of_a_page_does_what_the_page_says(page: Path, tmp_path: Path) -> None:
    """Style: documentation whose code is not run is wrong sooner or later."""
    for block in blocks_of(page):
        run(block, tmp_path, f"{ids(page)}:{block.line}")


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_named_program_of_a_page_is_started_or_imported(page: Path) -> None:
    """Ours: a name alone must not keep a program from being run."""
    blocks = blocks_of(page)
    typed = "\n".join(block.text for block in blocks if block.info in ("console", "sh", "text"))
    imports = "\n".join(block.text for block in blocks if block.info == "python")
    # The pair in README.md has a test of its own in tests/architecture/.
    prose = page.read_text() if page.name == "README.md" else ""
    for block in blocks:
        name = block.file_name
        if name is not None:
            stem = name.removesuffix(".py")
            assert name in typed + prose or f"from {stem} import" in imports, name


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_block_says_what_it_is(page: Path) -> None:
    """Ours: a word that is misspelt would be a block that nobody runs."""
    assert {block.info for block in blocks_of(page)} <= KNOWN


def test_outputs_are_compared_with_gaps_where_the_page_has_them() -> None:
    """Ours: the judge is judged too."""
    assert fits("a\nb\n", "a\nb\n")
    assert not fits("a\nb\n", "a\nc\n")
    assert fits("a\n...\nz\n", "a\nb\nc\nz\n")
    assert fits("a\n...\nz\n", "a\nz\n")
    assert fits("id ... done\n", "id 1234 done\n")
    assert not fits("id ... done\n", "id 1\n2 done\n")
    assert fits("...\nz\n", "x\ny\nz\n")
    assert not fits("", "something")
