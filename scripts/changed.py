"""Prints the tests that `make quick` runs: those of the core, and those about what was changed.

With `--page` it prints nothing, and succeeds if the source of the web client's page was changed.

Changed is what differs from the branch that this one follows, else from the last commit.  Tests are
about a module when they changed themselves, are called like it, or import it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# These look at all files, or are of the core, and take some seconds.
ALWAYS = ("tests/architecture", "tests/jsonrpc", "tests/protocol", "tests/transcript")
# More would take longer than two minutes; the others are those of `make test`.
FILES_MAX = 30
IMPORT = re.compile(r"^\s*from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
DOTTED = re.compile(r"\b(?:accord|tests|scripts)(?:\.\w+)+")
CHECKED = ("src/", "tests/", "scripts/")
# The source of the web client's page, which has tests of its own, and what is built of it.
PAGE = "web/frontend/"
BUILT_PAGE, ABOUT_BUILT_PAGE = "src/accord/web/page/", "src/accord/web/page_files.py"


def git(*words: str) -> list[str]:
    """The lines that git answers; none where it fails."""
    asked = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return asked.stdout.splitlines() if asked.returncode == 0 else []


def changed_names() -> set[str]:
    """The names of all files that were changed."""
    followed = git("merge-base", "HEAD", "@{upstream}")
    return {
        *git("diff", "--name-only", *(followed or ["HEAD"])),
        *git("ls-files", "--others", "--exclude-standard"),
    }


def changed_files() -> list[Path]:
    """All Python files that were changed and are there."""
    names = changed_names()
    if any(name.startswith(BUILT_PAGE) for name in names):
        names.add(ABOUT_BUILT_PAGE)
    return [
        Path(name)
        for name in sorted(names)
        if name.endswith(".py") and name.startswith(CHECKED) and (ROOT / name).is_file()
    ]


def module_of(path: Path) -> str:
    """The name by which it is imported."""
    parts = path.with_suffix("").parts
    parts = parts[1:] if parts[0] == "src" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_in(text: str) -> set[str]:
    """Every module that a text names, and every name that it imports, as if it were a module."""
    members = {
        f"{module}.{name}"
        for module, names in IMPORT.findall(text)
        for name in re.findall(r"\w+", names)
    }
    return members | set(DOTTED.findall(text))


def find_tests(changed: Iterable[Path], tests: Iterable[Path]) -> list[Path]:
    """Test files, the closest first: changed ones, those of the same name, those that import."""
    files = set(changed)
    names = {f"test_{path.stem}.py" for path in files}
    modules = {module_of(path) for path in files}
    ranked = []
    for path in tests if files else ():
        if path in files:
            ranked.append((0, path))
        elif path.name in names:
            ranked.append((1, path))
        elif modules & imported_in((ROOT / path).read_text()):
            ranked.append((2, path))
    return [path for _, path in sorted(ranked)]


def all_tests() -> list[Path]:
    """Every test file but those that need other programs, and those that always run."""
    return [
        path.relative_to(ROOT)
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if not path.relative_to(ROOT)
        .as_posix()
        .startswith(("tests/interop", "tests/browser", *ALWAYS))
    ]


def main(arguments: list[str]) -> int:
    if arguments == ["--page"]:
        return 0 if any(name.startswith(PAGE) for name in changed_names()) else 1
    changed = changed_files()
    about = find_tests(changed, all_tests())
    print(*ALWAYS, *about[:FILES_MAX])
    print(
        f"{len(changed)} files changed; {len(about)} test files are about them"
        + (f", of which the closest {FILES_MAX} run" if len(about) > FILES_MAX else ""),
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
