"""Properties of the parts without I/O: matching, windows, redaction, patterns, pages, results."""

import fnmatch

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from accord.builtin.tools.files.read import WINDOW_CHARACTERS_MAX, lines_in, window
from accord.builtin.tools.files.text_replacement import Mismatch, Replaced, replace
from accord.builtin.tools.search.path_patterns import path_pattern
from accord.builtin.tools.tool_call import RESULT_CHARACTERS_MAX, capped, done
from accord.builtin.tools.web.page_text import page_text
from accord.machine.redaction.known_values import secret_values
from accord.machine.redaction.redactor import Redactor
from accord.machine.redaction.secret_patterns import MARK, is_secret_name

LINES = st.text(alphabet="ab \n\t", max_size=40)

# ---- matching


@given(
    LINES, st.text(alphabet="ab \n", min_size=1, max_size=4), st.text(alphabet="xy\n", max_size=4)
)
def test_one_match_is_replaced_and_nothing_else(text: str, old: str, new: str) -> None:
    """Issue: exact, one match."""
    made = replace(text, old, new)
    count = text.count(old)
    assert isinstance(made, Replaced) is (count == 1 and old != new)
    if isinstance(made, Replaced):
        assert made.text == text.replace(old, new)
        assert made.lines == (text[: text.index(old)].count("\n") + 1,)


@given(LINES, st.text(alphabet="ab", min_size=1, max_size=2))
def test_every_match_is_replaced_where_that_is_asked(text: str, old: str) -> None:
    """Contract: all."""
    made = replace(text, old, "Z", every=True)
    assert isinstance(made, Replaced) is (old in text)
    if isinstance(made, Replaced):
        assert made.text == text.replace(old, "Z")


@given(LINES, st.text(alphabet="ab\n", min_size=1, max_size=4))
def test_crlf_files_are_matched_and_stay_so(text: str, old: str) -> None:
    """Brief: CRLF preserved."""
    assume("\n" in text)
    dos = text.replace("\n", "\r\n")
    plain, made = replace(text, old, "x\ny"), replace(dos, old, "x\ny")
    assert isinstance(plain, Replaced) is isinstance(made, Replaced)
    if isinstance(made, Replaced) and isinstance(plain, Replaced):
        assert made.text == plain.text.replace("\n", "\r\n")


def test_a_near_miss_shows_the_nearest_lines() -> None:
    """Issue: one match or the nearest lines in the error."""
    text = "import os\n\ndef mean(values):\n    return sum(values) / len(values)\n"
    made = replace(text, "    return sum(value) / len(value)", "x")
    assert isinstance(made, Mismatch)
    assert "most similar lines" in made.reason
    assert "     4\t    return sum(values) / len(values)" in made.reason
    made = replace(text, "return sum(values) / len(values)\n\n", "x")
    assert isinstance(made, Mismatch)
    made = replace(text, "def mean(values):\n  return sum(values) / len(values)", "x")
    assert isinstance(made, Mismatch)
    assert "different spaces or indentation" in made.reason
    assert "     3\tdef mean(values):" in made.reason
    made = replace(text, "something entirely different 12345", "x")
    assert isinstance(made, Mismatch)
    assert "no line is similar" in made.reason
    made = replace("a\n" * 30, "a", "b")
    assert isinstance(made, Mismatch)
    assert "occurs 30 times, in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more" in made.reason
    for old, new, word in (("", "x", "empty"), ("a", "a", "the same"), ("\n\n\n", "x", "no line")):
        made = replace("a\nb", old, new)
        assert isinstance(made, Mismatch)
        assert word in made.reason


# ---- windows


@given(st.text(alphabet="ab\n\r", max_size=60), st.integers(1, 20), st.integers(1, 20))
def test_windows_one_after_the_other_are_the_text(text: str, start: int, size: int) -> None:
    """Promise: nothing is lost between two windows."""
    parts: list[str] = []
    line = 1
    while True:
        part = window(text, line, size)
        if part.last < part.first:
            break
        parts.append(part.plain)
        line = part.last + 1
    assert "".join(parts) == text
    assert line - 1 == lines_in(text)
    one = window(text, start, size)
    assert one.plain == "".join(
        text.splitlines(True) and _lines(text)[start - 1 : start - 1 + size]
    )
    assert one.total == lines_in(text)


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


def test_a_window_is_bounded_in_characters() -> None:
    """Issue: every result capped."""
    part = window("y" * 1_000 + "\n" + ("x" * 999 + "\n") * 1_000)
    assert len(part.numbered) <= WINDOW_CHARACTERS_MAX
    assert part.note is not None
    assert window("x" * 100_000).cut


# ---- redaction


SECRETS = st.sets(st.text(alphabet="abc", min_size=1, max_size=5), max_size=4)


@given(SECRETS, st.lists(st.text(alphabet="abcd", max_size=8), max_size=8))
def test_a_stream_is_masked_as_the_whole_is(secrets: set[str], pieces: list[str]) -> None:
    """Promise: no cut between two pieces lets a part of a secret through."""
    redactor = Redactor(secrets).by_value
    stream = redactor.byte_stream()
    shown = b"".join(stream.feed(piece.encode()) for piece in pieces) + stream.finish()
    assert shown.decode() == redactor.text("".join(pieces))


@given(st.text(min_size=8, max_size=30), st.text(), st.text())
def test_a_secret_is_never_in_the_text(secret: str, before: str, after: str) -> None:
    """Issue: secrets never in output."""
    assume(secret not in MARK and not set(secret) & set(MARK))
    assert secret not in Redactor([secret]).by_value.text(f"{before}{secret}{after}")


