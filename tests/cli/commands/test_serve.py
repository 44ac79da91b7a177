"""`accord serve`: what it serves, for whom, and what it refuses to do."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from accord import Agent
from accord.cli.server_setup.agent_import import import_agent
from accord.cli.usage_error import UsageError
from tests.gateway.gateway_process import (
    AGENT,
    ROOT,
    gateway_process,
    serve_environment,
    serve_words,
)
from tests.hang_limit import HANG_SECONDS
from tests.machine.certificates import make_certificate
from tests.transport.server.raw_http import INITIALIZE, RawClient, closed

pytestmark = pytest.mark.anyio

HELLO = str(ROOT / "examples" / "hello_agent.py:agent")


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


def serve(
    folder: Path, *words: str, env: dict[str, str | None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `accord serve` until it refuses."""
    return subprocess.run(
        serve_words(*words),
        cwd=ROOT,
        env=serve_environment(folder, env),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_serves_both_at_one_address_until_a_signal_comes(
    number: int, tmp_path: Path
) -> None:
    with gateway_process(tmp_path) as server:
        assert server.url == f"http://127.0.0.1:{server.port}/acp"
        client = RawClient(server.port)
        client.headers |= server.headers
        await client.initialize()
        url = f"ws://127.0.0.1:{server.port}/acp"
        async with (
            asyncio.timeout(HANG_SECONDS),
            client.stream() as stream,
            connect(url, compression=None, additional_headers=server.headers) as socket,
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
    with gateway_process(tmp_path, *options, "--tls-key", str(made.key)) as server:
        assert server.url.startswith("https://localhost:")
        trusted = made.client_context()
        trusted.set_alpn_protocols(["h2"])
        async with asyncio.timeout(HANG_SECONDS):
            _, writer = await asyncio.open_connection("localhost", server.port, ssl=trusted)
            tls: ssl.SSLObject = writer.get_extra_info("ssl_object")
            assert tls.selected_alpn_protocol() == "h2"
            await closed(writer)
            opened = connect(
                server.url.replace("https", "wss"),
                ssl=made.client_context(),
                compression=None,
                additional_headers=server.headers,
            )
            async with opened as socket:
                await socket.send(json.dumps(INITIALIZE))
                assert json.loads(await socket.recv())["result"]
        asked = urllib.request.Request(
            server.url,
            json.dumps(INITIALIZE).encode(),
            {"content-type": "application/json", **server.headers},
        )
        opened_page = await asyncio.to_thread(
            urllib.request.urlopen, asked, context=made.client_context()
        )
        with opened_page:
            assert opened_page.headers["acp-connection-id"]


async def test_tokens_come_from_a_file_an_option_or_the_environment(tmp_path: Path) -> None:
    """Issue 17: and all of them are valid at the same time."""
    file = tmp_path / "tokens"
    file.write_text("# users\nann first-secret-of-ann\nbob second-secret-of-bob\n")
    for options, env, tokens in (
        (("--token-file", str(file)), None, ["second-secret-of-bob"]),
        ((), "only-secret-of-all", ["only-secret-of-all"]),
        (("--token", "an-option-on-the-line"), None, ["an-option-on-the-line"]),
        (
            ("--token-file", str(file), "--token", "an-option-on-the-line"),
            None,
            ["first-secret-of-ann", "an-option-on-the-line"],
        ),
    ):
        variables = {"ACCORD_SERVE_TOKEN": env}
        # With these tokens, none is made.
        with gateway_process(tmp_path, *options, env=variables) as server:
            client = RawClient(server.port)
            assert (await client.post(INITIALIZE)).status == 401
            for token in tokens:
                client.headers["authorization"] = f"Bearer {token}"
                assert (await client.post(INITIALIZE)).status == 200
            server.stop()
            assert server.process.stdout is not None
            assert server.process.stdout.read() == ""


async def test_a_token_is_made_and_shown_once_if_there_is_none(tmp_path: Path) -> None:
    """Issue 17: a token always."""
    seen = set()
    for _ in range(2):
        with gateway_process(tmp_path, token=None) as server:
            client = RawClient(server.port)
            assert (await client.post(INITIALIZE)).status == 401
            client.headers |= server.headers
            assert (await client.post(INITIALIZE)).status == 200
            seen.add(server.token)
            assert server.stop() == 0
            # On stdout, where it is not removed, and not on stderr, which goes to logs.
            assert server.process.stderr is not None
            assert server.token not in "".join(server.lines) + server.process.stderr.read()
    assert len(seen) == 2


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
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
    "a token that can be guessed": (("--token-file", "SHORT"), "line 1: the token can be guessed"),
    "a name that is taken": (("--token-file", "TAKEN"), "`user` is taken"),
    "one token for two": (("--token-file", "TWICE"), "line 2 is a duplicate"),
    "a short token": (("--token", "secret-w"), "16 characters or more"),
    "a port that is none": (("--port", "70000"), "--port"),
    "an origin with a path": (("--allow-origin", "https://a.example/x"), "an origin looks like"),
    "a path of the gateway": (("--path", "/healthz"), "is a page of the gateway"),
    "a path with a sign": (("--path", "/a?b"), "a path is one as in a URL"),
    "an agent in the gateway, in a sandbox": (("--sandbox",), "--sandbox cannot hold it"),
    "a file that is not there": (("--config", "nowhere.toml"), "does not exist"),
}


@pytest.mark.parametrize(("options", "expected"), WRONG.values(), ids=WRONG)
def test_what_is_unsafe_or_impossible_is_refused(
    options: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    files = {
        "TOKENS": "ann secret-word-of-ann\n",
        "EMPTY": "\n",
        "BROKEN": "secret-word\n",
        "ODD": "ann secret-wörd\n",
        "SHORT": "ann secret-word\n",
        "TAKEN": "user secret-word-of-user\n",
        "TWICE": "ann secret-word-of-ann\nbob secret-word-of-ann\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    given = [str(tmp_path / word) if word in files else word for word in options]
    ended = serve(tmp_path, "--port", "0", *given, HELLO)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith("accord serve: ")
    assert expected in ended.stderr
    assert "secret-w" not in ended.stderr
    assert not (tmp_path / "state" / "gateway").exists()


TARGETS: dict[str, tuple[tuple[str, ...], str]] = {
    "nothing": ((), "name an agent: one that you have configured (built-in, codex)"),
    "unknown": (("other",), "there is no agent 'other'"),
    "a URL": (("wss://a.example/acp",), "a remote agent; to serve it to others, give it after --"),
    "two": (("codex", "--", "x"), "either an agent's name or a command after --"),
    "an empty command": (("--",), "the command after -- is missing"),
    "a file and a command": (("--config", "FILE", "--", "x"), "describe the command in the file"),
    "not in the file": (("--config", "FILE", "other"), "has no agent 'other' (it has one, two)"),
    "a program that is not there": (("--", "no-such-program"), "no such program"),
}


@pytest.mark.parametrize(("words", "expected"), TARGETS.values(), ids=TARGETS)
def test_a_target_that_cannot_be_served_says_what_can(
    words: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.toml").write_text('[agents.codex]\ncommand = "codex-acp"\n')
    file = tmp_path / "gateway.toml"
    file.write_text('[agents.one]\ncommand = "one"\n[agents.two]\ncommand = "two"\n')
    given = [str(file) if word == "FILE" else word for word in words]
    ended = serve(tmp_path, "--port", "0", *given)
    assert ended.returncode == 2, ended.stderr
    assert expected in ended.stderr, ended.stderr


@pytest.mark.parametrize("token", ["", " ", "two words", "newline\n", "wörd"])
def test_a_token_that_nobody_could_send_is_refused_and_not_left_out(
    token: str, tmp_path: Path
) -> None:
    """Issue 16: an empty variable does not mean that everybody may come in."""
    ended = serve(tmp_path, "--port", "0", HELLO, env={"ACCORD_SERVE_TOKEN": token})
    assert ended.returncode == 2
    assert "ACCORD_SERVE_TOKEN" in ended.stderr
    assert not token.strip() or token not in ended.stderr


def test_two_places_for_one_token_are_refused(tmp_path: Path) -> None:
    """Otherwise one of them would be ignored."""
    words = ("--port", "0", "--token", "some-token-of-a-test", HELLO)
    ended = serve(tmp_path, *words, env={"ACCORD_SERVE_TOKEN": "other-token-of-a-test"})
    assert (ended.returncode, "cannot be used together" in ended.stderr) == (2, True)


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
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        given = [port if word == "PORT" else word for word in options]
        ended = serve(tmp_path, "--port", "0", *given, HELLO)
    assert (ended.returncode, "Traceback" in ended.stderr) == (1, False)
    assert ended.stderr.startswith("accord serve: ")
    assert words in ended.stderr


def test_sessions_of_another_gateway_are_left_alone(tmp_path: Path) -> None:
    """Ours: two gateways must not write one file; each target has a folder of its own."""
    with gateway_process(tmp_path) as first:
        ended = serve(tmp_path, "--port", "0", AGENT)
        assert ended.returncode == 1
        assert f"is in use by another gateway (pid {first.process.pid})" in ended.stderr
        with gateway_process(tmp_path, target=(HELLO,)) as second:
            assert second.stop() == 0


@pytest.mark.parametrize("package", ["websockets", "granian"])
def test_a_missing_package_is_named(package: str, tmp_path: Path) -> None:
    program = (
        f"import sys; sys.modules[{package!r}] = None; sys.prefix = '/nowhere'\n"
        f"from accord.cli.main import main; sys.exit(main(['serve', {HELLO!r}, '--port', '0']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=serve_environment(tmp_path),
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
