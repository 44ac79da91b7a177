"""Finding a path by some of its letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.machine.file_search import fuzzy_search
from accord.machine.file_search.fuzzy_search import Finder, is_match, points_of, positions_of

_LETTERS = "abC/._é"
_PATHS = st.lists(st.text(_LETTERS, min_size=1, max_size=12), max_size=40, unique=True)
_QUERY = st.text(_LETTERS, max_size=5)


def _matches(query: str, path: str) -> bool:
    rest = iter(path.lower())
    return all(letter in rest for letter in query.lower())


@given(_PATHS, _QUERY)
def test_all_that_have_the_letters_in_order_are_found_and_nothing_else(
    paths: list[str], query: str
) -> None:
    """Ours: the first promise of the file."""
    found = Finder(paths).find(query, 100)
    assert sorted(found) == sorted(path for path in paths if _matches(query, path))


@given(_PATHS, st.lists(_QUERY, max_size=6))
def test_what_is_found_does_not_depend_on_what_was_typed_before(
    paths: list[str], queries: list[str]
) -> None:
    """Ours: narrowing is a shortcut and nothing more."""
    finder = Finder(paths)
    for query in queries:
        assert finder.find(query, 5) == Finder(paths).find(query, 5)
        assert finder.count(query) == sum(_matches(query, path) for path in paths)


@given(_PATHS, _QUERY, st.integers(0, 10))
def test_a_closer_look_at_few_gives_the_same_number(
    paths: list[str], query: str, most: int
) -> None:
    """Ours: where many match only some are compared closely, but as many are shown."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fuzzy_search, "CANDIDATES_MAX", 3)
        recent = {path: age for age, path in enumerate(paths[:2])}
        found = Finder(paths).find(query, most, recent)
    assert len(found) == len(set(found)) <= most
    assert all(_matches(query, path) for path in found)
    assert len(found) >= min(most, 3, Finder(paths).count(query))


@given(st.text(_LETTERS.lower(), min_size=1, max_size=12), _QUERY.map(str.lower))
def test_positions_are_those_of_the_letters(path: str, query: str) -> None:
    """Ours: they are drawn bold."""
    positions = positions_of(query, path)
    assert is_match(query, path) == _matches(query, path)
    if is_match(query, path):
        assert "".join(path[at] for at in positions) == query
        assert positions == sorted(set(positions))
    else:
        assert positions == []


def test_the_name_counts_more_than_the_folders_and_beginnings_more_than_middles() -> None:
    """Issue 6: what a user means comes first."""
    paths = [
        "main/other.py",
        "src/domain.py",
        "src/a_main.py",
        "src/deep/er/main_view.py",
        "src/main.py",
        "m/a/i/n.txt",
        "remainder/x.py",
    ]
    assert Finder(paths).find("main", 9) == [
        "src/main.py",
        "src/deep/er/main_view.py",
        "src/a_main.py",
        "src/domain.py",
        "main/other.py",
        "remainder/x.py",
        "m/a/i/n.txt",
    ]
    assert Finder(paths).find("sDom", 1) == ["src/domain.py"]
    assert points_of("sm", "src/main.py") > points_of("sm", "sxxxxxxxm.py")


def test_what_was_used_lately_comes_first() -> None:
    """Issue 6: recency of use."""
    paths = ["a/one.py", "b/one.py", "c/one.py", "d/two.py"]
    finder = Finder(paths)
    assert finder.find("one", 3, {"c/one.py": 0, "b/one.py": 1}) == [
        "c/one.py",
        "b/one.py",
        "a/one.py",
    ]
    assert finder.find("", 2, {"d/two.py": 0, "gone.py": 1}) == ["d/two.py", "a/one.py"]
    assert len(finder) == 4


def test_where_many_match_the_best_are_still_found() -> None:
    """Issue 6: quick in 100,000 files, and right."""
    paths = [f"packages/part{number % 50}/main/file_{number}.py" for number in range(6000)]
    paths += ["deep/er/and/deep/er/main.py", "x/remain.txt", "lib/ma_in.c"]
    finder = Finder(sorted(paths, key=len))
    assert finder.count("main") > 6000
    assert finder.find("main", 2) == ["deep/er/and/deep/er/main.py", "x/remain.txt"]
    assert finder.find("main", 1, {"packages/part7/main/file_7.py": 0}) == [
        "deep/er/and/deep/er/main.py"
    ]
    assert "lib/ma_in.c" in finder.find("main.c", 3)
    found = finder.find("p", 5, {"packages/part9/main/file_59.py": 0, "lib/ma_in.c": 1})
    assert found[0] == "packages/part9/main/file_59.py"
    assert finder.find("main", 50) == finder.find("main", 50)
