"""No secret leaves by any way out: each string of each message, in every output."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.cli.main import main
from accord.cli.run.exit_status import Outcome
from accord.cli.run.report_formats import JsonReport
from accord.cli.session_export import as_json, as_markdown
from accord.client.audit.log import AuditLog
from accord.client.permissions.request import Decided, PermissionRequest
from accord.conformance.check_definition import Check, Finding
from accord.conformance.frames.raw_peer import Frame
from accord.conformance.reports.html_page import as_html
from accord.conformance.reports.json_and_junit import as_json as check_json
from accord.conformance.reports.json_and_junit import as_junit
from accord.conformance.reports.terminal_table import table
from accord.conformance.reports.untrusted_text import without_secrets
from accord.conformance.rule_definition import Rule
from accord.conformance.run.check_runner import CheckRun
from accord.conformance.run.verdicts import Report, Result
from accord.connection.error_responses import report
from accord.machine.redacted_logs import LOGGERS, log_redactor
from accord.machine.redaction.redactor import Redactor
from accord.proxy.builtin.guard.guard import guard
from accord.proxy.builtin.guard.message_redaction import ACTS
from accord.schema import v2
from accord.schema.codec import Invalid, decode
from accord.store.session_store import SessionRecord
from accord.tracing.frames import Speaker
from accord.tracing.recorder.recording_writer import RecordingWriter
from accord.tracing.recording_file import frame_line, header_line, read_recording, stderr_line
from tests.cli.security.canaries import FORMS, KNOWN, Planted, numbers_in, planted, secret
from tests.hang_limit import HANG_SECONDS
from tests.proxy.builtin.opened import opened
from tests.proxy.wires import Wire, around

PLANTED = list(planted())
BY_NUMBER = {one.number: one for one in PLANTED}
UPDATE: Any = v2.SessionUpdate
SOURCE = Path(__file__).parents[3] / "src" / "accord"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A secret variable with a known value."""
    monkeypatch.setenv("CANARY_TOKEN", KNOWN)
    log_redactor.cache_clear()
    yield
    log_redactor.cache_clear()


def told(output: str, *, but: Callable[[Planted], bool] = lambda one: False) -> list[Planted | int]:
    """The secrets that an output has, but for those that may be there."""
    found = sorted(numbers_in(output))
    return [
        BY_NUMBER.get(one, one) for one in found if one not in BY_NUMBER or not but(BY_NUMBER[one])
    ]


def recorded(messages: Sequence[Planted]) -> bytes:
    """The file that a recorder writes."""
    lines: list[bytes] = []
    scribe = RecordingWriter(lines.append, Redactor.of_environment())
    command = ["agent", "--token", secret(0), f"--key={secret(3)}", KNOWN]
    scribe.head(started="2026-01-01T00:00:00Z", command=command, program="accord")
    for one in messages:
        scribe.frame(0.0, speaker(one), encoded(one.message))
        scribe.take("stderr", 0.0, f"{secret(one.number)}\n".encode())
    scribe.take("end", 1.0, b"0")
    scribe.close()
    return b"".join(lines)


def speaker(one: Planted) -> Speaker:
    return "agent" if one.sender == "agent" else "client"


def encoded(message: Any) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode()


def test_there_is_a_message_for_every_method_of_every_version() -> None:
    """Issue 12: every string field of every message; else the tests below would say little."""
    assert len({(one.version, one.method) for one in PLANTED}) > 80
    assert len(PLANTED) > 3000
    strings = {one.path[-1] for one in PLANTED if one.path}
    assert {"title", "name", "description", "text", "message", "url", "value", "path"} <= strings


def test_no_secret_is_in_a_recording() -> None:
    """Issue 12: MCP args such as `--token X` stayed in recordings."""
    file = recorded(PLANTED)
    assert told(file.decode()) == []
    assert len(read_recording(file.splitlines()).entries) == 2 * len(PLANTED) + 1


