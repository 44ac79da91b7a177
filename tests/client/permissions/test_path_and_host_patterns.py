"""Patterns of rules: a part never stands for the whole, and what is unclear matches nothing."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.client.permissions.path_and_host_patterns import (
    PathPattern,
    beneath,
    host_matches,
    host_of,
    host_pattern,
    place,
    plain_host,
    tool_matches,
    wildcard,
)

PARTS = st.text("ab.*?-[", min_size=1, max_size=4).filter(lambda part: part not in (".", ".."))
TEXTS = st.text("ab*?\n.", max_size=8)


@given(TEXTS, TEXTS)
def test_a_wildcard_means_what_a_regular_expression_would(pattern: str, text: str) -> None:
    """Ours: `*` is any run, `?` any character, all else itself."""
    translated = "".join({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in pattern)
    assert wildcard(pattern, text) is bool(re.fullmatch(translated, text, re.DOTALL))


def test_many_stars_take_no_exponential_time() -> None:
    """Ours: rules run on texts that the agent chooses."""
    assert not wildcard("*a" * 40 + "b", "a" * 4000)


@given(st.lists(PARTS, min_size=1, max_size=4))
def test_a_literal_path_matches_itself_and_nothing_longer(parts: list[str]) -> None:
    """Issue: `/a/b` does not cover `/a/bc`, nor what is beneath it."""
    path = "/nowhere/" + "/".join(parts)
    pattern = PathPattern.of(path, literal=True)
    assert pattern.matches(path, None)
    for other in (path + "c", path + "/c", os.path.dirname(path), "/x" + path):
        assert not pattern.matches(other, None)


@given(st.lists(PARTS, min_size=1, max_size=3), st.lists(PARTS, min_size=1, max_size=3))
def test_a_directory_pattern_covers_all_beneath_and_no_sibling(
    folder: list[str], rest: list[str]
) -> None:
    """Ours: `dir/**` is every file in it and not the directory itself."""
    name = "/".join(part.replace("*", "x").replace("?", "x") for part in folder)
    for spelled in (f"{name}/**", f"{name}/"):
        pattern = PathPattern.of(spelled)
        assert pattern.matches(f"/w/{name}/{'/'.join(rest)}", "/w")
        assert not pattern.matches(f"/w/{name}", "/w")
        assert not pattern.matches(f"/w/{name}c/{'/'.join(rest)}", "/w")
        assert not pattern.matches(f"/wc/{name}/{'/'.join(rest)}", "/w")


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("src/*.py", "/w/src/a.py", True),
        ("src/*.py", "/w/src/deep/a.py", False),
        ("src/**/*.py", "/w/src/a.py", True),
        ("src/**/*.py", "/w/src/deep/er/a.py", True),
        ("**/.env", "/w/.env", True),
        ("**/.env", "/w/a/b/.env", True),
        ("**/.env", "/w/a/b/.envrc", False),
        ("**", "/w/a", True),
        ("**", "/other/a", False),
        ("/etc/**", "/etc/passwd", True),
        ("/**", "/anything/at/all", True),
        ("./src/a", "/w/src/a", True),
        ("src", "/w/src/a", False),
    ],
)
def test_path_patterns(pattern: str, path: str, fits: bool) -> None:
    """Ours: relative patterns are beneath the session's directory."""
    assert PathPattern.of(pattern).matches(path, "/w") is fits


def test_a_relative_pattern_matches_nothing_without_a_directory() -> None:
    """Ours: a session that nobody announced has no workspace."""
    assert not PathPattern.of("**").matches("/w/a", None)


@pytest.mark.parametrize("pattern", ["", "a\0b", "../x", "src/../../x", "/a/../b"])
def test_a_pattern_that_climbs_is_refused(pattern: str) -> None:
    """Ours: a typing error is not an approval."""
    with pytest.raises(ValueError):
        PathPattern.of(pattern)


