"""The files of the page: which paths, which headers, and what a client that takes gzip gets."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from accord.transport.server.answers import HttpAnswer
from accord.transport.server.requests import RemoteRequest
from accord.web.page_files import CONTENT_POLICY, NOT_BUILT, PAGE_FOLDER, PageFiles

SCRIPT = b"export const answer = 42;\n" * 100


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A page as Vite builds one, and a secret beside it."""
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_bytes(b"<!doctype html><title>Accord</title>")
    (page / "assets/index-Ab3_-x9Z.js").write_bytes(SCRIPT)
    (page / "icon.svg").write_bytes(b"<svg/>")
    (page / "notes.txt").write_bytes(b"of no known type")
    (tmp_path / "secret.html").write_bytes(b"secret")
    return page


def get(files: PageFiles, path: str, **headers: str) -> HttpAnswer | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return files.answer(RemoteRequest("GET", path, "", named))


def found(files: PageFiles, path: str, **headers: str) -> HttpAnswer:
    answer = get(files, path, **headers)
    assert answer is not None
    return answer


def test_every_file_has_the_policy(folder: Path) -> None:
    """Issue 18: a strict policy without `unsafe-inline`, for whatever is opened by itself too."""
    files = PageFiles(folder)
    for path in ("/", "/assets/index-Ab3_-x9Z.js", "/icon.svg"):
        headers = dict(found(files, path).headers)
        assert headers["content-security-policy"] == CONTENT_POLICY
        assert headers["referrer-policy"] == "no-referrer"
    assert "unsafe" not in CONTENT_POLICY


def test_hashed_files_are_kept_and_the_page_is_not(folder: Path) -> None:
    files = PageFiles(folder)
    assert dict(found(files, "/").headers)["cache-control"] == "no-cache"
    assert dict(found(files, "/icon.svg").headers)["cache-control"] == "no-cache"
    script = found(files, "/assets/index-Ab3_-x9Z.js")
    assert dict(script.headers)["cache-control"] == "max-age=31536000, immutable"
    assert script.content_type == "text/javascript; charset=utf-8"


@pytest.mark.parametrize(
    ("header", "zipped"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("*", True),
        ("", False),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, br", False),
        ("xgzip", False),
    ],
)
def test_gzip_is_for_those_who_take_it(folder: Path, header: str, *, zipped: bool) -> None:
    answer = found(PageFiles(folder), "/assets/index-Ab3_-x9Z.js", accept_encoding=header)
    headers = dict(answer.headers)
    assert headers["vary"] == "accept-encoding"
    assert ("content-encoding" in headers) == zipped
    assert (gzip.decompress(answer.body) if zipped else answer.body) == SCRIPT


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.html",
        "/assets/../../secret.html",
        "/%2e%2e/secret.html",
        "/notes.txt",
        "/assets",
        "/index.html/..",
        "//icon.svg",
        "/icon.svg\0",
        "/acp",
    ],
)
def test_other_paths_are_not_the_pages(folder: Path, path: str) -> None:
    """A path is never part of a path on disk."""
    assert get(PageFiles(folder), path) is None


def test_without_a_page_a_sentence_says_how_to_build_it(tmp_path: Path) -> None:
    answer = found(PageFiles(tmp_path / "nowhere"), "/")
    assert answer.status == 404
    assert answer.body.decode() == NOT_BUILT
    assert "make page" in NOT_BUILT


def test_the_page_is_there() -> None:
    """Issue 18: its built files are shipped, since users have no Node."""
    assert (PAGE_FOLDER / "index.html").is_file()
    assert found(PageFiles(), "/").status == 200
