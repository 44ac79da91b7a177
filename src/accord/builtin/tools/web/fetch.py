"""The tool `fetch`: a page or file by http, as text.

What always holds
    * Size, time and redirects are bounded.
    * A page out there cannot send us into the user's own network: a redirect to a private address
      is followed only where the user was asked for one.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import anyio
from anyio import to_thread

from accord.agent.tools.always_answers import page_act
from accord.builtin.tools.tool_call import (
    ToolFailed,
    ToolResult,
    done,
    ended,
    permit,
    shown,
    size_words,
)
from accord.builtin.tools.web.page_text import page_text
from accord.version import __version__

if TYPE_CHECKING:
    from accord.agent.tools.tool_call import ToolCallHandle
    from accord.builtin.tools.tool_call import ToolContext

PAGE_BYTES_MAX = 4 * 1024 * 1024
SECONDS_MAX = 20.0
CONNECT_SECONDS_MAX = 10.0
REDIRECTS_MAX = 5
URL_CHARACTERS_MAX = 2_000
READ_BYTES = 64 * 1024

_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript")
_TEXT_ENDINGS = ("+json", "+xml", "/x-yaml", "/yaml", "/toml", "/x-sh")


@dataclass(frozen=True)
class Page:
    """The final answer of a server."""

    url: str
    content_type: str
    charset: str
    data: bytes
    is_cut: bool


async def fetch_page(context: ToolContext, url: str) -> ToolResult:
    """Get a page as a tool call."""
    shown_url = _without_login(url)
    call = context.turn.tool_call(
        f"Fetch {shown_url}"[:300], kind="fetch", name="fetch", raw_input={"url": shown_url}
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        target = checked_url(url)
        is_private = await to_thread.run_sync(_is_private, target, abandon_on_cancel=True)
        where = "your own network" if is_private else "the internet"
        why = f"The page is on {where}."
        # Permission for the internet does not cover the user's own network.
        host = urlsplit(target).hostname or ""
        act = page_act(target, host, shown=shown_url, is_private=is_private)
        await permit(context, call, "fetch", f"Fetching {shown_url}", why, act)
        await call.start()
        try:
            with anyio.fail_after(SECONDS_MAX):
                page = await to_thread.run_sync(_get, target, is_private, abandon_on_cancel=True)
        except TimeoutError:
            raise ToolFailed(
                f"{shown_url} did not answer within {SECONDS_MAX:g} seconds."
            ) from None
        text = context.redactor.text(text_of(page))
        note = f"\n[only the first {size_words(PAGE_BYTES_MAX)} are kept]" if page.is_cut else ""
        about = {"url": page.url, "contentType": page.content_type, "bytes": len(page.data)}
        await call.show(f"{size_words(len(page.data))} of {page.content_type}")
        await call.complete(raw_output=about)
        return done(f"{text}{note}" or "[the page is empty]", about)

    return await shown(call, work)


def checked_url(url: str) -> str:
    """Check that an address can be fetched, and return it.

    Raises:
        ToolFailed: it is not.
    """
    try:
        parts = urlsplit(url)
        is_fine = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_fine = False
    if not is_fine or len(url) > URL_CHARACTERS_MAX or any(c <= " " or c == "\x7f" for c in url):
        raise ToolFailed(
            f"{url[:200]!r} is not an address that can be fetched: only http and https."
        )
    return url


def _without_login(url: str) -> str:
    try:
        parts = urlsplit(url)
        if "@" in parts.netloc:
            parts = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        return parts.geturl()
    except ValueError:
        return url


def _is_private(url: str) -> bool:
    """Whether the host is this computer or in a network of its own."""
    host = urlsplit(url).hostname or ""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return any(not _is_global(str(entry[4][0])) for entry in found)


def _is_global(address: str) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(parsed, "ipv4_mapped", None)
    return (mapped or parsed).is_global


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Returns redirects to the caller, which decides whether to follow them."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Any,
        newurl: str,
    ) -> None:
        return None


def _get(url: str, is_private: bool) -> Page:
    """Fetch a page, with redirects.  Blocks."""
    deadline = time.monotonic() + SECONDS_MAX
    handlers: list[Any] = [_NoRedirects()]
    if is_private:
        # Proxies are for the internet, not for the user's own network.
        handlers.append(urllib.request.ProxyHandler({}))
    opener = urllib.request.build_opener(*handlers)
    for _ in range(REDIRECTS_MAX + 1):
        answer = _answer(opener, url)
        try:
            if answer.status not in (301, 302, 303, 307, 308):
                return _page(answer, url, deadline)
            target = answer.headers.get("Location") or ""
        finally:
            answer.close()
        url = checked_url(urljoin(url, target))
        if not is_private and _is_private(url):
            raise ToolFailed(f"It redirects into your own network, to {_without_login(url)}.")
    raise ToolFailed(f"It redirects more than {REDIRECTS_MAX} times.")


def _answer(opener: urllib.request.OpenerDirector, url: str) -> Any:
    """The answer of the server, a redirect too."""
    request = urllib.request.Request(
        url,
        headers={
            "User-Agent": f"accord/{__version__}",
            "Accept": "text/html, text/plain, application/json;q=0.9, */*;q=0.5",
        },
    )
    try:
        return opener.open(request, timeout=CONNECT_SECONDS_MAX)
    except urllib.error.HTTPError as error:
        if error.code in (301, 302, 303, 307, 308):
            return error
        error.close()
        raise ToolFailed(f"The server answered {error.code} {error.reason}.") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        words = reason.strerror if isinstance(reason, OSError) else None
        host = urlsplit(url).hostname
        raise ToolFailed(f"{host} could not be reached: {words or reason}.") from None


def _page(answer: Any, url: str, deadline: float) -> Page:
    data = bytearray()
    try:
        while len(data) <= PAGE_BYTES_MAX and (piece := answer.read1(READ_BYTES)):
            data += piece
            if time.monotonic() > deadline:
                raise ToolFailed(f"The page did not arrive within {SECONDS_MAX:g} seconds.")
    except (OSError, http.client.HTTPException) as error:
        raise ToolFailed(ended(f"The page was cut off: {error}")) from None
    headers = answer.headers
    charset = headers.get_content_charset() or "utf-8"
    is_cut = len(data) > PAGE_BYTES_MAX
    kind = headers.get_content_type() if headers.get("Content-Type") else "text/plain"
    return Page(url, kind, charset, bytes(data[:PAGE_BYTES_MAX]), is_cut)


def text_of(page: Page) -> str:
    """The page as a text.

    Raises:
        ToolFailed: it is not text.
    """
    kind = page.content_type
    is_text = kind.startswith(_TEXT_TYPES) or kind.endswith(_TEXT_ENDINGS)
    if not is_text or b"\0" in page.data[:READ_BYTES]:
        raise ToolFailed(
            f"{_without_login(page.url)} is {kind}, {size_words(len(page.data))}: not text that"
            " can be shown."
        )
    try:
        text = page.data.decode(page.charset, "replace")
    except LookupError:
        text = page.data.decode("utf-8", "replace")
    return page_text(text) if "html" in kind else text