def test_links_in_a_pattern_are_resolved_when_it_is_made(tmp_path: Path) -> None:
    """Ours: swapping a directory for a link must not move the rule along."""
    root = tmp_path.resolve()
    (root / "real").mkdir()
    (root / "link").symlink_to(root / "real")
    pattern = PathPattern.of(f"{root}/link/**")
    assert pattern.matches(f"{root}/real/a", None)
    (root / "link").unlink()
    (root / "secret").mkdir()
    (root / "link").symlink_to(root / "secret")
    assert not pattern.matches(f"{root}/secret/a", None)


def test_a_home_in_a_pattern_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: people write `~/.ssh/**`."""
    monkeypatch.setenv("HOME", "/nowhere/me")
    assert PathPattern.of("~/.ssh/**").matches("/nowhere/me/.ssh/id", None)


@pytest.mark.rule("V1-SESS-18")
def test_a_path_is_where_its_links_and_dots_lead(tmp_path: Path) -> None:
    """Spec: authorization does not rest on the text of a path."""
    root = tmp_path.resolve()
    (root / "in").mkdir()
    (root / "out").mkdir()
    (root / "in" / "link").symlink_to(root / "out")
    for spelled in ("in/link/a", "in/../out/a", f"{root}/in/link/./a"):
        placed = place(spelled, str(root))
        assert placed is not None
        assert placed.real == f"{root}/out/a"


@pytest.mark.parametrize(
    "path",
    ["", "a\0b", "~/x", "$HOME/x", "file:///etc/passwd", "FILE:/etc", "C:\\x", "c:/x", "\\\\h\\s"],
)
def test_a_path_of_another_world_is_not_guessed(path: str) -> None:
    """Issue: what is not understood is never approval."""
    assert place(path, "/w") is None


def test_a_relative_path_needs_a_directory() -> None:
    """Ours: without one nobody knows where it is."""
    assert place("a", None) is None


def test_beneath_compares_whole_parts() -> None:
    """Issue: `/a/b` does not cover `/a/bc`."""
    assert beneath("/a/b", "/a/b")
    assert beneath("/a/b/c", "/a/b")
    assert beneath("/a", "/")
    assert not beneath("/a/bc", "/a/b")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.ORG/x", "example.org"),
        ("https://example.org.:443/", "example.org"),
        ("https://good.org@evil.org/", "evil.org"),
        ("https://evil.org\\@good.org/", None),
        ("https://evil.org /", None),
        ("https://[::1]:80/", "::1"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://2130706433/", None),
        ("http://0x7f.1/", None),
        ("http://127.1/", None),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://a..b/", None),
        ("https://[bad/", None),
        ("no url", None),
        ("//host/only", None),
        ("mailto:me@example.org", None),
    ],
)
def test_the_host_of_a_url(url: str, host: str | None) -> None:
    """Ours: a URL on which two readers may disagree has no host."""
    assert host_of(url) == host


def test_hosts_match_whole_labels() -> None:
    """Ours: `*.a.org` is below a.org, neither a.org itself nor xa.org."""
    below = host_pattern("*.A.org")
    assert host_matches(below, "x.a.org")
    assert not host_matches(below, "a.org")
    assert not host_matches(below, "xa.org")
    assert host_matches(host_pattern("a.org"), "a.org")
    assert not host_matches(host_pattern("a.org"), "x.a.org")
    for wrong in ("", "*", "*.", "https://a.org", "a.org:80", "a/b", "*.*.org"):
        with pytest.raises(ValueError):
            host_pattern(wrong)


@given(st.text())
def test_a_host_has_one_spelling(text: str) -> None:
    """Ours: reading a plain host again changes nothing."""
    plain = plain_host(text)
    assert plain is None or plain_host(plain) == plain


def test_mcp_tools_match_by_server_and_tool() -> None:
    """Ours: the server's part never reaches into the tool's."""
    assert tool_matches("db/query", "db/query")
    assert tool_matches("db/*", "db/query/raw")
    assert not tool_matches("db/*", "db2/query")
    assert not tool_matches("*", "db/query")
    assert not tool_matches("d*/query", "db/x/query")
    assert not tool_matches("db/*", "query")