@pytest.mark.parametrize("version", ["v1", "v2", "draft"])
def test_no_secret_is_shown_of_a_recording_that_has_one(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 12: a recording of an older version may have one, and says that it has none."""
    path, page = tmp_path / "old.jsonl", tmp_path / "page.html"
    lines = [header_line(started="", command=["a", secret(0)], redacted=True, program="accord")]
    for one in PLANTED:
        if one.version == version:
            lines.append(frame_line(0.0, speaker(one), encoded(one.message)))
            lines.append(stderr_line(0.0, secret(one.number).encode()))
    path.write_bytes(b"".join(lines))
    for way in (["--text"], ["--html", str(page)], ["--stats"], ["--validate", "--json"]):
        assert main(["trace", str(path), *way]) in (0, 1)
        output = capsys.readouterr().out or page.read_text()
        assert len(output) > 500
        assert told(output) == []


def may_pass_guard(one: Planted) -> bool:
    """What docs/how-to/proxies.md says that guard does not change."""
    address = one.method == "elicitation/create" and one.path == ("url",)
    acts = one.method.startswith(ACTS) and one.part != "error"
    return one.is_identifier or address or acts


@pytest.mark.anyio
@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_no_secret_that_an_agent_tells_passes_guard(version: str) -> None:
    """Issue 12: guard passed error answers, `agentInfo`, mode and option names."""
    messages = [
        one
        for one in PLANTED
        if (one.version, one.sender) == (version, "agent")
        # The known value says nothing about where it was.
        and not (may_pass_guard(one) and KNOWN in secret(one.number))
    ]
    # An answer to `initialize` is read before anything else passes, so each has a guard of its own.
    first = [[one] for one in messages if one.method == "initialize"]
    later = [one for one in messages if one.method != "initialize"]
    heard = 0
    for some in [*first, *(later[start : start + 200] for start in range(0, len(later), 200))]:
        proxy = guard(otherwise="allow", secrets=[KNOWN], passing=["_*"])
        async with around(proxy) as (client, agent, _, ended):
            if some[0].method != "initialize":
                await opened(client, agent, int(version[1]))
            for one in some:
                await say(client, agent, one)
            await agent.transport.aclose()
            with anyio.fail_after(HANG_SECONDS):
                while not ended:
                    await anyio.lowlevel.checkpoint()
            output = b"\n".join(client.lines).decode()
            heard += len(client.lines)
            assert told(output, but=may_pass_guard) == []
    assert heard > len(messages) // 2


async def say(client: Wire, agent: Wire, one: Planted) -> None:
    """The agent tells, asks, or answers."""
    message = dict(one.message)
    if one.part == "params":
        if "id" in message:
            message["id"] = f"a{one.number}"
        agent.say(message)
        return
    # What the client asks for has nothing to do with what it is answered.
    params = {"sessionId": "s"} if one.method != "initialize" else {"protocolVersion": 1}
    client.request(f"c{one.number}", one.method, params)
    while True:
        heard = await agent.hear()
        if heard.get("method") == one.method and "id" in heard:
            break
    message["id"] = heard["id"]
    agent.say(message)


@pytest.mark.anyio
@pytest.mark.parametrize("of", ["client", "agent"])
async def test_guard_learns_the_secrets_that_it_sees(of: str) -> None:
    """Issue 12: what passed as a variable, a header, an option or a login is a known value."""
    values = [f"learnt-{n}-canary{n:06d}x" for n in range(4)]
    server = {
        "name": "m",
        "command": "/bin/m",
        "args": ["--token", values[0]],
        "env": [{"name": "ANY", "value": values[1]}],
        "headers": [{"name": "Authorization", "value": f"Bearer {values[2]}"}],
    }
    async with around(guard(passing=["_*"])) as (client, agent, _, _):
        await opened(client, agent, 1)
        if of == "client":
            client.request("m", "session/new", {"cwd": "/w", "mcpServers": [server]})
            client.request("a", "authenticate", {"credentials": {"apiKey": values[3]}})
            for _ in range(2):
                asked = await agent.hear()
                agent.answer(asked["id"], {"sessionId": "s"})
                await client.hear()
            assert asked["params"]["credentials"] == {"apiKey": values[3]}
        else:
            agent.notify("_x/servers", {"mcpServers": [server], "apiKey": values[3]})
            assert numbers_in(json.dumps(await client.hear())) == set()
        agent.notify("_x/said", {"text": " and ".join(values)})
        assert numbers_in(json.dumps(await client.hear())) == set()


def cleaned_run() -> CheckRun:
    """What `accord check` found, quoting every message, as it is reported."""

    async def nothing(stage: object) -> None:
        """A check that does nothing."""

    check: Check[Any] = Check("c", ("R-1",), "agent", "1", nothing)
    frames = tuple(
        Frame(0.0, one.sender == "client", encoded(one.message), one.message) for one in PLANTED
    )
    findings = tuple(
        Finding(
            "R-1",
            "fail",
            f"it said {secret(one.number)}",
            json.dumps(one.message, ensure_ascii=False),
            json.dumps(one.message["params"], ensure_ascii=False)
            if "params" in one.message
            else "",
        )
        for one in PLANTED
    )
    stderr = "\n".join(secret(one.number) for one in PLANTED)
    run = CheckRun(check, findings, 0.1, (frames,), stderr)
    return without_secrets([run], Redactor.of_environment())[0]


def test_no_secret_is_in_a_report_of_check() -> None:
    """Issue 12: `accord check` printed a key from an agent's error."""
    run = cleaned_run()
    rule = Rule("R-1", "agent", "MUST", "mandatory", "wire", False, "a rule", "source")
    found = tuple(("c", one) for one in run.findings)
    results = tuple(Result(rule, "fail", 0.1, found[at : at + 3]) for at in range(0, len(found), 3))
    made = Report(("agent",), "agent", "1", results, (run,), 1.0)
    for output in (check_json([made]), as_junit([made]), as_html([made]), "\n".join(table(made))):
        assert len(output) > 10_000
        assert told(output) == []


def test_no_secret_is_in_the_audit_log(tmp_path: Path) -> None:
    """Issue 12: every way out."""
    log = AuditLog(tmp_path / "audit.jsonl", bytes_max=1 << 30)
    for one in PLANTED:
        log.record("decision", command=secret(one.number), message=one.message)
    log.close()
    assert told((tmp_path / "audit.jsonl").read_text()) == []


@pytest.mark.parametrize("name", LOGGERS)
def test_no_secret_is_logged(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """Issue 12: logs of the library quote peers and commands."""
    logger = logging.getLogger(name)
    with caplog.at_level(logging.DEBUG, logger=name):
        for number in range(len(FORMS)):
            logger.warning("the agent said %s", secret(number))
            try:
                raise ValueError(secret(number))
            except ValueError:
                logger.exception("it failed at %r", {"command": secret(number)})
    output = "\n".join(map(logging.Formatter("%(message)s").format, caplog.records))
    assert "the agent said" in output
    assert told(output) == []


def test_every_module_has_its_logger_from_the_one_place() -> None:
    """Issue 12: the filter is there in every program that loads a module that logs."""
    source = {path.relative_to(SOURCE): path.read_text() for path in SOURCE.rglob("*.py")}
    found = {
        name for text in source.values() for name in re.findall(r"\blogger\(\"([.\w]+)\"\)", text)
    }
    assert len(found) > 5
    assert found <= set(LOGGERS)
    # `mcp/log_redaction.py` has a filter for the loggers of other packages, and `log_lines.py` only
    # writes what all of ours have let through.
    own = {Path("machine/redacted_logs.py"), Path("mcp/log_redaction.py")}
    own.add(Path("cli/server_setup/log_lines.py"))
    assert {path for path, text in source.items() if "getLogger" in text} == own


def test_an_agent_of_the_library_logs_no_secret(tmp_path: Path) -> None:
    """Issue 12: an agent's process loads other modules than a client's."""
    log = tmp_path / "agent.log"
    program = f"""
import logging
from accord import Agent
logging.basicConfig(level=logging.DEBUG, filename={str(log)!r})
Agent("quiet", version="1").run()
"""
    frames: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": 1, secret(1): 1}},
        {"method": "session/cancel", "params": {"sessionId": "x", secret(2): 1}},
    ]
    said = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in frames)
    command = [sys.executable, "-c", program]
    subprocess.run(
        command, input=said, text=True, capture_output=True, check=True, timeout=HANG_SECONDS
    )
    assert "unknown key" in log.read_text()
    assert told(log.read_text()) == []


