"""`accord check`: exit codes, reports, baselines, and a real agent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from accord.cli.main import main
from tests.hang_limit import HANG_SECONDS

HELLO = [sys.executable, str(Path(__file__).parents[3] / "examples" / "hello_agent.py")]
LIAR = (
    "import sys, json\n"
    "for line in sys.stdin:\n"
    "    m = json.loads(line)\n"
    "    print('\\x1b[2Jlog', flush=True)\n"
    "    if 'id' in m: print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': "
    "{'protocolVersion': 99, 'agentInfo': '\\x1b[2J'}}), flush=True)\n"
)


def test_a_conformant_agent_gives_zero_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue: exit code 0 only when conformant, and three reports."""
    made = [tmp_path / name for name in ("r.json", "r.xml", "r.html")]
    options = ["--report-json", "--report-junit", "--report-html"]
    words = [word for pair in zip(options, map(str, made), strict=True) for word in pair]
    code = main(["check", "--only", "V1-INIT-0[467]", *words, "--", *HELLO])
    shown = capsys.readouterr().out
    assert code == 0, shown
    assert shown.startswith(
        "agent, version 1: conformant with the rules that you selected. 3 passed, 0 failed"
    )
    assert json.loads(made[0].read_text())["conformant"] is True
    assert "<testsuites" in made[1].read_text()
    assert "V1-INIT-06" in made[2].read_text()


def test_a_broken_agent_gives_one_and_its_output_is_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue: nothing that a judged program prints reaches the terminal unescaped."""
    command = [sys.executable, "-c", LIAR]
    only = ["--only", "V1-INIT-06", "--only", "V1-INIT-07"]
    known = tmp_path / "known.json"
    report = ["--report-json", str(known), "--timeout", "2"]
    assert main(["check", *only, *report, "--", *command]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("agent, version 1: NOT conformant.")
    assert "V1-INIT-07 (MUST, mandatory)" in shown
    assert "\x1b" not in shown
    assert main(["check", *only, "--baseline", str(known), "--quiet", "--", *command]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


FIRST_MESSAGE = """
import json, os, subprocess, sys
assert os.listdir(os.environ["HOME"]) == []
agent = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
params = {"protocolVersion": 1, "clientCapabilities": {}}
hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
agent.communicate(json.dumps(hello).encode() + b"\\n")
"""
"""A client that says one thing; its home is empty."""


def test_wrong_usage_gives_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: told apart from a program that fails."""
    assert main(["check"]) == 2
    assert main(["check", "--only", "V9-*", "--", *HELLO]) == 2
    assert main(["check", "--scenario", "nowhere.toml", "--", *HELLO]) == 2
    assert main(["check", "--baseline", str(tmp_path / "nothing"), "--", *HELLO]) == 2
    assert main(["check", "--jobs", "0", "--", *HELLO]) == 2
    assert main(["check", "--time-limit", "0", "--", *HELLO]) == 2
    assert "V9-*" in capsys.readouterr().err


def test_a_program_that_does_not_exist_gives_three(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: that says nothing about rules."""
    assert main(["check", "--only", "V1-INIT-06", "--", "/no/such/program"]) == 3
    assert "/no/such/program" in capsys.readouterr().err


@pytest.mark.parametrize("side", ["--protocol=1", "--client", "--client-stdio"])
def test_a_program_that_fails_before_it_speaks_gives_three(
    side: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours: a wrong path or a missing module is not a verdict, and its own message says most."""
    broken = [sys.executable, "-c", "import sys; sys.exit('no module named agent')"]
    assert main(["check", side, "--", *broken]) == 3
    error = capsys.readouterr().err
    assert "the program ended with exit code 1 before it" in error
    assert "no module named agent" in error


def test_a_client_may_be_named_by_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: it runs in a folder of its own, and the name is that of the caller's folder."""
    (tmp_path / "client.py").write_text(FIRST_MESSAGE)
    monkeypatch.chdir(tmp_path)
    only = ["check", "--client", "--only", "V1-INIT-02", "--quiet", "--"]
    assert main([*only, sys.executable, "client.py"]) == 0


def test_what_is_not_exercised_counts_when_all_is_required(tmp_path: Path) -> None:
    """Issue: `--require-all`."""
    only = ["check", "--only", "V1-CANCEL-05", "--quiet"]
    assert main([*only, "--", *HELLO]) == 4
    assert main([*only, "--require-all", "--", *HELLO]) == 1


def test_known_failures_can_be_a_list(tmp_path: Path) -> None:
    """Issue: `--baseline` holds a line."""
    known = tmp_path / "known.txt"
    known.write_text("V1-INIT-07  # says whatever it is asked\n\nTR-STDIO-03\n")
    words = ["check", "--only", "V1-INIT-07", "--baseline", str(known), "--quiet", "--"]
    assert main([*words, sys.executable, "-c", LIAR]) == 0


def test_a_run_that_is_ended_leaves_nothing_behind(tmp_path: Path) -> None:
    """Issue: whatever it starts is ended with it."""
    started = tmp_path / "pid"
    source = f"import os, time; open({str(started)!r}, 'a').write(str(os.getpid())); time.sleep(60)"
    words = [sys.executable, "-m", "accord", "check", "--", sys.executable, "-c", source]
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (started.exists() and started.read_text()):
        assert run.poll() is None
    run.terminate()
    assert run.wait(HANG_SECONDS) != 0
    stat = Path(f"/proc/{started.read_text()}/stat")
    assert not stat.exists() or " Z " in stat.read_text()


def test_a_rule_of_another_side_or_version_is_pointed_to(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ours: who asks for a rule that exists is told where it is judged."""
    assert main(["check", "--only", "V1-INIT-03", "--", *HELLO]) == 2
    assert main(["check", "--only", "V2-INIT-01", "--", *HELLO]) == 2
    told = capsys.readouterr().err
    assert "V1-INIT-03: it is a rule for the other side (client)" in told
    assert "V2-INIT-01: see --protocol 2" in told
