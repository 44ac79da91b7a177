"""Services that tell the audit log what was decided and done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.client.audit.log import AuditLog
from accord.client.audit.services import (
    AuditedFiles,
    AuditedTerminals,
    record_decision,
    shown_rule,
)
from accord.client.permissions.permissions import Permissions
from accord.client.permissions.request import OWN_OPTIONS, Decided, Decision, PermissionRequest
from accord.client.permissions.rules import Rule
from accord.errors import RequestError
from tests.hang_limit import HANG_SECONDS


def _request(kind: str = "edit", **more: Any) -> PermissionRequest:
    return PermissionRequest("s", f"{kind} it", OWN_OPTIONS, kind=kind, **more)


class Told:
    """What was told."""

    def __init__(self, permissions: Permissions) -> None:
        self.decided: list[Decided] = []
        self.agents: set[str | None] = set()
        self.refreshed = 0
        audited = permissions.derived(on_decided=self._tell, before_decision=self._refresh)
        self.permissions = audited.for_connection("tester")
        self.permissions.add_session("s", "/")

    def _tell(self, decided: Decided, agent: str | None) -> None:
        self.decided.append(decided)
        self.agents.add(agent)

    def _refresh(self) -> None:
        self.refreshed += 1

    @property
    def facts(self) -> list[tuple[str, bool, str]]:
        return [(one.request.kind, one.allowed, one.by) for one in self.decided]


async def test_every_decision_is_told_with_who_made_it() -> None:
    """Issue 3: an audit log of every decision."""

    async def ask(request: PermissionRequest) -> Decision:
        return Decision("allow_once", "workspace")

    rules = [Rule(effect="allow", kind="edit"), Rule(effect="reject", kind="delete")]
    told = Told(Permissions(rules, otherwise="ask", ask=ask))
    for kind in ("edit", "delete", "execute", "execute"):
        command = "make" if kind == "execute" else None
        await told.permissions.decide(_request(kind, command=command, paths=("/nowhere/a",)))
    assert told.facts == [
        ("edit", True, "rule"),
        ("delete", False, "rule"),
        ("execute", True, "user"),
        ("execute", True, "remembered"),
    ]
    assert told.decided[1].rule == rules[1]
    assert told.agents == {"tester"}
    assert told.refreshed == 4


async def test_what_nobody_speaks_of_is_told_as_the_default() -> None:
    """Ours: so that a run can name the flag that is missing."""
    told = Told(Permissions(otherwise="reject"))
    await told.permissions.decide(_request())
    assert told.facts == [("edit", False, "default")]


async def test_what_an_approved_call_covers_is_told_too() -> None:
    """Issue 3: those that needed no decision too."""
    told = Told(Permissions([Rule(effect="allow", kind="edit")]))
    await told.permissions.decide(_request(paths=("/a",)))
    assert await told.permissions.may_write("s", "/a")
    assert not await told.permissions.may_run("s", "make")
    assert told.facts == [
        ("edit", True, "rule"),
        ("edit", True, "call"),
        ("execute", False, "default"),
    ]


async def test_a_decision_that_nobody_waits_for_is_told_as_cancelled() -> None:
    """Ours: each is told once, however it ends."""
    asked = anyio.Event()

    async def ask(request: PermissionRequest) -> Decision:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    told = Told(Permissions.ask(ask))
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(told.permissions.decide, _request())
            await asked.wait()
            tasks.cancel_scope.cancel()
    (decided,) = told.decided
    assert decided.cancelled
    assert not decided.allowed


async def test_operations_are_told_without_contents(tmp_path: Path) -> None:
    """Issue 3: reads, writes and terminals; no file contents, no values of variables."""
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    files = AuditedFiles(log).for_connection()
    files.add_session("s", [str(tmp_path)])
    await files.write_text("s", str(tmp_path / "a"), "very private")
    assert await files.read_text("s", str(tmp_path / "a"), 1, 5) == "very private"
    with pytest.raises(RequestError):
        await files.read_text("s", "/etc/passwd")
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            terminals = AuditedTerminals(log).for_connection(tasks)
            terminals.add_session("s", str(tmp_path))
            env = {"NAME": "very private"}
            terminal = await terminals.create("s", "echo", ["hi"], env=env)
            await terminals.wait_for_exit("s", terminal)
            await terminals.close_all()
            tasks.cancel_scope.cancel()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(one["operation"], one["outcome"]) for one in lines] == [
        ("write", "done"),
        ("read", "done"),
        ("read", "failed"),
        ("run", "done"),
    ]
    assert lines[0]["characters"] == lines[1]["characters"] == len("very private")
    assert (lines[3]["command"], lines[3]["variables"]) == ("echo hi", ["NAME"])
    assert "very private" not in path.read_text()


def test_a_decision_is_one_line(tmp_path: Path) -> None:
    """docs/reference/configuration.md: what is in it."""
    rule = Rule(effect="reject", command="rm", cwd="/w", exact=True)
    decided = Decided(_request("execute", command="rm x"), False, False, "rule", rule)
    record_decision(AuditLog(tmp_path / "a"), decided, "tester")
    line = json.loads((tmp_path / "a").read_text())
    wanted = {"event": "decision", "outcome": "denied", "by": "rule", "agent": "tester"}
    assert wanted.items() <= line.items()
    assert line["rule"] == shown_rule(rule) == "reject command=rm cwd=/w exactly"


async def test_why_a_command_was_refused_is_told_and_written(tmp_path: Path) -> None:
    """Issue 12: the answer says which rule applies and why, to the log and to the agent."""
    told = Told(Permissions([Rule(effect="allow"), Rule(effect="reject", command="rm")]))
    assert not await told.permissions.may_run("s", "env", ["rm", "x"], "/")
    (decided,) = told.decided
    assert decided.why == "it runs `rm x`, run by `env`"
    log = AuditLog(tmp_path / "audit.jsonl")
    record_decision(log, decided, "tester")
    (line,) = (tmp_path / "audit.jsonl").read_text().splitlines()
    assert json.loads(line)["why"] == decided.why
    refused = told.permissions.why_refused("s", "env", ["rm", "x"], "/")
    assert refused == "a rule rejects `rm`: it runs `rm x`, run by `env`"
    assert told.permissions.why_refused("s", "ls", [], "/") is None