def test_no_secret_is_in_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    """Issue 12: what nobody foresaw is shown with its traceback."""
    for number in range(len(FORMS)):
        try:
            raise ValueError(secret(number))
        except ValueError as error:
            report(error, f"while handling {secret(number)}")
    output = capsys.readouterr().err
    assert "Traceback" in output
    assert told(output) == []


def stored() -> list[Any]:
    """Every update that a store can hold."""
    found: list[Any] = []
    for one in PLANTED:
        if (one.version, one.method, one.part) == ("v2", "session/update", "params"):
            try:
                raw = json.dumps(one.message["params"]["update"]).encode()
                found.append(decode(UPDATE, raw))
            except Invalid:
                continue
    return found


def test_no_secret_is_exported() -> None:
    """Issue 12: what is exported may be handed on."""
    updates = stored()
    assert len(updates) > 300
    record = SessionRecord("s", f"/w/{secret(0)}", title=secret(1))
    redactor = Redactor.of_environment()
    assert (
        told(
            json.dumps(as_json(record, updates, redactor), ensure_ascii=False),
            but=lambda one: one.is_identifier,
        )
        == []
    )
    for at in range(0, len(updates), 20):
        page = "\n".join(as_markdown(record, updates[at : at + 20]))
        assert told(redactor.text(page)) == []


