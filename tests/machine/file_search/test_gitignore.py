"""What a `.gitignore` says, compared with git itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from accord.machine.file_search.gitignore import PATTERN_CHARACTERS_MAX, Ignore

CASES = [
    ("*.pyc", "a/b.pyc", True),
    ("*.pyc", "a/b.py", None),
    ("/build", "build", True),
    ("/build", "a/build", None),
    ("a/b", "c/a/b", None),
    ("**/b", "b", True),
    ("**/b", "a/c/b", True),
    ("a/**/b", "a/b", True),
    ("a/**/b", "a/x/y/b", True),
    ("a/**", "a/x", True),
    ("a/**", "a", None),
    ("a*c", "abbc", True),
    ("a?c", "a/c", None),
    ("[a-c]x", "bx", True),
    ("[!a-c]x", "bx", None),
    ("[]]x", "]x", True),
    ("[[:digit:]]", "7", True),
    ("[[:nope:]]", "7", None),
    ("[a", "a", None),
    ("a\\", "a", None),
    ("\\#x", "#x", True),
    ("#x", "#x", None),
    ("\\!x", "!x", True),
    ("x  ", "x", True),
    ("x\\ ", "x ", True),
    ("x\r", "x", True),
    ("*\n!keep", "keep", False),
    ("!keep\n*", "keep", True),
    ("foo**/bar", "foox/y/bar", True),
    ("\\*", "*", True),
    ("", "x", None),
    ("/", "x", None),
    ("café", "café", True),
    ("caf??", "café", True),
]


@pytest.mark.parametrize(("text", "path", "decided"), CASES)
def test_a_pattern_means_what_it_means_to_git(text: str, path: str, decided: bool | None) -> None:
    """gitignore(5)."""
    assert Ignore(text).decides(path, is_folder=False) is decided


def test_a_pattern_with_a_slash_at_its_end_is_for_folders_alone() -> None:
    """gitignore(5)."""
    assert Ignore("out/").decides("a/out", is_folder=True) is True
    assert Ignore("out/").decides("a/out", is_folder=False) is None


def test_a_pattern_cannot_hold_us_up() -> None:
    """Ours: the file comes from whoever wrote the project.  Backtracking would never end here."""
    for pattern in ("*a" * 30 + "b", "**/a" * 20 + "/b", "**/*a*a*a" * 10 + "b", "?*" * 40 + "b"):
        assert Ignore(pattern).decides("/".join(["a" * 60] * 30), is_folder=False) is None
    assert Ignore("x" * (PATTERN_CHARACTERS_MAX + 1)).decides("x", is_folder=False) is None


NAMES = ("a", "b", "ab", "abc", "a.c", "foo", "[x]", "*", "b a", "é")
PATHS = sorted(
    set(NAMES)
    | {f"{one}/{two}" for one in NAMES[:6] for two in NAMES[:6]}
    | {f"{one}/{two}/{three}" for one in ("a", "b") for two in NAMES[:4] for three in NAMES[:4]}
)
_PIECES = st.sampled_from(
    (
        *("a", "b", "c", "ab", ".c", "foo", "é", "*", "**", "?", "/", "/**", "**/", "/**/", " "),
        *("[ab]", "[!b]", "[a-b]", "[b-a]", "[^", "]", "[]a]", "[[:alpha:]]", "-", "!", "#"),
        *("\\", "\\*"),
    )
)
_PATTERNS = st.lists(_PIECES, min_size=1, max_size=6).map("".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty one; paths need not exist to be asked about."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def _asked(folder: Path, paths: list[str]) -> set[str]:
    """Of these paths the ignored ones, by git."""
    said = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=folder,
        input=b"\0".join(map(os.fsencode, paths)),
        capture_output=True,
        check=False,
    )
    assert said.returncode in (0, 1), said.stderr
    return {os.fsdecode(path) for path in said.stdout.split(b"\0") if path}


def _ignored(ignore: Ignore, path: str) -> bool:
    """The path, or a folder above it: what is in an ignored folder is never looked at."""
    parts = path.split("/")
    for count in range(1, len(parts)):
        if ignore.decides("/".join(parts[:count]), is_folder=True):
            return True
    return ignore.decides(path, is_folder=False) is True


@given(st.lists(_PATTERNS, min_size=1, max_size=4))
@example(["a/**", "!a/b"])
@example(["**", "!*.c"])
@example(["*", "!*/", "!abc"])
@example(["a**/b"])
@example(["/*/a", "a\\/b"])
@settings(
    max_examples=80,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_patterns_decide_as_git_check_ignore_does(repository: Path, lines: list[str]) -> None:
    """Issue 6: gitignore-aware, which is what git makes of it."""
    text = "\n".join(lines)
    (repository / ".gitignore").write_text(text + "\n")
    ignore = Ignore(text)
    assert {path for path in PATHS if _ignored(ignore, path)} == _asked(repository, PATHS), lines
