"""`accord serve`: what it serves, for whom, and what it refuses to do."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from argparse import Namespace
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from accord import Agent
from accord.cli.server_setup.agent_import import import_agent
from accord.cli.server_setup.server_options import options_of
from accord.cli.usage_error import UsageError
from tests.hang_limit import HANG_SECONDS
from tests.machine.certificates import make_certificate
from tests.transport.server.raw_http import INITIALIZE, RawClient, closed
from tests.transport.server.serve_process import ROOT, serve_command, serve_process

pytestmark = pytest.mark.anyio

HELLO = str(ROOT / "examples" / "hello_agent.py:agent")


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_serves_both_at_one_address_until_a_signal_comes(number: int) -> None:
    with serve_process() as server:
        assert server.url == f"http://127.0.0.1:{server.port}/acp"
        client = RawClient(server.port)
        await client.initialize()
        async with (
            asyncio.timeout(HANG_SECONDS),
            client.stream() as stream,
            connect(f"ws://127.0.0.1:{server.port}/acp", compression=None) as socket,
        ):
            await socket.send(json.dumps(INITIALIZE))
            assert json.loads(await socket.recv())["result"]
            assert await asyncio.to_thread(server.stop, number) == 0
            await socket.wait_closed()
            assert socket.close_code == 1001
            await stream.ended()


@pytest.mark.rule("TR-HTTP-02", "TR-HTTP-18")
async def test_tls_serves_http_2_and_websocket(tmp_path: Path) -> None:
    made = make_certificate(tmp_path)
    options = ("--host", "localhost", "--tls-cert", str(made.certificate))
    with serve_process(*options, "--tls-key", str(made.key)) as server:
        assert server.url.startswith("https://localhost:")
        trusted = made.client_context()
        trusted.set_alpn_protocols(["h2"])
        async with asyncio.timeout(HANG_SECONDS):
            _, writer = await asyncio.open_connection("localhost", server.port, ssl=trusted)
            tls: ssl.SSLObject = writer.get_extra_info("ssl_object")
            assert tls.selected_alpn_protocol() == "h2"
            await closed(writer)
            url = server.url.replace("https", "wss")
            async with connect(url, ssl=made.client_context(), compression=None) as socket:
                await socket.send(json.dumps(INITIALIZE))
                assert json.loads(await socket.recv())["result"]
        asked = urllib.request.Request(
            server.url,
            json.dumps(INITIALIZE).encode(),
            {"content-type": "application/json"},
        )
        opened = await asyncio.to_thread(
            urllib.request.urlopen, asked, context=made.client_context()
        )
        with opened:
            assert opened.headers["acp-connection-id"]


async def test_tokens_come_from_a_file_or_from_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# users\nann first-secret\nbob second-secret\n")
    for options, env, token in (
        (("--token-file", str(file)), {}, "second-secret"),
        ((), {"ACCORD_SERVE_TOKEN": "only-secret"}, "only-secret"),
    ):
        with serve_process(*options, env=env) as server:
            client = RawClient(server.port)
            assert (await client.post(INITIALIZE)).status == 401
            client.headers["authorization"] = f"Bearer {token}"
            assert (await client.post(INITIALIZE)).status == 200


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "others without tokens": (("--host", "0.0.0.0"), "--token-file"),
    "others without TLS": (("--host", "0.0.0.0", "--token-file", "TOKENS"), "--tls-cert"),
    "others without a name": (
        ("--host", "0.0.0.0", "--token-file", "TOKENS", "--insecure-http"),
        "--allow-host",
    ),
    "half of a certificate": (("--tls-cert", "x.pem"), "must be given together"),
    "no certificate": (("--tls-cert", "x.pem", "--tls-key", "y.pem"), "cannot be used"),
    "no token file": (("--token-file", "nowhere"), "cannot be read"),
    "an empty token file": (("--token-file", "EMPTY"), "has no token"),
    "a token without a name": (("--token-file", "BROKEN"), "line 1"),
    "a token that cannot be sent": (("--token-file", "ODD"), "line 1"),
    "a port that is none": (("--port", "70000"), "--port"),
    "an origin with a path": (("--allow-origin", "https://a.example/x"), "an origin looks like"),
}


@pytest.mark.parametrize(("options", "expected"), WRONG.values(), ids=WRONG)
def test_what_is_unsafe_or_impossible_is_refused(
    options: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    files = {
        "TOKENS": "ann secret-word\n",
        "EMPTY": "\n",
        "BROKEN": "secret-word\n",
        "ODD": "ann secret-wörd\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    given = [str(tmp_path / word) if word in files else word for word in options]
    done = subprocess.run(
        serve_command(*given),
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "ACCORD_SERVE_TOKEN"},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr
    assert "secret-w" not in done.stderr


@pytest.mark.parametrize("token", ["", " ", "two words", "newline\n", "wörd"])
def test_a_token_that_nobody_could_send_is_refused_and_not_left_out(token: str) -> None:
    """Issue 16: an empty variable does not mean that everybody may come in."""
    arguments = Namespace(
        host="127.0.0.1", port=0, token_file=None, tls_cert=None, tls_key=None, insecure_http=False
    )
    with pytest.raises(UsageError) as refused:
        options_of(arguments, {"ACCORD_SERVE_TOKEN": token})
    assert "ACCORD_SERVE_TOKEN" in str(refused.value)
    assert not token.strip() or token not in str(refused.value)


def test_two_places_for_tokens_are_refused(tmp_path: Path) -> None:
    """Otherwise one of them would be ignored."""
    (tmp_path / "tokens").write_text("ann secret-word\n")
    arguments = Namespace(host="127.0.0.1", port=0, token_file=tmp_path / "tokens")
    with pytest.raises(UsageError, match="cannot be used together"):
        options_of(arguments, {"ACCORD_SERVE_TOKEN": "other"})


def test_a_key_with_a_password_is_refused_and_nobody_is_asked(tmp_path: Path) -> None:
    """OpenSSL would ask on the terminal, where nobody may sit."""
    made = make_certificate(tmp_path)
    locked = tmp_path / "locked.pem"
    subprocess.run(
        ["openssl", "pkey", "-in", made.key, "-aes128", "-passout", "pass:word", "-out", locked],
        check=True,
        timeout=HANG_SECONDS,
    )
    done = subprocess.run(
        serve_command("--tls-cert", str(made.certificate), "--tls-key", str(locked)),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert (done.returncode, "has a password" in done.stderr) == (2, True), done.stderr


def test_a_certificate_and_a_key_that_do_not_fit_are_told_apart(tmp_path: Path) -> None:
    """Ours: OpenSSL says `PEM lib` for most of it."""
    (tmp_path / "other").mkdir()
    made, other = make_certificate(tmp_path), make_certificate(tmp_path / "other")
    certificate, key = made.certificate, made.key
    for cert, private, words in (
        (key, certificate, f"{str(key)!r} has no certificate"),
        (certificate, certificate, f"{str(certificate)!r} has no private key"),
        (certificate, other.key, "does not belong to the certificate"),
        (tmp_path / "none", key, "does not exist"),
    ):
        arguments = Namespace(
            host="127.0.0.1", port=0, token_file=None, tls_cert=cert, tls_key=private
        )
        with pytest.raises(UsageError, match=re.escape(words)):
            options_of(arguments, {})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--port", "PORT"), "is in use; choose another one with --port"),
        (("--host", "nowhere.invalid", "--insecure-http"), "cannot listen on port 0 of nowhere"),
    ],
)
def test_an_address_that_cannot_be_used_is_explained(
    options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    (tmp_path / "tokens").write_text("ann secret-word\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        given = [port if word == "PORT" else word for word in options]
        done = subprocess.run(
            serve_command("--token-file", str(tmp_path / "tokens"), *given),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            check=False,
        )
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert done.stderr.startswith("accord serve: ")
    assert words in done.stderr


@pytest.mark.parametrize("package", ["websockets", "granian"])
def test_a_missing_package_is_named(package: str) -> None:
    program = (
        f"import sys; sys.modules[{package!r}] = None; sys.prefix = '/nowhere'\n"
        f"from accord.cli.main import main; sys.exit(main(['serve', {HELLO!r}, '--port', '0']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    expected = f"accord: serving needs the package {package}; install accord[remote]\n"
    assert (done.returncode, done.stderr) == (1, expected)


AGENT_FILE = "from accord import Agent\nagent = Agent('a', version='1')\nnumber = 7\n"


def test_an_agent_is_imported_from_a_file_and_from_a_module(tmp_path: Path) -> None:
    (tmp_path / "some_agents_of_a_test.py").write_text(AGENT_FILE)
    assert import_agent(f"{tmp_path}/some_agents_of_a_test.py:agent", str(tmp_path)).name == "a"
    assert import_agent("some_agents_of_a_test:agent", str(tmp_path)).name == "a"


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("agent", "MODULE:AGENT"),
        ("module:", "MODULE:AGENT"),
        (":agent", "MODULE:AGENT"),
        ("module:not a name", "MODULE:AGENT"),
        ("nowhere.at.all:agent", "there is no module"),
        ("nowhere.py:agent", "does not exist"),
        ("json:agent", "it has no agent"),
        ("FILE:number", "it has agent"),
    ],
)
def test_a_wrong_name_says_what_is_possible(named: str, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "more_agents_of_a_test.py"
    file.write_text(AGENT_FILE)
    with pytest.raises(UsageError, match=expected):
        import_agent(named.replace("FILE", str(file)), str(tmp_path))


@pytest.mark.parametrize("line", ["agent.run()", "import anyio; anyio.run(agent.serve_stdio)"])
@pytest.mark.parametrize("is_file", [True, False])
def test_an_agent_that_starts_when_it_is_imported_is_refused(
    line: str, is_file: bool, tmp_path: Path
) -> None:
    """Ours: it would wait for a client on stdin, and nothing would be served."""
    name = f"eager_agents_of_a_test_{is_file}_{'run' in line[:10]}"
    file = tmp_path / f"{name}.py"
    file.write_text(f"{AGENT_FILE}{line}\n")
    run, serve_stdio = Agent.run, Agent.serve_stdio
    with pytest.raises(UsageError, match="__main__"):
        import_agent(f"{file if is_file else name}:agent", str(tmp_path))
    assert (Agent.run, Agent.serve_stdio) == (run, serve_stdio)


def test_a_guarded_agent_is_imported(tmp_path: Path) -> None:
    file = tmp_path / "guarded_agents_of_a_test.py"
    file.write_text(f'{AGENT_FILE}if __name__ == "__main__":\n    agent.run()\n')
    assert import_agent(f"{file}:agent", str(tmp_path)).name == "a"


def test_a_mistake_inside_of_the_module_is_shown_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "broken_agents_of_a_test.py").write_text("import nowhere_to_be_found\n")
    with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found"):
        import_agent("broken_agents_of_a_test:agent", str(tmp_path))