# ---- texts in pieces

Json = dict[str, Any]


def text_block(words: str) -> Json:
    return {"type": "text", "text": words}


def draft(kind: str, words: str) -> Json:
    return {"sessionId": "s", "type": kind, "data": {"content": words}}


def current(**update: Any) -> Json:
    return {"sessionId": "s", "update": update}


STREAMS: dict[str, Callable[[str], Json]] = {
    "v1 message": lambda words: current(
        sessionUpdate="agent_message_chunk", content=text_block(words)
    ),
    "v1 thought": lambda words: current(
        sessionUpdate="agent_thought_chunk", content=text_block(words)
    ),
    "v2 message": lambda words: current(
        sessionUpdate="agent_message_chunk", messageId="m", content=text_block(words)
    ),
    "v2 tool": lambda words: current(
        sessionUpdate="tool_call_content_chunk",
        toolCallId="c",
        content={"type": "content", "content": text_block(words)},
    ),
    "v2 terminal": lambda words: current(
        sessionUpdate="terminal_output_chunk",
        terminalId="t",
        data=b64encode(words.encode()).decode(),
    ),
    "v1 terminal": lambda words: current(
        sessionUpdate="tool_call_update",
        toolCallId="c",
        _meta={"terminal_output": {"terminal_id": "t", "data": words}},
    ),
    "draft message": lambda words: draft("agent_message_chunk", words),
    "draft thought": lambda words: draft("thought_message_chunk", words),
}


def cuts(words: str) -> Iterator[list[str]]:
    """A text in two pieces, in three, and letter by letter."""
    for at in range(1, len(words)):
        yield [words[:at], words[at:]]
    third = len(words) // 3
    yield [words[:third], words[third : 2 * third], words[2 * third :]]
    yield list(words)


