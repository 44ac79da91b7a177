"""The tools `glob` and `grep`: what git ignores is left out, nothing runs away."""

import subprocess
from pathlib import Path

import pytest

from accord.builtin.tools.search import glob_grep, project_files
from accord.builtin.tools.search.glob_grep import Match, Searched, read_matches
from tests.builtin.tools.bench import bench, everywhere, text


def git(folder: Path, *args: str) -> None:
    """Run git there."""
    subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with tracked, new, ignored, deleted and linked files."""
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "build").mkdir()
    (root / ".gitignore").write_text("build/\n*.log\n")
    (root / "src" / "calc.py").write_text("def mean(values):\n    return sum(values)\n")
    (root / "src" / "gone.py").write_text("mean\n")
    (root / "readme.md").write_text("# Mean\n")
    (root / "build" / "calc.py").write_text("mean\n")
    (root / "x.log").write_text("mean\n")
    (tmp_path / "outside.txt").write_text("mean\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    (root / "new.py").write_text("from calc import mean\n")
    (root / "src" / "gone.py").unlink()
    (root / "link.py").symlink_to(tmp_path / "outside.txt")
    (root / "pic.bin").write_bytes(b"mean\0")
    return root


@everywhere
async def test_glob_lists_what_git_does_not_ignore(project: Path, variant: str) -> None:
    """Brief: gitignore-aware, clickable locations."""
    async with bench(project, variant) as b:
        result = await b.use(lambda t: t.glob("**/*.py"))
        assert result.text == "new.py\nsrc/calc.py"
        assert result.data == [str(project / "new.py"), str(project / "src" / "calc.py")]
        call = b.last()
        assert (call["kind"], call["status"]) == ("search", "completed")
        assert [one["path"] for one in call["locations"]] == result.data
        assert (await b.use(lambda t: t.glob("calc.*"))).text == "src/calc.py"
        assert (await b.use(lambda t: t.glob(f"{project}/*.md"))).text == "readme.md"
        assert (await b.use(lambda t: t.glob("*.py", "src"))).text == "src/calc.py"
        # An ignored folder that is asked for by name is searched.
        assert (await b.use(lambda t: t.glob("*.py", "build"))).text == "build/calc.py"
        none = await b.use(lambda t: t.glob("*.rs"))
        assert (none.ok, none.text, none.data) == (True, "No file matches *.rs.", [])
        assert "no folder" in text(await b.use(lambda t: t.glob("*", "nowhere")), ok=False)
        assert "outside" in text(await b.use(lambda t: t.glob("*", "..")), ok=False)
        assert "at most" in text(await b.use(lambda t: t.glob("x" * 2000)), ok=False)


@everywhere
async def test_grep_finds_lines_with_their_places(project: Path, variant: str) -> None:
    """Brief: grep with clickable locations; binary files and links are left out."""
    async with bench(project, variant) as b:
        result = await b.use(lambda t: t.grep("mean"))
        assert result.text == "new.py:1: from calc import mean\nsrc/calc.py:1: def mean(values):"
        assert b.last()["locations"] == [
            {"path": str(project / "new.py"), "line": 1},
            {"path": str(project / "src" / "calc.py"), "line": 1},
        ]
        assert "2 lines in 2 files found" in str(b.last()["content"])
        anywhere = await b.use(lambda t: t.grep("MEAN", ignore_case=True))
        assert len(anywhere.text.splitlines()) == 3
        some = await b.use(lambda t: t.grep("mean", glob="src/*"))
        assert some.data == [Match(str(project / "src" / "calc.py"), 1, "def mean(values):")]
        one = await b.use(lambda t: t.grep("return", "src/calc.py"))
        assert one.text == "src/calc.py:2:     return sum(values)"
        assert (await b.use(lambda t: t.grep("nowhere"))).text == "Nothing matches nowhere."
        said = text(await b.use(lambda t: t.grep("(")), ok=False)
        assert said.startswith("The pattern is not a valid regular expression: missing )")
        assert "outside" in text(await b.use(lambda t: t.grep("x", "link.py")), ok=False)
        assert "characters" in text(await b.use(lambda t: t.grep("")), ok=False)


async def test_without_git_the_usual_folders_are_left_out(tmp_path: Path) -> None:
    """Brief: own walk with the usual ignored folders."""
    for name in ("a.py", "node_modules/b.py", ".venv/c.py", "deep/er/d.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    (tmp_path / "loop").symlink_to(tmp_path)
    async with bench(tmp_path) as b:
        assert (await b.use(lambda t: t.glob("*.py"))).text == "a.py\ndeep/er/d.py"


async def test_a_pattern_that_never_ends_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brief: Python's re with bounds; it cannot be interrupted, so it has its own process."""
    (tmp_path / "a.txt").write_text("a" * 64 + "b\n")
    monkeypatch.setattr(glob_grep, "SEARCH_SECONDS_MAX", 0.5)
    async with bench(tmp_path) as b:
        said = text(await b.use(lambda t: t.grep("(a+)+$")), ok=False)
        assert said.startswith("The search did not finish within 0.5 seconds")
        assert (await b.use(lambda t: t.read("a.txt"))).ok


async def test_many_results_are_capped_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: every result capped, and says so."""
    monkeypatch.setattr(glob_grep, "MATCHES_MAX", 5)
    monkeypatch.setattr(glob_grep, "PATHS_SHOWN_MAX", 5)
    monkeypatch.setattr(project_files, "FILES_MAX", 8)
    for number in range(10):
        (tmp_path / f"{number}.txt").write_text("x\n" * 3 + "y" * 1000 + "x")
    async with bench(tmp_path) as b:
        found = await b.use(lambda t: t.grep("x"))
        assert isinstance(found.data, list)
        assert len(found.data) == 5
        assert "[more matches were left out" in found.text
        assert "only the first 8 files" in found.text
        assert max(map(len, found.text.splitlines())) < 400
        files = await b.use(lambda t: t.glob("*"))
        assert "[more files were left out" in files.text


def test_half_an_answer_is_what_was_found_so_far() -> None:
    """A search that was stopped has said what it found."""
    output = b'["a.py", 1, "x"]\n["b.py", 2, "y"]\n["c.p'
    assert read_matches(output, "/r") == Searched(
        [Match("/r/a.py", 1, "x"), Match("/r/b.py", 2, "y")],
        True,
        (),
    )
