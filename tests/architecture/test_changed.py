"""`make quick` runs the tests that are about what was changed."""

import subprocess
import sys
from pathlib import Path

from scripts.changed import ALWAYS, FILES_MAX, ROOT, all_tests, find_tests, module_of


def test_tests_of_the_same_name_and_tests_that_import_are_found() -> None:
    """Issue 14: what most changes need."""
    about = find_tests([Path("src/accord/machine/optional_packages.py")], all_tests())
    assert about[0] == Path("tests/machine/test_optional_packages.py")
    assert Path("tests/builtin/llm/test_llm_packages.py") in about
    assert Path("tests/machine/test_git.py") not in about


def test_a_test_that_was_changed_comes_first() -> None:
    """Ours: it is the one whose author is curious."""
    changed = [Path("tests/store/test_writer_thread.py"), Path("src/accord/machine/git.py")]
    assert find_tests(changed, all_tests())[0] == changed[0]


def test_nothing_changed_means_no_test_about_it() -> None:
    """Ours: an empty pattern would match every file."""
    assert find_tests([], all_tests()) == []


def test_modules_have_the_name_by_which_they_are_imported() -> None:
    """Ours."""
    assert module_of(Path("src/accord/cli/commands/run.py")) == "accord.cli.commands.run"
    assert module_of(Path("src/accord/store/__init__.py")) == "accord.store"
    assert module_of(Path("tests/cli/home.py")) == "tests.cli.home"


def test_the_built_page_is_about_what_serves_it() -> None:
    """Issue 18: the page is not Python, and changes often."""
    about = find_tests([Path("src/accord/web/page_files.py")], all_tests())
    assert about[0] == Path("tests/web/test_page_files.py")


def test_the_list_is_bounded_and_every_entry_is_there() -> None:
    """Issue 14: under two minutes, whatever was changed."""
    asked = subprocess.run(
        [sys.executable, ROOT / "scripts" / "changed.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    chosen = asked.stdout.split()
    assert chosen[: len(ALWAYS)] == list(ALWAYS)
    assert len(chosen) <= len(ALWAYS) + FILES_MAX
    assert all((ROOT / name).exists() for name in chosen)