def joined(frames: Sequence[Json]) -> str:
    """All that a reader of these frames gets to read, with nothing between."""
    parts: list[str] = []

    def walk(value: Any, key: str = "") -> None:
        if isinstance(value, dict) and "terminal_id" in value:
            parts.append(value["data"])
        elif isinstance(value, dict):
            for name, one in value.items():
                walk(one, name)
        elif isinstance(value, list):
            for one in value:
                walk(one)
        elif isinstance(value, str) and key in ("text", "content"):
            parts.append(value)
        elif isinstance(value, str) and key == "data":
            try:
                parts.append(b64decode(value, validate=True).decode("utf-8", "replace"))
            except ValueError:
                parts.append(value)

    walk([one.get("params") for one in frames])
    return "".join(parts)


def conversations(stream: Callable[[str], Json], form: int) -> Iterator[list[Json]]:
    for pieces in cuts(f"so: {secret(form)}and more"):
        yield [{"method": "session/update", "params": stream(one)} for one in pieces]


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("form", range(len(FORMS)))
def test_no_secret_in_pieces_is_recorded(stream: str, form: int) -> None:
    """Issue 12: a recording held a key in pieces, and `accord trace` joined them."""
    for frames in conversations(STREAMS[stream], form):
        lines: list[bytes] = []
        scribe = RecordingWriter(lines.append, Redactor.of_environment())
        scribe.head(started="", command=[], program="accord")
        for frame in frames:
            scribe.frame(0.0, "agent", encoded({"jsonrpc": "2.0", **frame}))
        scribe.close()
        entries = read_recording(lines).entries
        assert len(entries) == len(frames)
        output = joined([json.loads(one.raw) for one in entries])
        assert numbers_in(output) == set()
        assert output.startswith("so: ")
        assert output.endswith("and more")


@pytest.mark.parametrize("kind", ["agent_message", "other"])
def test_no_secret_in_two_blocks_of_a_message_is_recorded(kind: str) -> None:
    """Issue 12: `accord trace --text` joined them."""
    key = "sk-" + "abcd1234" * 4
    blocks = [{"type": "text", "text": one} for one in (f"a {key[:10]}", f"{key[10:]} b")]
    update = {"sessionUpdate": kind, "messageId": "m", "content": blocks}
    params = {"sessionId": "s", "update": update}
    lines: list[bytes] = []
    scribe = RecordingWriter(lines.append, Redactor())
    scribe.head(started="", command=[], program="accord")
    scribe.frame(0.0, "agent", encoded({"method": "session/update", "params": params}))
    scribe.close()
    (entry,) = read_recording(lines).entries
    said = json.loads(entry.raw)["params"]["update"]["content"]
    assert [one["text"] for one in said] == ["a [secret] b", ""]


def test_no_line_of_a_private_key_that_an_agent_prints_is_recorded() -> None:
    """Issue 12: what an agent prints between its messages is recorded line by line."""
    lines: list[bytes] = []
    scribe = RecordingWriter(lines.append, Redactor())
    scribe.head(started="", command=[], program="accord")
    printed = [b"-----BEGIN PRIVATE KEY-----", b"MIIE0", b"MIIE1", b"-----END PRIVATE KEY-----"]
    for line in (*printed, b'{"jsonrpc":"2.0"}', b"and more"):
        scribe.frame(0.0, "agent", line)
    scribe.close()
    raw = [one.raw for one in read_recording(lines).entries]
    assert len(raw) == 6
    assert raw[4:] == [b'{"jsonrpc":"2.0"}', b"and more"]
    assert b"MIIE" not in b"".join(lines)


