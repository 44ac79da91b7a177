"""Answers requests for the files of the web client's page.

What always holds
    * A path is looked up in a table of the files that were there at the first request, and is
      never part of a path on disk.
    * Every answer has the policy that lets scripts, styles and connections come from here only.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accord.transport.server.answers import Header, HttpAnswer, text_answer
from accord.transport.server.requests import RemoteRequest

PAGE_FOLDER: Final = Path(__file__).parent / "page"
INDEX: Final = "/"
NOT_BUILT: Final = (
    "The page of the web client is not built in this checkout: run `make page` there, which needs"
    " node and npm, and start the server again."
)
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self';"
    " img-src 'self' data: blob:; media-src 'self' data: blob:; manifest-src 'self';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types accord dompurify"
)
_HEADERS: Final[tuple[Header, ...]] = (
    ("content-security-policy", CONTENT_POLICY),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("vary", "accept-encoding"),
)
_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_COMPRESSED_ALREADY: Final = frozenset({".png", ".woff2"})
# Vite puts a hash of the content into these names.
_HASHED: Final = re.compile(r"/assets/.+-[A-Za-z0-9_-]{8}\.\w+\Z")
_YEAR_SECONDS: Final = 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file as it is sent, and its gzip if that is shorter."""

    content_type: str
    cache: str
    body: bytes
    zipped: bytes | None


class PageFiles:
    """The files of a page; the disk is read at the first request."""

    def __init__(self, folder: Path = PAGE_FOLDER) -> None:
        self._folder = folder
        self._files: dict[str, PageFile] | None = None

    def answer(self, request: RemoteRequest) -> HttpAnswer | None:
        """Return the file that is asked for; None if the path is not one of the page's."""
        if self._files is None:
            self._files = _read(self._folder)
        file = self._files.get(request.path)
        if file is None:
            is_missing = request.path == INDEX
            return text_answer(404, NOT_BUILT, *_HEADERS) if is_missing else None
        headers = (*_HEADERS, ("cache-control", file.cache))
        if file.zipped is not None and _accepts_gzip(request.headers.get("accept-encoding", "")):
            zipped = (*headers, ("content-encoding", "gzip"))
            return HttpAnswer(200, file.zipped, file.content_type, zipped)
        return HttpAnswer(200, file.body, file.content_type, headers)


def _read(folder: Path) -> dict[str, PageFile]:
    files = {}
    for path in sorted(folder.rglob("*")):
        content_type = _TYPES.get(path.suffix)
        if content_type is None or not path.is_file():
            continue
        name = "/" + path.relative_to(folder).as_posix()
        cache = f"max-age={_YEAR_SECONDS}, immutable" if _HASHED.match(name) else "no-cache"
        body = path.read_bytes()
        # Without a time in it: the same file is the same answer.
        zipped = None if path.suffix in _COMPRESSED_ALREADY else gzip.compress(body, mtime=0)
        if zipped is not None and len(zipped) >= len(body):
            zipped = None
        place = INDEX if name == "/index.html" else name
        files[place] = PageFile(content_type, cache, body, zipped)
    return files


def _accepts_gzip(header: str) -> bool:
    """Whether a client takes gzip: `gzip` or `*` without a weight of 0."""
    for part in header.lower().split(","):
        coding, *parameters = (one.strip() for one in part.split(";"))
        if coding in ("gzip", "*"):
            weights = [one[2:] for one in parameters if one.startswith("q=")]
            return not any(weight.strip("0.") == "" for weight in weights)
    return False


__all__ = ["CONTENT_POLICY", "NOT_BUILT", "PAGE_FOLDER", "PageFiles"]
