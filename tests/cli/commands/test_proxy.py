"""`accord proxy` and `Proxy.run` with real processes on every hop."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from accord import Client, Permissions, RequestFailed
from accord.cli.main import main
from tests.cli.home import AGENT, Home
from tests.docs.blocks import ROOT
from tests.hang_limit import HANG_SECONDS

pytestmark = pytest.mark.anyio

PLAIN = "from accord import Proxy; Proxy('plain').run()"
SHOUT = ROOT / "examples" / "shout_proxy.py"
# Dies when it is told to, with words and a code; passes everything else on.
MORTAL = """
import os, sys
from accord import Proxy
proxy = Proxy("mortal")

@proxy.on_request("session/prompt")
def prompt(message):
    if message.params["prompt"][-1]["text"] == "die":
        print("first words", file=sys.stderr)
        print("last words", file=sys.stderr, flush=True)
        os._exit(9)

proxy.run()
"""
# Never asks: writes two files as soon as it has a session, and tells what was refused.
WRITER = """
import json, sys

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    said = json.loads(line)
    if said.get("method") == "initialize":
        say(id=said["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif said.get("method") == "session/new":
        say(id=said["id"], result={"sessionId": "s"})
        for name in ("bad.txt", "ok.txt"):
            path = said["params"]["cwd"] + "/" + name
            params = {"sessionId": "s", "path": path, "content": ""}
            say(id=name, method="fs/write_text_file", params=params)
    elif "error" in said:
        say(method="_told", params=said)
"""
# Says nothing before its input has ended, and all of it then.
LATE = """
import json, sys

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def tell(text):
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    say(method="session/update", params={"sessionId": "s", "update": update})

for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        say(id=asked["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
tell("so sk-abcdef")
tell("ghijklmnop")
say(id=asked["id"], result={"stopReason": "end_turn"})
tell("and s")
"""
SAID_LATE = "so [secret]and s"
GUARD = """
import sys
from accord.proxy.builtin.guard.guard import guard
guard().run(sys.argv[1:])
"""


def python(program: str) -> str:
    return f"{sys.executable} -c '{program}'"


def accord(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "accord", *words)


class Raw:
    """A process that is spoken to line by line."""

    def __init__(self, command: Sequence[str], home: Home) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=home.project,
            env=home.env,
            start_new_session=True,
        )
        self.session_id = ""

    def say(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def initialize(self) -> dict[str, Any]:
        self.say(id=0, method="initialize", params={"protocolVersion": 1})
        return self.hear()

    def end(self) -> tuple[int, str]:
        """Wait for its end; its input stays open."""
        code = self.process.wait(HANG_SECONDS)
        assert self.process.stderr is not None
        return code, self.process.stderr.read().decode()


@pytest.fixture
def raw(home: Home) -> Iterator[Any]:
    """Starts processes and ends what is left of them."""
    started: list[Raw] = []

    def start(*command: str) -> Raw:
        started.append(Raw(command, home))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait(HANG_SECONDS)
        for pipe in (one.process.stdin, one.process.stdout, one.process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


async def test_a_whole_turn_through_ready_made_proxies_a_program_and_an_agent(home: Home) -> None:
    """Issue 5: permission and file requests travel the whole chain; v1, so that all is used."""
    (home.project / "AGENTS.md").write_text("be kind")
    chain = accord(
        "proxy",
        "context",
        "guard",
        "budget --prompts 2 --minutes 30",
        f"{sys.executable} {SHOUT}",
        "--",
        *AGENT,
        "v1",
    )
    async with Client.spawn(
        *chain, cwd=home.project, env=home.env, permissions=Permissions.allow_all()
    ) as client:
        assert client.protocol_version == 1
        session = await client.new_session(cwd=home.project)
        reply = await session.ask("/nothing")
        reply = await session.ask("write x.txt")
        assert "WROTE=TRUE" in reply.text
        assert (home.project / "x.txt").read_text() == "new text\n"
        with pytest.raises(RequestFailed, match="budget of 2 prompts"):
            await session.ask("more")


async def test_twenty_hops_work(home: Home) -> None:
    """Issue 5: 20 hops."""
    hops = [python(PLAIN.replace("'", '"'))] * 3 + ["context"] * 16 + [f"{sys.executable} {SHOUT}"]
    chain = accord("proxy", *hops, "--", *AGENT)
    async with Client.spawn(
        *chain, cwd=home.project, env=home.env, permissions=Permissions.allow_all()
    ) as client:
        session = await client.new_session(cwd=home.project)
        reply = await session.ask("write x.txt; run echo hi")
        assert "WROTE=TRUE" in reply.text
        async with session.prompt("wait") as turn:
            await session.cancel()
            assert (await turn.wait()).stop_reason == "cancelled"


async def test_chains_stand_in_chains(home: Home) -> None:
    """Issue 5: the conductor is itself usable as a proxy in a larger chain."""
    inner = shlex.join(["accord", "proxy", "context", shlex.join([sys.executable, str(SHOUT)])])
    inner = inner.replace("accord", shlex.join(accord()), 1)
    chain = accord("proxy", inner, "guard --otherwise allow", "--", *AGENT)
    async with Client.spawn(
        *chain, cwd=home.project, env=home.env, permissions=Permissions.allow_all()
    ) as client:
        session = await client.new_session(cwd=home.project)
        assert "WROTE=TRUE" in (await session.ask("write x.txt")).text


@pytest.mark.slow
async def test_twenty_processes_work(home: Home) -> None:
    """Issue 5: 20 hops, each a process of its own."""
    hops = [python(PLAIN.replace("'", '"'))] * 19
    chain = accord("proxy", *hops, "--", *AGENT)
    async with Client.spawn(
        *chain, cwd=home.project, env=home.env, permissions=Permissions.allow_all()
    ) as client:
        session = await client.new_session(cwd=home.project)
        assert "wrote=True" in (await session.ask("write x.txt")).text


def prompt(raw: Raw, number: int, text: str) -> dict[str, Any]:
    """Say something to the session; the answer, behind all updates."""
    block = {"type": "text", "text": text}
    raw.say(
        id=number, method="session/prompt", params={"sessionId": raw.session_id, "prompt": [block]}
    )
    while "id" not in (heard := raw.hear()):
        pass
    return heard


def new_session(raw: Raw, home: Home) -> None:
    """Make the session that is then spoken to."""
    raw.say(id=1, method="session/new", params={"cwd": str(home.project), "mcpServers": []})
    while "id" not in (heard := raw.hear()):
        pass
    raw.session_id = heard["result"]["sessionId"]


@pytest.mark.parametrize("on_death", ["fail", "restart", "bypass"])
def test_a_hop_that_dies_is_named_with_its_code_and_last_words(
    raw: Any, home: Home, on_death: str
) -> None:
    """Issue 5: a clear error; if told so, restarted or bypassed for what comes after."""
    (home.project / "mortal.py").write_text(MORTAL)
    mortal = f"{sys.executable} mortal.py"
    chain = raw(*accord("proxy", "--on-death", on_death, "context", mortal, "--", *AGENT, "v1"))
    assert chain.initialize()["result"]["protocolVersion"] == 1
    new_session(chain, home)
    error = prompt(chain, 2, "die")["error"]
    assert "mortal.py" in error["message"]
    assert "exit code 9" in error["message"]
    assert error["data"]["stderr"] == "first words\nlast words"
    if on_death == "fail":
        code, said = chain.end()
        assert code == 1
        assert "mortal.py" in said
        return
    assert prompt(chain, 3, "stop refusal")["result"]["stopReason"] == "refusal"
    if on_death == "restart":
        assert "exit code 9" in prompt(chain, 4, "die")["error"]["message"]
        assert prompt(chain, 5, "stop refusal")["result"]["stopReason"] == "refusal"
    chain.process.stdin.close()
    assert chain.process.wait(HANG_SECONDS) == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "no component"),
        (("budget", "--", "x"), "at least one of"),
        (("budget --minutes soon", "--", "x"), "invalid"),
        (("guard --policy nowhere.toml", "--", "x"), "does not exist"),
        (("context --what", "--", "x"), "unrecognized"),
        (("", "--", "x"), "empty"),
    ],
)
def test_wrong_usage_has_a_sentence_and_a_code(
    words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours: 2, as for every command."""
    assert main(["proxy", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_component_that_cannot_be_started_is_named(home: Home) -> None:
    """Ours: 127, as a shell says it."""
    ended = home.accord("proxy", "context", "--", "no-such-program")
    assert (ended.code, ended.out) == (127, "")
    assert ended.error == "accord proxy: cannot start 'no-such-program': no such program\n"


def test_a_policy_file_rules_in_the_folders_that_it_names(raw: Any, home: Home) -> None:
    """Issue 5: the policy files that there are."""
    (home.config / "permissions.toml").write_text(
        'otherwise = "reject"\n[[rule]]\neffect = "allow"\nkind = "edit"\npath = "ok.txt"\n'
        f'workspace = "{home.project}"\n'
    )
    (home.project / "agent.py").write_text(WRITER)
    # What the agent was told it says by a method of its own.
    chain = raw(*accord("proxy", "guard --pass _told", "--", sys.executable, "agent.py"))
    chain.initialize()
    chain.say(id=1, method="session/new", params={"cwd": str(home.project), "mcpServers": []})
    heard = [chain.hear() for _ in range(3)]
    asked = next(one for one in heard if one.get("method") == "fs/write_text_file")
    assert asked["params"]["path"].endswith("ok.txt")
    told = next(one for one in heard if one.get("method") == "_told")
    assert told["params"]["id"] == "bad.txt"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("what", ["chain", "program"])
def test_a_signal_ends_the_whole_chain(raw: Any, home: Home, number: int, what: str) -> None:
    """Ours: no process outlives the chain, and Ctrl-C prints no traceback."""
    commands = {
        "chain": accord("proxy", python(PLAIN.replace("'", '"')), "--", *AGENT),
        "program": (sys.executable, str(SHOUT), *AGENT),
    }
    chain = raw(*commands[what])
    chain.initialize()
    os.kill(chain.process.pid, number)
    code, error = chain.end()
    assert code == (130 if number == signal.SIGINT else -signal.SIGTERM)
    assert "Traceback" not in error


@pytest.mark.parametrize("command", ["good", "missing", "dies"])
def test_a_proxy_program_ends_as_it_should(raw: Any, home: Home, command: str) -> None:
    """Ours: 0 when the client goes, 1 and a sentence when the agent does."""
    agents = {
        "good": AGENT,
        "missing": ("no-such-program",),
        "dies": (sys.executable, "-c", "import sys; print('oh', file=sys.stderr); sys.exit(3)"),
    }
    proxy = raw(sys.executable, str(SHOUT), *agents[command])
    if command == "good":
        assert proxy.initialize()["result"]["protocolVersion"] == 1
        proxy.process.stdin.close()
        assert proxy.process.wait(HANG_SECONDS) == 0
        return
    code, error = proxy.end()
    assert code == 1
    assert ("exit code 3" if command == "dies" else "no such program") in error
    assert "Traceback" not in error


def test_a_proxy_program_answers_what_was_asked_when_its_input_ends(home: Home) -> None:
    """Ours: a conversation may be piped in."""
    params = {"protocolVersion": 1}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    for command in ((sys.executable, str(SHOUT)), accord("proxy", "context", "--")):
        done = subprocess.run(
            [*command, *AGENT],
            input=line + "\n",
            capture_output=True,
            text=True,
            env=home.env,
            timeout=HANG_SECONDS,
            check=False,
        )
        assert json.loads(done.stdout)["id"] == 1
        assert done.returncode == 0


def test_what_is_told_when_the_input_has_ended_arrives(home: Home) -> None:
    """Ours: a conversation may be piped in, and who pipes it reads on; also what was kept back."""
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {"sessionId": "s"}},
    ]
    for command in (sys.executable, "-c", GUARD), accord("proxy", "guard", "--"):
        done = subprocess.run(
            [*command, sys.executable, "-c", LATE],
            input="".join(f"{json.dumps(line)}\n" for line in lines),
            capture_output=True,
            text=True,
            env=home.env,
            timeout=HANG_SECONDS,
            check=False,
        )
        heard = [json.loads(line) for line in done.stdout.splitlines()]
        answers = [one["id"] for one in heard if "id" in one]
        updates = [one["params"]["update"] for one in heard if "method" in one]
        said = "".join(one["content"]["text"] for one in updates)
        assert answers == [1, 2], done.stderr
        # What a chain is told behind its last answer may come too late.
        assert said.startswith("so [secret]") if "accord" in command else said == SAID_LATE
        assert "abc" not in done.stdout


def test_help_names_the_ready_made_proxies(home: Home) -> None:
    """Ours: what can be used is found."""
    text = home.accord("proxy", "--help").out
    for name in ("context", "guard", "budget", "--on-death"):
        assert name in text
