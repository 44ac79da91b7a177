"""Runs the kit with its default options on our programs, the SDKs' and real agents, for the docs.

    python -m tests.interop.kit_table [--only NAME] [--jobs N] [--reports FOLDER]

It prints the tables of `docs/explanation/conformance.md`.  Real agents are those that
`scripts/install_agents.py` has installed; they get a model on loopback that says what it is told.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fake_llm import serve
from tests.interop.agents.peers import AGENTS, PEERS, Bench

ROOT = Path(__file__).resolve().parents[2]
OFFICIAL = ROOT / "tests/interop/official"
STEPS = ("prompt:say hello", "--")


@dataclass(frozen=True)
class Program:
    """A program that the kit judges in one version."""

    name: str
    version: str
    protocol: str
    command: tuple[str, ...]
    is_client: bool = False
    env: dict[str, str] = field(default_factory=dict)


def ours() -> Iterator[Program]:
    python = sys.executable
    for protocol in ("1", "2", "draft"):
        agents = {
            "`accord agent`, offline": (python, "-m", "accord", "agent"),
            "our scripted agent": (python, str(ROOT / "tests/interop/ours/agent.py")),
            "`examples/fixer_agent.py`": (python, str(ROOT / "examples/fixer_agent.py")),
            "`examples/hello_agent.py`": (python, str(ROOT / "examples/hello_agent.py")),
        }
        clients = {
            "`accord run --allow all`": (
                python,
                "-m",
                "accord",
                "run",
                "--allow",
                "all",
                "hi",
                "--",
            ),
            "`examples/ask_client.py`": (python, str(ROOT / "examples/ask_client.py"), "hi"),
            "`tests/conformance/state_client.py`": (
                python,
                str(ROOT / "tests/conformance/state_client.py"),
            ),
        }
        for name, command in agents.items():
            yield Program(name, "0.1.0", protocol, command)
        for name, command in clients.items():
            yield Program(name, "0.1.0", protocol, command, is_client=True)
    for source, target in (("1", "2"), ("2", "1")):
        options = ("translate", "--to", target, "--from", source)
        command = (python, "-m", "accord", *options, "--", python, "-m", "accord", "agent")
        yield Program(f"`accord {' '.join(options)} -- accord agent`", "0.1.0", target, command)


def sdks() -> Iterator[Program]:
    pythons = (("1", "0.12.1", "acp-0.12"), ("2", "1.0.0rc3", "acp-1.0rc"))
    for protocol, version, venv in pythons:
        python = str(ROOT / ".venvs" / venv / "bin" / "python")
        for side in ("agent", "client"):
            program = str(OFFICIAL / f"{side}_py_v{protocol}.py")
            name = f"scripted {side}, Python SDK"
            command = (python, program, *(STEPS if side == "client" else ()))
            yield Program(name, version, protocol, command, side == "client")
    for protocol in ("1", "2"):
        for side in ("agent", "client"):
            program = str(OFFICIAL / f"{side}_ts_v{protocol}.mjs")
            name = f"scripted {side}, TypeScript SDK"
            command = ("node", program, *(STEPS if side == "client" else ()))
            yield Program(name, "2.4.0", protocol, command, side == "client")


def real(url: str, folder: Path) -> Iterator[Program]:
    for peer in PEERS:
        if peer.missing is not None:
            print(peer.missing, file=sys.stderr)
            continue
        for protocol in ("1", "2") if peer.name == "codex-acp" else ("1",):
            place = folder / f"{peer.name}-{protocol}"
            place.mkdir()
            version = (AGENTS / peer.name / ".installed").read_text()
            command = (str(peer.program), *peer.args)
            env = Bench(peer, place, url).env
            # The kit gives every agent a home of its own.
            env["OPENCODE_CONFIG"] = str(place / "home/.config/opencode/opencode.json")
            yield Program(peer.name, version, protocol, command, env=env)


def judge(program: Program, reports: Path) -> dict[str, Any]:
    stem = "".join(c if c.isalnum() else "-" for c in f"{program.name}-{program.protocol}")
    report = reports / f"{stem}.json"
    command = [sys.executable, "-m", "accord", "check", "--quiet", "--protocol", program.protocol]
    command += ["--report-json", str(report), *(["--client"] if program.is_client else [])]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "ACCORD_MODEL": "offline", **program.env}
    log = (reports / f"{stem}.log").open("wb")
    with log:
        subprocess.run(
            [*command, "--", *program.command],
            # Some agents leave files where they are started.
            cwd=reports,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=False,
        )
    found: dict[str, Any] = json.loads(report.read_text()) if report.is_file() else {}
    return found


def failed(report: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The rules that it breaks: those that bind, and advice."""
    wrong = [one for one in report["results"] if one["verdict"] == "fail"]
    binding = [one["id"] for one in wrong if one["tier"] in ("mandatory", "capability")]
    return binding, [one["id"] for one in wrong if one["id"] not in binding]


def row(program: Program, report: dict[str, Any]) -> str:
    name = f"| {program.name} | {program.version} | {program.protocol} "
    if not report:
        return f"{name}| could not be judged | | | | | |"
    run = report["runs"][0]
    counts = [run["pass"], *map(len, failed(report)), run["skipped"], len(run["unjudged"])]
    return f"{name}| {run['verdict']} | {' | '.join(map(str, counts))} |"


def tables(kind: str, judged: list[tuple[Program, dict[str, Any]]]) -> Iterator[str]:
    yield f"\n| {kind} | version | protocol | verdict | passed | failed | advice | skipped | open |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for program, report in judged:
        yield row(program, report)
    yield f"\n| {kind} | failed | advice |\n|---|---|---|"
    for program, report in judged:
        rules = [", ".join(ids) or "-" for ids in failed(report)] if report else []
        if set(rules) - {"-"}:
            name = f"{program.name} {program.version}, {program.protocol}"
            yield f"| {name} | {' | '.join(rules)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--reports", type=Path)
    options = parser.parse_args()
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        reports = options.reports or scratch / "reports"
        reports.mkdir(parents=True, exist_ok=True)
        model = stack.enter_context(serve())
        programs = [*ours(), *sdks(), *real(model.url, scratch)]
        programs = [one for one in programs if options.only in one.name]
        with ThreadPoolExecutor(options.jobs) as pool:
            found = list(pool.map(lambda one: judge(one, reports), programs))
    judged = list(zip(programs, found, strict=True))
    print("\n".join(tables("agent", [one for one in judged if not one[0].is_client])))
    print("\n".join(tables("client", [one for one in judged if one[0].is_client])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
