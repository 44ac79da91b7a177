"""The tool `fetch`, against a server of the test's own."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from accord.builtin.tools.tool_call import ToolFailed
from accord.builtin.tools.web import fetch
from accord.builtin.tools.web.fetch import Page, checked_url, text_of
from tests.builtin.tools.bench import bench, everywhere, text


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        answers: dict[str, tuple[int, dict[str, str], bytes]] = {
            "/page": (200, {"Content-Type": "text/html; charset=latin-1"}, b"<h1>Caf\xe9</h1>"),
            "/json": (200, {"Content-Type": "application/json"}, b'{"a": 1}'),
            "/odd": (200, {"Content-Type": "text/plain; charset=nonsense"}, b"plain"),
            "/none": (200, {}, b"plain"),
            "/picture": (200, {"Content-Type": "image/png"}, b"\x89PNG"),
            "/big": (200, {"Content-Type": "text/plain"}, b"x" * 3_000_000),
            "/moved": (302, {"Location": "/page"}, b""),
            "/loop": (302, {"Location": "/loop"}, b""),
            "/file": (302, {"Location": "file:///etc/passwd"}, b""),
            "/broken": (500, {}, b"no"),
        }
        code, headers, body = answers.get(self.path, (404, {}, b"no"))
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) + 10 * (self.path == "/cut")))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        pass


@pytest.fixture
def site() -> Iterator[str]:
    """The address of a site on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@everywhere
async def test_a_page_is_asked_for_and_comes_as_text(
    tmp_path: Path, variant: str, site: str
) -> None:
    """Issue: fetch, behind permission that says why."""
    async with bench(tmp_path, variant) as b:
        result = await b.use(lambda t: t.fetch(f"{site}/page"))
        assert result.text == "# Café"
        assert "on your own network" in b.reasons()
        call = b.last()
        assert (call["kind"], call["status"]) == ("fetch", "completed")
        assert call["rawOutput"]["contentType"] == "text/html"
        b.answer = "reject_once"
        refused = await b.use(lambda t: t.fetch(f"{site}/page"))
        assert refused.denied == "user"


async def test_what_a_server_may_answer(tmp_path: Path, site: str) -> None:
    """Brief: size caps, bounded redirects, and words for everything else."""
    async with bench(tmp_path) as b:
        await b.set_mode("full-access")

        async def fetched(path: str, *, ok: bool) -> str:
            return text(await b.use(lambda t: t.fetch(f"{site}{path}")), ok=ok)

        assert await fetched("/json", ok=True) == '{"a": 1}'
        assert await fetched("/odd", ok=True) == "plain"
        assert await fetched("/none", ok=True) == "plain"
        assert await fetched("/moved", ok=True) == "# Café"
        assert "is image/png, 4 bytes" in await fetched("/picture", ok=False)
        assert "characters left out" in await fetched("/big", ok=True)
        assert "more than 5 times" in await fetched("/loop", ok=False)
        assert "only http and https" in await fetched("/file", ok=False)
        assert "answered 404" in await fetched("/nowhere", ok=False)
        assert "answered 500" in await fetched("/broken", ok=False)
        assert b.asked == []


async def test_a_page_out_there_cannot_send_us_into_the_users_network(
    tmp_path: Path, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brief: private targets ask anyway; a redirect must not get around that."""
    asked: list[str] = []

    def is_private(url: str) -> bool:
        asked.append(url)
        return len(asked) > 1

    monkeypatch.setattr(fetch, "_is_private", is_private)
    async with bench(tmp_path) as b:
        said = text(await b.use(lambda t: t.fetch(f"{site}/moved")), ok=False)
        assert said == f"It redirects into your own network, to {site}/page."
        assert "on the internet" in b.reasons()


async def test_nobody_there(tmp_path: Path, site: str) -> None:
    """A server that is not there, or never answers, is a sentence."""
    async with bench(tmp_path) as b:
        said = text(await b.use(lambda t: t.fetch("http://127.0.0.1:1/")), ok=False)
        assert said == "127.0.0.1 could not be reached: Connection refused."
        said = text(await b.use(lambda t: t.fetch("http://u:pass@127.0.0.1:1/")), ok=False)
        assert "pass" not in str(b.calls()[-1])


@pytest.mark.parametrize(
    "url",
    ["", "file:///etc/passwd", "ftp://a/", "http://", "http://[", "http://a:99999/", "http://a b/"],
)
def test_only_addresses_of_the_web(url: str) -> None:
    """Brief: http and https GET."""
    with pytest.raises(ToolFailed, match="not an address that can be fetched"):
        checked_url(url)


def test_a_page_with_zero_bytes_is_no_text() -> None:
    """Whatever its type says."""
    with pytest.raises(ToolFailed, match="not text"):
        text_of(Page("http://a/", "text/plain", "utf-8", b"a\0b", False))


@pytest.mark.parametrize(
    ("address", "is_global"),
    [
        ("8.8.8.8", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("::ffff:127.0.0.1", False),
        ("169.254.169.254", False),
    ],
)
def test_which_addresses_are_the_users_own(address: str, is_global: bool) -> None:
    """Loopback, private and link-local ones, however they are written."""
    assert fetch._is_global(address) is is_global