def test_which_variables_hold_secrets() -> None:
    """Brief: by name pattern and known variable names."""
    for name in (
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "DB_PASSWORD",
        "npm_config__authToken",
        "STRIPE_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "MY_SECRET",
    ):
        assert is_secret_name(name), name
    for name in ("PATH", "HOME", "SSH_AUTH_SOCK", "MAX_TOKENS", "TOKENIZERS_PARALLELISM", "LANG"):
        assert not is_secret_name(name), name
    values = secret_values(
        {
            "OPENAI_API_KEY": "wordlike",
            "GROQ_API_KEY": "short",
            "A_TOKEN": "development-mode",
            "B_TOKEN": "abc123def456",
            "C_KEY": "/home/me/id_rsa2",
            "PATH": "/usr/bin/12345678",
        }
    )
    assert values == {"wordlike", "development-mode", "abc123def456"}


# ---- patterns


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/deep/a.py", True),
        ("./*.py", "a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/b/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/b/c/a.py", True),
        ("**/test_*.py", "test_a.py", True),
        ("**", "a/b", True),
        ("src/**", "src/a/b", True),
        ("src/**", "src", False),
        ("*.{ts,tsx}", "a/b.tsx", True),
        ("*.{ts,tsx}", "a/b.js", False),
        ("{a,b}/{c,d}", "b/c", True),
        ("?.py", "a.py", True),
        ("?.py", "ab.py", False),
        ("[ab].py", "a.py", True),
        ("[!ab].py", "a.py", False),
        ("[a-c]x", "bx", True),
        ("[a", "[a", True),
        ("[]", "[]", True),
        ("a*b*c", "aXbYc", True),
        ("a*b*c", "aXcYb", False),
        ("a?b", "a/b", False),
        ("*/", "x", True),
        ("x[/]y", "x/y", False),
    ],
)
def test_patterns_mean_what_people_expect(pattern: str, path: str, fits: bool) -> None:
    """Contract: glob with `*`, `?`, classes, braces and `**`."""
    assert (path_pattern(pattern).fullmatch(path) is not None) is fits


@given(st.text(alphabet="ab*?", min_size=1, max_size=8), st.text(alphabet="ab", max_size=8))
def test_names_match_as_in_a_shell(pattern: str, name: str) -> None:
    """For one name it is what fnmatch does."""
    assume(name and pattern.strip("*"))
    expected = fnmatch.fnmatchcase(name, pattern)
    assert (path_pattern(f"x/{pattern}").fullmatch(f"x/{name}") is not None) is expected


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_pattern_can_be_tried(pattern: str, path: str) -> None:
    """A pattern comes from a model: it never raises."""
    path_pattern(pattern).fullmatch(path)


def test_stars_do_not_run_away() -> None:
    """Promise: matching cannot run away."""
    assert path_pattern("*a" * 40 + "b").fullmatch("a" * 250) is None
    assert path_pattern("**/a/" * 20 + "b").fullmatch("a/" * 40 + "c") is None
    assert len(path_pattern("{a,b}" * 20).pattern) < 10_000


# ---- pages


@given(st.text())
def test_any_page_has_a_text(page: str) -> None:
    """Pages come from anywhere."""
    assert isinstance(page_text(page), str)


@given(st.lists(st.text(alphabet="abc", min_size=1), min_size=1))
def test_paragraphs_stay_apart(words: list[str]) -> None:
    """What is said is kept, in its order."""
    page = "".join(f"<p>{word}</p>" for word in words)
    assert page_text(page).split() == words


def test_a_page_keeps_headings_lists_links_and_code() -> None:
    """Brief: html to text."""
    page = """<!DOCTYPE html><html><head><title>A &amp; B</title><style>p{}</style>
    <script>if (a<b) alert("</p>")</script></head><body><!-- not <p>this</p> -->
    <h2>News</h2><p>Some  <b>bold</b>
    text<br>and a <a href="https://example.com/x?a=1&amp;b=2">link</a>, <a href="#top">here</a>.</p>
    <ul><li>one<li>two</ul><pre>  keep
      this</pre>1 < 2 &gt; 0<table><tr><td>a<td>b</table></body>"""
    text = page_text(page)
    assert text.split("\n") == [
        "A & B",
        "",
        "## News",
        "",
        "Some bold text",
        "and a link (https://example.com/x?a=1&b=2), here.",
        "",
        "- one",
        "",
        "- two",
        "",
        "  keep",
        "      this",
        "",
        "1 < 2 > 0",
        "",
        "a b",
    ]
    assert page_text("<p>a<!-- never ends") == "a"
    assert page_text("a<script>never ends") == "a"


def test_broken_pages_take_no_time() -> None:
    """Promise: linear in the length (quadratic would be minutes here)."""
    for piece in ("<", "<a", "<!--", "</", "<script", "&", "<a href=", "<pre>", "<li>"):
        page_text(piece * 100_000)


# ---- results


@given(st.integers(0, 200))
def test_a_result_is_capped_and_says_what_is_missing(more: int) -> None:
    """Contract: text is capped and says what was left out."""
    text = "a" * RESULT_CHARACTERS_MAX + "b" * more
    assert (capped(text) == text) is (more == 0)
    if more:
        assert f"[… {more:,} characters left out …]" in done(text).text
        assert done(text).text.endswith("b" * more)