@pytest.mark.parametrize("stream", STREAMS)
def test_no_secret_in_pieces_is_shown_by_trace(
    stream: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 12: `accord trace --html` and `--text` join chunks and showed a key."""
    path, page = tmp_path / "old.jsonl", tmp_path / "page.html"
    for form in range(len(FORMS)):
        for frames in list(conversations(STREAMS[stream], form))[7::9]:
            lines = [header_line(started="", command=[], redacted=True, program="accord")]
            lines += [
                frame_line(0.0, "agent", encoded({"jsonrpc": "2.0", **one})) for one in frames
            ]
            path.write_bytes(b"".join(lines))
            assert main(["trace", str(path), "--text"]) == 0
            assert main(["trace", str(path), "--html", str(page)]) == 0
            output = capsys.readouterr().out + page.read_text()
            assert numbers_in(output) == set()


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [one for one in STREAMS if not one.startswith("draft")])
async def test_no_secret_in_pieces_passes_guard(stream: str) -> None:
    """Issue 5: at any character; names and hidden characters since issue 12."""
    for form in range(len(FORMS)):
        for frames in list(conversations(STREAMS[stream], form))[5::7]:
            proxy = guard(secrets=[KNOWN], passing=["_*"])
            async with around(proxy) as (client, agent, _, ended):
                await opened(client, agent, int(stream[1]))
                for one in frames:
                    agent.say(one)
                agent.notify("_x/last", {})
                heard: list[Json] = []
                while not heard or heard[-1]["method"] != "_x/last":
                    heard.append(await client.hear())
                await agent.transport.aclose()
                with anyio.fail_after(HANG_SECONDS):
                    while not ended:
                        await anyio.lowlevel.checkpoint()
                output = joined([*heard, *client.unheard()])
                assert numbers_in(output) == set()
                assert output.startswith("so: ")


# ---- what was found by attack, through the commands themselves

KEY = "sk-abcdefghijklmnop1234"

AGENT = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        error = {"code": -32603, "message": "cannot log in with KEY", "data": {"key": "KEY"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}), flush=True)
        print("KEY was wrong", file=sys.stderr, flush=True)
""".replace("KEY", KEY)


def test_check_prints_no_key_of_an_agents_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Issue 12: `accord check` prints a key from an agent's error."""
    program = tmp_path / "agent.py"
    program.write_text(AGENT)
    files = {kind: tmp_path / kind for kind in ("json", "junit", "html")}
    options = [word for kind, path in files.items() for word in (f"--report-{kind}", str(path))]
    command = [sys.executable, str(program), "--token", "hunter2secret3"]
    code = main(["check", "--only", "V1-INIT-*", "--verbose", *options, "--", *command])
    assert code == 1
    captured = capfd.readouterr()
    outputs = [captured.out, captured.err, *(path.read_text() for path in files.values())]
    assert all("[secret]" in one for one in (outputs[0], outputs[2], outputs[4]))
    for output in outputs:
        assert KEY not in output
        assert "hunter2secret3" not in output


def test_the_sentence_about_a_denial_shows_the_command_and_no_secret() -> None:
    """Issue 12: it masked harmless variables (`GRADLE_OPTS=[secret]`) and hid the command."""
    options = " ".join(f"-Dproperty.number{n}=value" for n in range(20))
    command = f"env 'GRADLE_OPTS=-Xmx2g {options}' OPENAI_API_KEY={KEY} ./gradlew build"
    request = PermissionRequest("s", title="Run it?", kind="execute", command=command, options=())
    denied = Decided(request, allowed=False, cancelled=False, by="default")
    sentence = Outcome(denied=[denied]).sentence()
    assert sentence is not None
    assert KEY not in sentence
    assert "env 'GRADLE_OPTS=-Xmx2g -Dproperty.number0=value" in sentence
    assert "OPENAI_API_KEY=[secret] ./gradlew build" in sentence


def test_the_error_in_the_events_of_a_run_has_no_secret(capfd: pytest.CaptureFixture[str]) -> None:
    """Issue 12: it quotes errors and the last words of an agent."""
    report = JsonReport()
    report.finished(Outcome(error=f"the end of its stderr:\n{KEY}"), None)
    anyio.run(report.drain)
    assert json.loads(capfd.readouterr().out)["error"].endswith("stderr:\n[secret]")
